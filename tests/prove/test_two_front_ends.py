"""With ``--front-end``, Yosys alone proves and refutes; both front ends must agree on each signal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from prove.door import mutant, run_prove
from prove.reading import elaborated, needs_yosys, term_of
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode
from support.random_expressions import INPUTS, expression, result
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.ports.interface import packed
from dais_verif.prover import cross_check as cross_check_proof
from dais_verif.prover import slang
from dais_verif.prover.cross_check import CrossCheck, compare_readings, prove_with_both
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.slang import refuse_misread
from dais_verif.prover.solve.pool import Pool
from dais_verif.spec.program import Program, load

EVERY = every_opcode()
OPTIONS = ProofOptions(jobs=1)
CORPUS = ["p01_addsub_tiny", "p03_fir16", "p04_sort8", "p05_softmax_lut", "p06_matmul_2in", "p10_bitops"]
CORPUS += ["p11_cmvm_raw", "p12_quant_modes", "p13_hgq_jet", "p14_v041_minmaxmul"]


def proved_by(front_end: str, program: Program, folder: Path, *options: object, rtl: str | None = None) -> None:
    run = run_prove(program, folder, "--front-end", front_end, *options, rtl=rtl)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert set(run.statuses("op").values()) == {"PROVED"}
    assert (run.tree["signals_agreed"] is not None) == (front_end == "both")
    if front_end == "both":
        assert run.tree["signals_agreed"] >= len(run.tree["ops"])


@needs_yosys
@pytest.mark.parametrize("front_end", ["yosys", "both"])
def test_every_op(front_end: str, tmp_path: Path) -> None:
    proved_by(front_end, EVERY, tmp_path)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("front_end", ["yosys", "both"])
@pytest.mark.parametrize("control", [(), ("enable",), ("enable", "valid", "reset")])
def test_pipelines_of_a_dense_network(front_end: str, control: tuple[str, ...], tmp_path: Path) -> None:
    options = PipelineOptions(stages=3, **dict.fromkeys(control, True))
    text = emit_pipeline(dense_network(), "model", options).text
    proved_by(front_end, dense_network(), tmp_path, rtl=text)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in ODD_PROGRAMS if any(t.width for t in ODD_PROGRAMS[n].output_types)])
def test_programs_of_odd_shapes(name: str, tmp_path: Path) -> None:
    proved_by("both", ODD_PROGRAMS[name], tmp_path)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_real_programs(name: str, corpus: Path, tmp_path: Path) -> None:
    proved_by("both", load(corpus / name / "prog.v1.bin"), tmp_path, "--unchecked")


@needs_yosys
@pytest.mark.parametrize("front_end", ["yosys", "both"])
def test_a_bug_is_refuted(front_end: str, tmp_path: Path) -> None:
    rtl = mutant(EVERY, "op_26 =", "4'sd5", "4'sd4")
    run = run_prove(EVERY, tmp_path, "--front-end", front_end, rtl=rtl)
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]
    assert run.tree["counterexample"]["replay"]["verdict"] == "RTL_MISMATCH"


def test_yosys_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_YOSYS", "/nonexistent")
    for front_end in ("yosys", "both"):
        run = run_prove(EVERY, tmp_path, "--front-end", front_end)
        assert run.ending == ("TOOL_FAILURE", 3)
        assert "DAIS_VERIF_YOSYS is '/nonexistent'" in run.tree["message"]
    assert run_prove(EVERY, tmp_path, "--front-end", "slang").exit_code == 0


# agreement


def compared(first: Netlist, second: Netlist) -> CrossCheck:
    return compare_readings(first, second, Pool(OPTIONS, ProofWatcher()), ProofWatcher())


def both(text: str, folder: Path, other: str | None = None, top: str = "dut") -> tuple[Netlist, Netlist]:
    """Return slang's reading of ``text``, and Yosys' reading of ``other`` (by default, of ``text``)."""
    return elaborated(text, folder, "slang", top), elaborated(other or text, folder, "yosys", top)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_expressions_are_read_alike(seed: int, tmp_path: Path) -> None:
    """Random expressions of mixed widths and signs are read alike in ``assign``, in a block and in a function."""
    rng = random.Random(seed)
    lines, outputs = [], []
    given = ", ".join(f"input {sign} [{width - 1}:0] {name}" for name, (sign, width) in INPUTS.items())
    for n in range(60):
        sign, width = result(rng)
        value = expression(rng, 3)
        kind = n % 3
        outputs.append(f"output {'reg' if kind == 1 else ''} {sign} [{width - 1}:0] y{n}")
        if kind == 0:
            lines.append(f"assign y{n} = {value};")
        elif kind == 1:  # always @* would never run where the value is constant
            lines.append(f"always_comb y{n} = {value};")
        else:
            lines.append(f"function automatic {sign} [{width - 1}:0] of{n}({given}); of{n} = {value}; endfunction")
            lines.append(f"assign y{n} = of{n}({', '.join(INPUTS)});")
    text = "\n".join([f"module dut({', '.join([given, *outputs])});", *lines, "endmodule"])
    found = compared(*both(text, tmp_path))
    assert found == CrossCheck(60), found


TWO = """module dut(input clk, input rst, input [3:0] a, input signed [3:0] b, output [7:0] y);
  wire signed [4:0] s = a + b;
  reg [7:0] r, q;
  always @* begin q = s; if (a[0]) q = q + 1; end
  always @(posedge clk) if (rst) r <= 0; else r <= q * 3;
  assign y = r;
