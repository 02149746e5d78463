"""The record of ``explain`` of a machine: every element of every signal in one cycle."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

__all__ = ["ConnectionState", "CycleRecord", "ElementState"]


@dataclass(frozen=True)
class ElementState:
    """One element of a signal, before the edge. ``real`` and ``raw`` are None where its value is unknown.

    ``kind``: input, wire or register; ``output``: whether it is one. ``next``, ``next_raw``: what a register holds
    after the edge. ``decided_by``: the connections, by their numbers, that decide its value, or that of the register
    after the edge; ``because``: how, in words.
    """

    signal: str
    element: int
    kind: str
    output: bool
    type: str
    real: str | None
    raw: int | None
    bits: str | None
    next: str | None
    next_raw: int | None
    decided_by: list[int]
    because: str


@dataclass(frozen=True)
class ConnectionState:
    """The state of a connection: it takes its source, its alternative or nothing, or it is unknown.

    ``text``: as the machine's text has it. ``enable``: 1 where it has none, None if it is unknown. ``indices``: their
    values, by the views that have one.
    """

    text: str
    clocked: bool
    takes: str
    enable: int | None
    indices: dict[str, int | None]


@dataclass(frozen=True, kw_only=True)
class CycleRecord(Record):
    """Cycle ``cycle`` of ``cycles`` of sequence ``sequence``. ``violation``: a promise that is broken up to it."""

    verdict: Verdict
    exit_code: int
    program: ProgramInfo
    sequence: int
    cycle: int
    cycles: int
    violation: str | None
    elements: list[ElementState]
    connections: list[ConnectionState]
