"""Earlier runs of the same program: one row each, and charts of time and coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.coverage import CoverageRecord
from dais_verif.record.proof import ProofRecord
from dais_verif.record.signoff import SignOffRecord
from dais_verif.record.simulation import SimulationRecord, SimulatorResult
from dais_verif.report.html.evidence import designs_of
from dais_verif.report.html.sources import Document, Source
from dais_verif.report.html.verdicts import Standing, standing_of

__all__ = ["Bar", "Chart", "Point", "Run", "Split", "charts_of", "runs_of", "split_of"]


WIDTH, HEIGHT = 640.0, 140.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 12.0, 14.0, 22.0

#: The number of latest runs that are shown.
_SHOWN = 200


@dataclass(frozen=True)
class Run:
    """A run in the table of runs.

    ``started``: the time in its record, or else (``dated_by_file``) the modification time of the file. ``here``: the
    run is shown on this page. ``vectors``, ``seconds`` and ``coverage`` (percent) are None where they were not
    recorded.
    """

    source: Source
    standing: Standing
    started: str
    dated_by_file: bool
    here: bool
    seed: int | None
    vectors: int | None
    seconds: float | None
    coverage: float | None
    design: str


class Point(NamedTuple):
    """A mark in a chart: its position, its run (numbered from 1), and its text."""

    x: float
    y: float
    passed: bool
    run: int
    text: str


class Chart(NamedTuple):
    """A line through ``points`` between 0 and ``top``, in a drawing of ``WIDTH`` x ``HEIGHT``."""

    title: str
    top: str
    points: list[Point]
    path: str


def runs_of(sources: Sequence[Source], history: Sequence[Source]) -> list[Run]:
    """Return the runs on the page and all others in ``history``, oldest first; each file once, the latest 200."""
    known = {source.path.resolve() for source in sources if source.path is not None}
    there = [source for source in sources if not source.stage]
    earlier = [source for source in history if source.path is None or source.path.resolve() not in known]
    runs = [_run(source, here) for group, here in ((there, True), (earlier, False)) for source in group]
    return sorted(runs, key=lambda run: (run.started, run.here))[-_SHOWN:]


def _run(source: Source, here: bool) -> Run:
    document = source.document
    times = None if isinstance(document, ProofRecord | CoverageRecord) else document.times
    coverage = None if isinstance(document, ProofRecord | RegressionRecord) else document.coverage
    seconds = times.seconds if times is not None else None
    if isinstance(document, ProofRecord):
        seconds = sum(document.seconds.values()) or None
    elif isinstance(document, SimulationRecord) and seconds is None and document.profile:
        seconds = max(stage.end for stage in document.profile)
    return Run(
        source,
        standing_of(document),
        times.started if times is not None else _written(source.path),
        times is None,
        here,
        document.seed if not isinstance(document, ProofRecord | RegressionRecord) else None,
        _vectors(document),
        seconds,
        coverage.percent if coverage is not None else None,
        next((design.label for design in designs_of([source])), ""),
    )


def _vectors(document: Document) -> int | None:
    if isinstance(document, CoverageRecord):
        return document.coverage.vectors
    if isinstance(document, SimulationRecord):
        return max((simulator.vectors for simulator in document.simulators), default=0)
    return None


def _written(path: Path | None) -> str:
    try:
        stamp = path.stat().st_mtime if path is not None else None
    except OSError:
        stamp = None
    return "" if stamp is None else datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def charts_of(runs: Sequence[Run]) -> list[Chart]:
    """Return charts of the seconds, and of the coverage if known, of each kind of run that occurs at least twice."""
    charts = []
    for kind in dict.fromkeys(run.source.kind for run in runs):
        numbered = [(at, run) for at, run in enumerate(runs, 1) if run.source.kind == kind]
        charts += _chart(f"Seconds of each {kind}", numbered, len(runs), lambda run: run.seconds, "s")
        charts += _chart(f"Coverage of each {kind}", numbered, len(runs), lambda run: run.coverage, "%", 100.0)
    return charts


def _chart(
    title: str,
    runs: Sequence[tuple[int, Run]],
    count: int,
    value_of: Callable[[Run], float | None],
    unit: str,
    top: float | None = None,
) -> list[Chart]:
    known = [(at, run, value) for at, run in runs if (value := value_of(run)) is not None]
    if len(known) < 2:
        return []
    top = top or max(value for _, _, value in known) or 1.0
    points = []
    for at, run, value in known:
        x = _LEFT + (at - 1) / max(count - 1, 1) * (WIDTH - _LEFT - _RIGHT)
        y = HEIGHT - _BOTTOM - min(max(value / top, 0.0), 1.0) * (HEIGHT - _TOP - _BOTTOM)
        vectors = f", {counted(run.vectors, 'vector')}" if run.vectors is not None else ""
        text = f"run {at}: {value:.4g} {unit}, {run.standing.word}{vectors}"
        points.append(Point(round(x, 1), round(y, 1), run.standing.verdict is Verdict.PASS, at, text))
    path = " ".join(f"{'L' if at else 'M'}{point.x} {point.y}" for at, point in enumerate(points))
    return [Chart(title, f"{top:.4g} {unit}", points, path)]


# The run time of each stage, as bars on one time line.


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