endmodule
"""


@needs_yosys
def test_what_both_read_alike(tmp_path: Path) -> None:
    assert compared(*both(TWO, tmp_path)) == CrossCheck(4)


@needs_yosys
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("wire signed [4:0] s", "wire [4:0] s", "signal 'q'"),
        ("a + b", "a - b", "signal 's'"),
        ("q + 1", "q + 2", "signal 'q'"),
        ("q * 3", "q * 5", "signal 'r'"),
        ("r <= 0", "r <= 1", "signal 'r'"),
        ("if (rst)", "if (!rst)", "signal 'r'"),
        ("posedge clk)", "posedge rst)", "signal 'r'"),
        (
            "posedge clk)",
            "posedge clk or posedge rst)",
            "signal 'r'",
        ),
        ("always @(posedge clk) if (rst) r <= 0; else r <= q * 3", "always @* r = q * 3", "signal 'r'"),
        ("reg [7:0] r, q", "reg [7:0] r; reg [8:0] q", "signal 'q'"),
        ("output [7:0] y", "output [6:0] y", "port 'y'"),
        ("input rst,", "", "port 'rst'"),
    ],
)
def test_a_disagreement_names_the_signal(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = TWO.replace(old, new)
    assert text != TWO
    if "rst" not in text.split(";")[0]:
        text = text.replace("if (rst) r <= 0; else", "")
    found = compared(*both(TWO, tmp_path, text))
    assert found.difference is not None and words in found.difference, found
    as_recorded(found.difference)


@needs_yosys
def test_a_disagreement_is_no_pass(tmp_path: Path) -> None:
    """A disagreement on an op that no output needs is UNKNOWN, although each reading by itself is proved."""
    program = Program.build(
        [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 3, (1, 8, 0)), (4, 0, -1, 5, (1, 8, 0))], [(1, 0, 0)], inp_shift=[0]
    )
    text = emit_verilog(program)
    first, second = both(text, tmp_path, text.replace("4'sd5", "4'sd6"), "model")
    proof = prove_with_both(program, first, second, packed(program), OPTIONS)
    assert proof.verdict is Verdict.UNKNOWN
    assert "signal 'op_2'" in proof.message
    as_recorded(proof.message)
    same = prove_with_both(program, *both(text, tmp_path, top="model"), packed(program), OPTIONS)
    assert same.verdict is Verdict.PASS, same.message


#: A real disagreement: the index -1 addresses no word in Verilog, but the last word in Yosys.
INDEXED = (
    Program.build([(-1, 0, -1, 0, (0, 2, 0)), (4, 0, -1, 1, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0]),
    """module model(input [1:0] model_inp, output [3:0] model_out);
  reg [3:0] t [0:3];
  initial begin t[0] = 1; t[1] = 2; t[2] = 3; t[3] = 4; end
  wire signed [1:0] i = model_inp;
  assign model_out = t[i];
