"""What a scoreboard adds to a mismatch: the command that reproduces it, and inputs that it was not told about."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.said import as_recorded, raises

pytest.importorskip("cocotb")

from dais_verif.base.errors import InputError
from dais_verif.cocotb import diagnosis
from dais_verif.cocotb.diagnosis import Rtl
from dais_verif.cocotb.scoreboard import dut_of
from dais_verif.hardware.ports.interface import Dut
from dais_verif.hardware.ports.ports_file import ports_from_tree, read_ports_file
from dais_verif.spec.program import load
from dais_verif.verbs.pins import Pins

ROOT = Path(__file__).parents[2]
PROGRAM = load(ROOT / "examples" / "quantised_mac.bin")
MODULE = """
module mac(input clk, input en, input [3:0] mode, input signed [5:0] a, b, c, output [5:0] y);
endmodule
"""
PORTS: dict[str, Any] = {"inputs": {"ports": ["a", "b", "c"]}, "outputs": {"ports": ["y"]}}


def interface(**pins: Any) -> Dut:
    """Return the interface of MODULE as a simulator would present it."""
    wide = {"a": 6, "b": 6, "c": 6, "y": 6, "clk": 1, "en": 1, "mode": 4}
    dut = SimpleNamespace(**{name: range(width) for name, width in wide.items()})
    tables = {**PORTS, **pins.pop("tables", {})}
    return dut_of(dut, PROGRAM, tables, Pins("clk", 2, **pins))


def unknown(folder: Path, **pins: Any) -> str:
    source = folder / "mac.v"
    source.write_text(MODULE)
    return diagnosis._unknown_inputs(Rtl((source,), "mac"), interface(**pins))


class TestPortsToReproduce:
    def test_a_file_is_named_by_its_full_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert diagnosis._ports(Path("ports.toml"), tmp_path / "kept") == ("--ports", str(tmp_path / "ports.toml"))

    def test_tables_become_a_file_that_says_the_same(self, tmp_path: Path) -> None:
        tables = {
            "inputs": {"ports": ["a", "b"], "types": ["s8.1", "u3.-2"]},
            "outputs": {"port": "y_{}"},
            "clock": {"port": "clk", "latency": 3, "reset": "rst", "reset_active": "low"},
            "tie": {"mode": 5, "\\odd name": 1},
        }
        option, path = diagnosis._ports(tables, tmp_path)
        assert option == "--ports"
        assert read_ports_file(path) == ports_from_tree(tables)

    def test_packed_ports_need_no_option(self, tmp_path: Path) -> None:
        assert diagnosis._ports(None, tmp_path) == ()


class TestUnknownInputs:
    def test_inputs_of_which_nothing_was_said_are_named(self, tmp_path: Path) -> None:
        said = unknown(tmp_path)
        assert "2 inputs of mac:" in said
        as_recorded(said)

    def test_one_input(self, tmp_path: Path) -> None:
        said = unknown(tmp_path, enable="en")
        assert "1 input of mac: mode" in said
        as_recorded(said)

    def test_nothing_is_said_where_all_are_known(self, tmp_path: Path) -> None:
        assert unknown(tmp_path, enable="en", tables={"tie": {"mode": 5}}) == ""

    def test_files_that_cannot_be_read_are_no_reason_to_fail(self, tmp_path: Path) -> None:
        assert diagnosis._unknown_inputs(Rtl((tmp_path / "gone.v",), "mac"), interface()) == ""


class TestTies:
    def test_a_replay_ties_what_the_ports_tie(self) -> None:
        assert interface(tables={"tie": {"mode": 5}}).interface.ties == (("mode", 5),)

    def test_a_tie_of_a_port_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(InputError, match="mood"):
            interface(tables={"tie": {"mood": 5}})

    def test_a_missing_latency_says_how_it_is_found(self) -> None:
        dut = SimpleNamespace()
        with raises(InputError):
            dut_of(dut, PROGRAM, PORTS, Pins("clk"))
