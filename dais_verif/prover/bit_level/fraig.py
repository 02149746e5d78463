"""SAT sweeping: nodes that agree on all patterns so far are proved equal, from the inputs on, and merged.

A graph is built anew, gate by gate. Before a gate is kept, it is compared with those of its class, which agree with it
on every pattern: over a small window, then down to the words that the op reads which it seems to belong to, then by the
SAT solver. If it is equal to one of them, that one takes its place in all that follows, so what is compared later has
common points close by. A pair that differs gives a pattern that tells it, and more of the others, apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence, Set

from dais_verif.prover.bit_level.aig import FALSE, Aig
from dais_verif.prover.bit_level.patterns import columns, neighbours, simulate
from dais_verif.prover.bit_level.sat_solver import SatSolver
from dais_verif.prover.bit_level.windows import Window, equal_by_table

__all__ = ["Fraig"]

#: Gates of the windows over which a pair is compared first.
_WINDOWS = (4, 8, 16, 32)
#: How large a table may be, over such a window and over the words that an op reads: gates times rows.
_SMALL, _LARGE = 1 << 22, 1 << 34
#: Conflicts after which the solver gives a pair up, and members of a class that a gate is compared with.
_CONFLICTS, _TRIED = 500, 4
#: Patterns that are made of one that told a pair apart; and so many nodes are evaluated on them at once.
_NEIGHBOURS, _NODES = 32, 20_000

_EVERY = 256


class Fraig:
    """``old``: a graph. ``new``: what its literals ``roots`` are made of, with equal nodes merged.

    ``inputs``: the values of the inputs on ``count`` patterns to begin with. ``words``: for a node of ``old`` other
    nodes, which lie behind it and are a good cut; or none. ``merged``: nodes that were proved equal to others.
    """

    def __init__(
        self,
        old: Aig,
        roots: Iterable[int],
        inputs: Sequence[int],
        count: int,
        words: Callable[[int], Iterable[int]],
        seed: int,
        tell: Callable[[int, int], None],
    ) -> None:
        self.old, self.new = old, Aig()
        self.solver = SatSolver(self.new)
        self.merged = 0
        self._words, self._rng = words, random.Random(seed)
        self._bits = sum(low < 0 for low in old.low) - 1
        self._waiting: list[int] = []
        #: The literal of ``new`` for each node of ``old``.
        self._at = [0]
        #: The node of ``old`` that each of ``new`` was made for; -1 for those that were merged.
        self._origin = [0]
        #: What nodes of ``new`` are that were merged, should they be made again.
        self._equal: dict[int, int] = {}
        #: The inputs of ``new``.
        self._inputs: list[int] = []
        self._class: list[int] = [0] * len(old)
        self._inverted: list[bool] = []
        self._members: dict[int, list[int]] = {}
        self._refine(inputs, count)
        needed = old.behind(roots)
        for node in range(1, len(old)):
            self._at.append(self._made(node) if node in needed or old.low[node] < 0 else FALSE)
            if node % _EVERY == 0:
                tell(node, len(old))

    def at(self, literal: int) -> int:
        """What became of a literal of ``old``."""
        return self._at[literal >> 1] ^ (literal & 1)

    def pattern(self, ones: Set[int]) -> int:
        """The pattern in which these inputs of ``new`` are 1."""
        return sum(1 << place for place, node in enumerate(self._inputs) if node in ones)

    def _refine(self, inputs: Sequence[int], count: int) -> None:
        """Split classes by more patterns. All of a class agree, once those that are 1 in the first are inverted."""
        values = simulate(self.old, inputs, count)
        if not self._inverted:
            self._inverted = [bool(value & 1) for value in values]
        ones = (1 << count) - 1
        numbers: dict[tuple[int, int], int] = {}
        self._class = [
            numbers.setdefault((before, value ^ ones if inverted else value), len(numbers))
            for before, value, inverted in zip(self._class, values, self._inverted, strict=True)
        ]
        self._members = {}
        for node, origin in enumerate(self._origin):
            if origin >= 0:
                self._members.setdefault(self._class[origin], []).append(node)

    def _made(self, node: int) -> int:
        """The literal of ``new`` for ``node`` of ``old``."""
        old, new = self.old, self.new
        size = len(new)
        if old.low[node] < 0:
            made = new.input()
            self._inputs.append(made >> 1)
            self._keep(node, made)
            return made
        made = new.both(self.at(old.low[node]), self.at(old.high[node]))
        if len(new) == size:
            equal = self._equal.get(made >> 1)
            return made if equal is None else equal ^ (made & 1)
        equal = self._equal_to(node, made)
        if equal is None:
            self._keep(node, made)
            return made
        self.merged += 1
        self._origin.append(-1)
        self._equal[made >> 1] = equal
        return equal

    def _keep(self, node: int, made: int) -> None:
        self._origin.append(node)
        self._members.setdefault(self._class[node], []).append(made >> 1)

    def _equal_to(self, node: int, made: int) -> int | None:
        """What ``made``, which is new and stands for ``node``, is equal to."""
        for compare in (self._over_windows, self._by_solver):
            tried: set[int] = set()
            while len(tried) < _TRIED:
                # Classes may be split while their members are compared.
                members = (member for member in self._members.get(self._class[node], ()) if member not in tried)
                other = next(members, None)
                if other is None:
                    break
                tried.add(other)
                literal = 2 * other | (self._inverted[node] != self._inverted[self._origin[other]])
                if compare(made, literal):
                    return literal
        return None

    def _over_windows(self, a: int, b: int) -> bool:
        window = Window(self.new, a >> 1, b >> 1)
        for size in _WINDOWS:
            window.grow(size)
            if equal_by_table(self.new, window, a, b, _SMALL):
                return True
            if window.whole:
                return False
        words = {self._at[node] >> 1 for node in self._words(self._origin[b >> 1])} - {a >> 1, b >> 1}
        window = Window(self.new, a >> 1, b >> 1)
        window.grow(len(self.new), words)
        return equal_by_table(self.new, window, a, b, _LARGE)

    def _by_solver(self, a: int, b: int) -> bool:
        answer = self.solver.differ(a, b, _CONFLICTS)
        if answer.found:
            self._waiting += neighbours(self.pattern(answer.ones), self._bits, _NEIGHBOURS, self._rng)
            if len(self._waiting) * _NODES >= len(self.old) * _NEIGHBOURS:
                self._refine(columns(self._waiting, self._bits), len(self._waiting))
                self._waiting = []
        return answer.found is False
