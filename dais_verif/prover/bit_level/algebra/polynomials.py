"""Integer polynomials over the nodes of a graph; the value of each node is 0 or 1.

A *monomial* is a set of nodes, and stands for their product. Powers do not occur, since a node equals its square. The
empty monomial is the number 1.
"""

from __future__ import annotations

__all__ = ["ONE", "Monomial", "Polynomial", "plus", "single", "times"]

Monomial = frozenset[int]
Polynomial = dict[Monomial, int]

ONE: Monomial = frozenset()


def single(literal: int) -> Polynomial:
    """Return a literal as a polynomial: its node, or 1 minus its node."""
    node = literal >> 1
    if not node:
        return {ONE: 1} if literal else {}
    return {ONE: 1, frozenset((node,)): -1} if literal & 1 else {frozenset((node,)): 1}


def plus(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """Return ``p + factor * q``."""
    total = dict(p)
    for monomial, coefficient in q.items():
        new = total.pop(monomial, 0) + factor * coefficient
        if new:
            total[monomial] = new
    return total


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the product ``p * q``."""
    total: Polynomial = {}
    for a, m in p.items():
        for b, n in q.items():
            both = a | b
            total[both] = total.get(both, 0) + m * n
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}
