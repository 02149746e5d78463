"""Additional fields of the record of a proof of a machine's RTL."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ProvedMachine"]


@dataclass(frozen=True, kw_only=True)
class ProvedMachine:
    """The result of the proof of a machine.

    ``outputs``: the description of each claim of an output: outputs in any cycle, and registers after its edge.
    ``registers``: bits of the RTL's registers, and the elements that they hold.

    ``invariants``: proved properties of the state; ``assumed``: unproved ones. ``unproved_ops``: blocks and ops of
    claims of ops that are not proved, by number. ``cycles``: of the sequence that shows a difference, in whose last
    cycle ``wrong`` is wrong; ``replay``: the result of simulators for it.
    """

    outputs: list[str]
    registers: dict[str, str]
    invariants: list[str]
    assumed: list[str]
    unproved_ops: dict[str, str] = field(default_factory=dict)
    cycles: int | None = None
    wrong: str | None = None
    replay: str | None = None
