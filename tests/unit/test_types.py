"""Types: ranges, names, and the smallest type that holds an interval."""

from __future__ import annotations

import pytest

from dais_verif.spec.program import FixedType
from dais_verif.spec.program.types import type_of_interval

#: (k, i, f), width, smallest and largest raw value, name.
TYPES = [
    ((1, 3, 0), 4, -8, 7, "s4.0"),
    ((1, -1, 4), 4, -8, 7, "s4.4"),
    ((1, 6, -3), 4, -8, 7, "s4.-3"),
    ((1, 0, 0), 1, -1, 0, "s1.0"),
    ((1, -1, 0), 0, 0, 0, "s0.0"),
    ((1, -5, 4), 0, 0, 0, "s0.4"),
    ((0, 0, 0), 0, 0, 0, "u0.0"),
    ((0, 7, -7), 0, 0, 0, "u0.-7"),
    ((0, 1, 0), 1, 0, 1, "u1.0"),
    ((0, -2, 6), 4, 0, 15, "u4.6"),
    ((1, 63, 0), 64, -(2**63), 2**63 - 1, "s64.0"),
    ((0, 0, 64), 64, 0, 2**64 - 1, "u64.64"),
]


@pytest.mark.parametrize(("fields", "width", "lo", "hi", "name"), TYPES)
def test_range_and_name(fields: tuple[int, int, int], width: int, lo: int, hi: int, name: str) -> None:
    kind = FixedType(*fields)
    assert (kind.width, kind.raw_min, kind.raw_max, str(kind)) == (width, lo, hi, name)


#: lo, hi, f, and (k, i, f) of the smallest type.
INTERVALS = [
    (-8, 7, 0, (1, 3, 0)),
    (-9, 0, 0, (1, 4, 0)),
    (-8, 8, 0, (1, 4, 0)),
    (-1, 0, 0, (1, 0, 0)),
    (-1, -1, 3, (1, -3, 3)),
    (-2, -1, 0, (1, 1, 0)),
    (-1, 1, 0, (1, 1, 0)),
    (0, 0, 5, (0, 0, 0)),
    (0, 1, 0, (0, 1, 0)),
    (1, 1, -4, (0, 5, -4)),
    (0, 15, 6, (0, -2, 6)),
    (3, 16, 0, (0, 5, 0)),
]


@pytest.mark.parametrize(("lo", "hi", "f", "expected"), INTERVALS)
def test_smallest_type_of_an_interval(lo: int, hi: int, f: int, expected: tuple[int, int, int]) -> None:
    assert type_of_interval(lo, hi, f) == expected


def test_no_smaller_type_holds_the_interval() -> None:
    for lo in range(-20, 21):
        for hi in range(lo, 21):
            k, i, f = kind = type_of_interval(lo, hi, 0)
            assert kind.raw_min <= lo <= hi <= kind.raw_max
            if kind.width:
                less = FixedType(k, i - 1, f)
                assert not less.raw_min <= lo <= hi <= less.raw_max
            assert k == (lo < 0)
