"""Devices, pins, and requests that are refused before a bitstream is built; small builds, which are reproducible."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.places import CORPUS
from support.said import raises

import dais_verif
from dais_verif.base.errors import BitstreamError, InputError, RequestError, ToolError
from dais_verif.base.toolchain.icetime import path_delay
from dais_verif.base.toolchain.limits import Limits
from dais_verif.hardware.synthesis.devices import (
    DEVICES,
    assigned,
    bit_names,
    constraints_text,
    package_pins,
    read_constraints,
)
from dais_verif.hardware.synthesis.pnr import Port
from dais_verif.record.build import BuildTiming
from dais_verif.verbs.bitstream.build import BuildRequest, _require_clock

EXAMPLES = Path(__file__).parents[2] / "examples"
MAC = EXAMPLES / "quantised_mac.bin"
DEVICE, SMALL = "ice40-hx8k-ct256", "ice40-hx1k-tq144"
PORTS = [Port("clk", "input", 1), Port("model_inp", "input", 3), Port("model_out", "output", 2)]
GOOD = {"clk": "J3", "model_inp[0]": "A1", "model_inp[1]": "A2", "model_inp[2]": "A5", "model_out[0]": "B3"}
GOOD["model_out[1]"] = "B4"


_FULL = """\
Info: Device utilisation:
Info: \t         ICESTORM_LC:  9869/ 1280   771%
Info: \t        ICESTORM_RAM:    17/   16   106%
Info: \t               SB_IO:     4/  112     3%

