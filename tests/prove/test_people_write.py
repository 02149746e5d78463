"""RTL in the styles that people write is read as what it computes, and a faulty copy of it is read differently."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import elaborated, needs_yosys, term_of
from support.adder import ADDER
from support.adder_rtl import SUMS, clocked, combinational, values
from support.people_write import CASES, DESIGNS, A, B
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, UnsupportedVerilog
from dais_verif.prover.terms import leaves


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
        pytest.param(DESIGNS["a task"][0], DESIGNS["a task"][1], marks=pytest.mark.slow),
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
        (f"always_comb case ({B}) {CASES.replace('15: OUT = IN[3:0] + 15;', '')} endcase", ""),
        (f"always_comb casez ({B}) 4'b1???: OUT = sum; 4'b0??1: OUT = sum; endcase", ""),
        (f"always_comb OUT[{A}] = 1;", ""),
        ("task automatic t; OUT = IN[3:0] + IN[7:4]; endtask always @* if (IN[0]) t; else t;", "reads 'IN'"),
        ("task t(input a, output [4:0] y); if (a) y = 1; endtask always_comb t(IN, OUT);", ""),
        ("wire [4:0] t [0:999999]; assign t[0] = sum; assign OUT = t[0];", ""),
        ("wire signed [3:0] s = IN; assign OUT = s inside {[-3:2]} ? sum : 0;", "simulators"),
        ("always_comb case (IN) 4'sb1000: OUT = 1; default: OUT = sum; endcase", "simulators"),
        (
            "wire signed [3:0] s = IN; always_comb case (IN) s: OUT = 1; default: OUT = sum; endcase",
            "simulators",
        ),
        (
            "localparam signed [3:0] P = 4'sb1??0; always @* casez (IN) P: OUT = 1; default: OUT = sum; endcase",
            "simulators",
        ),
        ("task automatic t(output signed [2:0] y); y = 1; endtask always_comb t(OUT);", "simulators"),
        ("task automatic t(ref logic [4:0] y); y = 1; endtask always_comb t(OUT);", ""),
        (f"always_comb begin OUT = 0; while (OUT != {A} + {B}) OUT = OUT + 2; end", "signal"),
        ("int n; always_comb begin n = 0; for (;;) n++; OUT = n; end", "signal"),
        ("int n; always_comb begin n = 0; while (1) begin n++; if (n > sum) continue; end OUT = n; end", ""),
        ("task automatic t(output [4:0] y); y = sum; endtask always_comb t(OUT);", "task 't' reads 'sum'"),
        ("and #3 (OUT[0], IN[0], IN[1]); assign OUT[4:1] = 0;", "a delay"),
        ("and (strong0, weak1) (OUT[0], IN[0], IN[1]); assign OUT[4:1] = 0;", ""),
        ("assign OUT = sum == 5'bx ? 0 : sum;", r"X.*Z.*value"),
        ("tri1 [4:0] t; assign t[3:0] = IN[3:0]; assign OUT = t;", ""),
        ("tri1 [4:0] t; assign t = IN[0] ? sum : 5'bz; assign OUT = t;", r"X.*Z.*value"),
        ("tri1 t; assign t = IN[0]; assign t = IN[1]; assign OUT = t;", "driven"),
        ("reg [3:0] t [0:9999999]; reg [3:0] u [0:9999999]; assign OUT = sum;", "20,000,000"),
        ("supply1 v; assign v = IN[0]; assign OUT = v;", "driven"),
        ("always_comb begin : a OUT = sum; end always_comb begin : b if (IN[0]) disable a; end", ""),
        ("task automatic t(input a); OUT = 9; if (a) disable t; OUT = 0; endtask always_comb t(IN);", ""),
        ("task automatic t; disable a; endtask always_comb begin : a OUT = sum; t; end", ""),
        ("assign OUT = sum + $countbits(IN, 'x);", r"X.*Z.*value"),
        ("assign OUT = sum + $countbits(IN, IN[0]);", r"0.*1"),
        ("always_comb begin logic t; t = 0; assert (IN) else t = 1; OUT = sum + t; end", "effects"),
        ("always_comb begin int t; t = 0; $display(t++); OUT = sum + t; end", "effects"),
        ("assert property (@(posedge IN[0]) IN) else OUT = 3;", "effects"),
        ("event e; always_comb begin OUT = sum; assert (IN) else -> e; end", "effects"),
        ("always_comb begin OUT = sum; assert (f(IN)); end function bit f(input bit a); OUT = 3; return a;"
         " endfunction", "effects"),
        ("always_comb begin bit t; t = 0; assert (f(t)); OUT = sum + t; end function bit f(output bit a); a = 1;"
         " return a; endfunction", "effects"),
        ("clocking cb @(posedge IN[0]); input sum; endclocking assign OUT = sum;", "times"),
        ("reg [4:0] m [0:3]; initial begin m[0] = 1; for (int i = 1; i < 4; i++) m[i] = m[0] + i; end"
         " assign OUT = m[IN[1:0]];", r"read in.*block"),
        ("always assert (IN); assign OUT = sum;", "timing"),
        ("always begin end assign OUT = sum;", "timing"),
    ],
)  # fmt: skip
def test_what_is_no_logic_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with raises(InputError, match=message):
        values(combinational(body), tmp_path)


def test_each_x_is_its_own(tmp_path: Path) -> None:
    """Two unknown values do not cancel."""
    body = "wire [4:0] u = IN[0] ? 5'bx : 0, v = IN[0] ? 5'bx : 0; assign OUT = sum + (u ^ v);"
    run = run_prove(ADDER, tmp_path, rtl=combinational(body).replace("module dut", "module model"))
    assert run.exit_code != 0, run.tree["message"]


@pytest.mark.parametrize(
    "check",
    ["assume property (@(posedge clk) IN);", "restrict property (@(posedge clk) IN);", "always_comb assume (IN);"],
)
def test_what_narrows_the_inputs_is_refused(check: str, tmp_path: Path) -> None:
    """A sum that is wrong, except for the inputs that the RTL assumes, is refused."""
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
        assert run.exit_code == 2, run.tree["message"]
        as_recorded(run.tree["message"])
    else:
        assert run.ending == ("PASS", 0) and run.tree["left_out"][0].startswith(left_out), run.tree["message"]


@pytest.mark.parametrize(
    ("place", "safe"), [("t[IN[2:0]]", "t[IN[1:0]]"), ("u[IN[2:0]]", "u[IN[1:0]]"), ("v[0][IN[2:0]]", "v[0][IN[1:0]]")]
)
def test_what_is_stored_beyond_a_vector_is_not_known(place: str, safe: str, tmp_path: Path) -> None:
    """A write beyond a vector leaves undefined values, since simulators disagree on it.

    The standard stores nothing; Icarus Verilog writes next to a part of a vector, and Verilator where the lower bits
    of the index point.
    """
    body = "logic [3:0] t, u [0:3]; logic [1:0][3:0] v; always_comb begin t = 0; v = 0; foreach (u[i]) u[i] = 0;"
    body += f" {place} = 1; OUT = sum + t + v[1] + u[2]; end"
    for text, known in [(body, False), (body.replace(place, safe), True)]:
        term = term_of(elaborated(combinational(text), tmp_path, "slang"), "model_out")
        assert ("undefined" not in {t.op for t in leaves(term)}) == known


PULLED = "module sub(input tri1 [4:0] i, output [4:0] o); assign o = i; endmodule\n"


def test_an_input_that_is_pulled(tmp_path: Path) -> None:
    """A pulled input is pulled only where nothing is connected to it."""
    assert values(PULLED + combinational("sub s(.o(OUT));"), tmp_path) == [31] * 256
    assert values(PULLED + combinational("sub s(.i(sum), .o(OUT));"), tmp_path) == SUMS
    chosen = "wire [4:0] w; assign w = IN[0] ? sum : IN[7:4] + IN[3:0]; sub s(.i(w), .o(OUT));"
    assert values(PULLED + combinational(chosen), tmp_path) == SUMS


@pytest.mark.parametrize(
    "body",
    [
        "wire [4:0] w; sub s(.i(w), .o(OUT));",
        "wire [1:0] w; sub s(.i({w, sum[2:0]}), .o(OUT));",
        "wire [4:0] w, v; assign v = w; sub s(.i(v), .o(OUT));",
        "wire [4:0] w, v; assign v = IN[0] ? sum : w; sub s(.i(v), .o(OUT));",
        "wire [4:0] w; pass b(.i(w), .o(OUT)); endmodule module pass(input [4:0] i, output [4:0] o); sub s(i, o);",
        "wire [4:0] w; tri1 [4:0] v; assign v = w; assign OUT = v;",
    ],
    ids=["whole", "bits", "through a wire", "through a choice", "through a port", "a net of the same module"],
)
def test_a_pulled_net_that_is_connected_to_one_without_a_driver_is_refused(body: str, tmp_path: Path) -> None:
    """A pulled net that is connected to an undriven net is refused, since simulators merge and pull both."""
    message = r"'(b\.)?w'"
    with raises(UnsupportedVerilog, match=message):
        values(PULLED + combinational(body), tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PULLED + combinational("sub s(.i(IN[3:0]), .o(OUT));"), ""),
        (
            "module sub(output tri0 [4:0] o); endmodule\n" + combinational("tri1 [4:0] w; sub s(w); assign OUT = w;"),
            "",
        ),
    ],
    ids=["a narrow connection", "two pulls"],
)
def test_a_pull_that_simulators_see_otherwise_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with raises(UnsupportedVerilog, match=message):
        values(text, tmp_path)


PAIR = "module k({a, b}, q); input [3:0] a, b; output [4:0] q; assign q = a + b; endmodule\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAIR + combinational("k k1(IN, OUT);"), r":1: a port.*signals"),
        (PAIR.replace("{a, b}", ".p({a, b})") + combinational("k k1(.p(IN), .q(OUT));"), r"port 'p'.*signals"),
        (PAIR.replace("module k(", "module dut(").replace("{a, b}", ".p({a, b})"), r"port 'p'.*signals"),
        (combinational("or g[4:0](OUT, sum, 5'd0);"), "'g'"),
    ],
    ids=["a concatenation", "a named one", "one of the top module", "gates"],
)
def test_what_is_no_single_port_or_gate_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedVerilog, match=message):
        values(text, tmp_path)


def test_the_top_modules_pulled_input_is_an_input(tmp_path: Path) -> None:
    text = combinational("assign OUT = sum;").replace("input [7:0]", "input tri1 [7:0]")
    assert values(text, tmp_path) == SUMS


@pytest.mark.parametrize("words", [3100, pytest.param(70060, marks=pytest.mark.slow)])
def test_a_large_memory(words: int, tmp_path: Path) -> None:
    """A loop may initialise a large memory."""
    filled = f"reg [4:0] m [0:{words - 1}]; integer i; initial for (i = 0; i < {words}; i = i + 1) m[i] = i % 31;"
    found = values(combinational(f"{filled} assign OUT = m[{words - 31} + sum];"), tmp_path)
    assert found == [x % 31 for x in SUMS]


def test_elements_one_by_one_are_one_array(tmp_path: Path) -> None:
    body = "reg [4:0] t [0:599]; always_comb begin for (int i = 0; i < 600; i++) t[i] = sum + i; OUT = t[320] - t[0]"
    body += " + t[599] - 23; end"
    assert values(combinational(body), tmp_path) == SUMS


@pytest.mark.parametrize("turns", [4, 5])
def test_a_loop_runs_as_often_as_the_limit_says(turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last evaluation of the condition does not count as an iteration."""
    monkeypatch.setattr("dais_verif.prover.slang.loops._UNROLLED", 4)
    text = combinational(f"always_comb begin OUT = sum; for (int i = 0; i < {turns}; i++) OUT = OUT + 1 - 1; end")
    if turns == 4:
        assert values(text, tmp_path) == SUMS
    else:
        with pytest.raises(UnsupportedVerilog, match=r"runs.*4 times"):
            values(text, tmp_path)
