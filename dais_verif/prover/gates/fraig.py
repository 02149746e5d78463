"""SAT sweeping: prove nodes equal that agree on all patterns so far, from the inputs on, and merge them.

The graph is rebuilt gate by gate. Before a new gate is kept, it is compared with the members of its class, the gates
that agree with it on every pattern: over a small window, then down to the words that the op behind the member reads,
then by the SAT solver. If it equals a member, that member replaces it in all later gates, so later comparisons have
common nodes close by. A pair that differs gives a pattern, which separates this pair and others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.patterns import columns, neighbours, simulate
from dais_verif.prover.gates.sat_solver import SatSolver
from dais_verif.prover.gates.windows import Window, equal_by_table
from dais_verif.prover.gates.word_lemmas import WordLemma

__all__ = ["Fraig"]

#: Sizes, in gates, of the windows over which a pair is compared first.
_WINDOWS = (4, 8, 16, 32)
#: Largest tables, in gates times rows: over such a window, and over the words that an op reads.
_SMALL, _LARGE = 1 << 22, 1 << 34
#: The number of conflicts after which the solver gives up a pair, and the largest number of members of a class with
#: which a gate is compared.
_CONFLICTS, _TRIED = 500, 4
#: Number of patterns made from each pattern that separates a pair; the graph is simulated again when there is one new
#: group of such patterns per ``_NODES`` nodes.
_NEIGHBOURS, _NODES = 32, 20_000

_EVERY = 256
_UNMADE = -1


class Fraig:
    """A swept copy of a graph.

    ``old``: the graph. ``new``: the cones of its literals ``roots``, with equal nodes merged. ``inputs``: the values of
    all inputs on the first ``count`` patterns. ``words``: for a node of ``old``, returns the nodes behind it that make
    a good cut, or nothing. ``lemmas``: known equalities of nodes of ``old``. ``merged``: number of nodes that were
    proved equal to others.
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
        lemmas: Mapping[int, WordLemma] = MappingProxyType({}),
    ) -> None:
        self.old, self.new = old, Aig()
        self.solver = SatSolver(self.new)
        self.merged = 0
        self._words, self._lemmas, self._rng = words, lemmas, random.Random(seed)
        self._bits = sum(low < 0 for low in old.low) - 1
        self._waiting: list[int] = []
        #: The literal of ``new`` for each node of ``old``.
        self._at = [0] + [_UNMADE] * (len(old) - 1)
        #: The node of ``old`` for which each node of ``new`` was made; -1 if it was merged.
        self._origin = [0]
        #: The literals with which nodes of ``new`` were merged, in case these nodes are made again.
        self._equal: dict[int, int] = {}
        #: The inputs of ``new``.
        self._inputs: list[int] = []
        self._class: list[int] = [0] * len(old)
        self._inverted: list[bool] = []
        self._members: dict[int, list[int]] = {}
        self._refine(inputs, count)
        needed = self._needed(roots)
        for done, node in enumerate(needed):
            if self._at[node] == _UNMADE:
                self._at[node] = self._made(node)
            if done % _EVERY == 0:
                tell(done, len(needed))

    def at(self, literal: int) -> int:
        """Return the literal of ``new`` for a literal of ``old``, whose node must have been ``made``."""
        return self._at[literal >> 1] ^ (literal & 1)

    def made(self, node: int) -> bool:
        """Return whether a node of ``old`` has a literal of ``new``."""
        return self._at[node] != _UNMADE

    def _needed(self, roots: Iterable[int]) -> list[int]:
        """Return all inputs and the cones of ``roots`` in order; a lemma replaces the cone of its node."""
        old, waiting = self.old, [literal >> 1 for literal in roots]
        seen = {node for node in range(1, len(old)) if old.low[node] < 0} | {0}
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                lemma = self._lemmas.get(node)
                if lemma is None:
                    waiting += [old.low[node] >> 1, old.high[node] >> 1]
                else:
                    waiting += [x >> 1 for x in (lemma.literal, *(x for pair in lemma.given for x in pair))]
        return sorted(seen)[1:]

    def _by_lemma(self, node: int) -> int | None:
        """Return the literal that a lemma gives for ``node``, if the assumptions of the lemma are proved; else None."""
        lemma = self._lemmas.get(node)
        if lemma is None or not self.made(lemma.literal >> 1):
            return None
        known = all(self.made(a >> 1) and self.made(b >> 1) and self.at(a) == self.at(b) for a, b in lemma.given)
        return self.at(lemma.literal) if known else None

    def _make_operands(self, node: int) -> None:
        """Make the operands of ``node`` that were skipped because of a lemma that did not apply."""
        old, waiting, missing = self.old, [node], set[int]()
        while waiting:
            gate = waiting.pop()
            for operand in (old.low[gate] >> 1, old.high[gate] >> 1):
                if not self.made(operand) and operand not in missing:
                    missing.add(operand)
                    waiting.append(operand)
        for operand in sorted(missing):
            self._at[operand] = self._made(operand)

    def pattern(self, ones: Set[int]) -> int:
        """Return the pattern in which the inputs ``ones`` of ``new`` are 1, and all others 0."""
        return sum(1 << place for place, node in enumerate(self._inputs) if node in ones)

    def _refine(self, inputs: Sequence[int], count: int) -> None:
        """Split classes by more patterns. Members of a class agree after nodes that are 1 in pattern 0 are inverted."""
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
        """Return the literal of ``new`` for ``node`` of ``old``."""
        old, new = self.old, self.new
        if old.low[node] < 0:
            made = new.input()
            self._inputs.append(made >> 1)
            self._keep(node, made)
            return made
        told = self._by_lemma(node)
        if told is not None:
            self.merged += 1
            return told
        self._make_operands(node)
        size = len(new)
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
        """Return a literal that is proved equal to ``made``, the new literal for ``node``; None if none is found."""
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
