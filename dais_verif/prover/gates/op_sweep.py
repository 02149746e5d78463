"""Sweep a netlist op by op: find the bits of each op in the netlist by their values, and prove them from its operands.

A mapper keeps most words of a program. Each op has its own SAT solver, in which the bits of other ops are variables,
shared by both sides. A question is therefore no larger than an op, however deep the network is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from pysat.solvers import Glucose4

from dais_verif.prover.gates.aig import FALSE, TRUE, Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.windows import Window
from dais_verif.prover.gates.word_lemmas import WordLemma
from dais_verif.prover.lemmas import within
from dais_verif.prover.terms import var
from dais_verif.spec.program import Op
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ranges import Interval, analyse

__all__ = ["OpQuestion", "ProvedBits", "sweep_ops"]


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


# The bits of ops that a netlist is proved to contain, and a SAT solver for one op, with these bits as variables.


#: The number of conflicts after which a question is given up, and the number of questions about one op that may be
#: given up.
_CONFLICTS, _GIVEN_UP = 1000, 6
#: The largest number of gates that the cone of one literal may add to the solver.
_GATES = 4000


class ProvedBits:
    """Classes of equal nodes of ``aig``. The node with the smallest number represents a class, so there are no loops.

    ``owner``: the first op that has the node, or a node of its class, as a bit. ``ranges``: the proved lemmas about
    ranges, one literal per op: it states that the value of the op lies within its interval, and is always 1.
    """

    def __init__(self, aig: Aig, bits: ProgramBits) -> None:
        self.aig = aig
        self._bits = bits
        self.owner: dict[int, int] = {}
        self.ranges: dict[int, int] = {}
        self._equal: dict[int, int] = {}
        self._points: dict[int, list[int]] = {}
        for index, word in enumerate(bits.ops):
            for bit in word:
                if bit > TRUE:
                    self.owner.setdefault(bit >> 1, index)

    @property
    def merged(self) -> dict[int, int]:
        """For each node that another node represents, the literal that represents it."""
        return {node: self.at(2 * node) for node in self._equal}

    def at(self, literal: int) -> int:
        """Return the literal that represents ``literal``."""
        equal = self._equal.get(literal >> 1)
        while equal is not None:
            literal = equal ^ literal & 1
            equal = self._equal.get(literal >> 1)
        return literal

    def points(self, literal: int) -> list[int]:
        """Return the nodes that equal ``literal`` or its complement."""
        node = self.at(literal) >> 1
        return self._points.get(node, [node])

    def read_by(self, op: int) -> set[int]:
        """Return the ops that own bits of the operands of ``op``."""
        words = (self._bits.ops[index] for index in self._bits.program.ops[op].operands)
        nodes = {self.at(bit) >> 1 for word in words for bit in word}
        return {self.owner[node] for node in nodes if node in self.owner}

    def merge(self, a: int, b: int) -> None:
        """Merge the classes of two literals that are proved equal."""
        a, b = sorted((self.at(a), self.at(b)))
        if a == b:
            return
        self._equal[b >> 1] = a ^ b & 1
        self._points.setdefault(a >> 1, [a >> 1]).extend(self._points.pop(b >> 1, [b >> 1]))
        owners = [self.owner[x >> 1] for x in (a, b) if x >> 1 in self.owner]
        if owners and a > TRUE:
            self.owner[a >> 1] = min(owners)


class OpQuestion:
    """A SAT solver for the gates of one op and of its candidates in the netlist, over the bits of earlier ops.

    These bits are free variables, restricted only by proved ranges. A statement that holds for all their values holds
    for all inputs.
    """

    def __init__(self, proved: ProvedBits, op: int) -> None:
        self._proved, self._aig, self._op = proved, proved.aig, op
        #: Ops whose gates are loaded instead of variables for their bits.
        self._inside = {op}
        self._solver = Glucose4()
        self._solver.add_clause([-1])
        self._variables = {0: 1}
        self._count = 1
        #: Nodes that are variables, and the ops whose ranges are known.
        self._leaves: set[int] = set()
        self._bounded = {op}
        self._given_up = 0

    def proves(self, a: int, b: int, deeper: int = 0) -> bool:
        """Return whether two literals are proved equal; False also if the limits are exceeded.

        ``deeper``: how many earlier ops may be expanded.
        """
        for level in range(deeper + 1):
            if self._given_up >= _GIVEN_UP or not (self._load(a) and self._load(b)):
                return False
            x, y = self._variable(a), self._variable(b)
            one = self._solved([x, -y])
            other = self._solved([-x, y]) if one is False else None
            if one is False and other is False:
                self._solver.add_clause([-x, y])
                self._solver.add_clause([x, -y])
                return True
            if one is None or (one is False and other is None):
                self._given_up += 1
                return False
            if level < deeper and not self._look_through(a, b):
                return False
        return False

    def _solved(self, assumed: list[int]) -> bool | None:
        self._solver.conf_budget(_CONFLICTS)
        found: bool | None = self._solver.solve_limited(assumptions=assumed)
        return found

    def _variable(self, literal: int) -> int:
        literal = self._proved.at(literal)
        variable = self._variables[literal >> 1]
        return -variable if literal & 1 else variable

    def _operands(self, node: int) -> tuple[int, int]:
        at, aig = self._proved.at, self._aig
        return at(aig.low[node]) >> 1, at(aig.high[node]) >> 1

    def _is_leaf(self, node: int) -> bool:
        owner = self._proved.owner.get(node)
        return self._aig.low[node] < 0 or (owner is not None and owner < self._op and owner not in self._inside)

    def _load(self, literal: int) -> bool:
        """Load the cone of a literal into the solver, with the ranges of its variables; False if it is too large."""
        known = self._variables
        waiting, gates, leaves, seen = [self._proved.at(literal) >> 1], list[int](), list[int](), set[int]()
        while waiting:
            node = waiting.pop()
            if node in known or node in seen:
                continue
            seen.add(node)
            if self._is_leaf(node):
                leaves.append(node)
                continue
            gates.append(node)
            if len(gates) > _GATES:
                return False
            waiting += self._operands(node)
        for number, node in enumerate((*leaves, *gates), self._count + 1):
            known[node] = number
        self._count += len(leaves) + len(gates)
        for node in gates:
            self._add_gate(node)
        self._leaves.update(leaves)
        self._add_ranges(leaves)
        return True

    def _add_gate(self, node: int) -> None:
        x, y = self._variable(self._aig.low[node]), self._variable(self._aig.high[node])
        z = self._variables[node]
        for clause in ([-z, x], [-z, y], [z, -x, -y]):
            self._solver.add_clause(clause)

    def _add_ranges(self, leaves: Iterable[int]) -> None:
        for node in leaves:
            owner = self._proved.owner.get(node)
            if owner is None or owner in self._bounded:
                continue
            self._bounded.add(owner)
            literal = self._proved.ranges.get(owner, TRUE)
            if literal != TRUE and self._load(literal):
                self._solver.add_clause([self._variable(literal)])

    def _look_through(self, a: int, b: int) -> bool:
        """Expand one op behind the two literals: replace its variables by its gates. Return False if there is none.

        Ops that read variables on which only one of the two literals depends are preferred, then ops that own such a
        variable, then all others; among equally suitable ops, the latest is expanded.
        """
        one, other = self._read_by(a), self._read_by(b)
        low, high, owner = self._aig.low, self._aig.high, self._proved.owner
        gates = {node for node in one | other if low[node] >= 0}
        ops = {owner[node] for node in gates}
        alone = {owner[node] for node in one ^ other if node in owner}
        wanted = {op for op in ops if alone & self._proved.read_by(op)} or ops & alone or ops
        if not wanted:
            return False
        latest = max(wanted)
        self._inside.add(latest)
        for node in sorted(node for node in gates if owner[node] == latest):
            if self._load(low[node]) and self._load(high[node]):
                self._leaves.discard(node)
                self._add_gate(node)
        return True

    def _read_by(self, literal: int) -> set[int]:
        """Return the variables on which a literal depends, as nodes."""
        waiting, seen, leaves = [self._proved.at(literal) >> 1], {0}, set[int]()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in self._leaves:
                leaves.add(node)
            elif self._aig.low[node] >= 0:
                waiting += self._operands(node)
        return leaves
