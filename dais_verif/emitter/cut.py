"""Partition of many ops into groups, each a separate scope, so that no tool takes long for any of them.

Related ops stay together, however far apart their numbers are: in a convolution, the same op of all positions has
neighbouring numbers, and a cut by number would make other groups read nearly every op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["MOST_NAMES", "MOST_SIGNALS", "by_cone", "cut"]

#: The most signals in one group: tools take a time that grows with the square of one block (Verilator's latch check)
#: or of the signals of one scope (Icarus looks each name up by comparing it with every other).
MOST_SIGNALS = 5000
#: The most names of other groups that one reads: Icarus takes a time that grows with the cube of one sensitivity
#: list, 0.02 s for 250 names and 1.1 s for 1,000.
MOST_NAMES = 250


def by_cone(values: Sequence[int], operands: Sequence[Iterable[int]], roots: Iterable[int]) -> list[int]:
    """Return ``values`` reordered, operands first: one root after the other, each after the values that only it needs.

    ``values``: operands first, too. ``operands``: of each value, those that are values. What no root needs comes
    last, in the same way.
    """
    order: list[int] = []
    begun = bytearray(len(operands))
    for root in (*roots, *reversed(values)):
        stack = [] if begun[root] else [root]
        while stack:
            value = stack.pop()
            if value < 0:  # all that it needs has been written
                order.append(~value)
            elif not begun[value]:
                begun[value] = 1
                stack.append(~value)
                stack.extend(operand for operand in operands[value] if not begun[operand])
    return order


def cut(
    order: Iterable[int], reads: Callable[[int], Collection[int]], signals: Callable[[int], int] = lambda value: 1
) -> list[list[int]]:
    """Return the values of ``order`` in groups of neighbours, each sorted; no group reads a later one.

    ``reads``: numbers of whatever a value reads, values or not. ``signals``: how many signals a value makes.
    """
    groups: list[list[int]] = []
    group_of: dict[int, int] = {}
    outside: set[int] = set()
    size = 0
    for value in order:
        current = len(groups) - 1
        new = {name for name in reads(value) if group_of.get(name) != current} - outside
        own = signals(value)
        if not groups or size + own > MOST_SIGNALS or len(outside) + len(new) > MOST_NAMES:
            groups.append([])
            outside, size = set(reads(value)), 0
        groups[-1].append(value)
        group_of[value] = len(groups) - 1
        outside |= new
        size += own
    return [sorted(group) for group in groups]
