"""Unroll loops: until their conditions end them, or up to a bound that the proof can determine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from dais_verif.prover.four_state import band, bnot, bor, nonzero
from dais_verif.prover.slang.design import ast, bits_in
from dais_verif.prover.slang.piecewise import Value, chosen
from dais_verif.prover.slang.selects import static_index
from dais_verif.prover.terms import Term, const

if TYPE_CHECKING:
    from dais_verif.prover.slang.execution import Execution

__all__ = ["Jump", "Jumps", "do_while", "for_loop", "foreach", "repeat", "while_loop"]


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


# Jumps in blocks: ``break``, ``continue``, ``return`` and ``disable``.
#
# Execution continues with the path that does not jump. A jump keeps the values of variables and its condition until
# execution reaches its target, where the values are merged. Conditions of jumps do not exclude each other: if two are
# true, the first jump is taken.


Values = dict[Any, Value]


@dataclass
class Jump:
    """A jump that is taken if ``condition`` is 1. ``kind``: its target, a name or ("disable", symbol of a block)."""

    kind: Hashable
    condition: Term
    values: Values


@dataclass
class Jumps:
    """The jumps that have not reached their targets, in source order. ``dead``: whether every path has jumped away."""

    waiting: list[Jump] = field(default_factory=list)
    dead: bool = False

    def take(self, kind: Hashable, condition: Term, values: Values) -> None:
        """Record a jump that is taken if ``condition`` is 1."""
        if not (condition.op == "const" and condition.value == 0):
            self.waiting.append(Jump(kind, condition, dict(values)))
        self.dead = self.dead or (condition.op == "const" and condition.value == 1)

    def under(self, condition: Term, run: Callable[[], None]) -> bool:
        """Call ``run`` for a branch with ``condition``. Returns whether every path of the branch jumps away."""
        before = len(self.waiting)
        run()
        for jump in self.waiting[before:]:
            jump.condition = band(condition, jump.condition)
        dead, self.dead = self.dead, False
        return dead

    def landed(self, kind: Hashable, since: int, values: Values, outer: Callable[[Any], Term]) -> Values:
        """Return the values of variables at the target of the jumps of ``kind``; ``since``: index of the first one."""
        mine: list[Jump] = []
        others: list[Jump] = []
        taken = const(1, 0)
        for jump in self.waiting[since:]:
            if jump.kind == kind:
                mine.append(jump)
                taken = bor(taken, jump.condition)
            else:
                jump.condition = band(bnot(taken), jump.condition)
                others.append(jump)
        self.waiting[since:] = others
        if self.dead and mine:
            values = mine.pop().values
            self.dead = False
        for jump in reversed(mine):
            values = dict(chosen_values(jump.condition, jump.values, values, outer))
        return values


def chosen_values(
    condition: Term, first: Values, second: Values, outer: Callable[[Any], Term]
) -> Iterator[tuple[Any, Value]]:
    """Yield each variable with the value that ``condition`` chooses. ``outer``: the values of unassigned symbols."""
    for symbol in {**first, **second}:
        a, b = (values.get(symbol) for values in (first, second))
        a, b = (x if x is not None else outer(symbol) for x in (a, b))
        yield symbol, chosen(condition, a, b)
