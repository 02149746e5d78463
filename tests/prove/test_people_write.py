"""RTL as people write it, which simulates as it synthesizes: read as what it computes, and a wrong twin as another."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import elaborated, needs_yosys, term_of
from prove.test_several_files import ADDER
from prove.test_storage import SUMS, clocked, combinational, values

from dais_verif.errors import InputError
from dais_verif.prover.terms import leaves

A, B = "IN[3:0]", "IN[7:4]"
CASES = " ".join(f"{n}: OUT = {A} + {n};" for n in range(16))
LOOP = f"OUT = {B}; for (int i = 0; i < 16; i++)"

#: Each computes the sum; and what is replaced in it by what, so that it does not.
DESIGNS = {
    "a function with variables": (
        f"function automatic [4:0] f(input [3:0] a, b); logic [4:0] t; t = a; t = t + b; f = t; endfunction"
        f" always_comb OUT = f({A}, {B});",
        ("t + b", "t - b"),
    ),
    "a full case": (f"always_comb case ({B}) {CASES} endcase", ("+ 15;", "+ 14;")),
    "a full casez": (
        f"always_comb casez ({B}) 4'b1???: OUT = {A} + {B}; 4'b0?1?, 4'b0?0?: OUT = {B} + {A}; endcase",
        (f"{B} + {A}", f"{B} - {A}"),
    ),
    "a default that is not reached": (
        f"always_comb case ({B}) {CASES} default: OUT = 'x; endcase",
        ("15: OUT", "14: OUT"),
    ),
    "an X first": (f"always_comb begin OUT = 5'bx; OUT = {A} + {B}; end", (f"OUT = {A} + {B};", "OUT[3:0] = IN;")),
    "a decoder": (
        f"logic [15:0] hot; always_comb begin hot = 0; hot[{B}] = 1'b1; OUT = {A};"
        " for (int i = 0; i < 16; i++) if (hot[i]) OUT = OUT + i; end",
        ("hot[IN[7:4]] = 1'b1", "hot[IN[6:4]] = 1'b1"),
    ),
    "parts at a variable place": (
        f"logic [31:0] t; always_comb begin t = 0; t[IN[5:4] * 8 +: 8] = {A} + {B}; OUT = t[IN[5:4] * 8 +: 5]; end",
        ("t[IN[5:4] * 8 +: 5]", "t[IN[4] * 8 +: 5]"),
    ),
    "an element of an array": (
        f"logic [4:0] t [0:3]; always_comb begin foreach (t[i]) t[i] = {A}; t[IN[5:4]] = {A} + {B}; OUT = t[IN[5:4]];"
        " end",
        ("OUT = t[IN[5:4]]", "OUT = t[IN[4]]"),
    ),
    "gates": (
        "wire [4:0] c; assign c[0] = 0; for (genvar i = 0; i < 4; i++) begin : bits wire p, g, t; supply0 low;"
        " xor (p, IN[i], IN[i + 4]); xor (OUT[i], p, c[i], low); and (g, IN[i], IN[i + 4]); nand n(t, p, c[i]);"
        " wire u; not (u, t); or (c[i + 1], g, u); end buf (OUT[4], c[4]);",
        ("nand n", "nor n"),
    ),
    "nets that are pulled": (
        "tri1 [4:0] t; tri0 [4:0] u; tri0 [4:0] v = sum; assign t = v; tri1 w; assign OUT = t + u + w - 1;",
        ("tri1 w", "tri0 w"),
    ),
    "a variable in a branch": (
        f"always_comb begin OUT = {A}; if ({B} != 0) begin automatic logic [4:0] t = {B}; OUT = OUT + t; end end",
        ("OUT + t", "OUT - t"),
    ),
    "a task": (
        f"task automatic add(input [3:0] a, b, output [4:0] y); if (a == 0) begin y = b; return; end y = a + b;"
        f" endtask always_comb add({A}, {B}, OUT);",
        ("y = b", "y = a"),
    ),
    "a while": (
        f"logic [4:0] n; always_comb begin OUT = {A}; n = 0; while (n < 16 && n < {B}) begin OUT = OUT + 1; n++; end"
        " end",
        ("n < 16", "n < 14"),
    ),
    "do and repeat": (
        f"logic [4:0] n; always_comb begin OUT = 0; n = 0; do begin OUT = OUT + IN[n[1:0] +: 1] * (1 << n); n++;"
        f" end while (n < 4); repeat (1) OUT = OUT + {B}; end",
        ("while (n < 4)", "while (n < 3)"),
    ),
    "a break": (
        f"always_comb begin {LOOP} begin if (i == {A}) break; OUT = OUT + 1; end end",
        (f"i == {A}", f"i == {A} + 1"),
    ),
    "a continue": (
        f"always_comb begin {LOOP} begin if (i >= {A}) continue; OUT = OUT + 1; end end",
        ("continue", "break; OUT = OUT + 0; if (i == 3) continue"),
    ),
    "a loop that only a break ends": (
        f"function automatic [4:0] f(input [3:0] a, b); f = a; for (int i = 0;; i++) begin if (i == b) break; f++;"
        f" if (i == 15) break; end endfunction always_comb OUT = f({A}, {B});",
        ("i == b", "i == a"),
    ),
    "an early return": (
        f"function automatic [4:0] f(input [3:0] a, b); for (int i = 0; i < 16; i++) begin if (i > 20) break;"
        f" if (a == i) return b + i; end return 0; endfunction always_comb OUT = f({A}, {B});",
        ("i < 16", "i < 15"),
    ),
    "a block around a loop is left": (
        f"always_comb begin OUT = {B}; begin : all for (int i = 0; i < 16; i++) begin if (i == {A}) disable all;"
        f" OUT = OUT + 1; end end end",
        (f"i == {A}", f"i == {A} + 1"),
    ),
    "a turn of a loop is left": (
        f"always_comb begin {LOOP} begin : turn if (i >= {A}) disable turn; OUT = OUT + 1; end end",
        ("i >=", "i >"),
    ),
    "the outer one of two blocks is left": (
        f"always @* begin : outer OUT = {A}; begin : inner if ({B} == 0) disable outer; OUT = OUT + {B}; end"
        " OUT = OUT - 1; OUT = OUT + 1; end",
        ("disable outer; OUT", "disable inner; OUT = 7; OUT"),
    ),
    "a function's block is left": (
        "function automatic [4:0] f(input [3:0] a, b); begin : all f = a; if (b == 0) disable all; f = a + b; end"
        f" endfunction always_comb OUT = f({A}, {B});",
        ("b == 0", "b == 1"),
    ),
    "counted bits": (
        f"logic [15:0] some; logic [16:0] more; always_comb begin some = (1 << {A}) - 1; more = (1 << {B}) - 1;"
        " OUT = $countbits(some, '1) + 17 - $countbits(more, 1'b0) + $countbits(4'd0, 0, 1) - 4; end",
        ("(some, '1)", "(some, '1, '0)"),
    ),
    "assertions": (
        f"always_comb begin OUT = {A}; cover (IN); assert (OUT < 16) else $error(\"no\"); OUT = OUT + {B};"
        " assert #0 (OUT < 31); late: assert final (OUT < 31); end property p(x); int l; @(posedge IN[0]) (x, l = 3)"
        " |-> l; endproperty assert property (p(IN[1])) else begin $display(\"no\"); $fatal; end sequence s;"
        " IN[0] ##1 IN[1]; endsequence default clocking cb @(posedge IN[0]); endclocking cover sequence (s);"
        " cover property (IN[1]);"
        " assert final (1); always @(negedge IN[1]) if (IN[2]) assert (IN); final assert (1); initial assert (1);",
        ("OUT + IN", "OUT - IN"),
    ),
    "a loop in a branch": (
        f"integer i; always @(IN) begin OUT = {A}; if ({B} != 0) for (i = 0; i < 4; i = i + 1)"
        f" OUT = OUT + (IN[4 + i] << i); end",
        ("i < 4", "i < 3"),
    ),
    "inside": (
        f"always_comb if ({A} inside {{0, [1:6], 4'b1??1, 7, 8, 10, 12, 14}}) OUT = {A} + {B}; else OUT = 0;",
        ("[1:6]", "[1:5]"),
    ),
    "case inside": (
        f"always_comb case ({A}) inside [0:7]: OUT = {B} + IN[2:0]; 4'b1???: OUT = {B} + {A}; default: OUT = 'x;"
        " endcase",
        ("[0:7]", "[0:8]"),
    ),
    "a wildcard": (
        f"assign OUT = {A} ==? 4'b1?x? ? {B} + {A} : {A} !=? 4'b1??? ? {A} + {B} : 3;",
        ("1??? ?", "0??? ?"),
    ),
    "a step": (f"always_comb begin OUT = {A} + {B}; OUT++; OUT -= 1; end", ("OUT++", "OUT--")),
    "a counter of the module": (
        f"integer i; always_comb begin i = 0; for (; i < 16 && i < {B}; i = i + 1) ; end assign OUT = {A} + i;",
        ("i < 16", "i < 14"),
    ),
    "powers and counts": (
        f"logic [15:0] ones; always_comb begin ones = 2**{A} - 1; OUT = $countones(ones) + $clog2(2**{B}); end",
        ("$clog2(2**", "$onehot(2**"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNS)
def test_it_is_read_as_what_it_computes(name: str, tmp_path: Path) -> None:
    body, (old, new) = DESIGNS[name]
    assert values(combinational(body), tmp_path) == SUMS
    assert old in body
    try:
        assert values(combinational(body.replace(old, new)), tmp_path) != SUMS
    except InputError as error:
        assert "latch" in str(error)


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (DESIGNS["a default that is not reached"][0], ("15: OUT = IN[3:0] + 15;", "")),
        (DESIGNS["a task"][0], DESIGNS["a task"][1]),
        (DESIGNS["gates"][0], DESIGNS["gates"][1]),
        pytest.param(DESIGNS["a decoder"][0], DESIGNS["a decoder"][1], marks=pytest.mark.slow),
        pytest.param(DESIGNS["a break"][0], DESIGNS["a break"][1], marks=pytest.mark.slow),
    ],
    ids=["a default", "a task", "gates", "a decoder", "a break"],
)
def test_it_is_proved_and_its_wrong_twin_is_not(body: str, wrong: tuple[str, str], tmp_path: Path) -> None:
    text = combinational(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    run = run_prove(ADDER, tmp_path, rtl=text.replace(*wrong))
    assert run.tree["verdict"] != "PASS" and run.exit_code != 0
    assert run.statuses("output")[0] == "REFUTED"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (f"always_ff @(posedge clk) case ({B}) {CASES.replace(' = ', ' <= ')} endcase", ("15: OUT", "14: OUT")),
        (f"always_ff @(posedge clk) begin OUT <= {A}; if ({B} != 0) OUT <= {A} + {B}; end", ("!= 0", "!= 1")),
        (f"task load; OUT <= {A} + {B}; endtask always @(posedge clk) begin load; end", ("] + IN", "] - IN")),
        (
            f"always_ff @(posedge clk) begin : all OUT <= {A}; if ({B} == 0) disable all; OUT <= {A} + {B};"
            f" assert (OUT < 31); end assert property (@(posedge clk) OUT < 31);",
            ("disable all", "disable all; else if (IN[0]) disable all"),
        ),
    ],
    ids=["a full case", "two assignments", "a task", "a block that is left"],
)
def test_registers(body: str, wrong: tuple[str, str], tmp_path: Path) -> None:
    text = clocked(body).replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text.replace(*wrong))
    assert run.exit_code != 0, run.tree["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"always_comb case ({B}) {CASES.replace('15: OUT = IN[3:0] + 15;', '')} endcase", "makes it a latch"),
        (f"always_comb casez ({B}) 4'b1???: OUT = sum; 4'b0??1: OUT = sum; endcase", "makes it a latch"),
        (f"always_comb OUT[{A}] = 1;", "makes it a latch"),
        ("task automatic t; OUT = IN[3:0] + IN[7:4]; endtask always @* if (IN[0]) t; else t;", "reads 'IN'"),
        ("task t(input a, output [4:0] y); if (a) y = 1; endtask always_comb t(IN, OUT);", "before it is assigned"),
        ("wire [4:0] t [0:999999]; assign t[0] = sum; assign OUT = t[0];", "is a large array"),
        ("wire signed [3:0] s = IN; assign OUT = s inside {[-3:2]} ? sum : 0;", "simulators differ"),
        ("always_comb case (IN) 4'sb1000: OUT = 1; default: OUT = sum; endcase", "simulators differ"),
        (
            "wire signed [3:0] s = IN; always_comb case (IN) s: OUT = 1; default: OUT = sum; endcase",
            "simulators differ",
        ),
        (
            "localparam signed [3:0] P = 4'sb1??0; always @* casez (IN) P: OUT = 1; default: OUT = sum; endcase",
            "simulators differ",
        ),
        ("task automatic t(output signed [2:0] y); y = 1; endtask always_comb t(OUT);", "simulators differ"),
        ("task automatic t(ref logic [4:0] y); y = 1; endtask always_comb t(OUT);", "by reference"),
        (f"always_comb begin OUT = 0; while (OUT != {A} + {B}) OUT = OUT + 2; end", "depends on a signal"),
        ("int n; always_comb begin n = 0; for (;;) n++; OUT = n; end", "depends on a signal"),
        ("int n; always_comb begin n = 0; while (1) begin n++; if (n > sum) continue; end OUT = n; end", "depends on"),
        ("task automatic t(output [4:0] y); y = sum; endtask always_comb t(OUT);", "task 't' reads 'sum'"),
        ("and #3 (OUT[0], IN[0], IN[1]); assign OUT[4:1] = 0;", "a delay"),
        ("and (strong0, weak1) (OUT[0], IN[0], IN[1]); assign OUT[4:1] = 0;", "a strength"),
        ("assign OUT = sum == 5'bx ? 0 : sum;", "X and Z have no value"),
        ("tri1 [4:0] t; assign t[3:0] = IN[3:0]; assign OUT = t;", "drive all of them"),
        ("tri1 [4:0] t; assign t = IN[0] ? sum : 5'bz; assign OUT = t;", "X and Z have no value"),
        ("tri1 t; assign t = IN[0]; assign t = IN[1]; assign OUT = t;", "also driven at"),
        ("reg [3:0] t [0:9999999]; reg [3:0] u [0:9999999]; assign OUT = sum;", "arrays before it have 20,000,000"),
        ("supply1 v; assign v = IN[0]; assign OUT = v;", "also driven at"),
        ("always_comb begin : a OUT = sum; end always_comb begin : b if (IN[0]) disable a; end", "around it only"),
        ("task automatic t(input a); OUT = 9; if (a) disable t; OUT = 0; endtask always_comb t(IN);", "around it only"),
        ("task automatic t; disable a; endtask always_comb begin : a OUT = sum; t; end", "around it only"),
        ("assign OUT = sum + $countbits(IN, 'x);", "X and Z have no value"),
        ("assign OUT = sum + $countbits(IN, IN[0]);", "with constants"),
        ("always_comb begin logic t; t = 0; assert (IN) else t = 1; OUT = sum + t; end", "and does more"),
        ("always_comb begin int t; t = 0; $display(t++); OUT = sum + t; end", "and does more"),
        ("assert property (@(posedge IN[0]) IN) else OUT = 3;", "and does more"),
        ("event e; always_comb begin OUT = sum; assert (IN) else -> e; end", "and does more"),
        ("always_comb begin OUT = sum; assert (f(IN)); end function bit f(input bit a); OUT = 3; return a;"
         " endfunction", "and does more"),
        ("always_comb begin bit t; t = 0; assert (f(t)); OUT = sum + t; end function bit f(output bit a); a = 1;"
         " return a; endfunction", "and does more"),
        ("clocking cb @(posedge IN[0]); input sum; endclocking assign OUT = sum;", "at times of its own"),
        ("reg [4:0] m [0:3]; initial begin m[0] = 1; for (int i = 1; i < 4; i++) m[i] = m[0] + i; end"
         " assign OUT = m[IN[1:0]];", "read in an initial block"),
        ("always assert (IN); assign OUT = sum;", "waits for nothing"),
        ("always begin end assign OUT = sum;", "waits for nothing"),
    ],
)  # fmt: skip
def test_what_is_no_logic_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        values(combinational(body), tmp_path)


def test_each_x_is_its_own(tmp_path: Path) -> None:
    """Two values that are not known do not cancel."""
    body = "wire [4:0] u = IN[0] ? 5'bx : 0, v = IN[0] ? 5'bx : 0; assign OUT = sum + (u ^ v);"
    run = run_prove(ADDER, tmp_path, rtl=combinational(body).replace("module dut", "module model"))
    assert run.exit_code != 0, run.tree["message"]


@pytest.mark.parametrize(
    "check",
    ["assume property (@(posedge clk) IN);", "restrict property (@(posedge clk) IN);", "always_comb assume (IN);"],
)
def test_what_narrows_the_inputs_is_refused(check: str, tmp_path: Path) -> None:
    """A wrong sum, which is right for the inputs that are assumed."""
    text = clocked(f"always_ff @(posedge clk) OUT <= sum + !IN; {check}").replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--clock", "clk", rtl=text)
    assert run.ending == ("INVALID_INPUT", 2) and "narrows the inputs" in run.tree["message"]


def test_assertions_that_are_left_out_are_named(tmp_path: Path) -> None:
    body = (
        "always_comb begin OUT = sum;\n assert (OUT < 31);\n cover (OUT); end\n assert property (@(posedge IN[0]) IN);"
    )
    run = run_prove(ADDER, tmp_path, rtl=combinational(body).replace("module dut", "module model"))
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert [name.split(" at ")[0] for name in run.tree["left_out"]] == ["assertion", "cover statement", "assertion"]
    assert "; not proved: assertion at " in run.tree["message"] and "design.v:7" in run.tree["message"]


@needs_yosys
@pytest.mark.parametrize(
    ("check", "left_out"), [("assert", "assertion"), ("cover", "cover statement"), ("assume", None)]
)
def test_checks_as_yosys_reads_them(check: str, left_out: str | None, tmp_path: Path) -> None:
    text = combinational(f"always @* begin OUT = sum; {check} (sum < 31); end").replace("module dut", "module model")
    run = run_prove(ADDER, tmp_path, "--front-end", "yosys", rtl=text)
    if left_out is None:
        assert run.exit_code == 2 and "narrows the inputs" in run.tree["message"], run.tree["message"]
    else:
        assert run.ending == ("PASS", 0) and run.tree["left_out"][0].startswith(left_out), run.tree["message"]


@pytest.mark.parametrize(
    ("place", "safe"), [("t[IN[2:0]]", "t[IN[1:0]]"), ("u[IN[2:0]]", "u[IN[1:0]]"), ("v[0][IN[2:0]]", "v[0][IN[1:0]]")]
)
def test_what_is_stored_beyond_a_vector_is_not_known(place: str, safe: str, tmp_path: Path) -> None:
    """The standard stores nothing, Icarus Verilog beside a part of a vector, Verilator where the lower bits point."""
    body = "logic [3:0] t, u [0:3]; logic [1:0][3:0] v; always_comb begin t = 0; v = 0; foreach (u[i]) u[i] = 0;"
    body += f" {place} = 1; OUT = sum + t + v[1] + u[2]; end"
    for text, known in [(body, False), (body.replace(place, safe), True)]:
        term = term_of(elaborated(combinational(text), tmp_path, "slang"), "model_out")
        assert ("undefined" not in {t.op for t in leaves(term)}) == known


PULLED = "module sub(input tri1 [4:0] i, output [4:0] o); assign o = i; endmodule\n"


def test_an_input_that_is_pulled(tmp_path: Path) -> None:
    """It is so only where nothing is connected; what is connected without a driver is not known."""
    assert values(PULLED + combinational("sub s(.o(OUT));"), tmp_path) == [31] * 256
    assert values(PULLED + combinational("sub s(.i(sum), .o(OUT));"), tmp_path) == SUMS
    open_ended = PULLED + combinational("wire [4:0] w; sub s(.i(w), .o(OUT));")
    term = term_of(elaborated(open_ended, tmp_path, "slang"), "model_out")
    assert {t.op for t in leaves(term)} == {"undefined"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PULLED + combinational("sub s(.i(IN[3:0]), .o(OUT));"), "wider than what it is connected to"),
        (
            "module sub(output tri0 [4:0] o); endmodule\n" + combinational("tri1 [4:0] w; sub s(w); assign OUT = w;"),
            "opposite ways",
        ),
    ],
    ids=["a narrow connection", "two pulls"],
)
def test_a_pull_that_simulators_see_otherwise_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        values(text, tmp_path)


def test_the_top_modules_pulled_input_is_an_input(tmp_path: Path) -> None:
    text = combinational("assign OUT = sum;").replace("input [7:0]", "input tri1 [7:0]")
    assert values(text, tmp_path) == SUMS


def test_a_large_memory(tmp_path: Path) -> None:
    """A loop may fill it, of more turns than other loops have."""
    filled = "reg [4:0] m [0:69999]; integer i; initial for (i = 0; i < 70000; i = i + 1) m[i] = i % 31;"
    assert values(combinational(f"{filled} assign OUT = m[65565 + sum];"), tmp_path) == [x % 31 for x in SUMS]


def test_elements_one_by_one_are_one_array(tmp_path: Path) -> None:
    body = "reg [4:0] t [0:599]; always_comb begin for (int i = 0; i < 600; i++) t[i] = sum + i; OUT = t[320] - t[0]"
    body += " + t[599] - 23; end"
    assert values(combinational(body), tmp_path) == SUMS
