"""The goals of ``dais-verif sim``, and whether the measurements meet them.

A goal over several programs is met if the median of each meets it; the line shows the one that is nearest to failing.
A run that did not finish, or whose verdict was not a pass, meets no goal. If da4ml did not finish, its time is at least
the limit; this can show that a goal is met, but not that it is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.rounds import Spread, ratio
from bench.sim.plan import COLD, ICARUS, MANY, PEER, WARM
from bench.sim.sides import DONE, LATE, Run

__all__ = ["Line", "Sooner", "exponent", "lines", "rate", "sooner", "spread", "unfinished"]

_SOONER = {COLD: 5.0, WARM: 30.0}
_ICARUS_SECONDS, _RATE = 10.0, 400_000.0
#: The two goals are for programs from and up to these numbers of ops; p09 has a few more than 5,000.
_FROM_OPS, _TO_OPS = 2_000, 5_100
_CPU_SECONDS = 180.0
#: For wide programs whose ops read far earlier ops: the most ops, wall time of both simulators, and of Icarus' build.
_SHAPE_OPS, _SHAPE_SECONDS, _SHAPE_BUILD = 85_000, 180.0, 20.0
#: Measured exponents of linear growth are not exactly 1; quadratic growth has 2.
_LINEAR, _NOT_QUADRATIC = 1.1, 1.3
#: The exponents to try, and the least factor between the times.
_EXPONENTS = [n / 100 for n in range(20, 301)]
_GROWN = 1.3

MET, NOT_MET, UNDECIDED = "met", "NOT MET", "undecided"


class Line(NamedTuple):
    """A goal in words, the worst measurement (and of how many), and whether the goal is met."""

    goal: str
    found: str
    met: str


class Measure(NamedTuple):
    """A margin, which is at least 1 if the goal is met, the text that shows it, and whether it may be larger."""

    margin: float
    words: str
    at_least: bool = False


class Sooner(NamedTuple):
    """How many times as long the peer takes. ``at_least``: the peer did not finish."""

    spread: Spread
    at_least: bool


Goal = tuple[str, list[Measure]]


def lines(results: dict[str, Any]) -> list[Line]:
    """Return the goals for which ``results`` has measurements."""
    found = []
    for goal, measures in (*_program_goals(results), *_shape_goals(results), *_growth_goals(results)):
        if measures:
            worst = min(measures)
            several = f" (worst of {len(measures)})" if len(measures) > 1 else ""
            met = MET if worst.margin >= 1 else UNDECIDED if worst.at_least else NOT_MET
            found.append(Line(goal, worst.words + several, met))
    return found


def unfinished(runs: Sequence[Run]) -> str:
    """Return how the first run that was not done ended; an empty text if all were done."""
    return next((str(run["ending"]) for run in runs if run["ending"] != DONE), "")


def spread(runs: Sequence[Run], key: str) -> Spread:
    """Return the spread of the seconds ``key``: ``wall``, ``cpu``, ``build`` or ``run``."""
    return Spread.of([run[key] for run in runs])


def sooner(theirs: Sequence[Run], ours: Sequence[Run]) -> Sooner | None:
    """Return the ratio of wall times by rounds, or to the peer's median; None if a side failed or was not measured."""
    late = [run for run in theirs if run["ending"] == LATE]
    if not theirs or not ours or unfinished(ours) or unfinished(theirs) not in ("", LATE):
        return None
    walls = [run["wall"] for run in theirs]
    if len(theirs) != len(ours):
        walls = [spread(theirs, "wall").median] * len(ours)
    return Sooner(ratio(walls, [run["wall"] for run in ours]), bool(late))


def rate(runs: Sequence[Run]) -> Spread:
    """Return the vectors per second of the whole process."""
    return Spread.of([run["vectors"] / run["wall"] for run in runs])


def exponent(runs: Sequence[Run], key: str) -> float | None:
    """Return k of ``time = fixed + rate * size**k``, by least squares of relative errors.

    The result is None if fewer than three sizes are done or if the times hardly differ.
    """
    done = [run for run in runs if run["ending"] == DONE]
    sizes, times = (np.array([run[name] for run in done], dtype=float) for name in ("size", key))
    times = np.maximum(times, 1e-3)
    if len(set(sizes.tolist())) < 3 or times.max() < _GROWN * times.min():
        return None
    return min(_EXPONENTS, key=lambda k: _error(sizes / sizes.max(), times, k))


def _error(sizes: NDArray[np.float64], times: NDArray[np.float64], k: float) -> float:
    """Return the squared error of the best fit with this k and a fixed part that is not negative."""
    both = np.stack([1 / times, sizes**k / times], axis=1)
    answers = [np.linalg.lstsq(part, np.ones(len(times)), rcond=None)[0] for part in (both, both[:, 1:])]
    fits = [both @ answers[0]] if answers[0][0] >= 0 else []
    fits.append(both[:, 1] * answers[1][0])
    return min(float(((fit - 1) ** 2).sum()) for fit in fits)


