"""Coverage: the behaviour of a program that vectors exercised, and the lines of RTL that a simulation ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = [
    "COVERAGE_SCHEMA",
    "Coverage",
    "CoverageGroup",
    "CoverageRecord",
    "OpenBin",
    "RtlCoverage",
    "RtlPoints",
    "coverage_line",
]

COVERAGE_SCHEMA = "dais-verif/coverage/1"


@dataclass(frozen=True)
class CoverageGroup:
    """Bins of one kind, such as ``mux arm`` or ``bit``."""

    name: str
    bins: int
    hit: int
    unreachable: int


@dataclass(frozen=True)
class OpenBin:
    """A bin, of an op, an input or an output, that is neither hit nor shown to be unreachable."""

    group: str
    op: int | None
    input: int | None
    output: int | None
    text: str


@dataclass(frozen=True)
class Coverage:
    """Coverage by ``vectors`` vectors, of which ``directed`` were computed from the program to close bins.

    ``percent``: the share of hit bins among those not shown to be unreachable, rounded down to one decimal; 100.0 only
    if no bin is open. ``ops``, ``outputs``: the numbers ``[bins, hit, unreachable]`` of each op and each output.
    ``open``: the first 1,000 of the ``open_total`` open bins. ``limits``: why the search for more vectors ended.
    """

    vectors: int
    directed: int
    percent: float
    groups: list[CoverageGroup]
    ops: list[list[int]]
    outputs: list[list[int]]
    open: list[OpenBin]
    open_total: int
    limits: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RtlPoints:
    """Points of one ``kind`` in the RTL, as Verilator names it: ``line``, ``branch`` or ``toggle``."""

    kind: str
    points: int
    hit: int


@dataclass(frozen=True)
class RtlCoverage:
    """Coverage of the RTL in a run in Verilator.

    ``data``: the file of counts, which ``verilator_coverage`` reads. ``missed``: the file with the points that were not
    hit.
    """

    kinds: list[RtlPoints]
    data: str
    missed: str


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageRecord(RunRecord):
    """A run of ``coverage``: the behaviour of a program that vectors exercised. A PASS does not cover any RTL."""

    SCHEMA: ClassVar = COVERAGE_SCHEMA

    program: ProgramInfo
    seed: int
    unchecked: bool = False
    warnings: list[str] = field(default_factory=list)
    reproduce: str
    coverage: Coverage


def coverage_line(coverage: Coverage) -> str:
    """Return all of ``coverage`` in one line."""
    bins, hit, never = (
        sum(getattr(group, name) for group in coverage.groups) for name in ("bins", "hit", "unreachable")
    )
    left = f"{coverage.open_total} open" if coverage.open_total else "none open"
    return f"{coverage.percent} % of {bins - never} bins hit ({hit}), {left}, {never} more unreachable"
