"""The table is complete, it can fail, and composing its rows into one program does not change their results."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from support.said import raises
from support.tier import some

from dais_verif.golden import oracle, run_raw
from dais_verif.spec.program import OPCODES

from .compose import compose
from .engines import ENGINES, problems, reals, takes
from .row import Case, Row, case, exact, row
from .rtl import expected_bits
from .rtl import problems as rtl_problems
from .rules import Rule
from .table import GROUPS, TABLE


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(row.name for row in TABLE).items() if count > 1] == []
    assert all(row.name.isidentifier() for row in TABLE)


def test_every_opcode_appears() -> None:
    assert {op[0] for row in TABLE for op in row.ops} == {code for code, spec in OPCODES.items() if not spec.alir}


def test_every_rule_has_a_row_and_every_row_a_rule() -> None:
    assert {row.rule for row in TABLE} == set(Rule)
    assert all(rule.value.strip() for rule in Rule)


def test_there_is_enough_of_everything() -> None:
    assert len(TABLE) >= 200
    for code, spec in OPCODES.items():
        if spec.promise and not spec.alir:
            broken = [
                row for row in TABLE for one in row.cases if one.breaks is not None and row.ops[one.breaks][0] == code
            ]
            assert broken, f"no row breaks the promise of op {code}"
    assert all(row.cases for row in TABLE)


@pytest.mark.parametrize(
    "engine",
    [
        "oracle",
        "numpy",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ENGINES if name == "fast base, 1 rows"),
    ],
)
def test_a_wrong_row_is_refused_by_the_engine(engine: str) -> None:
    """For every case of every row, another output value or another violation than the page's is refused."""
    for true_row in some(filter(partial(takes, engine), TABLE), 120):
        for number, one in enumerate(true_row.cases):
            for wrong in _falsified(one, len(true_row.ops)):
                cases = (*true_row.cases[:number], wrong, *true_row.cases[number + 1 :])
                assert problems(replace(true_row, cases=cases), ENGINES[engine]), (true_row, wrong)


def _falsified(one: Case, n_ops: int) -> list[Case]:
    """Return ``one`` with each output changed in turn, and with a promise broken at another op or at none."""
    wrong = [
        replace(one, gives=(*one.gives[:j], value + Fraction(1, 4), *one.gives[j + 1 :]))
        for j, value in enumerate(one.gives)
    ]
    last = n_ops - 1
    return [*wrong, replace(one, breaks=None if one.breaks == last else last)]


@pytest.mark.parametrize("group", GROUPS)
def test_a_wrong_row_is_refused_by_the_comparison_of_rtl(group: str) -> None:
    """If one bit of one row is wrong in the table, right bits fail that row and no other."""
    whole = compose(GROUPS[group])
    found = expected_bits(whole)
    wrong_row = next(row for row in whole.rows if row.cases[0].gives[0] == -8 and row.ops[-1][4] == (1, 3, 0))
    first = replace(wrong_row.cases[0], gives=(Fraction(-7), *wrong_row.cases[0].gives[1:]))
    falsified = replace(wrong_row, cases=(first, *wrong_row.cases[1:]))
    other = compose([falsified if row is wrong_row else row for row in whole.rows])
    expected = expected_bits(other)
    assert [row for row in other.rows if rtl_problems(other, found, expected, row)] == [falsified]


@pytest.mark.parametrize("bit", "xz")
def test_an_unknown_bit_is_refused_by_the_comparison_of_rtl(bit: str) -> None:
    whole = compose(GROUPS["arithmetic"])
    expected = expected_bits(whole)
    found = [text[:-1] + bit for text in expected]
    assert [row for row in whole.rows if rtl_problems(whole, found, expected, row)] == [whole.rows[0]]


@pytest.mark.parametrize("group", GROUPS)
def test_composition_is_harmless(group: str) -> None:
    """In every engine, one program of all rows computes the same as the rows by themselves."""
    whole = compose(GROUPS[group])
    alone = [[value for row in whole.rows for value in _alone(row, vector)] for vector in range(len(whole.vectors))]
    assert [oracle.evaluate(whole.program, vector, check=False) for vector in whole.vectors] == alone
    for engine in ("numpy", "auto"):
        assert reals(whole.program, run_raw(whole.program, whole.batch, engine=engine, check=False)) == alone
    assert whole.program.n_ops == sum(row.program.n_ops for row in whole.rows)
    assert len(whole.program.tables) == sum(len(row.tables) for row in whole.rows)


def _alone(row: Row, vector: int) -> list[Fraction]:
    inputs = row.cases[min(vector, len(row.cases) - 1)].inputs
    return oracle.evaluate(row.program, inputs, check=False)


def test_numbers_are_what_they_read_as() -> None:
    assert exact(-0.375) == Fraction(-3, 8)
    with pytest.raises(AssertionError, match=r"0\.1 is no dyadic number"):
        exact(0.1)


def test_a_malformed_row_is_refused() -> None:
    with pytest.raises(AssertionError, match="two: 1 inputs, not 2"):
        row("two", Rule.ADD, [(1, 3, 0), (1, 3, 0)], [(0, 0, 1, 0, (1, 4, 0))], case(-8, gives=-16))
    with pytest.raises(AssertionError, match="one: 2 outputs, not 1"):
        row("one", Rule.INPUT, [(1, 3, 0)], [], case(-8, gives=(-8, -8)))
    with raises(AssertionError):
        row("none", Rule.INPUT, [(1, 3, 0)], [], case(-8, gives=-8, breaks=1))
