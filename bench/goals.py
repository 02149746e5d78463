"""The goals of the engine, and whether the measurements meet them.

A goal over several programs is met if the median of each meets it; the line shows the one that is nearest to failing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bench.rounds import Spread, ratio

__all__ = ["LARGE", "Line", "lines"]

#: Programs of this many ops or more are large.
LARGE = 2000

_SPEEDUP = {"avx512": 100.0, "avx2": 40.0}
_SMALL_SPEEDUP, _COPY_SHARE, _TWO_THREADS = 40.0, 0.7, 1.7
_COMPILE_SECONDS, _BYTES = 1.0, 200e6
#: The goals against alkaid: the least number of ops, and the speed-up for integers and doubles, if it has a goal.
_ALKAID: tuple[tuple[int, dict[str, float]], ...] = (
    (LARGE, {"integers": 60.0, "doubles": 30.0, "plain": 30.0}),
    (400, {"integers": 25.0, "doubles": 12.0, "plain": 12.0}),
    (0, {"doubles": 5.0}),
)
_LEVELS = {1: 2.0, 2: 1.05}


class Line(NamedTuple):
    """A goal in words, the worst measurement (and of how many), and whether the goal is met."""

    goal: str
    found: str
    met: bool


class Measure(NamedTuple):
    """A margin, which must be at least 1 for the goal to be met, and the text that shows the measurement."""

    margin: float
    words: str


def lines(results: dict[str, Any]) -> list[Line]:
    """Return the goals for which ``results`` has measurements."""
    found = []
    for goal, measures in _goals(results):
        if measures:
            worst = min(measures)
            several = f" (worst of {len(measures)})" if len(measures) > 1 else ""
            found.append(Line(goal, worst.words + several, worst.margin >= 1))
    return found


Goal = tuple[str, list[Measure]]


def _goals(results: dict[str, Any]) -> Iterator[Goal]:
    yield from _speed_goals(results)
    yield from _alkaid_goals(results)
    for kind in ("integers", "doubles"):
        large = [program for program in results["programs"] if program["ops"] >= LARGE]
        yield f"two threads over one, {LARGE:,} ops or more, {kind}: {_TWO_THREADS}x", _two_threads(large, kind)
    singles = [_at_least(program, ratio_of(program["single"], "doubles"), 1) for program in results["programs"]]
    yield "one sample: no slower", singles
    yield from _preparation_goals(results)
    yield from _memory_goals(results)
    yield from _level_goals(results)


def _speed_goals(results: dict[str, Any]) -> Iterator[Goal]:
    large = [program for program in results["programs"] if program["ops"] >= LARGE]
    small = [program for program in results["programs"] if program["ops"] < LARGE]
    rows = f"{results['samples']:,} samples, one thread"
    best = results["machine"]["isa"]
    for isa, forced in ((best, "auto"), ("avx2", "avx2")):
        for kind in ("integers", "doubles"):
            goal, words = _SPEEDUP.get(isa, 0), " forced to AVX2," if forced == "avx2" else ""
            measures = _speedups(large, forced, kind, goal) if goal else []
            yield f"{rows},{words} {LARGE:,} ops or more, {kind}: {goal:.0f}x", measures
    goal = _SMALL_SPEEDUP
    yield f"{rows}, fewer ops, integers: {goal:.0f}x", _speedups(small, "auto", "integers", goal)
    words = f"{rows}, fewer ops, doubles: {goal:.0f}x, or {_COPY_SHARE:.0%} of the copy bandwidth if that is less"
    yield words, [_doubles_of_small(program) for program in small]


def _alkaid_goals(results: dict[str, Any]) -> Iterator[Goal]:
    most = None
    if results["machine"]["isa"] != "avx512":
        return
    for least, goals in _ALKAID:
        some = [program for program in results["programs"] if program["ops"] >= least]
        some = [program for program in some if most is None or program["ops"] < most]
        size = f"{least:,} ops or more" if most is None else f"{least:,} to {most - 1:,} ops"
        for kind, goal in goals.items():
            spreads = [(program, ratio_of(program["throughput"]["auto"], kind, "alkaid")) for program in some]
            yield f"alkaid, {size}, {kind}: {goal:.0f}x", [_at_least(program, s, goal) for program, s in spreads]
        most = least


def _preparation_goals(results: dict[str, Any]) -> Iterator[Goal]:
    for found in results["preparation"]:
        spread = Spread.of(found["seconds"]["load and compile"])
        goal = f"{found['ops']:,} ops decoded, checked and compiled: under {_COMPILE_SECONDS:.0f} s"
        yield goal, [Measure(_COMPILE_SECONDS / spread.median, seconds(spread))]
    starts = [_at_least(found, ratio(found["peer"], found["ours"]), 1) for found in results["first"]]
    yield f"fresh process to the first {results['first_samples']:,} samples: no slower", starts


def _memory_goals(results: dict[str, Any]) -> Iterator[Goal]:
    for found in results["memory"]:
        own = found["peak"] - found["arrays"]
        size = f"{found['ops']:,} ops x {found['rows']:,} samples, {found['kind']}"
        words = f"{own / 1e6:.0f} MB and {found['arrays'] / 1e6:.0f} MB of arrays"
        yield f"{size}: under {_BYTES / 1e6:.0f} MB and arrays", [Measure(_BYTES / max(own, 1), words)]


def _level_goals(results: dict[str, Any]) -> Iterator[Goal]:
    for level, limit in _LEVELS.items():
        pairs = [(found, found["seconds"]) for found in results["levels"]]
        measures = [_at_most(found, ratio(s[f"level {level}"], s["level 3"]), limit) for found, s in pairs]
        yield f"VM, {results['level_runs']} runs, level {level} over level 3: at most {limit:g}x", measures


def ratio_of(found: dict[str, Any], kind: str, peer: str = "peer") -> Spread:
    """Return how many times as fast our engine is as da4ml, or as another peer."""
    return ratio(found["seconds"][peer], found["seconds"][kind])


def times(spread: Spread) -> str:
    """Return the text of a ratio and its spread: 41x (38..44)."""
    digits = 0 if spread.median >= 20 else 1 if spread.median >= 3 else 2
    return f"{spread.median:.{digits}f}x ({spread.low:.{digits}f}..{spread.high:.{digits}f})"


def seconds(spread: Spread) -> str:
    """Return the text of a time and its spread."""
    return f"{spread.median:.2f} s ({spread.low:.2f}..{spread.high:.2f})"


def _at_least(program: dict[str, Any], spread: Spread, goal: float) -> Measure:
    return Measure(spread.median / goal, f"{times(spread)} {program['name']}")


def _at_most(program: dict[str, Any], spread: Spread, goal: float) -> Measure:
    return Measure(goal / spread.median, f"{times(spread)} {program['name']}")


def _speedups(programs: Iterable[dict[str, Any]], isa: str, kind: str, goal: float) -> list[Measure]:
    measured = [(program, program["throughput"].get(isa)) for program in programs]
    return [_at_least(program, ratio_of(found, kind), goal) for program, found in measured if found]


def _doubles_of_small(program: dict[str, Any]) -> Measure:
    """Return the measure for the easier one of both goals."""
    found = program["throughput"]["auto"]
    speedup, share = ratio_of(found, "doubles"), copy_share(found)
    margin = max(speedup.median / _SMALL_SPEEDUP, share.median / _COPY_SHARE)
    return Measure(margin, f"{times(speedup)} and {share.median:.0%} {program['name']}")


def copy_share(found: dict[str, Any]) -> Spread:
    """Return the bandwidth of the call with doubles relative to that of copying."""
    return ratio(found["seconds"]["copy"], found["seconds"]["doubles"])


def _two_threads(programs: Iterable[dict[str, Any]], kind: str) -> list[Measure]:
    """Return the speed-up by a second thread; only large programs have the goal, since short calls use one thread."""
    pairs = [(program, program["threads"]["seconds"]) for program in programs]
    return [_at_least(program, ratio(s[f"{kind} 1"], s[f"{kind} 2"]), _TWO_THREADS) for program, s in pairs]
