"""SAT sweeping: nodes that agree on all patterns so far are proved equal, from the inputs on, and merged.

A graph is built again, gate by gate. Before a gate is kept, it is compared with those of its class, which agree with it
on every pattern: over a small window, then down to the words that the op reads which it seems to belong to, then by the
SAT solver. If it is equal to one of them, that one takes its place in all that follows, so what is compared later has
common points close by. A pair that differs gives a pattern that tells it, and more of the others, apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from dais_verif.prover.bit_level.aig import Aig
from dais_verif.prover.bit_level.patterns import columns, neighbours, simulate
from dais_verif.prover.bit_level.sat_solver import SatSolver
from dais_verif.prover.bit_level.windows import Window, equal_by_table
from dais_verif.prover.bit_level.word_lemmas import WordLemma

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
_UNMADE = -1


class Fraig:
    """``old``: a graph. ``new``: what its literals ``roots`` are made of, with equal nodes merged.

    ``inputs``: the values of the inputs on ``count`` patterns to begin with. ``words``: for a node of ``old`` other
    nodes, which lie behind it and are a good cut; or none. ``lemmas``: what is known of nodes of
    ``old``. ``merged``: nodes that were proved equal to others.
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
        needed = self._needed(roots)
        for done, node in enumerate(needed):
            if self._at[node] == _UNMADE:
                self._at[node] = self._made(node)
            if done % _EVERY == 0:
                tell(done, len(needed))

    def at(self, literal: int) -> int:
        """Return what became of a literal of ``old``, of those that were ``made``."""
        return self._at[literal >> 1] ^ (literal & 1)

    def made(self, node: int) -> bool:
        """Whether anything became of a node of ``old``: it was needed."""
        return self._at[node] != _UNMADE

    def _needed(self, roots: Iterable[int]) -> list[int]:
        """All inputs, and what ``roots`` are made of, as far as no lemma tells it; in order."""
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
        """Return what a lemma says that ``node`` is, if what it takes for granted was proved."""
        lemma = self._lemmas.get(node)
        if lemma is None or not self.made(lemma.literal >> 1):
            return None
        known = all(self.made(a >> 1) and self.made(b >> 1) and self.at(a) == self.at(b) for a, b in lemma.given)
        return self.at(lemma.literal) if known else None

    def _make_operands(self, node: int) -> None:
        """Make what a lemma was to tell."""
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
        """Return the pattern in which these inputs of ``new`` are 1."""
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
        """Return what ``made``, which is new and stands for ``node``, is equal to."""
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