endmodule
""",
)


@needs_yosys
def test_an_index_that_yosys_takes_for_unsigned(tmp_path: Path) -> None:
    program, text = INDEXED
    run = run_prove(program, tmp_path, "--front-end", "both", rtl=text)
    assert run.ending == ("UNKNOWN", 6), run.tree["message"]
    assert "signal 'model_out'" in run.tree["message"]
    alone = run_prove(program, tmp_path, "--front-end", "yosys", rtl=text)
    assert alone.exit_code == 2 and "Yosys treats this index as unsigned" in alone.tree["message"]


@needs_yosys
def test_simulators_contradict_what_yosys_alone_misreads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If Yosys' misreading were not refused, its proof would pass, and simulators would contradict it."""
    monkeypatch.setattr(slang, "refuse_misread", lambda *args: None)
    program, text = INDEXED
    assert run_prove(program, tmp_path, "--front-end", "yosys", rtl=text).exit_code == 0
    believed = run_prove(program, tmp_path, "--front-end", "yosys", rtl=text, confirm=True)
    assert believed.ending == ("UNKNOWN", 6), believed.tree["message"]


@needs_yosys
def test_signals_that_one_of_both_cannot_read_are_left_out_if_no_output_needs_them(tmp_path: Path) -> None:
    text = TWO.replace("assign y = r;", "reg [1:0] n; always @(posedge clk) n = n + 1; {}")
    assert compared(*both(text.replace("{}", "assign y = r;"), tmp_path)) == CrossCheck(4)
    with pytest.raises(InputError, match=r"'n'.*= "):
        compared(*both(text.replace("{}", "assign y = r + n;"), tmp_path))


@needs_yosys
def test_open_bits_are_open_in_both(tmp_path: Path) -> None:
    text = TWO.replace("reg [7:0] r, q;", "reg [7:0] r, q; wire [7:0] open;")
    read = text.replace("y = r", "y = r + open")
    assert compared(*both(read, tmp_path)) == CrossCheck(4)
    assert compared(*both(read, tmp_path, text)).difference is not None
    driven = read.replace("wire [7:0] open", "wire [7:0] open = 0")
    assert compared(*both(read, tmp_path, driven)).difference is not None


CHOICE = """module dut(input [1:0] a, input [3:0] b, output reg [3:0] y);
  wire [3:0] open, more;
  always @* case (a) 0: y = b; 1: y = {}; default: y = {}; endcase
endmodule
"""


@needs_yosys
@pytest.mark.parametrize("digits", ["'x", "4'b1x0x", "open", "a[0] ? 4'bx : b", "(b == 3) ? open : 4'bx"])
def test_undefined_bits_are_the_same_in_both(digits: str, tmp_path: Path) -> None:
    text = CHOICE.format("b + 1", digits)
    found = compared(*both(text, tmp_path))
    assert found.difference is None, found
    for other in ("0", "4'b1x00", "b", "(b == 3) ? 0 : 4'bx"):
        assert compared(*both(text, tmp_path, CHOICE.format("b + 1", other))).difference is not None, other


