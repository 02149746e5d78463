"""RTL that drives its own inputs is refused: a bench would hide that driver, but hardware would not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import SimulatorFailure, ToolError
from dais_verif.simulation.simulators import icarus, verilator
from dais_verif.simulation.simulators.driven_inputs import refuse_in_icarus

TOP = "module model(input wire [7:0] a, input tri1 b, input signed [3:0] \\c+d , input unused, output [7:0] y);\n"
LOGIC = "assign y = a + b + \\c+d ;\nendmodule\n"
DRIVERS = {
    "a constant": ("", "assign a[0] = 1'b0;"),
    "a function of an input": ("", "assign a[3] = a[4];"),
    "a port with an escaped name": ("", "assign \\c+d [1] = 1'b1;"),
    "an output of an instance": ("module k(output o); assign o = 0; endmodule\n", "k k1(.o(a[7]));"),
    "another module": ("module k(); assign model.a[0] = 0; endmodule\n", "k k1();"),
    "a bidirectional port": ("module k(inout o); assign o = 0; endmodule\n", "k k1(.o(a[0]));"),
    "a three-state gate": ("", "bufif1 (a[1], 1'b0, a[2]);"),
    "a switch": ("", "wire z; assign z = 0; tran (z, b);"),
    "a pull-up": ("", "pullup (b);"),
}
OFF = "/* verilator lint_off ASSIGNIN */\n"


def built(simulator: object, folder: Path, *texts: str) -> None:
    sources = []
    for number, text in enumerate(texts):
        sources.append(folder / f"{number}.v")
        sources[-1].write_text(text)
    simulator.build(sources, "model", folder / "build")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", DRIVERS)
def test_icarus(name: str, tmp_path: Path) -> None:
    before, body = DRIVERS[name]
    with raises(SimulatorFailure, match=r"driven.*design"):
        built(icarus, tmp_path, before + TOP + body + LOGIC)
    assert not (tmp_path / "build" / icarus.OUTPUT).exists()


def test_inputs_without_drivers(tmp_path: Path) -> None:
    built(
        icarus,
        tmp_path,
        "module k(inout [7:0] o, input i, output q); assign q = o[0] ^ i; endmodule\n"
        + TOP
        + "wire q; k k1(.o(a), .i(b), .q(q));"
        + LOGIC,
    )


def test_a_compiled_design_that_says_nothing_is_refused(tmp_path: Path) -> None:
    built(icarus, tmp_path, TOP + LOGIC)
    compiled = tmp_path / "build" / icarus.OUTPUT
    compiled.write_text(compiled.read_text().replace(" .net ", " .other "))
    with raises(SimulatorFailure, match="show"):
        refuse_in_icarus(compiled, "model", frozenset({"dais_verif_dump"}))
    compiled.write_text("")
    with pytest.raises(ToolError, match=r"show.*inputs of 'model'"):
        refuse_in_icarus(compiled, "model")


@pytest.mark.parametrize(
    "off",
    [
        "",
        OFF,
        "//verilator  lint_off  assignin \n",
        "//verilator lint_off WIDTH, ASSIGNIN\n",
        "`verilator_config\nlint_off -rule ASSIGNIN\n`verilog\n",
    ],
)
def test_verilator(off: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"(?i)ASSIGNIN|verilator_config"):
        built(verilator, tmp_path, off + TOP + "assign a[0] = 1'b0;" + LOGIC)


def test_verilator_with_its_error_off_in_a_file_that_is_included(tmp_path: Path) -> None:
    (tmp_path / "off.vh").write_text(OFF)
    with pytest.raises(ToolError, match="ASSIGNIN"):
        built(verilator, tmp_path, '`include "off.vh"\n' + TOP + "assign a[0] = 1'b0;" + LOGIC)
