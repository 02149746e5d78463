"""A value that is X in simulation is undefined in a proof, even if it cancels out.

A block that never runs assigns nothing. The program is the sum of two inputs of four bits. RTL in the first list
simulates as that sum; in the second list, some bits are X in simulation. The latter were once proved, when rules that
hold for all values were applied to undefined ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import needs_yosys
from support.adder import ADDER
from support.adder_rtl import SUM
from support.said import as_recorded

from dais_verif.base.verdict import Verdict

RIGHT = {
    "an undriven wire that nothing needs": f"wire [4:0] n; reg [4:0] y; always @* y = {SUM}; assign model_out = y;",
    "a default that is never taken": f"""reg [4:0] y; wire n; always_comb case (model_inp[1:0])
        0, 1, 2: y = {SUM}; 3: y = {SUM}; default: y = 'x; endcase assign model_out = y;""",
    "and a sum of it": """reg [3:0] y; wire n; always_comb case (model_inp[1:0])
        0, 1, 2: y = model_inp; 3: y = model_inp; default: y = 'x; endcase assign model_out = y + model_inp[7:4];""",
    "X that is overwritten": f"reg [4:0] y; always_comb begin y = 'x; y = {SUM}; end assign model_out = y;",
    "a full case beside something undefined": f"""reg [4:0] y; wire n; wire [1:0] s = model_inp; always @*
        case (s) 0, 1, 2: y = {SUM}; 3: y = {SUM}; endcase assign model_out = y;""",
    "a condition that does not matter": f"reg [4:0] y; wire n; always_comb if (n) y = {SUM}; else y = {SUM};"
    " assign model_out = y;",
    "bits that an AND takes out": f"wire [4:0] n; assign model_out = ({SUM}) + ((n & 5'd0) | (5'd0 & n));",
    "bits that an OR decides": f"wire [4:0] n; assign model_out = ({SUM}) + ~(n | 5'd31);",
    "bits that are shifted out": f"wire [4:0] n; assign model_out = ({SUM}) + ((n - n) << 7);",
    "bits beside others": f"wire [2:0] n; wire [7:0] b = {{n, 5'({SUM})}}; assign model_out = b[4:0];",
    "an index that is always inside": """reg [3:0] t [0:2]; wire n; wire [1:0] i = model_inp[0];
        initial begin t[0] = 0; t[1] = 1; t[2] = 2; end
        assign model_out = {model_inp[3:1], 1'b0} + t[i] + model_inp[7:4];""",
    "a variable of a function": f"""function automatic [4:0] f(input [7:0] model_inp); reg [4:0] t; t = {SUM}; f = t;
        endfunction assign model_out = f(model_inp);""",
}
UNDEFINED = {
    "exclusive or": f"wire [4:0] n; assign model_out = ({SUM}) ^ n ^ n;",
    "exclusive or in a block": f"wire [4:0] n; reg [4:0] y; always @* y = ({SUM}) ^ n ^ n; assign model_out = y;",
    "exclusive or through signals": f"""wire [4:0] n; reg [4:0] y, z; always_comb begin z = n; if (model_inp[0]) z = n;
        y = ({SUM}) ^ z; y = y ^ n; end assign model_out = y;""",
    "a difference": f"wire [4:0] n; assign model_out = ({SUM}) + n - n;",
    "the high bits of a summand": "wire [3:0] n; wire [8:0] s = {n, model_inp[3:0]} + model_inp[7:4];"
    " assign model_out = {model_inp[3:0] + model_inp[7:4] > 15, s[3:0]};",
    "times nothing": f"wire [4:0] n; assign model_out = ({SUM}) + n * 5'd0;",
    "a comparison with itself": f"wire [4:0] n; assign model_out = ({SUM}) + (n != n);",
    "a comparison that cannot hold": f"wire [4:0] n; assign model_out = ({SUM}) + (n < 5'd0);",
    "an OR with the opposite": f"wire [4:0] n; assign model_out = ({SUM}) & (n | ~n);",
    "a shift of nothing": f"wire [4:0] n; assign model_out = ({SUM}) + (5'd0 >> n);",
    "a table with the same words": f"wire n; wire [9:0] t = {{5'd0, 5'd0}}; assign model_out = ({SUM}) + t[n*5 +: 5];",
    "a remainder by 1": f"wire [4:0] n; assign model_out = ({SUM}) + n % 5'd1;",
    "a count": f"wire n; assign model_out = ({SUM}) + ($countones({{n, ~n}}) - 1);",
    "is it one of two": f"wire n; assign model_out = ({SUM}) + (n inside {{1'b0, 1'b1}}) - 1'b1;",
    "case equality": f"wire n; assign model_out = ({SUM}) + ((n ^ n) !== 1'b0);",
    "a full case": f"""reg [4:0] y; wire n; always_comb case (n) 0: y = {SUM}; 1: y = {SUM}; endcase
        assign model_out = y;""",
    "returns from a full case": f"""wire n; function automatic [4:0] f(input [7:0] model_inp, input n);
        case (n) 0: return {SUM}; 1: return {SUM}; endcase endfunction assign model_out = f(model_inp, n);""",
    "a variable before it is assigned": f"""reg [4:0] t, y; always @* begin y = ({SUM}) + (t ^ t); t = y; end
        assign model_out = y;""",
    "a variable of a function": f"""function automatic [4:0] f(input [7:0] model_inp); reg [4:0] t;
        f = ({SUM}) + (t & ~t); endfunction assign model_out = f(model_inp);""",
    "a static variable of a function": f"""function [4:0] f(input [7:0] model_inp); reg [4:0] t;
        f = ({SUM}) + (t & ~t); endfunction assign model_out = f(model_inp);""",
    "what a task returns": f"""reg [4:0] y, z; task t(output [4:0] o); o = o ^ o; endtask
        always_comb begin t(z); y = ({SUM}) + z; end assign model_out = y;""",
    "gates": "wire n, a, b; xor (a, n, n); and (b, n, a); assign model_out = {4'd0, b ^ b} + (" + SUM + ");",
    "a port without a net": f"""wire [4:0] y; five f(.y(y)); assign model_out = ({SUM}) + (y - y);
        endmodule module five(input [4:0] n, output reg [4:0] y); always @* y = n;""",
    "beyond a vector": f"wire [2:0] i = model_inp; wire [4:0] t = 5'd0; wire n = t[i];"
    f" reg [4:0] y; always_comb y = ({SUM}) + (n ^ n); assign model_out = y;",
}
CLOCKED = "reg [4:0] q; always @(posedge clk) q <= {}; assign model_out = q;"
#: always @* blocks in which simulators optimise away all that is read.
ASLEEP = {
    "a bit that is shifted out": "always @* z = model_inp[2] >>> 63;",
    "two of them": "reg k; always @* begin k = model_inp[2] >>> 63; z = k; end",
    "in a branch": "always @* begin if (model_inp[2] >>> 63) z = 1; else z = 0; end",
    "nonblocking": "always @* z <= model_inp[2] >>> 63;",
    "a branch that is never taken": "always @* begin z = 0; if (0) z = model_inp[2]; end",
    "a function of constants": "function f(input a); f = a; endfunction always @* z = f(model_inp[2] >>> 63);",
    "a choice": "always @* z = 1'b1 ? 1'b0 : model_inp[2];",
    "an array": "reg k [0:1]; always @* begin k[0] = 0; k[1] = 0; z = k[model_inp[2] >>> 63]; end",
}
AWAKE = {
    "always_comb": "always_comb z = model_inp[2] >>> 63;",
    "something is left": "reg k; always @* begin k = model_inp[2] >>> 63; z = k | (model_inp[1] & ~model_inp[1]); end",
    "an AND with nothing": "always @* z = model_inp[2] & 1'b0;",
    "times nothing": "always @* begin z = 0; z = z | (model_inp[2] * 0); end",
    "a comparison that cannot hold": "always @* z = model_inp[7:4] > 4'd15;",
    "a constant wire": "wire k = 0; always @* z = k;",
    "a listed one": "wire k = 0; always @(k) z = k;",
    "one of two": "reg k; always @* begin z = 0; k = model_inp[2]; end",
}
#: A signal that is X for some vectors: if these come first, a block that waits for the signal sees no change.
SOMETIMES = "reg [4:0] n; wire [4:0] w = model_inp[0] ? n : model_inp[7:3]; reg [4:0] k;"
NEVER_RAN = {
    "one assignment": "always @* k = w & 5'd0;",
    "of a bit": "always @* k = w[3] & 1'b0;",
    "of two signals": "wire [4:0] v = model_inp[1] ? n : 5'd1; always @* k = w & v & 5'd0;",
    "executed": "always @* begin k = w; k = k & 5'd0; end",
    "a constant beside it": "reg z; always @* begin z = w[0]; k = 5'd0; end",
    "a constant choice": "parameter P = 0; always @* if (P == 1) k = model_inp[1]; else k = w & 5'd0;",
    "a list": "always @(w) k = w & 5'd0;",
    "a list, executed": "always @(w) begin k = w; k = k & 5'd0; end",
    "nonblocking": "always @* k <= w & 5'd0;",
}
RAN = {
    "always_comb": "always_comb k = w & 5'd0;",
    "always_comb, executed": "always_comb begin k = w; k = k & 5'd0; end",
    "for another signal": "always @* k = (w & 5'd0) | (model_inp[1] & 1'b0);",
    "for another signal, executed": "always @* begin k = model_inp[1]; k = w & 5'd0; end",
    "for another signal, where it would read itself if a constant were another": (
        "parameter P = 0; wire [4:0] d = ~k, u = model_inp[0] ? model_inp[7:3] : n;"
        " always @* if (P == 1 && w[0]) k = d; else begin k = w; k = k & u & 5'd0; end"
    ),
    "for another listed signal": "always @(w or model_inp) k = w & 5'd0;",
    "for a bit of an array that is no X": "wire [1:0][4:0] two = {5'd1, w}; always @* k = two[0] & 5'd0;",
    "for a bit that is no X": "wire [5:0] v = {model_inp[1], w}; always @* k = v & 5'd0;",
}


