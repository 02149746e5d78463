"""ALIR's sums and shifts are proved in our RTL, in adders of three operands and in alkaid's RTL; faults are found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prove.door import Run, run_prove

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.prover.equal_ops import first_twins
from dais_verif.spec.program import Program
from dais_verif.spec.program.json_writers import alir_json
from dais_verif.spec.program.opcodes import Code

MODELS = Path(__file__).parents[1] / "alir"

#: Sums of the same operands and types that differ in a sign, a shift, an operand or a constant; two are equal.
NEAR = [
    [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
    [(0, 0, 0), (1, 0, 1), (0, 1, 0)],
    [(0, 0, 0), (1, 1, 0), (0, 1, 0)],
    [(0, 0, 0), (1, 0, 0), (1, 1, 0)],
    [(0, 1, 0), (0, 0, 0), (1, 0, 0)],
    [(0, 0, 0), (-1, -1, 0)],
    [(0, 0, 0), (-1, -2, 0)],
]


def near() -> Program:
    rows: list[tuple[int, int, int, int, tuple[int, int, int]]] = [(-1, j, -1, 0, (1, 4, 0)) for j in range(2)]
    first = 0
    for terms in NEAR:
        rows.append((Code.SUM, first, len(terms), 3 if any(op < 0 for op, _, _ in terms) else 0, (1, 8, 0)))
        first += len(terms)
    rows += [(Code.SHIFT, 2, -1, shift, (1, 5, 1)) for shift in (-2, -1, 2)]  # ops 9 to 11
    flat = [term for terms in NEAR for term in terms]
    return Program.build(rows, [(n, 0, 0) for n in range(2, len(rows))], inp_shift=[0, 0], terms=flat)


def written(program: Program, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "program.json"
    path.write_bytes(alir_json(program))
    return path


def proved(program: Program, folder: Path, rtl: str | None = None, *options: object) -> Run:
    return run_prove(written(program, folder), folder / "run", *options, rtl=rtl)


def test_sums_that_differ_in_one_thing_are_not_taken_for_each_other(tmp_path: Path) -> None:
    program = near()
    twins = first_twins(program)
    assert {n: first for n, first in enumerate(twins) if first != n} == {6: 2}, "the order of terms says nothing"
    run = proved(program, tmp_path, None, "--unchecked")
    assert run.ending == ("PASS", 0)
    assert set(run.statuses("op").values()) == {"PROVED"}


@pytest.mark.few(3)
@pytest.mark.parametrize(("reads", "instead"), [(3, 2), (4, 2), (5, 2), (7, 8), (10, 9)])
def test_an_output_that_is_a_sum_much_like_its_own_is_refuted(reads: int, instead: int, tmp_path: Path) -> None:
    program = near()
    number = reads - 2
    rtl, count = re.subn(rf"(wire \[\d+:0\] out_{number} = )op_{reads}\b", rf"\g<1>op_{instead}", emit_verilog(program))
    assert count == 1
    run = proved(program, tmp_path, rtl, "--unchecked")
    assert run.ending == ("RTL_MISMATCH", 1)
    assert run.statuses("output")[number] == "REFUTED"


def test_an_output_that_is_its_sum_in_another_order_is_proved(tmp_path: Path) -> None:
    rtl = emit_verilog(near())
    swapped = re.sub(r"(out_4 = )op_6", r"\g<1>op_2", rtl)
    assert swapped != rtl
    assert proved(near(), tmp_path, swapped, "--unchecked").ending == ("PASS", 0)


# ------------------------------------------------------------------ adders of three operands

ADDER = """
module adder3 #(parameter WA = 8, NA = 0, PA = 0, WB = 8, NB = 0, PB = 0, WC = 8, NC = 0, PC = 0, W = 8, DROP = 0)
  (input signed [WA-1:0] a, input signed [WB-1:0] b, input signed [WC-1:0] c, output [W-1:0] y);
  wire signed [39:0] ta = NA ? -(a <<< PA) : a <<< PA;
  wire signed [39:0] tb = NB ? -(b <<< PB) : b <<< PB;
  wire signed [39:0] tc = NC ? -(c <<< PC) : c <<< PC;
  wire signed [39:0] s = ta + tb + tc;
  assign y = s[W+DROP-1:DROP];
endmodule
"""

RTL = (
    ADDER
    + """
module model (input [12:0] model_inp, output [21:0] model_out);
  wire [4:0] v0 = model_inp[4:0];
  wire [3:0] v1 = model_inp[8:5];
  wire [3:0] v2 = model_inp[12:9];
  wire [9:0] v3; adder3 #(5, 0, 4, 4, 1, 2, 4, 0, 0, 10, 0) op_3 (v0, v1, v2, v3);
  wire [11:0] v4; adder3 #(10, 1, 1, 4, 0, 1, 10, 0, 0, 12, 0) op_4 (v3, v2, v3, v4);
  wire [9:0] v5 = v4[11:2];
  assign model_out = {v4, v5};
