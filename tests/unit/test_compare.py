"""Comparison of two programs: differences are found exactly, and witnesses are correct and simple."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.said import raises
from support.strategies import batches
from support.tier import examples

from dais_verif.base.errors import InputError, ProgramError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import compare as module
from dais_verif.golden import oracle
from dais_verif.golden.compare import Comparison, OpValues, compare, first_different_op
from dais_verif.spec.program import Program
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import generate_common

S4, S5 = (1, 3, 0), (1, 4, 0)
FAST = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def mutated(program: Program, rng: random.Random) -> Program:
    """Return ``program`` with one number of an op or output changed; raise ``ProgramError`` if that is invalid."""
    if rng.random() < 0.2:
        shifts = program.out_shift.copy()
        shifts[rng.randrange(program.n_out)] += rng.choice((-1, 1))
        return replace(program, out_shift=shifts)
    name = rng.choice(("data", "k", "i", "f"))
    column = getattr(program.columns, name).copy()
    column[rng.randrange(program.n_ops)] += rng.choice((-1, 1, 2))
    changed = replace(program, columns=program.columns._replace(**{name: column}))
    validate(changed)
    return changed


def variants(seed: int) -> tuple[Program, Program, random.Random]:
    """Return a random program, a slightly different one, and the generator for their vectors."""
    rng = random.Random(seed)
    program = random_program(rng, rng.randint(1, 12), widest=12)
    while True:
        with contextlib.suppress(ProgramError):
            return program, mutated(program, rng), rng


def outputs(program: Program, vector: Any) -> list[Fraction]:
    return oracle.evaluate(program, vector, check=False)


@given(st.integers(0, 1 << 32))
@FAST
def test_what_is_found_is_what_the_oracle_shows(seed: int) -> None:
    a, b, rng = variants(seed)
    batch = Batch.of([*random_rows(rng, a, 4), *random_rows(rng, b, 4)], a.n_in)
    found = compare(a, b, batch, check=False)
    pairs = [(outputs(a, batch.row(row)), outputs(b, batch.row(row))) for row in range(batch.rows)]
    assert found.differing == sum(x != y for x, y in pairs)
    witness = found.witness
    if witness is None:
        assert found.differing == 0
        return
    x, y = pairs[witness.row]
    assert all(left == right for left, right in pairs[: witness.row])
    assert x[: witness.output] == y[: witness.output] and x[witness.output] != y[witness.output]
    assert list(witness.given) == batch.row(witness.row)
    assert (witness.a, witness.b) == (
        outputs(a, witness.inputs)[witness.output],
        outputs(b, witness.inputs)[witness.output],
    )
    assert witness.a != witness.b
    if witness.op is not None:
        index = witness.op.index
        values = [oracle.trace(program, witness.inputs, violations=[]) for program in (a, b)]
        assert (witness.op.a, witness.op.b) == (values[0][index], values[1][index])
        assert values[0][:index] == values[1][:index] and witness.op.a != witness.op.b
        assert index >= (first_different_op(a, b) or 0)


@given(batches() | batches(alir=True))
@FAST
def test_a_program_never_differs_from_itself(case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    found = compare(program, replace(program), Batch.of(rows, program.n_in), check=False)
    assert (found.rows, found.differing, found.witness) == (len(rows), 0, None)
    assert first_different_op(program, replace(program)) is None


SUM = [(-1, 0, -1, 0, S4), (-1, 1, -1, 0, S4), (-1, 2, -1, 0, S4), (0, 0, 1, 0, S5), (0, 3, 2, 0, (1, 5, 0))]


def build(rows: list[Any], *outputs: tuple[int, int, int], n_in: int = 3) -> Program:
    return Program.build(rows, outputs or [(len(rows) - 1, 0, 0)], inp_shift=[0] * n_in)


def test_the_witness_keeps_only_what_the_difference_needs() -> None:
    """Inputs that the difference does not need become 0. Program b cuts input 1 to three bits, so 4 shows it."""
    b = build([SUM[0], (-1, 1, -1, 0, (1, 2, 0)), *SUM[2:]])
    found = compare(build(SUM), b, Batch.of([[1, 3, 2], [5, 7, -8]], 3))
    witness = found.witness
    assert witness is not None and (found.rows, found.differing, found.bits) == (2, 1, 6)
    assert (witness.row, witness.output, witness.given) == (1, 0, (5, 7, -8))
    assert (witness.inputs, witness.a, witness.b) == ((0, 4, 0), 4, -4)
    assert witness.op == OpValues(1, Fraction(4), Fraction(-4))


def test_numbers_become_short() -> None:
    b = build([*SUM[:4], (1, 3, 2, 0, (1, 5, 0))])
    found = compare(build(SUM), b, Batch.of([[0.75, 1.25, -6.8125]], 3))
    assert found.witness is not None
    assert found.witness.inputs == (0, 0, 1)


def test_the_simplest_of_the_differing_vectors_is_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrinking starts from the simplest of three differing vectors, the second one.

    The first one, which is reported as ``given``, has no zero.
    """
    monkeypatch.setattr(module, "_SHRINK_BUDGET", 1)
    b = build([*SUM[:4], (1, 3, 2, 0, (1, 5, 0))])
    witness = compare(build(SUM), b, Batch.of([[7, 7, 0], [1, 2, 3], [0, 0, 5], [0, 6, 7]], 3)).witness
    assert witness is not None
    assert (witness.row, witness.given, witness.inputs) == (1, (1, 2, 3), (0, 0, 5))


