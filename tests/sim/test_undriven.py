"""RTL whose outputs depend on X, though Icarus and a two-state run of Verilator agree with the program."""

from __future__ import annotations

from pathlib import Path

from dais_verif.spec.program import assemble
from tests.support.door import run_sim

#: The ways in which X decides between right and wrong bits; Icarus takes the branch for 0, as a run of Verilator does.
WAYS = {
    "an undriven wire in a condition": "wire n0; always @* if (n0) y0 = ~x; else y0 = x;",
    "an undriven case subject": "wire [1:0] n1; always @* case (n1) 1, 2, 3: y1 = ~x; default: y1 = x; endcase",
    "an undriven casez subject": "reg n2; always @* casez ({n2, 1'b0}) 2'b1?: y2 = ~x; default: y2 = x; endcase",
    "an undriven loop bound": "integer i; reg n3; always @* begin y3 = x; for (i = 0; i < n3; i = i + 1) y3 = 9; end",
    "a latch": "reg q4; always @* if (x[0] & ~x[0]) q4 = x[1]; always @* if (q4) y4 = ~x; else y4 = x;",
    "a memory that nothing writes": "reg m5 [0:15]; always @* if (m5[x]) y5 = ~x; else y5 = x;",
    "an undriven bit": "wire [1:0] n6; assign n6[0] = 1'b0; always @* if (n6[1]) y6 = ~x; else y6 = x;",
    "an index out of range": "wire [2:0] n7 = 3'd0; always @* if (n7[x[1:0]]) y7 = ~x; else y7 = x;",
    "nothing": "always @* y8 = x;",
}  # fmt: skip


def rtl() -> str:
    count = len(WAYS)
    registers = ", ".join(f"y{k}" for k in range(count))
    outputs = ", ".join(f"y{k}" for k in reversed(range(count)))
    return f"""module model(input [3:0] model_inp, output [{4 * count - 1}:0] model_out);
wire [3:0] x = model_inp;
reg [3:0] {registers};
{chr(10).join(WAYS.values())}
assign model_out = {{{outputs}}};
endmodule
"""


def program() -> str:
    return "input x\na = u4.0 input x\n" + "".join(f"output y{k} = a\n" for k in range(len(WAYS)))


def test_what_nothing_drives_is_x(tmp_path: Path) -> None:
    run = run_sim(assemble(program()), tmp_path, "--vectors", 300, rtl=rtl(), simulator="both")
    assert run.ending == ("X_IN_OUTPUT", 4)
    found = {result["name"]: (result["vectors_with_x"], result["mismatches"]) for result in run.record["simulators"]}
    assert found["icarus"] == (0, 0) and found["verilator"][0] >= 300
    grades = {way: output["grade"] for way, output in zip(WAYS, run.record["outputs"], strict=True)}
    assert [way for way, grade in grades.items() if grade != "wrong"] == ["nothing"]
    assert run.blame["kind"] == "undriven" and "n0 (design.v:" in run.blame["text"]


def test_a_pass_names_what_nothing_drives(tmp_path: Path) -> None:
    source = "input x\na = u4.0 input x\noutput y = a\n"
    text = """module model(input [3:0] model_inp, output reg [3:0] model_out);
wire [99:0] rare;
always @* if (rare == 100'd77) model_out = 0; else model_out = model_inp;
endmodule
"""
    run = run_sim(assemble(source), tmp_path, "--vectors", 20, rtl=text, simulator="verilator")
    assert run.ending == ("PASS", 0) and "rare (design.v:2)" in run.record["message"]
