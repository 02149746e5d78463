"""Known deviations of simulators from IEEE 1800, each as a reading that makes the same mistake.

An output that only one simulator contradicts counts as this simulator's defect if a reading with the mistake, and
without any other change, gives the simulator's values on all vectors. ``EXAMPLE`` is the smallest expression that
shows it; a test runs the simulator on it, so that the rule is removed once a version without the mistake exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any, NamedTuple

import pytest

from dais_verif.prover.slang import expressions, walk
from dais_verif.prover.slang.design import ast
from dais_verif.prover.terms import Term, add

__all__ = ["DEFECTS", "EXAMPLE", "Defect"]

_Rule = Callable[[Any, Any], Term]
_CASTS = ("$signed", "$unsigned")
_LEFT = (ast.BinaryOperator.LogicalShiftLeft, ast.BinaryOperator.ArithmeticShiftLeft)
_SHIFTS = (*_LEFT, ast.BinaryOperator.LogicalShiftRight, ast.BinaryOperator.ArithmeticShiftRight)
#: The maximum number of possible places of a mistake; all combinations of these places are tried.
_MOST = 5

#: With the inputs of ``modules.INPUTS``: where ``r`` ends in 3, 9 bits should be shifted by 6, but are shifted by 2.
EXAMPLE = "(q << r[1:0]) << r[1:0]"


class Defect(NamedTuple):
    """A defect; ``readings`` yields contexts in which the reader makes the mistake at some of the possible places."""

    name: str
    simulator: str
    readings: Callable[[], Iterator[Any]]


def _way(e: Any) -> Any:
    """Return the direction of a shift; ``>>>`` of an unsigned value is the same as ``>>``."""
    if e.op in _LEFT:
        return _LEFT
    signed = e.op is ast.BinaryOperator.ArithmeticShiftRight and e.type.isSigned
    return ast.BinaryOperator.ArithmeticShiftRight if signed else ast.BinaryOperator.LogicalShiftRight


def _shift_of_a_shift(e: Any, driven: Mapping[Any, Any]) -> Any:
    """Return the inner one of two shifts in one direction, by variables of equal width, or None.

    The inner shift may also drive a net that the outer one shifts, since simulators substitute it there. ``driven``:
    the expressions that drive nets.
    """
    inner, width = e.left, e.type.bitWidth
    while True:
        if type(inner) is ast.ConversionExpression and inner.type.bitWidth == inner.operand.type.bitWidth == width:
            inner = inner.operand
        elif type(inner) is ast.CallExpression and inner.isSystemCall and inner.subroutineName in _CASTS:
            inner = inner.arguments[0]
        elif type(inner) is ast.NamedValueExpression and driven.get(inner.symbol) is not None:
            inner = driven[inner.symbol]
        else:
            break
    if type(inner) is not ast.BinaryExpression or inner.op not in _SHIFTS or inner.type.bitWidth != width:
        return None
    if _way(inner) != _way(e):
        return None
    return inner if inner.right.type.bitWidth == e.right.type.bitWidth else None


def _added_amounts() -> Iterator[Any]:
    """Yield readings that take ``(x << a) << b`` for ``x << (a + b)``, with a sum as wide as ``a`` and ``b``."""
    seen: dict[tuple[str, int], None] = {}
    driven: dict[Any, Any] = {}

    def noted(plain: Callable[..., Any]) -> Callable[..., Any]:
        def made(self: Any, symbol: Any, *rest: Any) -> Any:
            left = getattr(getattr(symbol, "assignment", None), "left", None)
            if type(left) is ast.NamedValueExpression:
                driven[left.symbol] = symbol.assignment.right
            elif symbol.kind is ast.SymbolKind.Net and symbol.initializer is not None:
                driven[symbol] = symbol.initializer
            return plain(self, symbol, *rest)

        return made

    @contextmanager
    def reading(chosen: frozenset[tuple[str, int]] | None) -> Iterator[None]:
        def shift(plain: _Rule) -> _Rule:
            def made(c: Any, e: Any) -> Term:
                inner = _shift_of_a_shift(e, driven)
                if inner is None:
                    return plain(c, e)
                place = c.design.where(e.sourceRange.start), e.sourceRange.start.offset
                seen.setdefault(place)
                if chosen is not None and place not in chosen:
                    return plain(c, e)
                return rule(e)(c(inner.left), add(c(inner.right), c(e.right)))

            def rule(e: Any) -> Callable[[Term, Term], Term]:
                unsigned = e.op is ast.BinaryOperator.ArithmeticShiftRight and not e.type.isSigned
                return expressions.lshr if unsigned else expressions._SHIFTS[e.op]

            return made

        driven.clear()
        with pytest.MonkeyPatch.context() as patch:
            for name in ("_assign", "_signal"):
                patch.setattr(walk._Walk, name, noted(getattr(walk._Walk, name)))
            for op in _SHIFTS:
                patch.setitem(expressions._BINARY, op, shift(expressions._BINARY[op]))
            yield

    yield reading(None)
    places = list(seen)[:_MOST]
    for count in range(1, len(places)):
        yield from (reading(frozenset(some)) for some in combinations(places, count))


DEFECTS = (Defect("the amounts of two shifts are added, and the sum is cut", "verilator", _added_amounts),)
