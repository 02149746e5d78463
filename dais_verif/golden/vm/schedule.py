"""Choose the order of instructions and their slots: functions over columns.

All columns are int32; -1 stands for none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.vm.columns import operands_of
from dais_verif.program import Program

__all__ = ["assign_slots", "order_of"]

Ints = NDArray[np.int32]


def order_of(program: Program, *, locality: bool) -> Ints:
    """Return all ops in an order in which they can run, (n_ops,).

    With ``locality``, values are used soon after they are computed: the order is depth first from the outputs in their
    order, with operands in their order and an op after its operands; then ops that no output needs, by index and with
    the same rule. Without ``locality``, the order is that of the program.
    """
    if not locality:
        return np.arange(program.n_ops, dtype=np.int32)
    operands = operands_of(program).tolist()
    done = bytearray(program.n_ops)
    order: list[int] = []
    for root in (*program.out_idx[program.out_idx >= 0].tolist(), *range(program.n_ops)):
        stack = [] if done[root] else [(root, iter(operands[root]))]
        while stack:
            index, left = stack[-1]
            waiting = next((i for i in left if i >= 0 and not done[i]), None)
            if waiting is not None:
                stack.append((waiting, iter(operands[waiting])))
                continue
            done[index] = 1
            order.append(index)
            stack.pop()
    return np.array(order, dtype=np.int32)


def assign_slots(order: Ints, reads: Ints, keep: NDArray[np.bool_], kind: NDArray[np.bool_]) -> tuple[Ints, int]:
    """Return the slot of every value in ``order``, -1 for all other values, and the number of slots.

    ``reads`` (n, 3), or wider: the values that each value reads. A slot is free again after the last value that reads
    its content, or immediately if no value reads it, unless ``keep`` is set for this content; a value may use the slot
    of its own operand. The slot that became free last is used first. Values of different ``kind`` never share a slot.
    """
    n = len(reads)
    last = np.full(n, -1, dtype=np.int64)
    for column in reads[order].T:
        used = column >= 0
        np.maximum.at(last, column[used], np.flatnonzero(used))
    dies, kinds = np.where(keep, n, last).tolist(), kind.tolist()
    slot = [-1] * n
    free: tuple[list[int], list[int]] = ([], [])
    n_slots = 0
    for position, (value, row) in enumerate(zip(order.tolist(), reads[order].tolist(), strict=True)):
        for read in dict.fromkeys(row):
            if read >= 0 and dies[read] == position:
                free[kinds[read]].append(slot[read])
        available = free[kinds[value]]
        if available:
            slot[value] = available.pop()
        else:
            slot[value] = n_slots
            n_slots += 1
        if dies[value] < 0:
            available.append(slot[value])
    return np.array(slot, dtype=np.int32), n_slots
