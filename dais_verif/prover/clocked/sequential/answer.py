"""The result of a comparison of two sequential designs."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Equivalence"]


@dataclass(frozen=True)
class Equivalence:
    """Whether two designs are proved equal, and statistics of the proof.

    ``proved``: equality is proved. ``why``: the reason if it is not proved. ``classes``: names of the registers in each
    class of corresponding registers. ``registers``: number of register bits of the RTL and of the other side.
    ``unmatched``: names of registers of the other side that correspond to no register of the RTL. ``columns``: number
    of block RAM columns that hold bits of a memory. ``claims``: number of proved claims. ``rounds``: rounds of
    induction. ``hinted``: the proof starts with the classes that hints proposed.
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