@needs_yosys
@pytest.mark.parametrize("other", ["0", "open & 4'b1000", "4'b1000", "(open == 3) ? 1 : 0"])
def test_what_neither_zeros_nor_ones_show_to_be_undefined(other: str, tmp_path: Path) -> None:
    """Undefined bits are compared for all their values, not only for all bits 0 and all bits 1."""
    mixed = CHOICE.format("b", "open ^ {open[0], open[3:1]}")
    found = compared(*both(mixed, tmp_path, CHOICE.format("b", other)))
    assert found.difference is not None and "signal 'y'" in found.difference, found
    assert compared(*both(mixed, tmp_path)).difference is None, "the same bits on both sides"


@needs_yosys
@pytest.mark.parametrize("value", ["b + 4'bx", "b & 4'bz", "(b == 4'bx) ? b : 0", "4'bz"])
def test_what_has_no_value_for_yosys(value: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"X.*Z.*value"):
        term_of(elaborated(CHOICE.format("b", value), tmp_path, "yosys"), "y")


@needs_yosys
@pytest.mark.parametrize("front_end", ["slang", "yosys", "both"])
def test_a_proof_holds_whatever_is_undefined(front_end: str, tmp_path: Path) -> None:
    """A default that is never taken may be undefined; one that is taken gives X_IN_OUTPUT."""
    program = Program.build([(-1, 0, -1, 0, (0, 2, 0))], [(0, 0, 0)], inp_shift=[0])
    text = """module model(input [1:0] model_inp, output reg [1:0] model_out);
  always @* case (model_inp) 0: model_out = 0; 1: model_out = 1; 2: model_out = 2; {}default: model_out = 'x; endcase
endmodule
"""
    run = run_prove(program, tmp_path, "--front-end", front_end, rtl=text.format("3: model_out = 3; "))
    assert run.ending == ("PASS", 0), run.tree["message"]
    run = run_prove(program, tmp_path, "--front-end", front_end, rtl=text.format(""))
    assert run.ending == ("X_IN_OUTPUT", 4), run.tree["message"]
    says = "values: X"
    assert says in run.tree["message"]
    as_recorded(run.tree["message"])
    as_recorded(run.tree["message"])


#: Constructs that Yosys 0.23 reads differently from simulators.
MISREAD = {
    "a cast": ("assign y = &(a[0] ? 2'(b) : b[0]);", "front_end slang"),
    "a negative item": (
        "always @* casez (b) -4'sd3: y = 1; default: y = 2; endcase",
        "front_end slang",
    ),
    "a constant subject": (
        "always @* begin y = 0; casez (1'b1) 2'b?1: y = 1; endcase end",
        "front_end slang",
    ),
    "a negative index": (
        "reg [7:0] t [0:40]; initial t[0] = 1; assign y = t[b];",
        "treats this index as unsigned",
    ),
    "a part that begins below": ("always @* begin y = 0; y[b+:2] = a; end", "front_end slang"),
    "an unknown operand": ("assign y = (a == 4'b1x) ? a : b;", "front_end slang"),
    "an unknown condition": ("always @* if (1'bx) y = a; else y = b;", "front_end slang"),
    "a narrow item": (
        "always @* casez (b) 4'sb?01: y = 1; default: y = 2; endcase",
        "front_end slang",
    ),
    "a name with a dot": (
        "wire [3:0] \\g.q ; assign \\g.q = a; if (1) begin : g wire [3:0] q; assign q = b; end assign y = g.q;",
        "front_end slang",
    ),
    "a name into an instance": ("inner u(b); assign y = u.q;", "front_end slang"),
    "a signed enum": (
        "typedef enum {P = -2, Q} e; e z; assign z = P; assign y = z;",
        "front_end slang",
    ),
    "a sign of its own": ("localparam signed K = 4'd9; assign y = K;", "sign of 'K'"),
    "ones in a constant": ("localparam [7:0] K = '1; assign y = K;", "front_end slang"),
    "ones among constants": ("assign y = a & ('1 << 3);", "front_end slang"),
    "inverted ones": ("assign y = ~'1 | a;", "front_end slang"),
    "a number without a size": ("assign y = ('hFFFFFFFF + a) >> 32;", "front_end slang"),
    "an empty text": ('assign y = $bits("");', "an empty text"),
    "an outer name, hidden later": (
        "wire [3:0] k = a; if (1) begin : g wire [3:0] w = k; wire [3:0] k = 4; end assign y = g.w;",
        "front_end slang",
    ),
    "a type of the same name": (
        "typedef logic [3:0] t; if (1) begin : g typedef logic [1:0] t; t w; assign w = a; end assign y = g.w;",
        "type 't'",
    ),
    "a negated item of a case": (
        "always @* case (a) 5'd17: y = 1; -4'sd1: y = 2; default: y = 3; endcase",
        "front_end slang",
    ),
    "an inverted item of a case": (
        "always @* case (a) ~3'd3: y = 1; default: y = 2; endcase",
        "front_end slang",
    ),
    "an unknown kind": ("assign y = a inside {3, [5:7]};", "Inside"),
    "an unknown call": ("assign y = $countbits(a, '1);", "$countbits"),
    "an argument both ways": (
        "task t(inout [7:0] y, input [3:0] c); y = y + c; endtask always @* begin y = b; t(y, a); end",
        "front_end slang",
    ),
    "a file elsewhere": (
        'reg [7:0] t [0:15]; initial $readmemh("/etc/table.hex", t); assign y = t[a];',
        "reads '/etc/table.hex'",
    ),
}