ERROR: Unable to place cell 'core.op_1', no Bels remaining of type 'ICESTORM_LC'
"""


@pytest.mark.parametrize("device", DEVICES)
def test_a_package_has_pins_of_which_some_drive_a_global_network(device: str) -> None:
    pins = package_pins(DEVICES[device])
    assert len({pin.name for pin in pins}) == len(pins) == len({pin[1:4] for pin in pins}) > 15
    assert any(pin.clock for pin in pins)


def test_pins_that_only_sink_current_are_left_out() -> None:
    assert not {"39", "40", "41"} & {pin.name for pin in package_pins(DEVICES["ice40-up5k-sg48"])}


def test_every_bit_gets_a_pin_of_its_own_and_the_clock_a_global_one() -> None:
    pins = assigned(DEVICE, PORTS, "clk")
    assert sorted(pins) == sorted(bit_names(PORTS)) and len(set(pins.values())) == 6
    assert pins["clk"] in {pin.name for pin in package_pins(DEVICES[DEVICE]) if pin.clock}
    assert read_constraints(constraints_text(pins), "pins", DEVICE, PORTS) == pins


def test_too_many_bits_say_by_how_much() -> None:
    ports = [Port("model_inp", "input", 200), Port("model_out", "output", 20)]
    len(package_pins(DEVICES[DEVICE]))
    with raises(InputError):
        assigned(DEVICE, ports, "clk")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (("set_io clk J3", "set_io -nowarn clk J3"), "`set_io NAME PIN`"),
        (("set_io clk J3", "set_frequency clk 12"), "`set_io NAME PIN`"),
        (("clk J3", "clk Z99"), "'Z99'"),
        (("model_inp[0] A1", "model_inp[0] A2"), "A2"),
        (("model_inp[0] A1", "model_inp[1] A1"), r"'model_inp\[1\]'.*A1"),
        (("model_inp[0] A1", "model_inp[3] A1"), r"'model_inp\[3\]'.*bit of a port"),
        (("set_io clk J3\n", ""), "clk;"),
    ],
    ids=["option", "statement", "no-pin", "pin-twice", "bit-twice", "no-bit", "missing"],
)
def test_constraints_that_are_refused(edit: tuple[str, str], says: str) -> None:
    text = constraints_text(GOOD)
    assert read_constraints(f"# board\n\n{text}", "pins", DEVICE, PORTS) == GOOD
    assert edit[0] in text
    with raises(BitstreamError, match=says):
        read_constraints(text.replace(*edit), "pins", DEVICE, PORTS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"device": "ice40-hx8k"}, "ice40-hx1k"),
        ({"wrap": "axis"}, ""),
        ({"clock": 0.0}, r"number of MHz.*0"),
        ({"clock": float("nan")}, "clock"),
        ({"seed": -1}, "seed"),
    ],
    ids=["device", "wrap", "clock", "nan", "seed"],
)
def test_requests_that_are_refused(given: dict[str, object], says: str, tmp_path: Path) -> None:
    with raises(RequestError, match=says):
        BuildRequest(**{"program": MAC, "device": DEVICE, "output": tmp_path / "out", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("tool", ["YOSYS", "NEXTPNR_ICE40", "ICEPACK", "ICEUNPACK", "ICETIME", "ICESTORM_CHIPDB"])
def test_a_missing_tool_is_named_and_nothing_is_written(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"DAIS_VERIF_{tool}", "/nonexistent")
    with raises(ToolError):
        dais_verif.build_bitstream(MAC, DEVICE, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_two_builds_are_byte_by_byte_the_same(tmp_path: Path) -> None:
    """A build with pins chosen by the tool, and a build given these same pins, yield the same files."""
    first = dais_verif.build_bitstream(MAC, SMALL, tmp_path / "one", stages=2)
    pins = tmp_path / "one" / "pins.pcf"
    again = dais_verif.build_bitstream(MAC, SMALL, tmp_path / "two", stages=2, pins=pins)
    assert first.pins_chosen and not again.pins_chosen and first.pins == again.pins
    same = [name for name in first.files if not name.startswith("logs/")]
    assert {"model.bin", "pins.pcf", "netlist.v", "placed.json", "rtl/model.v"} <= set(same)
    assert [first.files[name] for name in same] == [again.files[name] for name in same]
    written = hashlib.sha256((tmp_path / "two" / "model.bin").read_bytes()).hexdigest()
    assert written == again.files["model.bin"]
    assert json.loads((tmp_path / "two" / "build.json").read_text()) == again.to_dict()
    assert first.timing.required == 12 and first.timing.met and first.clock_port == "clk"
    deployed = tmp_path / "deployed" / "model.bin"
    deployed.parent.mkdir()
    deployed.write_bytes((tmp_path / "one" / "model.bin").read_bytes())
    assert path_delay(deployed, SMALL, Limits(60, None)) == first.timing.path
    (tmp_path / "one" / "model.bin").write_bytes(b"edited")
    with raises(InputError):
        dais_verif.build_bitstream(MAC, SMALL, tmp_path / "one", stages=2, seed=2)


@pytest.mark.slow
def test_another_seed_is_another_bitstream(tmp_path: Path) -> None:
    first, other = (dais_verif.build_bitstream(MAC, DEVICE, tmp_path / "out", seed=seed) for seed in (1, 2))
    assert other.files["model.bin"] != first.files["model.bin"] and other.files["netlist.v"] == first.files["netlist.v"]


def test_what_does_not_fit_says_by_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error states how many cells are too many, as read from nextpnr's log; a fake nextpnr prints a real log."""
    fake = tmp_path / "nextpnr-ice40"
    fake.write_text(f"#!/bin/sh\ncat <<END\n{_FULL}END\nexit $(($# > 1))\n")
    fake.chmod(0o755)
    monkeypatch.setenv("DAIS_VERIF_NEXTPNR_ICE40", str(fake))
    says = r"TQ144.*9869.*cells of 1280: 8589.*17 block RAMs of 16: 1"
    with pytest.raises(BitstreamError, match=says):
        dais_verif.build_bitstream(MAC, SMALL, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_filter_does_not_fit_a_small_device(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\d+.*cells of 1280: \d+"):
        dais_verif.build_bitstream(CORPUS / "p03_fir16" / "prog.v1.bin", SMALL, tmp_path / "out", wrap="uart")
    assert not (tmp_path / "out").exists()


def test_a_clock_is_refused_that_is_not_allowed() -> None:
    _require_clock(BuildTiming(12.0, 60.0, 20.0))
    _require_clock(BuildTiming(None, None, 20.0))
    with raises(InputError):
        _require_clock(BuildTiming(55.0, 60.0, 20.0))


@pytest.mark.slow
def test_pins_and_the_clock_are_those_that_were_asked_for(tmp_path: Path) -> None:
    pins = tmp_path / "board.pcf"
    names = bit_names([Port("model_inp", "input", 18), Port("model_out", "output", 6)])
    free = [pin.name for pin in package_pins(DEVICES[SMALL])][-len(names) :]
    pins.write_text(constraints_text(dict(zip(names, free, strict=True))))
    out = tmp_path / "out"
    record = dais_verif.build_bitstream(MAC, SMALL, out, pins=pins)
    assert not record.pins_chosen and (out / "pins.pcf").read_text() == pins.read_text()
    assert record.timing.required is None and record.timing.registers is None and record.timing.path is not None
    with pytest.raises(InputError, match=r"\d+\.\d\d MHz.*900 MHz"):
        dais_verif.build_bitstream(MAC, SMALL, tmp_path / "fast", clock=900.0)
    assert not (tmp_path / "fast").exists()


def test_folders_that_cannot_be_written_are_refused_before_the_build(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with raises(InputError):
        dais_verif.build_bitstream(MAC, device=DEVICE, output=tmp_path, timeout=1e-9)
    with raises(InputError):
        dais_verif.build_bitstream(MAC, device=DEVICE, output=tmp_path / "notes.txt" / "out", timeout=1e-9)
