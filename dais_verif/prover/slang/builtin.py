"""Calls of system functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dais_verif.prover.four_state import add, band, bnot, eq, ite, nonzero, strict, ult
from dais_verif.prover.slang.design import ast
from dais_verif.prover.slang.expressions import Converter, definite, integer_of
from dais_verif.prover.slang.kinds import CALLS, FILLING
from dais_verif.prover.terms import Term, const, extract, resize

__all__ = ["system_call"]


def _count(t: Term, width: int) -> Term:
    bits = [resize(extract(t, bit, 1), width, False) for bit in range(t.width)]
    while len(bits) > 1:
        bits = [add(*bits[n : n + 2]) if n + 1 < len(bits) else bits[n] for n in range(0, len(bits), 2)]
    return bits[0]


def _at_most_one(t: Term, width: int) -> Term:
    return resize(eq(band(t, add(t, const(t.width, -1))), const(t.width, 0)), width, False)


def _one(t: Term, width: int) -> Term:
    return resize(band(nonzero(t), _at_most_one(t, 1)), width, False)


def _digits(t: Term, width: int) -> Term:
    """Return the ceiling of the binary logarithm of ``t``; 0 for 0 and for 1."""
    found = const(width, t.width)
    for bits in range(t.width - 1, -1, -1):
        found = ite(bnot(ult(const(t.width, 1 << bits), t)), const(width, bits), found)
    return found


#: For each system function, a rule that computes its value from the argument and the width of the result.
_COMPUTING: dict[str, Callable[[Term, int], Term]] = {
    "$countones": _count,
    "$onehot": _one,
    "$onehot0": _at_most_one,
    "$clog2": _digits,
}


def system_call(c: Converter, e: Any) -> Term:
    """Return the value of a call of a system function. Raises ``InputError`` if the table refuses it."""
    rule = _CALLS.get(e.subroutineName)
    if rule is not None:
        return rule(c, e)
    text = f"{e.subroutineName} {CALLS.message(e.subroutineName)}"
    raise (c.stateful if e.subroutineName in _CLOCKS else c.refused)(e, text)


def _same(c: Converter, e: Any) -> Term:
    return c(e.arguments[0])


def _constant_call(c: Converter, e: Any) -> Term:
    value = e.eval(ast.EvalContext(next(iter(c.design.signals), None))).value
    if value is None:
        raise c.refused(e, f"the proof supports {e.subroutineName} of constants only; this is not constant")
    return integer_of(c, e, value, c.type_of(e)[0])


def _computed(c: Converter, e: Any) -> Term:
    term = c(e.arguments[0])
    return strict(_COMPUTING[e.subroutineName](term, c.type_of(e)[0]), term)


def _counted(c: Converter, e: Any) -> Term:
    digits = [definite(c, control) for control in e.arguments[1:]]
    if any(digit.op != "const" for digit in digits):
        raise c.refused(e, "the proof supports $countbits with the constants 0 and 1 only")
    counted, term, width = {digit.value & 1 for digit in digits}, c(e.arguments[0]), c.type_of(e)[0]
    if len(counted) > 1:
        return strict(const(width, term.width), term)
    return strict(_count(term if 1 in counted else bnot(term), width), term)


_CLOCKS = ("$time", "$stime", "$realtime")
_DIMENSIONS = ("$high", "$low", "$left", "$right", "$size", "$increment", "$dimensions", "$unpacked_dimensions")
_CALLS: dict[str, Callable[[Converter, Any], Term]] = CALLS.rules(
    {
        **dict.fromkeys(("$signed", "$unsigned"), _same),
        **dict.fromkeys(("$bits", *_DIMENSIONS), _constant_call),
        **dict.fromkeys(_COMPUTING, _computed),
        "$countbits": _counted,
    },
    FILLING,
)
