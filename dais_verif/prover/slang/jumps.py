"""``break``, ``continue``, ``return`` and ``disable``: statements after which a block goes on elsewhere.

Execution follows what did not jump. A jump keeps what variables hold, and the condition under which it is taken, until
the place is reached to which it goes; there the values are chosen. The condition of a jump says nothing of earlier
ones: where two apply, the first was taken.
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
    """One that was taken if ``condition``. ``kind``: where it goes, a name, or "disable" and the symbol of a block."""

    kind: Hashable
    condition: Term
    values: Values


@dataclass
class Jumps:
    """The jumps that have not reached their place, in the order of the text. ``dead``: nothing goes on from here."""

    waiting: list[Jump] = field(default_factory=list)
    dead: bool = False

    def take(self, kind: Hashable, condition: Term, values: Values) -> None:
        """Jump if ``condition``."""
        if not (condition.op == "const" and condition.value == 0):
            self.waiting.append(Jump(kind, condition, dict(values)))
        self.dead = self.dead or (condition.op == "const" and condition.value == 1)

    def under(self, condition: Term, run: Callable[[], None]) -> bool:
        """Run something that is done if ``condition``. Returns whether nothing goes on after it."""
        before = len(self.waiting)
        run()
        for jump in self.waiting[before:]:
            jump.condition = band(condition, jump.condition)
        dead, self.dead = self.dead, False
        return dead

    def landed(self, kind: Hashable, since: int, values: Values, outer: Callable[[Any], Term]) -> Values:
        """Return what variables hold where the jumps of ``kind`` arrive that were taken ``since``."""
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
    """Of each variable what ``condition`` chooses. ``outer``: the value of what was not assigned."""
    for symbol in {**first, **second}:
        a, b = (values.get(symbol) for values in (first, second))
        a, b = (x if x is not None else outer(symbol) for x in (a, b))
        yield symbol, chosen(condition, a, b)
