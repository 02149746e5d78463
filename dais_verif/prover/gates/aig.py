"""And-inverter graph with structural hashing: no two gates have the same operands.

A *literal* is an integer: twice the number of a node, plus 1 if it is inverted. Node 0 is the constant 0, so literal 0
is 0 and literal 1 is 1. The operands of a gate have smaller numbers than the gate.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["FALSE", "TRUE", "Aig"]

FALSE, TRUE = 0, 1


class Aig:
    """The graph. ``low``, ``high``: the operands of each node, as literals; -1 for the constant and for inputs."""

    def __init__(self) -> None:
        self.low, self.high = [-1], [-1]
        self._known: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.low)

    def behind(self, literals: Iterable[int]) -> set[int]:
        """Return the nodes in the fan-in cones of ``literals``, including their own nodes and node 0."""
        waiting = [literal >> 1 for literal in literals]
        seen = {0}
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                if self.low[node] >= 0:
                    waiting += [self.low[node] >> 1, self.high[node] >> 1]
        return seen

    def exclusive(self, node: int) -> tuple[int, int] | None:
        """Return two literals whose XOR is ``node`` if its gates form the pattern of an XOR, else None."""
        low, high = self.low, self.high
        u, v = low[node], high[node]
        if u < 0 or not u & v & 1 or low[u >> 1] < 0 or low[v >> 1] < 0:
            return None
        a, b = low[u >> 1], high[u >> 1]
        return (a, b) if {low[v >> 1], high[v >> 1]} == {a ^ 1, b ^ 1} else None

    def input(self) -> int:
        """Return the literal of a new input."""
        self.low.append(-1)
        self.high.append(-1)
        return 2 * len(self.low) - 2

    def both(self, a: int, b: int) -> int:
        """Make ``a`` AND ``b``."""
        if a > b:
            a, b = b, a
        if a < 2:
            return b if a else 0
        if a >> 1 == b >> 1:
            return a if a == b else 0
        known = self._known.get((a, b))
        if known is None:
            known = self._known[a, b] = 2 * len(self.low)
            self.low.append(a)
            self.high.append(b)
        return known

    def either(self, a: int, b: int) -> int:
        """Make ``a`` OR ``b``."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: int, b: int) -> int:
        """Make ``a`` XOR ``b``; inversions of operands are moved to the result, so that equal XORs share gates."""
        inverted = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        return self.both(self.both(a, b ^ 1) ^ 1, self.both(a ^ 1, b) ^ 1) ^ 1 ^ inverted

    def choice(self, c: int, a: int, b: int) -> int:
        """Choose ``a`` where ``c`` is 1, else ``b``."""
        if a == b:
            return a
        if a == b ^ 1:
            return self.differ(c, b)
        return self.both(self.both(c, a) ^ 1, self.both(c ^ 1, b) ^ 1) ^ 1

    def all(self, literals: list[int]) -> int:
        """Make the AND of all ``literals``."""
        result = TRUE
        for literal in literals:
            result = self.both(result, literal)
        return result

    def sum(self, a: int, b: int, carry: int) -> tuple[int, int]:
        """Return the sum bit and the carry of three bits."""
        half = self.differ(a, b)
        return self.differ(half, carry), self.either(self.both(a, b), self.both(half, carry))