def _program_goals(results: dict[str, Any]) -> Iterator[Goal]:
    programs = results["programs"]
    for name, goal in _SOONER.items():
        design = "new design" if name == COLD else "design built before"
        words = f"{design}, {results['vectors']:,} vectors in Verilator: {goal:g}x sooner than da4ml"
        yield words, [_sooner(program, name, goal) for program in programs if program["runs"][PEER]]
    middle = [program for program in programs if _FROM_OPS <= program["ops"] <= _TO_OPS]
    small = [program for program in programs if program["ops"] <= _TO_OPS]
    yield (
        f"new design of up to 5,000 ops, {results['vectors']:,} vectors in Icarus: under {_ICARUS_SECONDS:.0f} s",
        [_measure(program, ICARUS, _icarus_seconds) for program in small if program["runs"][ICARUS]],
    )
    yield (
        f"design of 2,000 to 5,000 ops built before, {results['many']:,} vectors in Verilator: {_RATE:,.0f} a second",
        [_measure(program, MANY, _vectors_a_second) for program in middle if program["runs"][MANY]],
    )


def _sooner(program: dict[str, Any], name: str, goal: float) -> Measure:
    runs = program["runs"]
    found = sooner(runs[PEER], runs[name])
    if found is None:
        words = unfinished(runs[name]) or f"da4ml: {unfinished(runs[PEER])}"
        return Measure(0, f"{program['name']}: {words}", at_least=not unfinished(runs[name]))
    least = "at least " if found.at_least else ""
    words = f"{least}{found.spread.median:.1f}x {program['name']}"
    return Measure(found.spread.median / goal, words, found.at_least)


def _measure(program: dict[str, Any], name: str, judge: Callable[[list[Run]], Measure]) -> Measure:
    runs = program["runs"][name]
    found = Measure(0, unfinished(runs)) if unfinished(runs) else judge(runs)
    return found._replace(words=f"{found.words} {program['name']}")


def _icarus_seconds(runs: list[Run]) -> Measure:
    wall = spread(runs, "wall").median
    return Measure(_ICARUS_SECONDS / wall, f"{wall:.1f} s")


def _vectors_a_second(runs: list[Run]) -> Measure:
    found = rate(runs).median
    return Measure(found / _RATE, f"{found:,.0f}")


def _shape_goals(results: dict[str, Any]) -> Iterator[Goal]:
    shapes = [(shape, run) for shape in results["shapes"] for run in shape["runs"]]
    words = f"convolutions and attention, {results['few']:,} vectors in both simulators"
    if not shapes:
        return
    largest = max(shape["ops"] for shape, _ in shapes)
    ends = [Measure(float(run["ending"] == DONE), f"{shape['name']} {run['ending']}") for shape, run in shapes]
    yield f"{words}, up to {largest:,} ops: pass", ends
    for key, limit, goal in (
        ("wall", _SHAPE_SECONDS, f"new design: under {_SHAPE_SECONDS / 60:.0f} minutes"),
        ("build icarus", _SHAPE_BUILD, f"Icarus' build: under {_SHAPE_BUILD:.0f} s"),
    ):
        measures = [_within(shape, run, key, limit) for shape, run in shapes if shape["ops"] <= _SHAPE_OPS]
        yield f"{words}, up to {_SHAPE_OPS:,} ops, {goal}", measures


def _within(shape: dict[str, Any], run: Run, key: str, limit: float) -> Measure:
    if run["ending"] != DONE:
        return Measure(0, f"{shape['name']}: {run['ending']}")
    return Measure(limit / max(run[key], 1e-3), f"{run[key]:.1f} s {shape['name']}")


def _growth_goals(results: dict[str, Any]) -> Iterator[Goal]:
    growth = results["growth"]
    if not growth:
        return
    largest = {simulator: max(runs, key=lambda run: run["size"]) for simulator, runs in growth["ops"].items()}
    size = f"{max(run['size'] for run in largest.values()):,} ops, {results['few']:,} vectors"
    finished = [Measure(float(run["ending"] == DONE), f"{name} {run['ending']}") for name, run in largest.items()]
    yield f"{size}: both simulators finish", finished
    cold = largest["verilator"]
    words = f"{cold['cpu']:.0f} CPU seconds" if cold["ending"] == DONE else str(cold["ending"])
    margin = _CPU_SECONDS / cold["cpu"] if cold["ending"] == DONE else 0
    yield f"{size}, new design in Verilator: under {_CPU_SECONDS / 60:.0f} CPU minutes", [Measure(margin, words)]
    yield (
        f"Icarus compiles {_range(growth['ops']['icarus'])} ops without growing quadratically: "
        f"exponent at most {_NOT_QUADRATIC}",
        _exponent(growth["ops"]["icarus"], "build", _NOT_QUADRATIC),
    )
    for what, all_runs in growth.items():
        for simulator, runs in all_runs.items():
            goal = f"CPU time of {_range(runs)} {what} in {simulator.capitalize()}: exponent at most {_LINEAR}"
            yield goal, _exponent(runs, "cpu", _LINEAR)


def _range(runs: Sequence[Run]) -> str:
    sizes = [run["size"] for run in runs]
    return f"{min(sizes):,} to {max(sizes):,}"


def _exponent(runs: Sequence[Run], key: str, limit: float) -> list[Measure]:
    if unfinished(runs):
        return [Measure(0, unfinished(runs))]
    found = exponent(runs, key)
    return [] if found is None else [Measure(2 if found <= limit else 0.5, f"{found:.2f}")]
