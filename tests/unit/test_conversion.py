"""Converted programs compute the same, broken promises included, and a binary comes back byte for byte.

This is checked by the prover for real programs, and by the oracle for random ones and for features of one dialect.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.places import ALIR, CORPUS
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, ProgramError, RequestError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import oracle
from dais_verif.record.conversion import ConversionRecord
from dais_verif.spec.program import LAYOUTS, Program, assemble, load, parse, read_binary, write_binary
from dais_verif.spec.program.conversion import as_it_was, notes_of, to_alir, to_da4ml, to_dais
from dais_verif.spec.program.conversion.spelling import spelt
from dais_verif.spec.program.json_writers import alir_json, da4ml_json
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.types import type_of_interval

S4, U4 = (1, 3, 0), (0, 4, 0)


def answer(program: Program, row: list[Any], check: bool) -> object:
    """Return the exact outputs, or "violation" if a promise is broken."""
    try:
        return oracle.evaluate(program, [Fraction(value) for value in row], check=check)
    except ViolationError:
        return "violation"


def forms(program: Program) -> dict[str, Program]:
    """Return ``program`` as it is read back from every form that can represent it."""
    raised = parse(alir_json(to_alir(program)))
    return {
        "alir": raised,
        "v1": parse(write_binary(to_dais(raised), "v1"), layout="v1"),
        "json": parse(da4ml_json(to_da4ml(program))),
    }


def assert_same(program: Program, rows: list[list[Any]]) -> None:
    for name, other in forms(program).items():
        for row in rows:
            for check in (True, False):
                assert answer(other, row, check) == answer(program, row, check), (name, row, check)


# random programs


def assert_law(seed: int) -> None:
    rng = random.Random(seed)
    data = write_binary(random_program(rng, rng.randint(2, 20), promise_keeping=bool(seed % 2)), "v1")
    program = read_binary(data, "v1")
    raised = to_alir(program)
    back = parse(alir_json(raised, notes_of(program, raised)))
    assert (back.hash, back.intervals) == (raised.hash, raised.intervals)
    was = as_it_was(back)
    assert was is not None and write_binary(was, "v1") == data
    assert_same(program, random_rows(rng, program)[:4])


def assert_alir_law(seed: int) -> None:
    """Assert that a random ALIR program, whose sums and shifts no binary can hold, computes the same when converted.

    Raise ``InputError`` if DAIS or JSON cannot represent a type; far shifts lead to such types.
    """
    rng = random.Random(seed)
    program = random_program(rng, rng.randint(2, 16), promise_keeping=bool(seed % 2), alir=True)
    try:
        assert_same(program, random_rows(rng, program)[:4])
    except InputError as error:
        assert re.match(r"op \d+ \(\w+\)", str(error))
        raise


def count_said(seeds: range) -> int:
    """Return how many of the programs all forms can represent."""
    said = 0
    for seed in seeds:
        with contextlib.suppress(InputError):
            assert_alir_law(seed)
            said += 1
    return said


def test_random_programs_of_alir() -> None:
    assert count_said(range(40)) > 25


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_3_000_random_programs_of_alir(chunk: int) -> None:
    assert count_said(range(1000 + chunk * 300, 1300 + chunk * 300)) > 150


@pytest.mark.parametrize("chunk", range(4))
def test_random_programs(chunk: int) -> None:
    for seed in range(chunk * 10, chunk * 10 + 10):
        assert_law(seed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_3_000_random_programs(chunk: int) -> None:
    for seed in range(1000 + chunk * 300, 1300 + chunk * 300):
        assert_law(seed)


# real programs

SMALL = ("p01", "p04", "p05", "p06", "p10", "p11", "p14")
BINARIES = [
    pytest.param(path, id=path.name, marks=[] if path.name[:3] in SMALL else [pytest.mark.slow])
    for path in sorted(CORPUS.glob("p*"))
]
MODELS = [
    pytest.param(path, id=path.parent.name if path.name.startswith("alir") else path.name, marks=marks)
    for path in sorted([*ALIR.glob("a*/alir.json*"), *ALIR.glob("legacy/*.json.gz")])
    for marks in [[pytest.mark.slow] if path.parent.name[:3] in ("a02", "a03", "a08", "a09", "leg") else []]
]


@pytest.mark.parametrize("folder", BINARIES)
def test_a_real_binary_comes_back_and_both_are_proved_equal(folder: Path, tmp_path: Path) -> None:
    for path in sorted(folder.glob("prog.*.bin")):
        layout = path.name.split(".")[1]
        dais_verif.convert(path, tmp_path / "a.json", layout=layout)
        restored = dais_verif.convert(tmp_path / "a.json", tmp_path / "b.bin")
        assert restored.restored and restored.target == layout
        assert (tmp_path / "b.bin").read_bytes() == path.read_bytes()
        again = dais_verif.convert(tmp_path / "a.json", tmp_path / "again.json.gz")
        assert again.written.hash == load(tmp_path / "a.json").hash
        dais_verif.convert(tmp_path / "again.json.gz", tmp_path / "c.bin")
        assert (tmp_path / "c.bin").read_bytes() == path.read_bytes()
    dais_verif.convert(path, tmp_path / "d.json", to="json", layout=layout)
    for name in ("a.json", "d.json"):
        record = dais_verif.diff(load(path, layout=layout), load(tmp_path / name), vectors=5, prove=True)
        as_recorded(record.message)


@pytest.mark.parametrize("path", MODELS)
def test_a_real_model_is_proved_equal_to_its_dais(path: Path, tmp_path: Path) -> None:
    for name, to in (("a.bin", None), ("d.json", "json")):
        dais_verif.convert(path, tmp_path / name, to=to)
        record = dais_verif.diff(path, tmp_path / name, vectors=5, prove=True)
        as_recorded(record.message)


@pytest.mark.parametrize("path", MODELS)
def test_a_real_model_is_written_as_it_was_read(path: Path) -> None:
    program = load(path)
    written = parse(alir_json(to_alir(program)))
    assert (written.hash, written.intervals) == (program.hash, program.intervals)
    assert written.estimates is not None and program.estimates is not None
    assert [column.tolist() for column in written.estimates[:2]] == [list(map(float, c)) for c in program.estimates[:2]]
    assert written.estimates[2:] == program.estimates[2:]


# what only one dialect can represent

X, Y = (-1, 0, -1, 0, S4), (-1, 1, -1, 0, U4)


def dais(*ops: Any, tables: Any = ()) -> Program:
    outputs = [(index, 0, 0) for index in range(len(ops) + 2)]
    return Program.build([X, Y, *ops], outputs, inp_shift=[0, 0], tables=tables)


def alir(ops: Any, terms: Any) -> Program:
    outputs = [(index, 0, 0) for index in range(len(ops) + 2)]
    return Program.build([X, Y, *ops], outputs, inp_shift=[0, 0], terms=terms)


NOTHING = (0, -2, 2)
ENTRY = 1 << 32
ODD = {
    "relu(-x)": dais((-2, 0, -1, 0, (0, 4, 0))),
    "quant(-x), too narrow": dais((-3, 0, -1, 0, (1, 2, 0))),
    "mux with -x": dais((-6, 1, 0, 2 << 32, (1, 6, 0))),
    "mux that negates a value read twice": dais((3, 0, -1, 0, S4), (-6, 2, 2, 0, (1, 6, 0))),
    **{f"{name}(-{x})": dais((-9, j, -1, data, (k, 5, 0))) for data, name in enumerate(("not", "any", "all"))
       for j, x in enumerate("xy") for k in (0, 1)},
    "both operands of xor negated": dais((10, 0, 1, 2 << 56 | 3 << 32, (1, 6, 0))),
    "not of no bits": dais((3, 0, -1, 0, NOTHING), (9, 2, -1, 0, (1, 2, 2))),
    "not of no bits, promise broken": dais((3, 0, -1, 0, NOTHING), (9, 2, -1, 0, (1, 2, 0))),
    "not of minus no bits": dais((3, 0, -1, 0, NOTHING), (-9, 2, -1, 0, (1, 2, 2))),
    "not into no bits, signed": dais((9, 0, -1, 0, (1, -1, 0))),
    "not of minus x into no bits, signed": dais((-9, 1, -1, 0, (1, -2, 1))),
    "constant of no bits, promise broken": dais((5, -1, -1, 3, NOTHING)),
    "sum with a constant, no bits": dais((4, 1, -1, -12, NOTHING)),
    "lookup": dais((8, 1, -1, 0, U4), tables=[range(16)]),
    "lookup that begins later": dais((8, 1, -1, 3 * ENTRY, U4), tables=[range(5)]),
    "lookup that begins earlier": dais((8, 1, -1, -3 * ENTRY, U4), tables=[range(7)]),
    "lookup beyond": dais((8, 1, -1, 16 * ENTRY, U4), tables=[range(7)]),
    "lookup of a signed value, later": dais((8, 0, -1, 2 * ENTRY, U4), tables=[range(9)]),
    "lookup of a signed value, from 3 on": dais((8, 0, -1, 11 * ENTRY, U4), tables=[range(4)]),
    "two lookups of one table, other steps": dais(
        (8, 1, -1, 0, U4), (8, 1, -1, 0, (0, 3, 1)), (8, 1, -1, ENTRY, U4), tables=[range(15)]
    ),
    "meaningless data": dais((3, 0, -1, -7, S4), (2, 0, -1, 1 << 60, S4)),
    "negation": alir([(11, 0, 1, 0, (1, 4, 0))], [(0, 0, 1)]),
    "negation, too narrow": alir([(11, 0, 1, 0, S4)], [(0, 0, 1)]),
    "negation read once": alir([(11, 0, 1, 0, (1, 4, 0)), (2, 2, -1, 0, U4)], [(0, 0, 1)]),
    "negation of a negation": alir([(11, 0, 1, 0, (1, 4, 0)), (11, 1, 1, 0, (1, 4, 0))], [(0, 0, 1), (2, 0, 1)]),
    "shifted value": alir([(11, 0, 1, 0, (1, 5, 0))], [(0, 2, 0)]),
    "minus a shifted value": alir([(11, 0, 1, 0, (1, 5, 1))], [(0, -1, 1)]),
    "sum of four": alir([(11, 0, 4, 0, (1, 7, 2))], [(0, 2, 1), (1, -2, 0), (1, 0, 0), (0, 0, 0)]),
    "sum of four, too narrow": alir([(11, 0, 4, 0, (1, 4, 1))], [(0, 2, 1), (1, -2, 0), (1, 0, 0), (0, 0, 0)]),
    "sum of minus three": alir([(11, 0, 3, 0, (1, 8, 0))], [(0, 2, 1), (1, 1, 1), (1, 0, 1)]),
    "sum with a constant below its step": alir([(11, 0, 2, 3, (1, 4, 0))], [(0, 0, 0), (-1, -1, 0)]),
    "sum of three and a constant": alir([(11, 0, 4, -5, (1, 8, 3))], [(0, 0, 1), (1, 1, 1), (-1, -3, 0), (1, 0, 0)]),
    "a constant alone": alir([(11, 0, 1, 6, (1, 3, 0))], [(-1, -1, 0)]),
    "shift left": alir([(12, 0, -1, 3, (1, 4, 0))], []),
    "shift right": alir([(12, 0, -1, -2, (0, 3, 1))], []),
    "shift of no bits": alir([(3, 0, -1, 0, (0, 0, 0)), (12, 2, -1, 1, (1, 3, 0))], []),
    "shift by nothing": alir([(12, 0, -1, 0, (1, 3, 1))], []),
    "shift without a loss": alir([(12, 0, -1, -2, (1, 1, 2))], []),
}  # fmt: skip
EVERY_ROW = [[x, y] for x in range(-8, 8) for y in range(16)]


@pytest.mark.parametrize("name", ODD)
def test_odd_programs(name: str) -> None:
    assert_same(ODD[name], EVERY_ROW[::5])


def test_a_shift_by_nothing_is_written_as_the_quantisation_that_it_is_read_as(tmp_path: Path) -> None:
    """Text can represent ``quant(a<<0)``, which a file of ALIR cannot distinguish from ``quant(a)``."""
    record = dais_verif.convert(ODD["shift by nothing"], tmp_path / "a.json")
    assert load(tmp_path / "a.json").hash == record.written.hash


def test_a_negation_goes_into_its_only_reader() -> None:
    codes = to_dais(ODD["negation read once"]).columns.code.tolist()
    assert codes == [-1, -1, -3, 2], "it is an output, too"
    lone = Program.build(
        [X, (11, 0, 1, 0, (1, 4, 0)), (2, 1, -1, 0, U4)], [(2, 0, 0)], inp_shift=[0], terms=[(0, 0, 1)]
    )
    assert to_dais(lone).columns.code.tolist() == [-1, -2]


def test_only_the_last_op_of_a_chain_can_break_a_promise() -> None:
    ops = to_dais(ODD["sum of four, too narrow"]).ops
    assert [str(op.type) for op in ops[2:]] == ["s7.0", "s9.2", "s6.1"]
    with pytest.raises(ViolationError, match=f"op {ops[-1].index} "):
        oracle.evaluate(to_dais(ODD["sum of four, too narrow"]), [Fraction(-8), Fraction(15)])


def test_wide_types_keep_their_bits_where_a_double_cannot_say_their_ends() -> None:
    kinds = [(k, n - f, f) for n in (53, 54, 63, 64, 65, 200) for f in (-3, 0, 1, 60) for k in (0, 1)]
    ops = [(-1, 0, -1, 0, kind) for kind in kinds]
    program = Program.build(ops, [(len(ops) - 1, 0, 0)], inp_shift=[0])
    for other in forms(program).values():
        assert [op.type for op in other.ops] == kinds


# what cannot be represented, and notes


@pytest.mark.parametrize("layout", ["published", "headerless"])
def test_what_a_layout_cannot_say_names_the_op(layout: str, tmp_path: Path) -> None:
    with raises(InputError):
        dais_verif.convert(ODD["lookup"], tmp_path / "a.bin", to=layout)


def test_a_type_that_json_cannot_say_names_the_op(tmp_path: Path) -> None:
    program = dais((3, 0, -1, 0, (1, 0, 2000)))
    for to in ("alir", "json"):
        with raises(InputError):
            dais_verif.convert(program, tmp_path / "a.json", to=to)
    assert not list(tmp_path.iterdir())


def test_a_sum_beyond_the_limits_of_dais_names_the_op() -> None:
    program = alir([(11, 0, 3, 0, (1, 4, 0))], [(0, 4096, 0), (0, -4096, 0), (1, 0, 0)])
    with raises(InputError):
        to_dais(program)


LIES: dict[str, Any] = {
    "another op": {"layout": "v1", "ops": [[2, 3, 0, -1, 0, 1, 3, 0]]},
    "another op, all told": {
        "layout": "v1", "n_ops": 1, "ops": [[0, -1, 0, -1, 0, 1, 3, 0]], "out_idx": [0, 0, 0]
    },
    "a lie in the count": {"layout": "v1", "n_ops": 1 << 40, "ops": [], "out_idx": [0, 0, 0]},
    "no layout": {"layout": "v9"},
    "no list": {"layout": "v1", "ops": 7},
    "no op": {"layout": "v1", "ops": [[1 << 40, 0]]},
    "firmware": {"layout": "v1", "firmware_version": 1 << 40},
    "tables": {"layout": "v1", "tables": [[1, 2], "x"]},
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_notes_that_do_not_lead_back_are_not_believed(name: str) -> None:
    program = read_binary(write_binary(dais((-2, 0, -1, 5, U4)), "v1"), "v1")
    raised = to_alir(program)
    true, told = (parse(alir_json(raised, notes)) for notes in (notes_of(program, raised), LIES[name]))
    assert as_it_was(true) is not None and as_it_was(told) is None
    assert answer(to_dais(told), [-5, 3], True) == answer(program, [-5, 3], True)


def test_a_constant_that_a_type_without_bits_takes_is_restored() -> None:
    data = write_binary(dais((-1, 0, -1, 0, (0, 1, 0)), (4, 0, -1, 256, (1, -10, 9))), "v1")
    program = read_binary(data, "v1")
    raised = to_alir(program)
    was = as_it_was(parse(alir_json(raised, notes_of(program, raised))))
    assert was is not None and write_binary(was, "v1") == data


def test_a_negation_before_a_quantisation_that_is_left_out_stays() -> None:
    """A quantisation that changes nothing is left out before a lookup, so that it cannot take the negation."""
    text = "input x\ntable t = [0]\na = s1.-1 input x\nb = u1.-1 sum(-a)\ny = u1.0 t[b - 1]\noutput y = y\n"
    assert_same(assemble("layout alir\n" + text), [[0], [-2]])


def test_a_model_that_was_changed_since_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    dais_verif.convert(dais((0, 0, 1, 0, (1, 5, 0))), tmp_path / "a.bin")
    dais_verif.convert(tmp_path / "a.bin", path)
    tree = json.loads(path.read_text())
    tree["model"][5][2][1] = 1  # minus instead of plus
    path.write_text(json.dumps(tree))
    dais_verif.convert(path, tmp_path / "b.bin")
    assert oracle.evaluate(load(tmp_path / "b.bin"), [Fraction(3), Fraction(1)])[2] == 2
    assert load(tmp_path / "b.bin").columns.code.tolist() == [-1, -1, Code.SUB]


# the flow


@pytest.mark.parametrize(
    ("name", "to", "target"),
    [
        ("a.json", None, "alir"),
        ("a.json.gz", None, "alir"),
        ("a.alir", None, "alir"),
        ("a.bin", None, "v1"),
        ("a.dais", None, "dais"),
        ("a", "json", "json"),
        *((f"{layout}.bin", layout, layout) for layout in LAYOUTS),
    ],
)
def test_the_suffix_or_the_option_says_what_is_written(name: str, to: str | None, target: str, tmp_path: Path) -> None:
    program = dais((-2, 0, -1, 0, U4))
    record = dais_verif.convert(program, tmp_path / name, to=to)
    assert (record.target, record.compressed, record.passed) == (target, name.endswith(".gz"), True)
    back = load(tmp_path / name, layout=None if target == "dais" else target)
    assert (back.hash, back.origin.layout) == (record.written.hash, target.replace("dais", "v1"))
    assert ConversionRecord.from_json(record.to_json()) == record
    assert answer(back, [-5, 1], True) == answer(program, [-5, 1], True)


@pytest.mark.parametrize(
    ("name", "to", "line"),
    [
        ("a.txt", None, "select"),
        ("a", None, "select"),
        ("a.dais.gz", None, r"text.*compressed"),
        ("a.bin", "v2", r"alir, json.*v1, dais"),
    ],
)
def test_what_cannot_be_asked_for(name: str, to: str | None, line: str, tmp_path: Path) -> None:
    with raises(RequestError, match=line):
        dais_verif.convert(dais(), tmp_path / name, to=to)


def test_the_program_is_not_written_over(tmp_path: Path) -> None:
    dais_verif.convert(dais(), tmp_path / "a.bin")
    with raises(InputError):
        dais_verif.convert(tmp_path / "a.bin", tmp_path / "a.bin", to="alir")
    with pytest.raises(ProgramError):
        dais_verif.convert(b"nothing", tmp_path / "b.bin")


def test_an_end_that_no_double_holds_moves_inwards() -> None:
    least, most = (1 << 59) + 1, (1 << 60) + 1
    for low, high in ((-most, -least), (least, most), (-most, most)):
        kind = type_of_interval(low, high, 4)
        found = spelt(kind, (low, high))
        assert found != (low, high) and type_of_interval(*found, 4) == kind
        assert all(float(end) == end for end in found)
        assert abs(found[0] - low) < 1 << 8 and abs(found[1] - high) < 1 << 8, (low, high, found)
