"""Functional coverage of a run: which of the things that a program can do its vectors made it do."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Coverage", "CoverageGroup", "OpenBin", "RtlCoverage", "RtlPoints"]


@dataclass(frozen=True)
class CoverageGroup:
    """Bins of one kind, such as ``mux arm`` or ``bit``."""

    name: str
    bins: int
    hit: int
    unreachable: int


@dataclass(frozen=True)
class OpenBin:
    """A bin neither hit nor shown to be unreachable, of an op, an input or an output."""

    group: str
    op: int | None
    input: int | None
    output: int | None
    text: str


@dataclass(frozen=True)
class Coverage:
    """``vectors``: that were counted, ``directed`` of them computed from the program to close bins.

    ``percent``: of bins not shown to be unreachable, those that were hit, rounded down to one decimal; 100.0 only if
    nothing is open. ``ops`` and ``outputs``: for each ``[bins, hit, unreachable]``. ``open``: the first 1,000 of
    ``open_total``. ``limits``: what ended the search for more, in words.
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
    """Points of one kind in the RTL: ``line``, ``branch``, ``toggle`` as Verilator calls them."""

    kind: str
    points: int
    hit: int


@dataclass(frozen=True)
class RtlCoverage:
    """What a run in Verilator made the RTL do. ``data``: the file of counts, which ``verilator_coverage`` reads;
    ``missed``: that of the points that were not hit."""

    kinds: list[RtlPoints]
    data: str
    missed: str
