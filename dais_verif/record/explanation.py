"""The record of ``explain`` for a machine: every element of every signal in one cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo

__all__ = ["ConnectionState", "CycleRecord", "ElementState"]


@dataclass(frozen=True)
class ElementState:
    """One element of a signal, before the edge. ``real`` and ``raw`` are None if the value is unknown.

    ``kind``: input, wire or register; ``output``: whether it is an output. ``next``, ``next_raw``: the value of a
    register after the edge. ``decided_by``: the numbers of the connections that determine the value of the element, or
    for a register its value after the edge. ``because``: the explanation as text.
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
    """The state of a connection: it copies its source, its alternative or nothing, or its choice is unknown.

    ``text``: the connection as in the machine's text. ``enable``: the value of the enable: 1 if there is none, None if
    it is unknown. ``indices``: the index values by view.
    """

    text: str
    clocked: bool
    takes: str
    enable: int | None
    indices: dict[str, int | None]


@dataclass(frozen=True, kw_only=True)
class CycleRecord(Record):
    """Cycle ``cycle`` of the ``cycles`` of ``sequence``. ``violation``: a promise broken by the end of this cycle."""

    SCHEMA: ClassVar = "dais-verif/explain/1"

    verdict: Verdict
    exit_code: int
    program: ProgramInfo
    sequence: int
    cycle: int
    cycles: int
    violation: str | None
    elements: list[ElementState]
    connections: list[ConnectionState]
