"""Jumps in blocks: ``break``, ``continue``, ``return`` and ``disable``.

Execution continues with the path that does not jump. A jump keeps the values of variables and its condition until
execution reaches its target, where the values are merged. Conditions of jumps do not exclude each other: if two are
true, the first jump is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dais_verif.prover.four_state import band, bnot, bor
from dais_verif.prover.slang.pieces import Value, chosen
from dais_verif.prover.terms import Term, const

__all__ = ["Jump", "Jumps"]

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
