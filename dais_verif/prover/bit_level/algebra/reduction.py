"""Prove that a polynomial is 0 modulo a power of two, for all inputs, by replacing its gates one after the other.

Gates that are sums are replaced first, beginning with those farthest from the inputs, so that carries cancel out. Then
each AND of two nodes is replaced by their product, beginning with those that give the fewest terms.
"""

from __future__ import annotations

from heapq import heappop, heappush

from dais_verif.prover.bit_level.algebra.gates import Gates
from dais_verif.prover.bit_level.algebra.polynomials import Monomial, Polynomial

__all__ = ["vanishes"]

#: Number of terms per gate after which the proof is given up (two are usual); and the largest number of gates behind a
#: node that are searched for nodes that this node implies.
_WORK, _DEPTH = 32, 6


def vanishes(polynomial: Polynomial, gates: Gates, width: int) -> bool:
    """Return whether ``polynomial`` is proved to be 0 modulo ``2**width``; False also if this takes too much work."""
    rest = _Rest(gates, width)
    for monomial, coefficient in polynomial.items():
        rest.add(monomial, coefficient)
    return rest.reduced()


class _Rest:
    """What remains of a polynomial while its gates are replaced."""

    def __init__(self, gates: Gates, width: int) -> None:
        self._gates, self._modulus = gates, 1 << width
        self._terms: Polynomial = {}
        #: The monomials that contain each node.
        self._places: dict[int, set[Monomial]] = {}
        #: Nodes to be replaced by sums, and by products.
        self._sums: list[tuple[int, int]] = []
        self._products: list[tuple[int, int, int]] = []
        self._left = _WORK * len(gates.aig)

    def reduced(self) -> bool:
        """Replace gates until nothing or only inputs are left; return whether nothing is left."""
        while self._terms and self._left > 0:
            if self._sums:
                node = heappop(self._sums)[-1]
                replacement = self._gates.sum_of(node)
            elif self._products:
                node = heappop(self._products)[-1]
                replacement = {frozenset(self._gates.operands(node) or ()): 1}
            else:
                return False
            for monomial in tuple(self._places.get(node, ())):
                if self._left > 0:
                    self._replace(monomial, node, replacement or {})
        return not self._terms and self._left > 0

    def add(self, monomial: Monomial, coefficient: int) -> None:
        """Add a term."""
        self._left -= 1
        before = self._terms.pop(monomial, 0)
        after = (before + coefficient) % self._modulus
        if after:
            self._terms[monomial] = after
        if after and not before:
            for node in monomial:
                places = self._places.setdefault(node, set())
                if not places:
                    self._wait(node)
                places.add(monomial)
        elif before and not after:
            for node in monomial:
                self._places[node].discard(monomial)

    def _wait(self, node: int) -> None:
        rank = self._gates.rank(node)
        if self._gates.sum_of(node) is not None:
            heappush(self._sums, (-rank, node))
        elif (operands := self._gates.operands(node)) is not None:
            growth = 1
            for operand in operands:
                growth *= len(self._gates.sum_of(operand) or (1,))
            heappush(self._products, (growth, -rank, node))

    def _replace(self, monomial: Monomial, node: int, replacement: Polynomial) -> None:
        coefficient = self._terms[monomial]
        self.add(monomial, -coefficient)
        others = monomial - {node}
        for part, factor in replacement.items():
            whole = self._simplified(others | part)
            if whole is not None:
                self.add(whole, coefficient * factor)

    def _simplified(self, monomial: Monomial) -> Monomial | None:
        """Return ``monomial`` without nodes that others imply; None if two nodes exclude each other."""
        if len(monomial) < 2:
            return monomial
        low, high = self._gates.aig.low, self._gates.aig.high
        implied: set[int] = set()
        for node in monomial:
            waiting, seen = [node], 0
            while waiting and seen < _DEPTH:
                gate = waiting.pop()
                if low[gate] < 0:
                    continue
                seen += 1
                for literal in (low[gate], high[gate]):
                    if literal >> 1 in monomial:
                        if literal & 1:
                            return None
                        implied.add(literal >> 1)
                    elif not literal & 1:
                        waiting.append(literal >> 1)
        return monomial - implied if implied else monomial