def proved(body: str, folder: Path, *options: object, ports: str = "") -> Verdict:
    text = f"module model({ports}input [7:0] model_inp, output [4:0] model_out);\n{body}\nendmodule\n"
    return Verdict(run_prove(ADDER, folder, *options, rtl=text).tree["verdict"])


@pytest.mark.parametrize("name", RIGHT)
def test_what_does_not_depend_on_it_is_proved(name: str, tmp_path: Path) -> None:
    assert proved(RIGHT[name], tmp_path) is Verdict.PASS


@pytest.mark.few(3)
@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_x_in_simulation_is_not(name: str, tmp_path: Path) -> None:
    assert proved(UNDEFINED[name], tmp_path) is not Verdict.PASS


@pytest.mark.few(2)
@needs_yosys
@pytest.mark.parametrize("name", ["exclusive or in a block", "the high bits of a summand", "case equality", "gates"])
def test_nor_for_yosys(name: str, tmp_path: Path) -> None:
    assert proved(RIGHT["bits that an OR decides"], tmp_path / "right", "--front-end", "yosys") is Verdict.PASS
    assert proved(UNDEFINED[name], tmp_path / "undefined", "--front-end", "yosys") is not Verdict.PASS


@pytest.mark.parametrize("value", [f"({SUM}) ^ n ^ n", f"({SUM}) + (n - n)", f"({SUM}) + n * 0"])
def test_nor_is_what_a_register_takes_in(value: str, tmp_path: Path) -> None:
    def pipelined(value: str, folder: Path) -> Verdict:
        text = "wire [4:0] n; " + CLOCKED.format(value)
        return proved(text, folder, "--clock", "clk", "--latency", 1, ports="input clk, ")

    assert pipelined(SUM, tmp_path / "right") is Verdict.PASS
    assert pipelined(value, tmp_path / "undefined") is not Verdict.PASS


