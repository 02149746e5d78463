"""Unroll loops: until their conditions end them, or up to a bound that the proof can determine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

from dais_verif.prover.four_state import bnot, nonzero
from dais_verif.prover.slang.design import ast, bits_in
from dais_verif.prover.slang.selects import static_index
from dais_verif.prover.terms import Term, const

if TYPE_CHECKING:
    from dais_verif.prover.slang.execution import Execution

__all__ = ["do_while", "for_loop", "foreach", "repeat", "while_loop"]

#: Maximum number of iterations of one loop.
_UNROLLED = 1 << 18

#: Maximum number of iterations of a loop whose end depends on signals.
_OPEN_TURNS = 256


def _loop(
    run: Execution, s: Any, going: Callable[[], Term], steps: Iterable[Any], first: bool = True, endless: bool = False
) -> None:
    """Execute the iterations of a loop; ``going`` returns the condition for another iteration.

    ``first``: whether the condition is also evaluated before the first iteration. ``endless``: whether only a jump ends
    the loop.
    """
    begun, open_turns = len(run.jumps.waiting), 0
    for turn in range(_UNROLLED + 1):
        condition = going() if turn or first else const(1, 1)
        if condition.op != "const" or endless:
            open_turns += 1
            if open_turns > _OPEN_TURNS:
                raise run.convert.refused(s, "the end of this loop depends on a signal; the proof unrolls loops")
        run.jumps.take("break", bnot(nonzero(condition)), run.values)
        here = len(run.jumps.waiting)
        if not run.jumps.dead:
            if turn == _UNROLLED:
                break
            run.design.turn(s)
            run.statement(s.body)
            run.land("continue", here)
        if run.jumps.dead:
            return run.land("break", begun)
        for e in steps:
            run.counted(e)
    raise run.convert.refused(s, f"this loop runs more than {_UNROLLED} times")


def _is_literal(e: Any) -> bool:
    while type(e) is ast.ConversionExpression:
        e = e.operand
    return type(e) in (ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral)


def for_loop(run: Execution, s: Any) -> None:
    """Run a ``for`` loop; its variable is not a register."""
    for symbol in s.loopVars:
        run.values[symbol] = run.convert(symbol.initializer)
    for e in s.initializers:
        run.counted(e)
    stop = s.stopExpr
    _loop(run, s, lambda: const(1, 1) if stop is None else nonzero(run.convert(stop)), s.steps, endless=stop is None)


def while_loop(run: Execution, s: Any) -> None:
    """Run a ``while`` loop."""
    _loop(run, s, lambda: nonzero(run.convert(s.cond)), (), endless=_is_literal(s.cond))


def do_while(run: Execution, s: Any) -> None:
    """Run a ``do`` loop."""
    _loop(run, s, lambda: nonzero(run.convert(s.cond)), (), first=False, endless=_is_literal(s.cond))


def repeat(run: Execution, s: Any) -> None:
    """Run a ``repeat`` loop, whose count must be a constant."""
    count = static_index(run.convert, s.count)
    if count is None:
        raise run.convert.refused(s, "the end of this loop depends on a signal; the proof unrolls loops")
    left = iter(range(max(count, 0)))
    _loop(run, s, lambda: const(1, int(next(left, None) is not None)), ())


def foreach(run: Execution, s: Any) -> None:
    """Run a ``foreach`` loop over all indices."""
    spans = [dim.range for dim in s.loopDims if dim.loopVar is not None]
    symbols = [dim.loopVar for dim in s.loopDims if dim.loopVar is not None]
    begun = len(run.jumps.waiting)
    for indices in product(*(_indices(span.left, span.right) for span in spans)):
        run.design.turn(s)
        for symbol, index in zip(symbols, indices, strict=True):
            run.values[symbol] = const(bits_in(symbol.type) or 32, index)
        here = len(run.jumps.waiting)
        run.statement(s.body)
        run.land("continue", here)
        if run.jumps.dead:
            break
    run.land("break", begun)


def _indices(left: int, right: int) -> range:
    return range(left, right + 1) if left <= right else range(left, right - 1, -1)
