"""Additional fields of the record of a proof, where the RTL is that of a machine."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ProvedMachine"]


@dataclass(frozen=True, kw_only=True)
class ProvedMachine:
    """The result of the proof of a machine.

    ``outputs``: what each claim of an output is, in words: outputs in any cycle, and what registers hold after its
    edge. ``registers``: bits of the RTL's, and the element that they hold.

    ``invariants``: what was proved of the state; ``assumed``: what was not. ``unproved_ops``: blocks and ops of claims
    of ops that are not proved, by their numbers. ``cycles``: of the sequence that shows a difference, in the last of
    which ``wrong`` is wrong; ``replay``: what simulators say of it.
    """

    outputs: list[str]
    registers: dict[str, str]
    invariants: list[str]
    assumed: list[str]
    unproved_ops: dict[str, str] = field(default_factory=dict)
    cycles: int | None = None
    wrong: str | None = None
    replay: str | None = None
