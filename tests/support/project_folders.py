"""Project folders as da4ml and alkaid write them, with hand-written RTL, so that neither needs to be installed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

__all__ = ["FUNCTION", "alkaid_folder", "da4ml_folder", "edit_json"]

_HALVES = [-4.0, 3.5, 0.5]

#: ``relu(x + y)`` of two inputs s4.1, in da4ml's JSON.
FUNCTION = [
    [2, 1],
    [0, 0],
    [3],
    [0],
    [False],
    [
        [0, -1, -1, 0, _HALVES, 0.0, 0.0],
        [1, -1, -1, 0, _HALVES, 0.0, 0.0],
        [0, 1, 0, 0, [-8.0, 7.0, 0.5], 1.0, 1.0],
        [2, -1, 2, 0, [0.0, 7.0, 0.5], 2.0, 1.0],
    ],
    -1,
    -1,
]

#: The same function in ALIR, as alkaid 0.8 writes it.
_ALIR = {
    "model": [
        *FUNCTION[:5],
        [
            [[], -1, [0], _HALVES, 0.0, 0.0],
            [[], -1, [1], _HALVES, 0.0, 0.0],
            [[0, 1], 0, [0], [-8.0, 7.0, 0.5], 1.0, 1.0],
            [[2], 2, [], [0.0, 7.0, 0.5], 2.0, 1.0],
        ],
        -1,
        -1,
    ],
    "meta": "ALIRModel",
    "spec_version": 4,
}

_ADDER = """\
module summed(input [3:0] a, input [3:0] b, output [4:0] c);
    assign c = {a[3], a} + {b[3], b};
endmodule
"""

_LOGIC = """\
module NAME(input [7:0] model_inp, output [3:0] model_out);
    wire [4:0] v2;
    summed op_2(.a(model_inp[3:0]), .b(model_inp[7:4]), .c(v2));
    assign model_out = v2[4] ? 4'd0 : v2[3:0];
endmodule
"""

_PIPELINE = """\
module NAME(
    input clk,
    input [7:0] model_inp,
    output reg [3:0] model_out
);
    reg [7:0] taken;
    wire [3:0] given;
    LOGIC stage(.model_inp(taken), .model_out(given));
    always @(posedge clk) begin
        taken <= model_inp;
        model_out <= given;
    end
endmodule
"""

_WRAPPER = """\
module NAME_wrapper(input [7:0] model_inp, output [3:0] model_out);
endmodule
"""

_VHDL = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity NAME is port(
    model_inp: in std_logic_vector(7 downto 0);
    model_out: out std_logic_vector(3 downto 0)
);
end entity NAME;
architecture rtl of NAME is
    signal v2: signed(4 downto 0);
begin
    v2 <= resize(signed(model_inp(3 downto 0)), 5) + resize(signed(model_inp(7 downto 4)), 5);
    model_out <= "0000" when v2(4) = '1' else std_logic_vector(v2(3 downto 0));
end architecture rtl;
"""


def da4ml_folder(folder: Path, top: str = "layer", *, pipelined: bool = False, flavor: str = "verilog") -> Path:
    """Write a folder as da4ml 0.6 does; a pipeline has one stage between two registers."""
    logic = f"{top}_stage0" if pipelined else top
    metadata: dict[str, Any] = {"cost": 2.0, "flavor": flavor, "part_name": "x", "adder_size": -1, "carry_size": -1}
    files = {"model/comb.json": json.dumps(FUNCTION)}
    if flavor == "vhdl":
        files |= {f"src/{top}.vhd": _VHDL.replace("NAME", top), f"src/{top}_wrapper.vhd": "-- of no use here\n"}
        files |= {f"src/{top}_wrapper.vhd": f"entity {top}_wrapper is end entity;\n"}
    else:
        files |= {f"src/{logic}.v": _LOGIC.replace("NAME", logic), "src/static/summed.v": _ADDER}
        files |= {f"src/{top}_wrapper.v": _WRAPPER.replace("NAME", top)}
    if pipelined:
        metadata["latency"] = 1
        files[f"src/{top}.v"] = _PIPELINE.replace("NAME", top).replace("LOGIC", logic)
        files["model/pipeline.json"] = json.dumps([[FUNCTION]])
        files[f"sim/{top}_wrapper_binder.cc"] = "    static const size_t latency = 1;\n"
    files["metadata.json"] = json.dumps(metadata)
    return _write(folder, files)


def alkaid_folder(folder: Path, top: str = "top", *, pipelined: bool = False) -> Path:
    """Write a folder as alkaid 0.8 does."""
    metadata = {"flavor": "verilog", "top_module": top, "part_name": "x", "signal_count": 2}
    files: dict[str, str | bytes] = {
        "model/comb.json.gz": gzip.compress(json.dumps(_ALIR).encode()),
        "model/fsm.json.gz": gzip.compress(json.dumps({"meta": "ALIRFSM", "spec_version": 4, "fsm": {}}).encode()),
        "src/logic0.v": _LOGIC.replace("NAME", "logic0"),
        "src/static/summed.v": _ADDER,
        f"src/{top}_wrapper.v": _WRAPPER.replace("NAME", top),
    }
    if pipelined:
        metadata["latency"] = 1
        files[f"src/{top}.v"] = _PIPELINE.replace("NAME", top).replace("LOGIC", "logic0")
    else:
        instance = "    logic0 _inst_logic0(.model_inp(model_inp), .model_out(model_out));\n"
        files[f"src/{top}.v"] = f"module {top}(input [7:0] model_inp, output [3:0] model_out);\n{instance}endmodule\n"
    files["metadata.json"] = json.dumps(metadata)
    return _write(folder, files)


def edit_json(path: Path, **values: object) -> None:
    """Set keys of the object in the file ``path``; one that is None is removed."""
    tree = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({key: value for key, value in tree.items() if value is not None}))


def _write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
