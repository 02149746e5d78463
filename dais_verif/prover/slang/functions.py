"""Evaluate function calls by symbolic execution of their statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from dais_verif.prover.slang.builtin import system_call
from dais_verif.prover.slang.design import ast, bits_in
from dais_verif.prover.slang.events import refuse_unseen
from dais_verif.prover.slang.execution import Execution, flat
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.slang.kinds import ARGUMENTS
from dais_verif.prover.slang.pieces import whole
from dais_verif.prover.slang.reentry import refuse_reentry
from dais_verif.prover.terms import Term, leaves, undefined

__all__ = ["call_value"]

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
