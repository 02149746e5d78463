"""Where the signal of each op lies in the emitted module.

A small program is one block in the module itself. A large one is cut into parts, each a block with its registers in
a generate scope of its own, because tools take a time that grows with the square of one block (Verilator's latch
check) or of the signals of one scope (Icarus looks each name up by comparing it with every other).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dais_verif.emit.ops import signal
from dais_verif.program import Op, Program

__all__ = ["PART_OPS", "Parts", "moving", "part_name", "parts_of", "path_of"]

#: The most ops in one part.
PART_OPS = 5000


class Parts(NamedTuple):
    """``of``: for each op its part, None for an op that no input reaches, which is a wire of the module."""

    of: tuple[int | None, ...]
    total: int

    def ops(self, program: Program, part: int) -> list[Op]:
        """The ops of ``part``, in SSA order."""
        return [op for op in program.ops if self.of[op.index] == part]

    def seen_from(self, part: int | None) -> Callable[[int], str]:
        """What the signal of an op is called within ``part``, or in the module outside of all parts."""

        def name(index: int) -> str:
            own = self.of[index]
            if own is None or own == part or self.total == 1:
                return signal(index)
            return f"{part_name(own)}.{signal(index)}"

        return name


def part_name(part: int) -> str:
    """The scope of a part."""
    return f"part_{part}"


def moving(program: Program) -> tuple[bool, ...]:
    """For each op whether it has bits and an input reaches it. All others never change."""
    found: list[bool] = []
    for op in program.ops:
        found.append(op.type.width > 0 and (op.code == -1 or any(found[i] for i in op.operands)))
    return tuple(found)


def parts_of(program: Program) -> Parts:
    """How ``program`` is cut."""
    of: list[int | None] = []
    total = 0
    for moves in moving(program):
        of.append(total // PART_OPS if moves else None)
        total += moves
    return Parts(tuple(of), -(-total // PART_OPS))


def path_of(program: Program) -> Callable[[int], str]:
    """The names of the signals of all ops, as seen from the module."""
    return parts_of(program).seen_from(None)