@pytest.mark.parametrize("case", MISREAD)
def test_what_yosys_alone_must_not_read(case: str, tmp_path: Path) -> None:
    body, words = MISREAD[case]
    reg = "reg " if "always" in body else ""
    text = f"module dut(input [3:0] a, input signed [5:0] b, output {reg}[7:0] y);\n{body}\nendmodule\n"
    text += "module inner(input [5:0] b); wire [3:0] q; assign q = b; endmodule\n"
    (tmp_path / "dut.v").write_text(text)
    with raises(InputError, match=r"dut\.v:2: ") as error:
        refuse_misread([tmp_path / "dut.v"], "dut", {})
    assert words in str(error.value)
    as_recorded(error.value)


def test_what_yosys_may_read(tmp_path: Path) -> None:
    text = """module dut(input [3:0] a, input signed [5:0] b, output reg [7:0] y);
  reg [7:0] t [0:15]; initial $readmemh("t.hex", t);
  parameter FILE = "";
  if (FILE == "") begin : g wire [3:0] q = b; end
  wire [5:0] c = a & g.q;
  inner u(b);
  integer i; reg [7:0] v;
  always @* begin casez (b) 6'sb1?: y = t[a]; default: y = 'x; endcase
    i = b; y = t[i]; y[i] = v[b]; y[a+:1] = 1;
    for (int i = 0; i < 4; i++) y = y ^ t[i]; end
endmodule
module inner(input [5:0] b); wire [5:0] q = b; endmodule
"""
    (tmp_path / "dut.v").write_text(text)
    refuse_misread([tmp_path / "dut.v"], "dut", {"t.hex": tmp_path / "t.hex"})


# use of Yosys where it is installed and can read the RTL


SIMPLE = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (4, 0, -1, 3, (0, 5, 0))], [(1, 0, 0)], inp_shift=[0])
HEAD = "module model(input [3:0] model_inp, output [4:0] model_out);\n"
PLAIN = HEAD + "assign model_out = model_inp + 3;\nendmodule\n"
#: RTL that slang reads but Yosys does not, and the reason.
FOR_SLANG_ALONE = {
    "it is refused": (
        HEAD + "wire [3:0] a = {>>{model_inp}}; assign model_out = a + 3; endmodule\n",
        "design.v:2: Yosys",
    ),
    "it is misread": (HEAD + "assign model_out = 5'(model_inp) + 3; endmodule\n", "front_end slang"),
}


