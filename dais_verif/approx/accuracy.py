"""Accuracy on counted samples, and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dais_verif.errors import ApproximationError

__all__ = ["Accuracy"]

#: Widens the interval: far larger than the rounding errors of the sums below, and too small to change the digits shown.
_MARGIN = 1e-9
_STEPS = 60


@dataclass(frozen=True)
class Accuracy:
    """``correct`` of ``total`` samples were classified correctly."""

    correct: int
    total: int

    def __post_init__(self) -> None:
        for name in ("correct", "total"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ApproximationError(f"{name} must be a number of samples, not {value!r}")
        if not 0 <= self.correct <= self.total or not self.total:
            raise ApproximationError(
                f"accuracy needs at least one sample; {self.correct} correct of {self.total} samples is impossible"
            )

    @property
    def percent(self) -> Fraction:
        """The share of correct samples, in percent, exactly."""
        return Fraction(100 * self.correct, self.total)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the accuracy on all data, in percent.

        The samples must be independent of each other, and of the data used for tuning. The interval is that of Clopper
        and Pearson: whatever the true accuracy is, at least ``confidence`` of all sets of samples of this size give an
        interval that contains it.
        """
        if not 0 < confidence < 1:
            raise ApproximationError(f"confidence must be between 0 and 1, not {confidence!r}")
        tail = math.log((1 - confidence) / 2)
        chances = _Binomial(self.total)
        low = 0.0
        if self.correct > 0:  # the largest accuracy at which so many correct samples are too rare
            low = _last(lambda p: chances.log_between(self.correct, self.total, p) <= tail)
        high = 1.0
        if self.correct < self.total:  # the smallest accuracy at which so few correct samples are too rare
            high = 1 - _last(lambda p: chances.log_between(0, self.correct, 1 - p) <= tail)
        return 100 * max(low - _MARGIN, 0.0), 100 * min(high + _MARGIN, 1.0)


def _last(holds: Callable[[float], bool]) -> float:
    """Return the largest number from 0 to 1 for which ``holds`` is true; it must be true for all smaller ones."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


class _Binomial:
    """The probability of each number of successes in ``total`` trials."""

    def __init__(self, total: int) -> None:
        self._total = total
        logs = np.array([math.lgamma(count + 1) for count in range(total + 1)])
        self._ways = logs[-1] - logs - logs[::-1]
        self._counts = np.arange(total + 1)

    def log_between(self, first: int, last: int, p: float) -> float:
        """Return the logarithm of the probability of ``first`` to ``last`` successes, each of probability ``p``."""
        if not 0 < p < 1:
            return 0.0 if (first == 0 if p <= 0 else last == self._total) else -math.inf
        counts = self._counts[first : last + 1]
        logs = self._ways[first : last + 1] + counts * math.log(p) + (self._total - counts) * math.log1p(-p)
        most = logs.max()
        return float(most + math.log(np.exp(logs - most).sum()))