def test_a_witness_breaks_no_promise() -> None:
    """The witness breaks no promise: with 0 for input 1 the programs differ, too, but the lookup leaves the table."""
    rows = [*SUM[:2], (8, 1, -1, 9 << 32, S4), (0, 0, 2, 0, S5)]
    a, b = (
        Program.build([*rows, (4, 3, -1, c, (1, 5, 0))], [(4, 0, 0)], inp_shift=[0, 0], tables=[[1, 2, 3]])
        for c in (1, 2)
    )
    batch = Batch.of([[5, 3]], 2)
    checked, unchecked = (compare(a, b, batch, check=check).witness for check in (True, False))
    assert checked is not None and unchecked is not None
    assert (checked.inputs, unchecked.inputs) == ((0, 1), (0, 0))


def test_a_witness_stays_within_declared_inputs() -> None:
    """The programs differ for 0, too, but program a declares that its input lies in 3..6."""
    a, b = build([SUM[0]], n_in=1), build([SUM[0], (4, 0, -1, 1, S5)], n_in=1)
    declared = replace(a, intervals=((3, 6),))
    for program, inputs in ((a, (0,)), (declared, (4,))):
        witness = compare(program, b, Batch.of([[5.5]], 1)).witness
        assert witness is not None and witness.inputs == inputs


def test_the_budget_bounds_the_work_but_not_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHRINK_BUDGET", 1)
    found = compare(build(SUM), build([*SUM[:4], (1, 3, 2, 0, (1, 5, 0))]), Batch.of([[1, 2, 3]], 3))
    assert found.witness is not None
    assert found.witness.inputs == found.witness.given == (1, 2, 3)


def test_real_values_compare_not_raw_ones() -> None:
    """Equal real values in another type, with other fractional bits, or in a much wider type, are no difference."""
    x = (-1, 0, -1, 0, S4)
    a = build([x], (0, 0, 0), (0, 3, 1), n_in=1)
    b = build([x, (3, 0, -1, 0, (1, 10, 90)), (-3, 1, -1, 0, (1, 4, 2))], (1, 0, 0), (2, 3, 0), n_in=1)
    batch = Batch.of([[v] for v in (-8, -1, 0, 7, 2.5)], 1)
    assert compare(a, b, batch) == Comparison(5, 101 + 7, 0, None)
    shifted = build([x], (0, 1, 0), (0, 3, 1), n_in=1)
    assert compare(a, shifted, batch).differing == 4


@pytest.mark.parametrize("engine", ["auto", "numpy", "exact"])
def test_engines_give_the_same(engine: Any) -> None:
    a, b, rng = variants(3)
    batch = Batch.of(random_rows(rng, a, 30), a.n_in)
    assert compare(a, b, batch, engine=engine, check=False) == compare(a, b, batch, check=False)


def test_programs_that_correspond_no_longer_have_no_first_different_value() -> None:
    """No first different value is named, because the ops differ in kind before any value does."""
    a = build([SUM[0], (3, 0, -1, 0, S4), (4, 1, -1, 1, S5)], n_in=1)
    b = build([SUM[0], (2, 0, -1, 0, S4), (4, 1, -1, 2, S5)], n_in=1)
    found = compare(a, b, Batch.of([[3]], 1))
    assert found.witness is not None and found.witness.op is None
    assert first_different_op(a, b) == 1


#: Another op list, and the first op in which it differs from SUM with a table.
TABLE = (8, 0, -1, 8 << 32, S4)
FIRST = {
    "same": ([*SUM, TABLE], {}, None),
    "data without meaning": ([(-1, 0, -1, 77, S4), *SUM[1:], TABLE], {}, None),
    "type": ([SUM[0], (-1, 1, -1, 0, (1, 4, -1)), *SUM[2:], TABLE], {}, 1),
    "operand": ([*SUM[:3], (0, 0, 2, 0, S5), SUM[4], TABLE], {}, 3),
    "shift": ([*SUM[:4], (0, 3, 2, 1, (1, 5, 0)), TABLE], {}, 4),
    "shorter": (SUM, {}, 5),
    "longer": ([*SUM, TABLE, TABLE], {}, 6),
    "input shift": ([*SUM, TABLE], {"inp_shift": [0, 0, 1]}, 2),
    "table entries": ([*SUM, TABLE], {"tables": [[1, 2, 4]]}, 5),
    "table number": ([*SUM, (8, 0, -1, (8 << 32) | 1, S4)], {"tables": [[7], [1, 2, 3]]}, None),
}