@needs_yosys
def test_both_read_it_where_both_can(tmp_path: Path) -> None:
    run = run_prove(SIMPLE, tmp_path, "--front-end", "available", rtl=PLAIN)
    assert run.ending == ("PASS", 0) and run.tree["signals_agreed"] == 1
    assert run.tree["rtl"]["front_ends"] == ["slang", "yosys"] and run.tree["rtl"]["unread"] == {}
    wrong = run_prove(SIMPLE, tmp_path / "wrong", "--front-end", "available", rtl=PLAIN.replace("3;", "2;"))
    assert wrong.ending == ("RTL_MISMATCH", 1)


@needs_yosys
@pytest.mark.parametrize("case", ["it is refused", "it is misread"])
def test_slang_alone_reads_what_yosys_cannot(case: str, tmp_path: Path) -> None:
    rtl, why = FOR_SLANG_ALONE[case]
    run = run_prove(SIMPLE, tmp_path, "--front-end", "available", rtl=rtl)
    assert run.ending == ("PASS", 0) and run.tree["signals_agreed"] is None
    assert run.tree["rtl"]["front_ends"] == ["slang"] and why in run.tree["rtl"]["unread"]["yosys"]
    as_recorded(run.tree["rtl"]["unread"]["yosys"])


def test_slang_alone_reads_it_where_yosys_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_YOSYS", "/nonexistent")
    run = run_prove(SIMPLE, tmp_path, "--front-end", "available", rtl=PLAIN)
    assert run.ending == ("PASS", 0)
    assert run.tree["rtl"]["front_ends"] == ["slang"]
    assert "DAIS_VERIF_YOSYS is '/nonexistent'" in run.tree["rtl"]["unread"]["yosys"]


@needs_yosys
def test_readings_that_differ_are_no_pass_anywhere(tmp_path: Path) -> None:
    text = emit_verilog(SIMPLE)
    readings = both(text, tmp_path, text.replace("3'sd3", "3'sd2"), "model")
    assert text.count("3'sd3") == 1
    proof = prove_with_both(SIMPLE, *readings, packed(SIMPLE), OPTIONS, if_possible=True)
    assert proof.verdict is Verdict.UNKNOWN and proof.unread == {}
    as_recorded(proof.message)


@needs_yosys
@pytest.mark.parametrize("if_possible", [False, True])
def test_readings_that_cannot_be_compared(if_possible: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings that are too hard to compare are not a difference, but they do not confirm each other either."""
    monkeypatch.setattr(
        cross_check_proof, "compare_readings", lambda *args: CrossCheck(0, "signal 'op_1' is too hard", decided=False)
    )
    readings = both(emit_verilog(SIMPLE), tmp_path, top="model")
    proof = prove_with_both(SIMPLE, *readings, packed(SIMPLE), OPTIONS, if_possible=if_possible)
    assert proof.verdict is (Verdict.PASS if if_possible else Verdict.UNKNOWN)
    assert proof.unread == ({"yosys": "signal 'op_1' is too hard"} if if_possible else {})
    assert if_possible or "Yosys read" in proof.message


@needs_yosys
@pytest.mark.parametrize("front_end", ["yosys", "both"])
def test_a_module_of_a_library_that_nothing_uses(front_end: str, tmp_path: Path) -> None:
    """A library module whose parameter names a missing file is accepted as long as nothing uses it."""
    unused = """
module table_of #(parameter FILE = "whatever.mem") (input [3:0] a, output [3:0] y);
  reg [3:0] t [0:15]; initial $readmemh(FILE, t); assign y = t[a];
endmodule
"""
    run = run_prove(SIMPLE, tmp_path, "--front-end", front_end, rtl=PLAIN + unused)
    assert run.ending == ("PASS", 0), run.tree["message"]
    used = PLAIN.replace("endmodule", "wire [3:0] q; table_of u(model_inp, q);\nendmodule")
    run = run_prove(SIMPLE, tmp_path / "used", "--front-end", front_end, rtl=used + unused)
    assert run.exit_code == 2 and "whatever.mem" in run.tree["message"]
