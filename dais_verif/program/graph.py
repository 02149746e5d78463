"""The program as a graph: cones of influence, dead ops, depth."""

from __future__ import annotations

from collections.abc import Iterable

from dais_verif.program.model import Program

__all__ = ["cone", "dead_ops", "depths"]


def cone(program: Program, roots: Iterable[int]) -> list[int]:
    """Return the indices of all ops on which the ops ``roots`` depend, including ``roots``, in SSA order."""
    needed = set(roots)
    waiting = list(needed)
    while waiting:  # visits only the cone: callers request many small cones of a large program
        for operand in program.ops[waiting.pop()].operands:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return sorted(needed)


def dead_ops(program: Program) -> list[int]:
    """Return the indices of ops on which no output depends."""
    live = set(cone(program, (index for index, _, _ in program.outputs if index >= 0)))
    return [index for index in range(program.n_ops) if index not in live]


def readers(program: Program) -> list[list[int]]:
    """Return, for each op, the indices of the ops that read it, in SSA order and without repetition."""
    found: list[list[int]] = [[] for _ in range(program.n_ops)]
    for op in program.ops:
        for operand in set(op.operands):
            found[operand].append(op.index)
    return found


def depths(program: Program) -> list[int]:
    """Return the length, in ops, of the longest path that ends in each op; 0 for inputs and constants."""
    depth: list[int] = []
    for op in program.ops:
        depth.append(max((depth[i] + 1 for i in op.operands), default=0))
    return depth
