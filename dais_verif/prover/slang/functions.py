"""Evaluate function calls by symbolic execution of their statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from dais_verif.prover.four_state import add, band, bnot, eq, ite, nonzero, strict, ult
from dais_verif.prover.slang.design import ast, bits_in
from dais_verif.prover.slang.diagnostics import refuse_reentry
from dais_verif.prover.slang.events import refuse_unseen
from dais_verif.prover.slang.execution import Execution, flat
from dais_verif.prover.slang.expressions import Converter, definite, integer_of
from dais_verif.prover.slang.kinds import ARGUMENTS, CALLS, FILLING
from dais_verif.prover.slang.piecewise import whole
from dais_verif.prover.terms import Term, const, extract, leaves, resize, undefined

__all__ = ["call_value", "system_call"]


#: The greatest depth of nested function calls.
_NESTED = 100


def call_value(c: Converter, e: Any) -> Term:
    """Return the value of a call of a system function or a function of the design."""
    return system_call(c, e) if e.isSystemCall else _called(c, e)


def _called(c: Converter, e: Any) -> Term:
    function = e.subroutine
    if function.subroutineKind is not ast.SubroutineKind.Function or function.returnType.isVoid:
        raise c.refused(e, f"{function.name!r} is not a function with a value; the proof cannot use it")
    c.design.turn(e)
    refuse_reentry(c.design, function)
    if c.design.calls >= _NESTED:
        raise c.refused(e, f"function {function.name!r} calls itself without end, or more than {_NESTED} times")
    # Evaluate arguments first: calls in them are not nested in this one.
    given = {formal: c(actual) for formal, actual in _inputs(c, e, function)}
    # A design may have any number of continuous assignments, so each has its own limit.
    apart = not c.free and c.design.calls == 0
    c.design.calls += 1
    try:
        with c.design.counted_alone() if apart else nullcontext():
            return _returned(c, e, function, given)
    finally:
        c.design.calls -= 1


def _inputs(c: Converter, e: Any, function: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the inputs of a function with their actual arguments. Raises ``InputError`` for other arguments."""
    for formal, actual in zip(function.arguments, e.arguments, strict=True):
        if formal.direction != ast.ArgumentDirection.In:
            refusal = ARGUMENTS.refusal(formal.direction) or "a function with a value has inputs only; write a task"
            raise c.refused(e, f"function {function.name!r}, argument {formal.name!r}: {refusal}")
        yield formal, actual


def _returned(c: Converter, e: Any, function: Any, given: dict[Any, Term]) -> Term:
    before: set[str] = set()

    def outer(symbol: Any) -> Term:
        if _inside(symbol, function):
            before.add(f"before {symbol.name}")
            return undefined(bits_in(symbol.type) or 1, f"before {symbol.name}")
        if not c.free:
            where = c.design.where(e.sourceRange.start)
            refuse_unseen(c.design, function, symbol, where)
        return c.read(symbol, 0, bits_in(symbol.type) or 1)

    run = Execution(c.design, outer)
    run.values.update(given)
    run.result = function.returnValVar
    run.sequence(flat(function.body))
    run.land("return", 0)
    returned = run.values.get(function.returnValVar)
    result = None if returned is None else whole(returned)
    outside = [x.name for x in run.assigned if not _inside(x, function)]
    if outside:
        raise c.refused(
            e, f"function {function.name!r} assigns {outside[0]!r}, which is not its own; the proof cannot use it"
        )
    if result is None or any(t.op == "undefined" and t.data in before for t in leaves(result)):
        raise c.stateful(e, f"function {function.name!r} reads or returns a variable before it is assigned")
    return result


def _inside(symbol: Any, function: Any) -> bool:
    """Return whether ``symbol`` is a variable of ``function``."""
    scope = symbol.parentScope
    while scope is not None:
        if scope == function:
            return True
        if not hasattr(scope, "parentScope"):  # the scope of a loop, whose parent pyslang does not expose
            return bool(scope.isProceduralContext)
        scope = scope.parentScope
    return False


# Calls of system functions.


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
