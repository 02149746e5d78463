"""What was found of two designs, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Equivalence"]


@dataclass(frozen=True)
class Equivalence:
    """``proved``: whether all of it was proved; else ``why`` not. ``classes``: of registers that correspond, by name.

    ``registers``: of the RTL and of the other side, how many; ``unmatched``: those of the other side that correspond to
    none, by name; ``columns``: of block RAMs that hold a memory; ``claims``: that were proved; ``rounds``: how often;
    ``hinted``: by classes that hints proposed.
    """

    proved: bool
    why: str = ""
    classes: tuple[tuple[str, ...], ...] = ()
    registers: tuple[int, int] = (0, 0)
    unmatched: tuple[str, ...] = ()
    columns: int = 0
    claims: int = 0
    rounds: int = 0
    hinted: bool = False
