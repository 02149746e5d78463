"""Additional fields of the record of a proof of a machine's RTL."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ProvedMachine"]


@dataclass(frozen=True, kw_only=True)
class ProvedMachine:
    """The result of the proof of a machine.

    ``outputs``: the description of each claim about an output: for outputs in any cycle, and for registers after the
    edge of the cycle. ``registers``: the bits of the RTL's registers, each with the element that it holds.

    ``invariants``: the proved properties of the state; ``assumed``: properties that are assumed without proof.
    ``unproved_ops``: for each claim about an op that is not proved, by number, the block and the op. ``cycles``: the
    length of the sequence that shows a difference; in its last cycle, ``wrong`` is wrong. ``replay``: the result of
    simulators for this sequence.
    """

    outputs: list[str]
    registers: dict[str, str]
    invariants: list[str]
    assumed: list[str]
    unproved_ops: dict[str, str] = field(default_factory=dict)
    cycles: int | None = None
    wrong: str | None = None
    replay: str | None = None
