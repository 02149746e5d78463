"""A bitstream is proved and simulated like any other design, from the bitstream and its pin assignments alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.bitstreams import DESIGNS, MACHINE, Stored, chip_of, repacked, require_icestorm, stored
from support.door import command
from support.said import raises

import dais_verif
from dais_verif.base.errors import BitstreamError, RequestError


@pytest.fixture(autouse=True)
def icestorm() -> None:
    require_icestorm()


def answer(verb: str, design: Stored, bitstream: Path, *options: object) -> dict[str, Any]:
    done = command(
        verb,
        design.program,
        "--bitstream",
        bitstream,
        "--pins",
        design.pins,
        "--device",
        design.device,
        *design.options,
        "--json",
        *options,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def facts(design: Stored, folder: Path) -> dict[str, str]:
    """Return the expected record of the bitstream in ``folder``."""
    bits, pins = folder / f"{design.name}.bin", design.pins
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (bits, pins)]
    return {"file": str(bits), "sha256": sums[0], "pins": str(pins), "pins_sha256": sums[1], "device": design.device}


#: Designs on larger devices, and designs that repeat what the others prove.
_SLOW = ("lookup_square", "sort_two", "bitops_pipelined")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in _SLOW)) for n in DESIGNS])
def test_a_bitstream_is_proved(name: str, tmp_path: Path) -> None:
    design = DESIGNS[name]
    found = answer("prove", design, design.write(tmp_path), "--no-confirm", "--no-cache")
    assert found["verdict"] == "PASS", found["message"]
    assert {one["status"] for one in found["outputs"]} == {"PROVED"}
    assert "--bitstream" in found["reproduce"]
    assert "--pins" in found["reproduce"]
    assert found["rtl"]["bitstream"] == facts(design, tmp_path)


@pytest.mark.slow
def test_a_machine_is_proved_for_ever(tmp_path: Path) -> None:
    """A machine is proved by induction, although its registers have no names: they are identified by their values."""
    found = answer("prove", MACHINE, MACHINE.write(tmp_path), "--no-confirm", "--no-cache")
    assert found["verdict"] == "PASS", found["message"]
    assert "registers correspond" in found["message"]


@pytest.mark.slow
def test_a_fault_in_a_machine_is_found(tmp_path: Path) -> None:
    """A wrong next value of a register is found by a sequence from power-up."""
    logic = MACHINE.read(stored(MACHINE.name, tmp_path))
    clocked = {one.cell for one in logic.registers}
    lut = next(lut for lut in logic.luts if lut.cell in clocked and lut.table.bit_count() > 2)
    bits = chip_of("1k").functions("logic")[f"LC_{lut.cell.number}"]
    endings = []
    for entry in (4, 14, 15, 5, 6, 16, 17, 7):
        wrong = repacked(MACHINE.write(tmp_path), (lut.cell.x, lut.cell.y), bits[entry], tmp_path / "wrong.bin")
        endings.append(answer("prove", MACHINE, wrong, "--no-cache", "--sim", "icarus")["verdict"])
        if endings[-1] != "PASS":
            break
    assert endings[-1] == "RTL_MISMATCH", endings


def test_a_bit_of_a_table_is_found(tmp_path: Path) -> None:
    """A flipped bit of a table of the design is found and confirmed in a simulator."""
    design = DESIGNS["lookup_square_pipelined"]
    logic = design.read(stored(design.name, tmp_path))
    cell = next(lut for lut in logic.luts if lut.table not in (0, 0xFFFF) and "1'b0" not in lut.inputs).cell
    bit = chip_of("1k").functions("logic")[f"LC_{cell.number}"][0]
    wrong = repacked(design.write(tmp_path), (cell.x, cell.y), bit, tmp_path / "wrong.bin")
    found = answer("prove", design, wrong, "--no-cache", "--sim", "icarus")
    assert found["verdict"] == "RTL_MISMATCH", found["message"]
    assert found["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


def test_two_pins_that_are_swapped_are_found(tmp_path: Path) -> None:
    design = DESIGNS["quantised_mac"]
    lines = design.pins.read_text().splitlines()
    outputs = [number for number, line in enumerate(lines) if "model_out" in line][:2]
    first, second = (lines[number].split() for number in outputs)
    lines[outputs[0]] = f"set_io {first[1]} {second[2]}"
    lines[outputs[1]] = f"set_io {second[1]} {first[2]}"
    (tmp_path / "swapped.pcf").write_text("\n".join(lines))
    done = dais_verif.simulate(
        design.program,
        bitstream=design.write(tmp_path),
        pins=tmp_path / "swapped.pcf",
        device="ice40-hx1k-tq144",
        simulators="icarus",
        vectors=50,
        exhaustive_bits=0,
    )
    assert done.verdict.name == "RTL_MISMATCH"
    assert done.rtl.bitstream is not None
    assert done.rtl.bitstream.pins_sha256 == hashlib.sha256((tmp_path / "swapped.pcf").read_bytes()).hexdigest()
    assert done.to_dict()["rtl"]["bitstream"]["sha256"] == facts(design, tmp_path)["sha256"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pins", "x.pcf"], "are for a bitstream; name it with --bitstream"),
        (["--bitstream", "x.bin"], "give --pins FILE.pcf, which assigns ports to pins"),
        (["--bitstream", "x.bin", "--pins", "x.pcf", "--stages", "2"], "is the whole design"),
        (["--bitstream", "x.bin", "--pins", "x.pcf"], "cannot read 'x.bin'"),
    ],
    ids=["pins", "no pins", "stages", "no file"],
)
@pytest.mark.slow
def test_what_does_not_go_together(options: list[str], said: str) -> None:
    done = command("prove", DESIGNS["quantised_mac"].program, *options)
    assert done.returncode == 2
    assert said in done.stderr + done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_devices_that_the_bitstream_is_not_for(tmp_path: Path) -> None:
    design = DESIGNS["quantised_mac"]
    for device, said in (
        ("ice40-hx8k-ct256", "chip 8k"),
        ("ecp5", ""),
        ("ice40-hx1k-vq100", ""),
    ):
        with raises(BitstreamError, match=said):
            dais_verif.prove(design.program, bitstream=design.write(tmp_path), pins=design.pins, device=device)
    with pytest.raises(RequestError, match="pins FILE"):
        dais_verif.prove(design.program, bitstream=design.write(tmp_path))
