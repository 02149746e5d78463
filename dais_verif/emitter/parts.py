"""The location of each op's signal in the emitted module.

A small program is one block in the module itself. A large one is divided into parts, each of which is a block with its
signals in a generate scope.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from dais_verif.emitter.cut import by_cone, cut
from dais_verif.emitter.ops import signal
from dais_verif.program import Op, Program
from dais_verif.program.opcodes import INPUT, Data, low_int32

__all__ = ["Parts", "moving", "parts_of", "path_of", "reads"]


class Parts(NamedTuple):
    """The parts that a module is divided into.

    ``of``: the part of each op; None for an op that does not depend on an input: such an op is a wire of the module.
    ``members``: the ops of each part, in SSA order. No part reads a later part.
    """

    of: tuple[int | None, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def several(self) -> bool:
        """True if each part has a scope of its own."""
        return len(self.members) > 1

    def scope(self, part: int) -> str:
        """Return the name of the scope of a part; the last part has number 0.

        A change of the input port triggers all parts, which Icarus runs in descending order of their names. With these
        names, a part runs after all parts that it reads, and therefore only once per vector.
        """
        last = len(self.members) - 1
        return f"part_{last - part:0{len(str(last))}}"

    def seen_from(self, part: int | None) -> Callable[[int], str]:
        """Return the function that names an op's signal within ``part``; None: in the module, outside of all parts."""
        if not self.several:
            return signal
        prefixes = [f"{self.scope(number)}." for number in range(len(self.members))]

        def name(index: int) -> str:
            own = self.of[index]
            return signal(index) if own is None or own == part else prefixes[own] + signal(index)

        return name


def moving(program: Program) -> tuple[bool, ...]:
    """Return for each op whether it has bits and depends on an input. All other ops never change."""
    found: list[bool] = []
    for op in program.ops:
        found.append(op.type.width > 0 and (op.code == INPUT or any(found[i] for i in op.operands)))
    return tuple(found)


def reads(op: Op) -> Collection[int]:
    """Return what the block of ``op`` is sensitive to, besides the input port: its operands, and ``~N`` for table N."""
    return (*op.operands, ~low_int32(op.data)) if op.spec.data is Data.TABLE else op.operands


def parts_of(program: Program) -> Parts:
    """Return the parts into which ``program`` is divided."""
    moves, ops = moving(program), program.ops
    values = [index for index, moved in enumerate(moves) if moved]
    operands = [tuple(i for i in op.operands if moves[i]) if moves[op.index] else () for op in ops]
    outputs = [index for index, _, _ in program.outputs if index >= 0 and moves[index]]
    groups = cut(by_cone(values, operands, outputs), lambda index: reads(ops[index]))
    of: list[int | None] = [None] * program.n_ops
    for part, members in enumerate(groups):
        for index in members:
            of[index] = part
    return Parts(tuple(of), tuple(map(tuple, groups)))


def path_of(program: Program) -> Callable[[int], str]:
    """Return the function that names the signal of each op, as seen from the module."""
    return parts_of(program).seen_from(None)
