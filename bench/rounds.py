"""Measure functions alternately, and the ratios of their times.

A machine's speed drifts, and therefore only times of the same round are divided by each other; a ratio is the median
over the rounds, given with the least and the greatest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Spread", "interleaved", "ratio"]

#: A function that takes less is called repeatedly within a round.
_SHORTEST_SECONDS = 0.02


class Spread(NamedTuple):
    """Median, least and greatest of some rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of at least one value."""
        return cls(statistics.median(values), min(values), max(values))


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Return the spread of the quotients of each round."""
    return Spread.of([a / b for a, b in zip(numerators, denominators, strict=True)])


def interleaved(
    functions: Mapping[str, Callable[[], object]], rounds: int, *, of_cpu: bool = False
) -> dict[str, list[float]]:
    """Return the seconds per call of each function, one number per round, after a warm-up call.

    Every round calls each function, in the given order or, every other round, in reverse. ``of_cpu``: measure the CPU
    time of all threads of this process, which depends less on other work on the machine.
    """
    clock = time.process_time if of_cpu else time.perf_counter
    repeats = {name: _repeats(function) for name, function in functions.items()}
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(rounds):
        for name in list(functions)[:: -1 if number % 2 else 1]:
            seconds[name].append(_seconds(functions[name], repeats[name], clock))
    return seconds


def _repeats(function: Callable[[], object]) -> int:
    function()
    return max(1, round(_SHORTEST_SECONDS / max(_seconds(function, 1), 1e-7)))


def _seconds(function: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    for _ in range(repeats):
        function()
    return (clock() - start) / repeats
