"""Yosys cells compute what the manual of Yosys says: every kind, all values, signed and unsigned, several widths."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import trunc
from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError, ToolError
from dais_verif.prover.terms import Term, concat, const, eq, var
from dais_verif.prover.yosys.cells import LOGIC
from dais_verif.prover.yosys.json_form import Cell, read_form

#: Widths of A, B and Y.
WIDTHS = [(3, 3, 3), (2, 3, 4), (3, 2, 1), (1, 3, 2), (3, 1, 5), (4, 2, 2)]

#: The value of Y, or None if it is undefined, from A and B, signed as the parameters say, and the width of Y.
Value = Callable[[int, int, int], int | None]

ARITHMETIC: dict[str, Value] = {
    "$add": lambda a, b, w: a + b,
    "$sub": lambda a, b, w: a - b,
    "$mul": lambda a, b, w: a * b,
    "$div": lambda a, b, w: trunc(a / b) if b else None,
    "$mod": lambda a, b, w: a - b * trunc(a / b) if b else None,
    "$eq": lambda a, b, w: a == b,
    "$eqx": lambda a, b, w: a == b,
    "$ne": lambda a, b, w: a != b,
    "$nex": lambda a, b, w: a != b,
    "$lt": lambda a, b, w: a < b,
    "$le": lambda a, b, w: a <= b,
    "$gt": lambda a, b, w: a > b,
    "$ge": lambda a, b, w: a >= b,
    "$logic_and": lambda a, b, w: bool(a and b),
    "$logic_or": lambda a, b, w: bool(a or b),
}
#: A has its own sign, and B is unsigned.
SHIFTS: dict[str, Value] = {
    "$shl": lambda a, b, w: a << b,
    "$sshl": lambda a, b, w: a << b,
    "$sshr": lambda a, b, w: a >> b,
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "$neg": lambda a, width: -a,
    "$reduce_and": lambda a, width: a % (1 << width) == (1 << width) - 1,
    "$reduce_or": lambda a, width: a != 0,
    "$reduce_bool": lambda a, width: a != 0,
    "$reduce_xor": lambda a, width: (a % (1 << width)).bit_count() % 2,
    "$reduce_xnor": lambda a, width: 1 - (a % (1 << width)).bit_count() % 2,
    "$logic_not": lambda a, width: a == 0,
}


def cell(kind: str, y: int, a_signed: int = 0, b_signed: int = 0) -> Cell:
    numbers = {"A_SIGNED": a_signed, "B_SIGNED": b_signed, "Y_WIDTH": y}
    return Cell(kind, parameters={name: format(value, "032b") for name, value in numbers.items()})


def signed(value: int, width: int, is_signed: int) -> int:
    return value - (1 << width) if is_signed and value >> (width - 1) else value


def holds(found: Term, wanted: int | None, width: int) -> bool:
    """Return whether ``found`` is the constant ``wanted``, or undefined if ``wanted`` is None."""
    assert found.width == width
    return found.op == "undefined" if wanted is None else found is const(width, wanted)


@pytest.mark.parametrize("signs", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("kind", ARITHMETIC)
def test_two_operands_are_signed_only_if_both_are(kind: str, signs: tuple[int, int]) -> None:
    both = signs == (1, 1)
    for wa, wb, wy in WIDTHS:
        for a, b in product(range(1 << wa), range(1 << wb)):
            found = LOGIC[kind](cell(kind, wy, *signs), {"A": const(wa, a), "B": const(wb, b)})
            wanted = ARITHMETIC[kind](signed(a, wa, both), signed(b, wb, both), wy)
            if wanted is None:  # undefined in the width of the operands, then cut
                assert found.op in ("undefined", "extract"), (a, b)
            else:
                assert holds(found, int(wanted), wy), (wa, wb, wy, a, b)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("kind", SHIFTS)
def test_shifts_by_an_unsigned_amount(kind: str, sign: int) -> None:
    for wa, wb, wy in WIDTHS:
        for a, b in product(range(1 << wa), range(1 << wb)):
            found = LOGIC[kind](cell(kind, wy, sign, 0), {"A": const(wa, a), "B": const(wb, b)})
            assert holds(found, SHIFTS[kind](signed(a, wa, sign), b, wy), wy), (wa, wb, wy, a, b)


@pytest.mark.parametrize("sign", [0, 1])
def test_a_logical_shift_of_what_is_extended_first(sign: int) -> None:
    for wa, wb, wy in WIDTHS:
        for a, b in product(range(1 << wa), range(1 << wb)):
            found = LOGIC["$shr"](cell("$shr", wy, sign, 0), {"A": const(wa, a), "B": const(wb, b)})
            assert holds(found, signed(a, wa, sign) % (1 << max(wa, wy)) >> b, wy), (wa, wb, wy, a, b)


@pytest.mark.parametrize("signs", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_shift_by_a_negative_amount_goes_left(signs: tuple[int, int]) -> None:
    for wa, wb, wy in WIDTHS:
        for a, b in product(range(1 << wa), range(1 << wb)):
            found = LOGIC["$shift"](cell("$shift", wy, *signs), {"A": const(wa, a), "B": const(wb, b)})
            wide, by = signed(a, wa, signs[0]) % (1 << max(wa, wy)), signed(b, wb, signs[1])
            assert holds(found, wide >> by if by >= 0 else wide << -by, wy), (wa, wb, wy, a, b)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("kind", UNARY)
def test_one_operand(kind: str, sign: int) -> None:
    for wa, _, wy in WIDTHS:
        for a in range(1 << wa):
            found = LOGIC[kind](cell(kind, wy, sign), {"A": const(wa, a)})
            assert holds(found, int(UNARY[kind](signed(a, wa, sign), wa)), wy), (wa, wy, a)


@pytest.mark.parametrize("sign", [0, 1])
def test_bits_from_a_place(sign: int) -> None:
    for wa, wb, wy in ((5, 3, 2), (4, 2, 1), (6, 3, 6)):
        for a, b in product(range(1 << wa), range(1 << wb)):
            found = LOGIC["$shiftx"](cell("$shiftx", wy, 0, sign), {"A": const(wa, a), "B": const(wb, b)})
            at = signed(b, wb, sign)
            assert holds(found, a >> at if 0 <= at <= wa - wy else None, wy), (wa, wb, wy, a, b)


def test_more_bits_from_a_place_than_there_are() -> None:
    with raises(InputError):
        LOGIC["$shiftx"](cell("$shiftx", 3), {"A": const(2, 0), "B": const(2, 0)})


@pytest.mark.parametrize("signs", [(0, 0), (1, 0), (1, 1)])
def test_powers(signs: tuple[int, int]) -> None:
    for wa, wb, wy in WIDTHS:
        for a, b in product(range(1 << wa), range(1 << wb)):
            given = {"A": const(wa, a), "B": const(wb, b)}
            if signed(b, wb, signs[1]) < 0:
                with raises(InputError):
                    LOGIC["$pow"](cell("$pow", wy, *signs), given)
            else:
                base = signed(a, wa, signs == (1, 1))
                assert holds(LOGIC["$pow"](cell("$pow", wy, *signs), given), base**b, wy), (wa, wb, wy, a, b)


def test_a_power_with_an_exponent_that_varies() -> None:
    with raises(InputError):
        LOGIC["$pow"](cell("$pow", 3), {"A": const(2, 3), "B": var(2, "b")})


def choice(select: Term, count: int = 3) -> Term:
    arms = concat(*(const(4, 10 + n) for n in reversed(range(count))))
    return LOGIC["$pmux"](cell("$pmux", 4), {"A": const(4, 1), "B": arms, "S": select})


def test_one_of_several() -> None:
    for select in range(8):
        found = choice(const(3, select))
        one = {0: 1, 1: 10, 2: 11, 4: 12}.get(select)
        assert holds(found, one, 4), select


def has_undefined(term: Term) -> bool:
    return term.op == "undefined" or any(map(has_undefined, term.args))


def test_bits_of_a_choice_that_exclude_each_other() -> None:
    """A choice is fully defined only if it is known that no two of its bits are 1."""
    x, y = var(2, "x"), var(2, "y")
    compared = [eq(x, const(2, n)) for n in range(3)]
    assert not has_undefined(choice(concat(*compared)))
    assert not has_undefined(choice(var(1, "s"), 1))
    for others in (
        [compared[0], compared[1], compared[1]],
        [compared[0], compared[1], eq(y, const(2, 2))],
        [compared[0], compared[1], eq(x, y)],
        [compared[0], compared[1], var(1, "s")],
    ):
        assert has_undefined(choice(concat(*others)))


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"{", b"[]", b'{"modules": 3}', b'{"modules": {"m": {"cells": []}}}', None]
)
def test_what_is_no_netlist_of_yosys(text: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    if text is not None:
        path.write_bytes(text)
    with raises(ToolError):
        read_form(path)
