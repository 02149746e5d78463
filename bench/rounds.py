"""Timing things side by side, and what the rounds say of their ratio.

A machine's speed drifts, so only times of the same round are divided by each other; a ratio is the median of those of
the rounds, with the least and the greatest beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Spread", "interleaved", "ratio"]

#: A function that takes less is called again and again within a round.
_SHORTEST_SECONDS = 0.02


class Spread(NamedTuple):
    """Median, least and greatest of some rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        return cls(statistics.median(values), min(values), max(values))


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Of the quotients, round by round."""
    return Spread.of([a / b for a, b in zip(numerators, denominators, strict=True)])


def interleaved(
    functions: Mapping[str, Callable[[], object]], rounds: int, *, of_cpu: bool = False
) -> dict[str, list[float]]:
    """Seconds a call of each function, a number a round, after a call that warms up.

    In every round each function has its turn, in the order given or, every other round, in the reverse. ``of_cpu``:
    seconds of this process on a processor, of all its threads, which other work on the machine changes less.
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
