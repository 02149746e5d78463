"""The bits of ops that a netlist is proved to contain, and a SAT solver for one op, with these bits as variables."""

from __future__ import annotations

from collections.abc import Iterable

from pysat.solvers import Glucose4

from dais_verif.prover.bit_level.aig import TRUE, Aig
from dais_verif.prover.bit_level.miter import ProgramBits

__all__ = ["OpQuestion", "ProvedBits"]

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
