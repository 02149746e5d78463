"""The run time of each stage, as bars on one time line."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.record.proof import ProofRecord
from dais_verif.record.signoff import SignOffRecord
from dais_verif.record.simulation import SimulationRecord, SimulatorResult
from dais_verif.report.html.sources import Document

__all__ = ["Bar", "Split", "split_of"]


class Bar(NamedTuple):
    """One stage: ``busy`` seconds; ``begin`` and ``length`` are percent of the whole line."""

    name: str
    busy: float
    begin: float
    length: float


class Split(NamedTuple):
    """The bars of a run. ``overlap``: stages are drawn at their actual times; else one after the other."""

    bars: list[Bar]
    whole: float
    overlap: bool


def split_of(document: Document) -> Split | None:
    """Return the bars of a run from the times in its record; None if there are none."""
    match document:
        case SimulationRecord(profile=list(stages)) if stages:
            whole = max(stage.end for stage in stages) or 1.0
            bars = [Bar(s.name, s.busy, _percent(s.begin, whole), _percent(s.end - s.begin, whole)) for s in stages]
            return Split(bars, whole, True)
        case SimulationRecord(simulators=simulators):
            parts = {f"{s.name} {what}": seconds for s in simulators for what, seconds in _parts(s)}
        case ProofRecord(seconds=seconds):
            parts = dict(seconds)
        case SignOffRecord(stages=done):
            parts = {stage.name: stage.seconds for stage in done}
        case _:
            parts = {}
    if not sum(parts.values()):
        return None
    whole, at, bars = sum(parts.values()), 0.0, []
    for name, busy in parts.items():
        bars.append(Bar(name, busy, _percent(at, whole), _percent(busy, whole)))
        at += busy
    return Split(bars, whole, False)


def _parts(simulator: SimulatorResult) -> tuple[tuple[str, float], ...]:
    return ("build", simulator.build_seconds), ("run", simulator.run_seconds)


def _percent(part: float, whole: float) -> float:
    return round(min(max(part / whole, 0.0), 1.0) * 100, 2)
