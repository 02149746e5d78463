"""Windows of a graph between two nodes and a cut: nodes that are equal for all values of the cut are equal."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence, Set
from heapq import heappop, heappush

from dais_verif.prover.gates.aig import Aig

__all__ = ["Window", "equal_by_table"]

#: The largest number of cut nodes of a table.
_MOST_LEAVES = 26
#: The number of cut nodes whose values are tried at once, as bits of one integer.
_TOGETHER = 16

#: Random values of the cut, tried first: nearly all pairs that differ over a window differ in one of them.
_FIRST = 256
_RANDOM = random.Random(0)
_SAMPLE = [_RANDOM.getrandbits(_FIRST) for _ in range(_MOST_LEAVES)]

_columns: dict[tuple[int, int], int] = {}


class Window:
    """A window that grows from the nodes ``roots`` towards the inputs, nodes with the largest number first.

    ``inside``: its gates, each before its operands. ``leaves``: the cut, the nodes outside that the gates read.
    """

    def __init__(self, aig: Aig, *roots: int) -> None:
        self._aig = aig
        self.inside: list[int] = []
        self.leaves: set[int] = set(roots) - {0}
        self._heap = sorted(-root for root in roots if aig.low[root] >= 0)

    @property
    def whole(self) -> bool:
        """Whether the window has reached the inputs and cannot grow further."""
        return not self._heap

    def grow(self, size: int, stops: Set[int] = frozenset()) -> None:
        """Grow to ``size`` gates in total, or until all paths end at inputs or at ``stops``, which stay in the cut."""
        low, high, heap, leaves = self._aig.low, self._aig.high, self._heap, self.leaves
        while heap and len(self.inside) < size:
            node = -heappop(heap)
            if node in stops:
                continue
            leaves.discard(node)
            self.inside.append(node)
            for operand in (low[node] >> 1, high[node] >> 1):
                if operand not in leaves:
                    leaves.add(operand)
                    if low[operand] >= 0:
                        heappush(heap, -operand)


def equal_by_table(aig: Aig, window: Window, a: int, b: int, work: int) -> bool:
    """Return whether literals ``a`` and ``b`` are equal for all values of the cut; False also if that is too much work.

    ``work``: the limit, in gates times values of the cut.
    """
    leaves = sorted(window.leaves)
    if len(leaves) > _MOST_LEAVES or len(window.inside) << len(leaves) > work:
        return False
    gates = [(node, aig.low[node], aig.high[node]) for node in reversed(window.inside)]
    if 1 << len(leaves) > _FIRST and _differ(gates, dict(zip(leaves, _SAMPLE, strict=False)), _FIRST, a, b):
        return False
    together = min(len(leaves), _TOGETHER)
    rows = 1 << together
    values = {leaf: _column(place, together) for place, leaf in enumerate(leaves[:together])}
    for chunk in range(1 << (len(leaves) - together)):
        for place, leaf in enumerate(leaves[together:]):
            values[leaf] = (1 << rows) - 1 if chunk >> place & 1 else 0
        if _differ(gates, values, rows, a, b):
            return False
    return True


def _differ(gates: Sequence[tuple[int, int, int]], leaves: Mapping[int, int], rows: int, a: int, b: int) -> bool:
    """Return True if literals ``a`` and ``b`` differ on one of ``rows`` values of the cut.

    ``gates``: each node with its two literals, in order. ``leaves``: the values of the cut, one bit per row.
    """
    flip = (0, (1 << rows) - 1)
    values = {0: 0, **leaves}
    for node, x, y in gates:
        values[node] = (values[x >> 1] ^ flip[x & 1]) & (values[y >> 1] ^ flip[y & 1])
    return values[a >> 1] ^ flip[a & 1] != values[b >> 1] ^ flip[b & 1]


def _column(place: int, count: int) -> int:
    """Return the values of variable ``place`` of ``count`` in a table: runs of ``2**place`` zeros and ones."""
    known = _columns.get((place, count))
    if known is None:
        run = 1 << place
        known, width = ((1 << run) - 1) << run, 2 * run
        while width < 1 << count:
            known |= known << width
            width *= 2
        _columns[place, count] = known
    return known
