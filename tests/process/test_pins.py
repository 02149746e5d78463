"""An option overrides its key of the ports file only, and the record names the source of each value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.spec.program import Program
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest

SAID = Clocking("clk", 3, "rst_n", True, "ce", "vin", "vout")


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({}, {}),
        ({"clock": "c2"}, {"clock": "c2"}),
        ({"latency": 2}, {"latency": 2}),
        ({"latency": 0}, {"latency": 0}),
        ({"latency": "auto"}, {"latency": None}),
        ({"reset": "r"}, {"reset": "r", "reset_low": False}),
        ({"reset": "r:low"}, {"reset": "r", "reset_low": True}),
        ({"enable": "en"}, {"enable": "en"}),
        ({"valid_in": "a", "valid_out": "b"}, {"valid_in": "a", "valid_out": "b"}),
    ],
)
def test_an_option_overrides_one_key(options: dict[str, Any], changed: dict[str, Any]) -> None:
    assert Pins(**options).over(SAID, "") == replace(SAID, **changed)


def test_options_alone() -> None:
    assert Pins().over(None, "") is None
    assert Pins("clk", "auto", "r:low").over(None, "") == Clocking("clk", None, "r", True)


def test_what_is_refused() -> None:
    with raises(RequestError):
        Pins(latency=2).over(None, "no ports file names them")
    with raises(RequestError):
        Pins(valid_out="v").over(Clocking("clk"), "")
    with raises(RequestError):
        Pins(reset="r:down")


RTL = """
module model(input clk, input rst_n, input [3:0] model_inp, output reg [3:0] model_out);
  always @(posedge clk) model_out <= rst_n ? model_inp : 0;
endmodule
"""
PORTS = '[clock]\nport = "clk"\nreset = "rst_n"\nreset_active = "low"\n'
PROGRAM = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])


def decisions(folder: Path, ports: str, pins: Pins) -> dict[str, tuple[str, str]]:
    """Return what the record says was chosen, and why, for a run that found a latency of 1."""
    (folder / "model.v").write_text(RTL)
    (folder / "ports.toml").write_text(ports)
    design = DesignRequest(rtl=(folder / "model.v",), ports=folder / "ports.toml", pins=pins)
    record = simulate(SimulationRequest(program=PROGRAM, design=design, simulator="icarus", vectors=20)).record
    assert record.verdict is Verdict.PASS, record.message
    assert len({decision.what for decision in record.decisions}) == len(record.decisions)
    return {decision.what: (decision.chosen, decision.why) for decision in record.decisions}


@pytest.mark.parametrize(
    ("line", "pins", "option"),
    [
        ("latency = 1", Pins(), "--ports"),
        ("latency = 3", Pins(latency=1), "--latency"),
        ("", Pins(), ""),
        ("latency = 3", Pins(latency="auto"), ""),
    ],
    ids=["file", "option", "nobody", "auto"],
)
def test_the_record_says_who_said_the_latency(line: str, pins: Pins, option: str, tmp_path: Path) -> None:
    found = decisions(tmp_path, PORTS + line, pins)
    chosen, why = found["latency"]
    assert "1 " in chosen
    assert ("--" in why) == bool(option) and option in why
    as_recorded(found)


def test_widths_of_the_ports_file(tmp_path: Path) -> None:
    found = decisions(tmp_path, '[inputs]\ntypes = "u4.0"\n' + PORTS, Pins())
    assert [chosen for chosen, why in found.values() if why == "--ports"]
    as_recorded(found)


def test_options_without_a_clock_table(tmp_path: Path) -> None:
    with raises(RequestError):
        decisions(tmp_path, "", Pins(latency=1))
