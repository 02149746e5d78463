"""Names from nextpnr's placement are hints: right ones name registers, and lies change no verdict."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.bitstreams import DESIGNS, FIFO, MACHINE, require_icestorm, stored

import dais_verif
from dais_verif.bitstream.hints import read_hints, with_names
from dais_verif.bitstream.logic import Cell, ReadBack
from dais_verif.bitstream.verilog import write_verilog
from dais_verif.errors import InputError
from dais_verif.flows.bitstream.build import BuildRequest, build
from dais_verif.verdict import Verdict

CLOCK = {"clock": "clk", "confirm": False}


@pytest.fixture(autouse=True)
def icestorm() -> None:
    require_icestorm()


def written(names: Mapping[Cell, str], path: Path) -> Path:
    """As nextpnr writes it, of registers alone."""
    cells = {
        f"cell_{number}": {
            "attributes": {"NEXTPNR_BEL": f"X{at.x}/Y{at.y}/lc{at.number}"},
            "connections": {"O": [number]},
        }
        for number, at in enumerate(names)
    }
    nets = {name: {"bits": [number]} for number, name in enumerate(names.values())}
    path.write_text(json.dumps({"modules": {"model": {"cells": cells, "netnames": nets}}}))
    return path


def logic_of(folder: Path) -> ReadBack:
    return MACHINE.read(stored(MACHINE.name, folder))


def outputs_of(logic: ReadBack) -> dict[Cell, str]:
    """The registers that drive pins, by the bits of ``total`` that they are."""
    found = {register.name: register.cell for register in logic.registers}
    return {found[signal]: f"total[{bit.place}]" for bit, signal in logic.driven.items() if signal in found}


def test_registers_have_the_names_of_their_nets(tmp_path: Path) -> None:
    logic = logic_of(tmp_path)
    names = outputs_of(logic)
    assert len(names) >= 19
    hints = read_hints(written(names, tmp_path / "placed.json"))
    assert hints == names
    text = write_verilog(with_names(logic, hints), "model")
    assert "reg \\total[7]  = 1'b0;" in text and "assign y[7] = \\total[7] ;" in text
    # What is named is the same logic.
    for cell, name in names.items():
        text = text.replace(f"\\{name} ", f"reg_{cell}")
    assert text == write_verilog(logic, "model")


def test_names_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    """Two of a kind, those of ports and of other cells, and what tools make up."""
    logic = logic_of(tmp_path)
    one, two, *others = [register.cell for register in logic.registers]
    names = dict(
        zip(others, ("y[3]", "clk", logic.luts[0].name, "a b", "$auto$12", "x\\", "", "a[1][2][3]"), strict=False)
    )
    hints = {one: "same", two: "same", **read_hints(written(names, tmp_path / "placed.json"))}
    assert write_verilog(with_names(logic, hints), "model") == write_verilog(logic, "model")


def test_names_that_lie_change_no_verdict(tmp_path: Path) -> None:
    """Of a machine, whose registers names are proposed for: all bits of one are called those of another, reversed."""
    names = outputs_of(logic_of(tmp_path))
    lies = dict(zip(names, [*reversed(names.values())], strict=True))
    hints = written(lies, tmp_path / "placed.json")
    bits = {"bitstream": MACHINE.write(tmp_path), "pins": MACHINE.pins, "hints": hints}
    assert dais_verif.prove(MACHINE.program, **bits, **CLOCK).verdict is Verdict.PASS


def test_a_wrong_bitstream_stays_wrong(tmp_path: Path) -> None:
    """With names as right as can be, of another machine's text."""
    text = MACHINE.program.read_text()
    other = tmp_path / "other.mach"
    other.write_text(text.replace("s20.0 = 0", "s20.0 = 1", 1))
    assert other.read_text() != text
    hints = written(outputs_of(logic_of(tmp_path)), tmp_path / "placed.json")
    bits = {"bitstream": MACHINE.write(tmp_path), "pins": MACHINE.pins, "hints": hints}
    assert dais_verif.prove(other, **bits, **CLOCK).verdict is Verdict.RTL_MISMATCH


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"modules": {"a": {"cells": {}}}}', '{"modules": {}}', "[" * 100_000]
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "placed.json").write_text(text)
    with pytest.raises(InputError, match="is not what `nextpnr-ice40 --write` writes"):
        read_hints(tmp_path / "placed.json")


def test_hints_belong_to_a_bitstream(tmp_path: Path) -> None:
    hints = written({}, tmp_path / "placed.json")
    with pytest.raises(InputError, match="are for a bitstream"):
        dais_verif.prove(MACHINE.program, hints=hints)
    bare = DESIGNS["quantised_mac"]
    said = dais_verif.simulate(
        bare.program, bitstream=bare.write(tmp_path), pins=bare.pins, hints=hints, vectors=20, simulators="icarus"
    )
    assert said.verdict is Verdict.PASS


@pytest.mark.slow
def test_a_board_with_names_that_were_swapped(tmp_path: Path) -> None:
    """With the placement of ``build`` a proof behind a link begins with its names; swapped ones are given up."""
    built, record = tmp_path / "built", tmp_path / "placed.json"
    build(BuildRequest(program=FIFO.program, device="ice40-hx1k-tq144", wrap="fifo", output=built))
    bits = {"bitstream": built / "model.bin", "pins": built / "pins.pcf", "confirm": False}
    right = dais_verif.prove(FIFO.program, **bits, hints=built / "placed.json")
    assert right.verdict is Verdict.PASS and right.link is not None and right.link.hinted
    names = read_hints(built / "placed.json")
    swapped = dict(zip(names, random.Random(1).sample([*names.values()], len(names)), strict=True))
    wrong = dais_verif.prove(FIFO.program, **bits, hints=written(swapped, record))
    assert wrong.verdict is Verdict.PASS and wrong.link is not None and not wrong.link.hinted