@pytest.mark.parametrize("name", ASLEEP)
def test_a_block_that_waits_for_nothing_is_refused(name: str, tmp_path: Path) -> None:
    text = f"reg z; {ASLEEP[name]} assign model_out = {SUM} + z;"
    run = run_prove(
        ADDER, tmp_path, rtl=f"module model(input [7:0] model_inp, output [4:0] model_out);{text} endmodule"
    )
    as_recorded(run.stderr)


@pytest.mark.parametrize("name", AWAKE)
def test_one_that_waits_for_something_is_not(name: str, tmp_path: Path) -> None:
    assert proved(f"reg z; {AWAKE[name]} assign model_out = {SUM} + z;", tmp_path) is Verdict.PASS


def test_what_simulation_makes_right_by_chance_is_no_defect_to_report(tmp_path: Path) -> None:
    """A value that simulation makes right by chance is UNKNOWN, and is not reported as a defect.

    ``if`` takes the else branch where its condition is X, which hardware need not do.
    """
    body = f"reg [4:0] y; wire n; always_comb if (n) y = 0; else y = {SUM}; assign model_out = y;"
    text = f"module model(input [7:0] model_inp, output [4:0] model_out);\n{body}\nendmodule\n"
    run = run_prove(ADDER, tmp_path, rtl=text)
    assert run.ending == ("UNKNOWN", 6)
    assert "signal " in run.tree["message"] and "report" not in run.tree["message"]
    as_recorded(run.tree["message"])


@pytest.mark.few(3)
@pytest.mark.parametrize("name", NEVER_RAN)
def test_a_block_whose_reads_are_x_has_not_run(name: str, tmp_path: Path) -> None:
    body = f"{SOMETIMES} {NEVER_RAN[name]} assign model_out = ({SUM}) + k;"
    assert proved(body, tmp_path) is Verdict.X_IN_OUTPUT


@pytest.mark.parametrize("name", RAN)
def test_a_block_that_something_wakes_has_run(name: str, tmp_path: Path) -> None:
    body = f"{SOMETIMES} {RAN[name]} assign model_out = ({SUM}) + k;"
    assert proved(body, tmp_path) is Verdict.PASS
