"""Products in DSP48E1 cells are proved; a wrong cell or a wrong pin is refuted or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove

from dais_verif.spec.program import assemble

pytestmark = pytest.mark.usefixtures("yosys")

PRODUCT = assemble("input x, y\na = s5.0 input x\nb = u3.0 input y\np = s8.0 a * b\noutput p = p")
REGISTERS = (
    "A",
    "ACASC",
    "AD",
    "ALUMODE",
    "B",
    "BCASC",
    "C",
    "CARRYIN",
    "CARRYINSEL",
    "D",
    "INMODE",
    "M",
    "OPMODE",
    "P",
)
PARAMETERS = dict.fromkeys([f"{name}REG" for name in REGISTERS], "0") | {
    "A_INPUT": '"DIRECT"',
    "B_INPUT": '"DIRECT"',
    "USE_DPORT": '"FALSE"',
    "USE_MULT": '"MULTIPLY"',
    "USE_SIMD": '"ONE48"',
}
PINS = {
    "A": "{{25{model_inp[4]}}, model_inp[4:0]}",
    "ACIN": "30'h0",
    "ALUMODE": "4'h0",
    "B": "{15'h0, model_inp[7:5]}",
    "BCIN": "18'h0",
    "C": "48'h0",
    "CARRYIN": "1'h0",
    "CARRYINSEL": "3'h0",
    "D": "25'h0",
    "INMODE": "5'h0",
    "OPMODE": "7'h05",
    "P": "p",
    "PCIN": "48'h0",
}
#: The change of the cell, and the verdict. With only half of the product, the model of the cell ends the simulation.
FAULTS = {
    "subtracted": ({"ALUMODE": "4'h3"}, "RTL_MISMATCH"),
    "a carry comes in": ({"CARRYIN": "1'h1"}, "RTL_MISMATCH"),
    "nothing added": ({"OPMODE": "7'h00"}, "RTL_MISMATCH"),
    "both factors as one": ({"OPMODE": "7'h03"}, "RTL_MISMATCH"),
    "C in the place of a constant": ({"OPMODE": "7'h35", "C": "48'h1"}, "RTL_MISMATCH"),
    "a negated factor": ({"INMODE": "5'h08", "USE_DPORT": '"TRUE"'}, "RTL_MISMATCH"),
    "no factor": ({"INMODE": "5'h02"}, "RTL_MISMATCH"),
    "a factor from another cell": ({"A_INPUT": '"CASCADE"'}, "RTL_MISMATCH"),
    "four sums of 12 bits": ({"USE_SIMD": '"FOUR12"'}, "INVALID_INPUT"),
    "no multiplier": ({"USE_MULT": '"NONE"'}, "RTL_MISMATCH"),
    "half a product in X": ({"OPMODE": "7'h0d"}, "RTL_MISMATCH"),
    "half a product in Y": ({"OPMODE": "7'h04"}, "RTL_MISMATCH"),
    "an operation that is inverted": ({"USE_SIMD": '"ONE48"), .IS_ALUMODE_INVERTED(4\'h3'}, "INVALID_INPUT"),
    "three registers": ({"INMODEREG": "3"}, "INVALID_INPUT"),
    "a word of no meaning": ({"A_INPUT": '"CASCADED"'}, "INVALID_INPUT"),
    "the same carry for both": ({"CARRYINSEL": "3'h2"}, "X_IN_OUTPUT"),
    "pins swapped": ({"B": "{15'h0, model_inp[5], model_inp[6], model_inp[7]}"}, "RTL_MISMATCH"),
    "the sign is one bit": ({"A": "{25'h0, model_inp[4:0]}"}, "RTL_MISMATCH"),
    "outputs swapped": ({"P": "{p[47:8], p[6], p[7], p[5:0]}"}, "RTL_MISMATCH"),
    "an output reads itself": ({"C": "p", "OPMODE": "7'h35"}, "INVALID_INPUT"),
    "a register": ({"PREG": "1"}, "INVALID_INPUT"),
}


def proved(folder: Path, changed: dict[str, str]) -> Run:
    parameters = ", ".join(f".{name}({changed.get(name, value)})" for name, value in PARAMETERS.items())
    pins = ", ".join(f".{name}({changed.get(name, value)})" for name, value in PINS.items())
    text = f"DSP48E1 #({parameters}) cell_1 ({pins});"
    text = f"module model (input [7:0] model_inp, output [7:0] model_out);\n  wire [47:0] p;\n  {text}\n"
    (folder / "cell.v").write_text(f"{text}  assign model_out = p[7:0];\nendmodule\n")
    return run_prove(PRODUCT, folder, "--netlist", folder / "cell.v", "--target", "xilinx", "--no-confirm")


def test_a_product_in_a_dsp_is_proved(tmp_path: Path) -> None:
    run = proved(tmp_path, {})
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.statuses("output") == {0: "PROVED"}


@pytest.mark.parametrize(
    "fault", ["pins swapped", *(pytest.param(f, marks=pytest.mark.slow) for f in FAULTS if f != "pins swapped")]
)
def test_a_wrong_dsp_is_not_proved(fault: str, tmp_path: Path) -> None:
    changed, verdict = FAULTS[fault]
    run = proved(tmp_path, changed)
    assert run.ending[0] == verdict, (run.tree and run.tree["message"], run.stderr)