@pytest.mark.parametrize("name", FIRST)
def test_first_different_op(name: str) -> None:
    rows, others, expected = FIRST[name]
    options = {"inp_shift": [0, 0, 0], "tables": [[1, 2, 3]]}
    a = Program.build([*SUM, TABLE], [(0, 0, 0)], **options)
    b = Program.build(rows, [(0, 0, 0)], **{**options, **others})
    assert first_different_op(a, b) == first_different_op(b, a) == expected


def test_another_number_of_inputs_or_outputs_is_refused() -> None:
    a, batch = build(SUM), Batch.of(np.zeros((1, 3)), 3)
    with raises(InputError):
        compare(a, build(SUM, n_in=4), batch, names=("p", "q"))
    with raises(InputError):
        compare(a, build(SUM, (0, 0, 0), (1, 0, 0)), batch)


def test_a_broken_promise_names_its_program() -> None:
    """The error names the program whose promise is broken, also if the programs differ in an earlier row."""
    narrow, other = build([*SUM[:3], (0, 0, 1, 0, S4)]), build([*SUM[:3], (1, 0, 1, 0, S5)])
    batch = Batch.of([[1, 1, 0], [7, 1, 0]], 3)
    for programs, _name in (((narrow, other), "first"), ((other, narrow), "second")):
        with raises(ViolationError):
            compare(*programs, batch)
        found = compare(*programs, batch, check=False)
        assert found.witness is not None and found.witness.row == 0


def test_no_vectors_and_no_bits() -> None:
    a = build(SUM)
    assert compare(a, build(SUM), Batch.of(np.zeros((0, 3)), 3)) == Comparison(0, 6, 0, None)
    empty = build(SUM, (-1, 0, 0))
    assert compare(empty, empty, Batch.of(np.zeros((2, 3)), 3)) == Comparison(2, 0, 0, None)


def test_an_engine_that_sees_what_the_oracle_does_not_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    ones, zeros = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    answers = iter([(ones,), (zeros,)])
    monkeypatch.setattr(module, "run_raw", lambda *_, **__: next(answers))
    with raises(AssertionError):
        compare(build(SUM), build(SUM), Batch.of(np.zeros((1, 3)), 3))


def test_a_difference_in_input_types_is_met_by_common_vectors() -> None:
    """Only 8..15 and -16..-9 distinguish s4.0 from s5.0, and only corner values of s5.0 are certain to lie there."""
    a, b = (build([(-1, 0, -1, 0, kind)], n_in=1) for kind in (S4, S5))
    found = compare(a, b, generate_common([a, b], 20, 0))
    assert found.witness is not None


def test_terms_are_what_a_sum_is() -> None:
    """Sums differ if a shift, sign, operand or constant differs, but not if their terms are merely stored elsewhere."""
    x, kind = (-1, 0, -1, 0, S4), (1, 8, 0)

    def sums(*terms: tuple[int, int, int], data: int = 0) -> Program:
        first = [(0, 0, 0), (1, 0, 0)]
        rows = [x, (-1, 1, -1, 0, S4), (11, 0, 2, 0, kind), (11, 2, len(terms), data, kind)]
        return Program.build(rows, [(3, 0, 0)], inp_shift=[0, 0], terms=[*first, *terms])

    a = sums((2, 0, 0), (0, 1, 1), (-1, 0, 0), data=3)
    others = {
        "shift": sums((2, 0, 0), (0, 2, 1), (-1, 0, 0), data=3),
        "sign": sums((2, 0, 0), (0, 1, 0), (-1, 0, 0), data=3),
        "operand": sums((2, 0, 0), (1, 1, 1), (-1, 0, 0), data=3),
        "constant": sums((2, 0, 0), (0, 1, 1), (-1, 0, 0), data=4),
        "no constant": sums((2, 0, 0), (0, 1, 1)),
    }
    for name, b in others.items():
        assert first_different_op(a, b) == 3, name
        witness = compare(a, b, Batch.of([[1, 2], [-8, 7], [3, 0]], 2)).witness
        assert witness is not None, name
        assert (witness.a, witness.b) == (outputs(a, witness.inputs)[0], outputs(b, witness.inputs)[0])
        # With another operand, the ops do not correspond any more.
        assert (None if witness.op is None else witness.op.index) == (None if name == "operand" else 3), name
    # Op 2 has one term fewer: the terms of op 3 are stored one place earlier, but are the same.
    fewer = Program.build(
        [x, (-1, 1, -1, 0, S4), (11, 0, 1, 0, kind), (11, 1, 3, 3, kind)],
        [(3, 0, 0)],
        inp_shift=[0, 0],
        terms=[(0, 0, 0), (2, 0, 0), (0, 1, 1), (-1, 0, 0)],
    )
    assert first_different_op(a, fewer) == 2
    assert first_different_op(a, replace(a)) is None
