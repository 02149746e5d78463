"""Partition many ops into groups, which become separate scopes, so that tools do not take long for any group.

Related ops stay together, even if their numbers are far apart. In a convolution, the ops of different positions have
neighbouring numbers, so that after a partition by number, nearly every op would be read by other groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["MOST_NAMES", "MOST_SIGNALS", "by_cone", "cut"]

#: The largest number of signals in a group. The time of tools grows with the square of the size of a block (Verilator's
#: latch check), or of the number of signals in a scope (Icarus compares a name with every other one to look it up).
MOST_SIGNALS = 5000
#: The largest number of signals of other groups that a group reads. The time of Icarus grows with the cube of the
#: length of a sensitivity list: 0.02 s for 250 names, 1.1 s for 1,000.
MOST_NAMES = 250


def by_cone(values: Sequence[int], operands: Sequence[Iterable[int]], roots: Iterable[int]) -> list[int]:
    """Return ``values``, reordered by root: for each root, the values that it needs and earlier roots do not need.

    Operands precede their readers, in ``values`` and in the result. Values that no root needs come last, ordered in the
    same way. ``operands``: for each value, its operands among ``values``.
    """
    order: list[int] = []
    begun = bytearray(len(operands))
    for root in (*roots, *reversed(values)):
        stack = [] if begun[root] else [root]
        while stack:
            value = stack.pop()
            if value < 0:  # all operands of the value are in the result
                order.append(~value)
            elif not begun[value]:
                begun[value] = 1
                stack.append(~value)
                stack.extend(operand for operand in operands[value] if not begun[operand])
    return order


def cut(
    order: Iterable[int], reads: Callable[[int], Collection[int]], signals: Callable[[int], int] = lambda value: 1
) -> list[list[int]]:
    """Return the values of ``order`` in groups of neighbours, each sorted; no group reads a later group.

    ``reads``: returns the numbers of everything that a value reads, including numbers that are not in ``order``.
    ``signals``: returns the number of signals of a value.
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