endmodule
"""
)


def three() -> Program:
    """Return two sums of three terms, one operand twice in the second, and a shift that drops two bits."""
    rows = [(-1, 0, -1, 0, (1, 4, 0)), (-1, 1, -1, 0, (1, 2, 1)), (-1, 2, -1, 0, (1, 1, 2))]
    rows += [
        (Code.SUM, 0, 3, 0, (1, 6, 3)),
        (Code.SUM, 3, 3, 0, (1, 8, 3)),
        (Code.SHIFT, 4, -1, -2, (1, 6, 3)),
    ]
    terms = [(0, 1, 0), (1, 0, 1), (2, -1, 0), (3, 1, 1), (2, 0, 0), (3, 0, 0)]
    return Program.build(rows, [(5, 0, 0), (4, 0, 0)], inp_shift=[0] * 3, terms=terms)


def test_adders_of_three_operands_are_proved(tmp_path: Path) -> None:
    run = proved(three(), tmp_path, RTL)
    assert run.ending == ("PASS", 0)
    assert run.statuses("op") == dict.fromkeys(range(6), "PROVED")


#: The fault: the text, its replacement, and the op to blame.
FAULTS = {
    "sign of the first": ("5, 0, 4", "5, 1, 4", 3),
    "sign of the second": ("4, 1, 2", "4, 0, 2", 3),
    "sign of the third": ("4, 0, 0, 10", "4, 1, 0, 10", 3),
    "pad of the first": ("5, 0, 4", "5, 0, 3", 3),
    "pad of the second": ("4, 1, 2", "4, 1, 1", 3),
    "pad of the third": ("4, 0, 0, 10", "4, 0, 1, 10", 3),
    "a bit dropped": ("0, 10, 0) op_3", "0, 10, 1) op_3", 3),
    "a width of the result": ("0, 10, 0) op_3", "0, 9, 0) op_3", 3),
    "a width of an operand": ("(5, 0, 4", "(4, 0, 4", 3),
    "operands swapped": ("(v0, v1, v2, v3)", "(v0, v2, v1, v3)", 3),
    "an operand of another op": ("(v3, v2, v3, v4)", "(v3, v1, v3, v4)", 4),
    "one operand for the one that occurs twice": ("(v3, v2, v3, v4)", "(v3, v2, {v2, 6'b0}, v4)", 4),
    "signs of the second sum": ("10, 1, 1", "10, 0, 1", 4),
    "shift by one bit less": ("v4[11:2]", "{v4[10:1]}", 5),
    "no sign in the library": ("input signed [WB-1:0] b", "input [WB-1:0] b", 3),
    "an operand left out in the library": ("ta + tb + tc", "ta + tb", 3),
    "a product of two in the library": ("ta + tb + tc", "ta + (tb | tc)", 3),
}


#: One fault of each kind; the others are slow tests.
FIRST = (
    "sign of the second",
    "pad of the third",
    "a bit dropped",
    "a width of an operand",
    "an operand of another op",
    "shift by one bit less",
    "a product of two in the library",
)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FIRST else pytest.mark.slow) for name in FAULTS]
)
def test_a_fault_in_an_adder_of_three_is_refuted_and_the_op_named(name: str, tmp_path: Path) -> None:
    old, new, op = FAULTS[name]
    assert RTL.count(old) == 1, f"{old!r} is not there once: choose another fault"
    run = proved(three(), tmp_path, RTL.replace(old, new))
    assert run.ending[0] in ("RTL_MISMATCH", "X_IN_OUTPUT")
    assert run.statuses("op")[op] == "REFUTED"
    found = run.tree["counterexample"]
    assert found["op"] == op
    assert found["mnemonic"] == ("quant_shift" if op == 5 else "sum")


# ------------------------------------------------------------------ promises


def overflowing() -> Program:
    rows = [(-1, j, -1, 0, (1, 3, 0)) for j in range(3)]
    rows += [(Code.SUM, 0, 3, 0, (1, 4, 0)), (Code.SUM, 3, 1, 0, (1, 3, 0)), (Code.SHIFT, 3, -1, 1, (1, 4, 0))]
    terms = [(0, 0, 0), (1, 0, 0), (2, 1, 1), (3, 0, 1)]
    return Program.build(rows, [(4, 0, 0), (5, 0, 0)], inp_shift=[0] * 3, terms=terms)


def test_sums_that_overflow_wrap_as_unchecked_programs_do(tmp_path: Path) -> None:
    assert proved(overflowing(), tmp_path, None, "--unchecked").ending == ("PASS", 0)


def test_a_sum_that_saturates_is_right_only_where_promises_are_kept(tmp_path: Path) -> None:
    program = overflowing()
    text = emit_verilog(program)
    (line,) = [line for line in text.splitlines() if line.strip().startswith("op_3 = ")]
    exact = "(op_0 + op_1 - (op_2 <<< 1))"
    saturated = f"    op_3 = {exact} > 15 ? 5'sd15 : {exact} < -16 ? -5'sd16 : {exact};"
    rtl = text.replace(line, saturated)
    assert proved(program, tmp_path / "a", rtl, "--unchecked").ending == ("RTL_MISMATCH", 1)
    assert proved(program, tmp_path / "b", rtl).ending == ("PASS", 0)


# ------------------------------------------------------------------ alkaid's RTL


def exported(name: str, folder: Path, **options: object) -> Path:
    """Write the project that alkaid exports for one of our models, and return its folder."""
    types = pytest.importorskip("alkaid.types", reason="alkaid is not installed")
    from alkaid.codegen.rtl import RTLModel

    (model,) = (MODELS / name).glob("alir.json*")
    RTLModel(types.CombLogic.load(model), folder, "top", "verilog", print_latency=False, **options).write()
    return folder


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a01_dense_plain", {}),
        ("a01_dense_plain", {"ternary_fuse": False}),
        ("a01_dense_plain", {"n_stages": 4}),
        ("a04_sort8", {}),
        ("a05_where", {"n_stages": 3}),
        pytest.param("a06_softmax_lut", {"n_stages": 2}, marks=pytest.mark.slow),
        ("a07_bitops", {}),
        ("a08_quant_modes", {"n_stages": 2, "ternary_fuse": False}),
        ("a09_wide_acc", {}),
        ("a09_wide_acc", {"n_stages": 4}),
        pytest.param("a02_mlp_ternary", {"n_stages": 4}, marks=pytest.mark.slow),
        pytest.param("a03_conv_pool", {"n_stages": 3}, marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(f"{k}{v}" for k, v in value.items()) or "plain",
)
def test_what_alkaid_writes_is_proved(name: str, options: dict[str, object], tmp_path: Path) -> None:
    run = run_prove(exported(name, tmp_path / "project", **options), tmp_path / "run")
    assert run.ending == ("PASS", 0)
    assert "smt" not in run.tree["methods"], "its adders have one normal form with the sums that they compute"


#: Indices of the parameters of alkaid's adder: width, sign, negation and pad of each operand, then the width of the
#: result and the number of dropped bits.
PLACES = {"sign": 1, "negation": 2, "pad": 3, "negation of the second": 6, "pad of the third": 11, "drop": 13}


#: In the fast suite, each fault is tried in only one form: these in a pipeline, the others in combinational RTL.
IN_STAGES = ("negation", "drop", "operands")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("place", "options"),
    [
        pytest.param(
            place,
            options,
            marks=() if bool(options) == (place in IN_STAGES) else pytest.mark.slow,
            id=f"{place}-{'pipelined' if options else 'combinational'}",
        )
        for place in (*PLACES, "operands")
        for options in ({}, {"n_stages": 3})
    ],
)
def test_a_fault_in_one_of_alkaids_adders_is_refuted(place: str, options: dict[str, int], tmp_path: Path) -> None:
    folder = exported("a01_dense_plain", tmp_path / "project", **options)
    adder = re.compile(r"ternary_adder #\(([^)]*)\) (op_\d+) \((\w+\[\d+:0\]),(\w+\[\d+:0\]),")
    edited = 0
    for source in sorted((folder / "src").glob("logic*.v")):
        text = source.read_text()
        found = adder.search(text)
        if found is None or edited:
            continue
        numbers = found[1].split(",")
        operands = [found[3], found[4]]
        if place == "operands":
            # The first two operands of the adder differ in sign, negation or pad, so that their order matters.
            assert numbers[1:4] != numbers[5:8]
            operands[1] = "v0[5:0]" if operands[1] != "v0[5:0]" else "v1[5:0]"
        else:
            at = PLACES[place]
            value = int(numbers[at])
            numbers[at] = str(value + 1 if at in (3, 11, 13) else 1 - value)
        new = f"ternary_adder #({','.join(numbers)}) {found[2]} ({operands[0]},{operands[1]},"
        source.write_text(text[: found.start()] + new + text[found.end() :])
        edited += 1
    assert edited == 1
    run = run_prove(folder, tmp_path / "run")
    assert run.ending[0] == "RTL_MISMATCH"
