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

__all__ = ["Parts", "part_name", "parts_of", "path_of"]

#: The most ops in one part.
_PART_OPS = 5000


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


def parts_of(program: Program) -> Parts:
    """How ``program`` is cut."""
    of: list[int | None] = []
    moving = 0
    for op in program.ops:
        reached = op.code == -1 or any(of[i] is not None for i in op.operands)
        if op.type.width == 0 or not reached:
            of.append(None)
        else:
            of.append(moving // _PART_OPS)
            moving += 1
    return Parts(tuple(of), -(-moving // _PART_OPS))


def path_of(program: Program) -> Callable[[int], str]:
    """The names of the signals of all ops, as seen from the module."""
    return parts_of(program).seen_from(None)
