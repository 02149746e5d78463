"""RTL as da4ml writes it, and faults to seed in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from interop.networks import traced
from interop.rtl import Rtl, write

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools

__all__ = ["BUGS", "FORMS", "need_ghdl", "written"]


class Form(NamedTuple):
    """The form of RTL to request from da4ml: combinational (``cutoff`` -1), or pipelined with ``cutoff`` per stage."""

    flavor: str
    cutoff: float


FORMS = {
    "verilog": Form("verilog", -1),
    "pipelined verilog": Form("verilog", 2),
    "vhdl": Form("vhdl", -1),
    "pipelined vhdl": Form("vhdl", 2),
}


def written(name: str, form: str, folder: Path, layers: int = 1) -> Rtl:
    flavor, cutoff = FORMS[form]
    if flavor == "vhdl":
        need_ghdl()
    return write(traced(name), folder, flavor, cutoff=cutoff, layers=layers)


def need_ghdl() -> None:
    try:
        tools.ghdl()
    except ToolError as error:
        pytest.skip(str(error))


class Bug(NamedTuple):
    """A fault: ``new`` replaces ``old`` in the RTL of ``network``. ``op``: the op to blame, or None (see ``kind``)."""

    network: str
    old: str
    new: str
    op: int | None
    output: int
    form: str = "verilog"
    kind: str = "op"
    verdict: tuple[str, int] = ("RTL_MISMATCH", 1)
    file: str = ""

    @property
    def source(self) -> str:
        """Return the name of the file that has the fault."""
        return self.file or ("model.v" if "verilog" in self.form else "model.vhd")


#: Mistakes that a writer of RTL could make, by description.
BUGS = {
    "constant off by one": Bug("dense", "6'b101000, v24", "6'b101001, v24", 24, 0),
    "operands swapped": Bug("dense", "(v7[5:0], v8[5:0], v14", "(v8[5:0], v7[5:0], v14", 14, 2),
    "shift off by one": Bug("dense", "9, 2, 1) op_10", "9, 1, 1) op_10", 10, 0),
    "add for subtract": Bug("dense", "11, 0, 1) op_26", "11, 0, 0) op_26", 26, 1),
    "top bit cut off": Bug("powers", "v9[6:0] = v8[6:0]", "v9[6:0] = {1'b0, v8[5:0]}", 9, 3),
    "port narrower than the signal": Bug(
        "powers", "multiplier #(5, 5, 1, 1, 10) op_10", "multiplier #(5, 5, 1, 1, 9) op_10", 10, 0
    ),
    "bit not driven": Bug("dense", "v6[5:0] = v3[5:0]", "v6[5:1] = v3[5:1]", 6, 0, verdict=("X_IN_OUTPUT", 4)),
    "mux inverted": Bug("choices", "op_14 (v9[0]", "op_14 (~v9[0]", 14, 0),
    "no sign extension": Bug("dense", "#(6, 6, 1, 1, 7, 0, 0) op_13", "#(6, 6, 0, 1, 7, 0, 0) op_13", 13, 2),
    "no sign extension in the library": Bug(
        "powers",
        "$signed(in0) * $signed(in1);\n    end else if (SIGNED0 == 1",
        "in0 * in1;\n    end else if (SIGNED0 == 1",
        10,
        0,
        file="multiplier.v",
    ),
    "outputs swapped": Bug(
        "dense",
        "model_out[10:0] = v24[10:0];\n    assign model_out[21:11] = v26[10:0]",
        "model_out[10:0] = v26[10:0];\n    assign model_out[21:11] = v24[10:0]",
        None,
        0,
        kind="output",
    ),
    "output not negated": Bug(
        "choices", "model_out[19:13] = v13_neg[6:0]", "model_out[19:13] = v13[6:0]", None, 2, kind="output"
    ),
    "bit stuck at 0": Bug("dense", "v5[5:0] = v1[5:0]", "v5[5:0] = {v1[5:1], 1'b0}", 5, 0),
    "input off by one bit": Bug("dense", "v2[5:0] = model_inp[17:12]", "v2[5:0] = model_inp[16:11]", 2, 0),
    "stage skipped by one bit": Bug(
        "mlp",
        "model_out <= stage4_out;",
        "model_out <= {stage4_out[31:1], stage4_inp[0]};",
        None,
        0,
        form="pipelined verilog",
        kind="cone",
    ),
    "a register too many in one output": Bug(
        "mlp",
        "model_out <= stage4_out;",
        "late <= stage4_out[31:20];\n        model_out <= {late, stage4_out[19:0]};\n    end\n"
        "    reg [11:0] late;\n    initial begin",
        None,
        1,
        form="pipelined verilog",
        kind="timing",
    ),
    "constant off by one, VHDL": Bug("dense", '"101000"', '"101001"', 24, 0, form="vhdl"),
    "operands swapped, VHDL": Bug(
        "dense",
        "in0=>v7,in1=>v8,",
        "in0=>v8,in1=>v7,",
        14,
        2,
        form="vhdl",
    ),
    "mux inverted, VHDL": Bug("choices", "key=>v9(0)", "key=>not v9(0)", 14, 0, form="vhdl"),
}
