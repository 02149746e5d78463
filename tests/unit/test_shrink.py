"""A shrunk vector is simpler and still has the property that it must show."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tier import examples

from dais_verif.golden.shrink import Vector, effort, shrunk

numbers = st.builds(Fraction, st.integers(-(1 << 80), 1 << 80), st.integers(0, 70).map(lambda n: 1 << n))


@given(st.lists(numbers, max_size=9).map(tuple), st.integers(-9, 9))
@settings(max_examples=examples(200), deadline=None)
def test_what_holds_still_holds_and_zeros_stay(vector: Vector, bound: int) -> None:
    """A shrunk vector keeps its property, here that the sum is on the same side of ``bound``, and its zeros."""
    above = sum(vector) > bound
    found = shrunk(vector, lambda some: (sum(some) > bound) == above)
    assert (sum(found) > bound) == above
    assert len(found) == len(vector) and effort(found)[0] <= effort(vector)[0]
    assert all(new == 0 for old, new in zip(vector, found, strict=True) if old == 0)


#: The property that must hold, the vector, and the shrunk vector.
CASES = {
    "nothing": (lambda v: True, (5, -7, 0), (0, 0, 0)),
    "one of many": (lambda v: v[3] > 2, (9, 9, 9, 9, 9), (0, 0, 0, 8, 0)),
    "two of many": (lambda v: v[0] and v[4], (9, 9, 9, -9, Fraction(9, 8)), (1, 0, 0, 0, 1)),
    "sign": (lambda v: v[0] < 0, (Fraction(-27, 4),), (-1,)),
    "leading bits": (lambda v: v[0] >= 6, (Fraction(27, 4),), (6,)),
    "tiny": (lambda v: 0 < v[0] < 1, (Fraction(11, 1 << 90),), (Fraction(8, 1 << 90),)),
    "never": (lambda v: False, (5, 7), (5, 7)),
    "no inputs": (lambda v: True, (), ()),
}


@pytest.mark.parametrize("name", CASES)
def test_what_remains(name: str) -> None:
    holds, vector, expected = CASES[name]
    assert shrunk(tuple(map(Fraction, vector)), lambda some: bool(holds(some))) == expected


def test_the_work_grows_with_what_matters_not_with_the_length() -> None:
    asked = 0

    def holds(vector: Vector) -> bool:
        nonlocal asked
        asked += 1
        return vector[700] == 5

    assert shrunk((Fraction(5),) * 1000, holds).count(0) == 999
    assert asked < 40
