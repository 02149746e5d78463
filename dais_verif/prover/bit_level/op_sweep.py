"""Sweep a netlist op by op: find the bits of each op in the netlist by their values, and prove them from its operands.

A mapper keeps most words of a program. Each op has its own SAT solver, in which the bits of other ops are variables,
shared by both sides. A question is therefore no larger than an op, however deep the network is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from dais_verif.program import Op
from dais_verif.program.opcodes import Code
from dais_verif.program.ranges import Interval, analyse
from dais_verif.prover.bit_level.aig import FALSE, TRUE, Aig
from dais_verif.prover.bit_level.bit_blasting import Word, blast
from dais_verif.prover.bit_level.miter import ProgramBits
from dais_verif.prover.bit_level.op_question import OpQuestion, ProvedBits
from dais_verif.prover.bit_level.windows import Window
from dais_verif.prover.bit_level.word_lemmas import WordLemma
from dais_verif.prover.lemmas import within
from dais_verif.prover.terms import var

__all__ = ["sweep_ops"]

#: The number of ops that may be expanded, one after the other, to prove one bit.
_DEEPER = 8
#: Up to ``_FEW`` nodes with the same values, all are compared with a bit; if there are more, only the ``_NEAREST``
#: nearest ones.
_FEW, _NEAREST = 4, 24
#: Size, in gates, of the window behind a node in which bits of operands count as near.
_WINDOW = 120
#: The largest number of windows that are made; a network of 4,353 ops has 7,000 nodes that values hardly distinguish.
_CROWDED = 50_000
#: Total operand bits of a product above which SAT is not tried.
_PRODUCT = 12


def sweep_ops(
    bits: ProgramBits,
    aig: Aig,
    results: Iterable[int],
    values: Sequence[int],
    count: int,
    lemmas: Mapping[int, WordLemma],
    tell: Callable[[int, int], None],
) -> ProvedBits:
    """Return which nodes of ``aig`` are proved equal.

    ``results``: literals of the netlist's outputs. ``values``: the values of each node on the same ``count`` patterns.
    ``lemmas``: equalities of nodes of the netlist that hold under assumptions.
    """
    return _Sweep(bits, aig, results, values, count, lemmas, tell).proved


class _Sweep:
    def __init__(
        self,
        bits: ProgramBits,
        aig: Aig,
        results: Iterable[int],
        values: Sequence[int],
        count: int,
        lemmas: Mapping[int, WordLemma],
        tell: Callable[[int, int], None],
    ) -> None:
        self._bits, self._aig, self._values, self._ones = bits, aig, values, (1 << count) - 1
        self.proved = ProvedBits(aig, bits)
        self._needed = aig.behind(bit for word in bits.outputs for bit in word)
        #: The nodes of the netlist by their values, up to complement.
        self._members: dict[int, list[int]] = {}
        for node in sorted(aig.behind(results)):
            self._members.setdefault(self._shape(node), []).append(node)
        #: Lemmas by the node of the program's bit.
        self._told: dict[int, list[tuple[int, WordLemma]]] = {}
        for node, lemma in lemmas.items():
            self._told.setdefault(lemma.literal >> 1, []).append((node, lemma))
        #: Large products that the netlist does not contain, and ops that read such products and are not found either.
        self._lost: set[int] = set()
        crowds = [nodes for nodes in self._members.values() if len(nodes) > _FEW]
        self._near = self._windows(islice((node for nodes in crowds for node in nodes), _CROWDED))
        intervals = analyse(bits.program, declared=False).intervals
        live = [op for op in bits.program.ops if any(bit >> 1 in self._needed for bit in bits.ops[op.index])]
        for done, op in enumerate(live):
            tell(done, len(live))
            self._sweep(op, intervals[op.index])

    def _shape(self, node: int) -> int:
        value = self._values[node]
        return value ^ self._ones if value & 1 else value

    def _same(self, bit: int, node: int) -> int:
        """Return the literal of ``node`` with the values of ``bit``; they must be equal or complements."""
        return 2 * node | (bit & 1) ^ (self._values[node] != self._values[bit >> 1])

    def _windows(self, nodes: Iterable[int]) -> dict[int, list[int]]:
        """Return, for each node, those of ``nodes`` whose windows contain this node."""
        near: dict[int, list[int]] = {}
        for node in nodes:
            window = Window(self._aig, node)
            window.grow(_WINDOW)
            for inside in (*window.inside, *window.leaves):
                near.setdefault(inside, []).append(node)
        return near

    def _sweep(self, op: Op, interval: Interval) -> None:
        """Prove the range of ``op``, then its bits from the least significant one up, since carries go that way."""
        word, proved = self._bits.ops[op.index], self.proved
        for bit in word:
            for node, lemma in self._told.get(bit >> 1, ()):
                if all(proved.at(a) == proved.at(b) for a, b in lemma.given):
                    proved.merge(2 * node, lemma.literal)
        if self._is_large_product(op):
            if all(len(proved.points(bit)) == 1 for bit in word):
                self._lost.add(op.index)
            return
        question = OpQuestion(proved, op.index)
        lost = not self._lost.isdisjoint(op.operands)
        deeper = 0 if lost else _DEEPER  # no limit is large enough to look through a large product
        self._prove_range(op, word, interval, question, deeper)
        below = FALSE
        for bit in word:
            node = bit >> 1
            if proved.owner.get(node) == op.index and node in self._needed and proved.at(bit) == bit:
                lost &= not self._find(op, bit, below, question, deeper)
            below = bit
        if lost:
            self._lost.add(op.index)

    def _is_large_product(self, op: Op) -> bool:
        return op.code == Code.MUL and sum(len(self._bits.ops[index]) for index in op.operands) > _PRODUCT

    def _find(self, op: Op, bit: int, below: int, question: OpQuestion, deeper: int) -> bool:
        """Merge ``bit`` with equal literals: a constant, the bit ``below`` it in the word, or nodes of the netlist.

        Return True if it equals a node of the netlist. ``deeper``: the number of ops that may be expanded.
        """
        shape = self._shape(bit >> 1)
        if not shape:
            constant = TRUE if self._values[bit >> 1] ^ (self._ones if bit & 1 else 0) else FALSE
            if question.proves(bit, constant):
                self.proved.merge(bit, constant)
        elif below > TRUE and self._shape(below >> 1) == shape:
            other = self._same(bit, below >> 1)
            if question.proves(bit, other):
                self.proved.merge(bit, other)
        likely = [self._same(bit, node) for node in self._candidates(op, shape)]
        found = [
            other for other in likely if self.proved.at(other) == self.proved.at(bit) or question.proves(bit, other)
        ]
        if not found and deeper:
            # The netlist may compute the bit from other ops than its operands: expand ops on both sides.
            nearest = likely[: 2 * _FEW]
            found = [other for other in nearest if question.proves(bit, other, deeper)][:1]
        for other in found:
            self.proved.merge(bit, other)
        return bool(found)

    def _candidates(self, op: Op, shape: int) -> list[int]:
        """Return nodes with the values ``shape``; if there are many, those near the most bits that ``op`` reads.

        High bits change so rarely that thousands of nodes of a network may have the same values.
        """
        members = self._members.get(shape, [])
        if len(members) <= _FEW:
            return members
        hits: Counter[int] = Counter()
        for index in op.operands:
            for bit in self._bits.ops[index]:
                hits.update({node for point in self.proved.points(bit) for node in self._near.get(point, ())})
        alike = set(members)
        return [node for node, _ in hits.most_common() if node in alike][:_NEAREST]

    def _prove_range(self, op: Op, word: Word, interval: Interval, question: OpQuestion, deeper: int) -> None:
        """Prove that ``op`` lies within its interval, from the ranges of its operands or of the ops before them."""
        if not op.type.width:
            return
        variable = var(len(word), "value")
        ((literal,),) = blast(self._aig, [within(op.type, variable, interval)], {variable: word})
        if literal == TRUE:
            return
        if question.proves(literal, TRUE) or OpQuestion(self.proved, op.index).proves(literal, TRUE, deeper):
            self.proved.ranges[op.index] = literal
