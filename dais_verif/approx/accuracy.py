"""Accuracy that was counted, and how far the accuracy on all data may be from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dais_verif.errors import InputError

__all__ = ["Accuracy"]

#: Far beyond what the sums below lose by rounding, and far below the shown digits.
_MARGIN = 1e-9
_STEPS = 60


@dataclass(frozen=True)
class Accuracy:
    """``correct`` of ``total`` samples were classified as they should be."""

    correct: int
    total: int

    def __post_init__(self) -> None:
        for name in ("correct", "total"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"{name} must be a number of samples, not {value!r}")
        if not 0 <= self.correct <= self.total or not self.total:
            raise InputError(
                f"accuracy needs at least one sample, and {self.correct} of {self.total} cannot be correct"
            )

    @property
    def percent(self) -> Fraction:
        """The share of correct samples, in percent, exactly."""
        return Fraction(100 * self.correct, self.total)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return between which percentages the accuracy on all data lies, at this ``confidence``.

        The samples must be independent of each other, and of what was tuned on. The interval is Clopper's and
        Pearson's: whatever the accuracy is, at least ``confidence`` of all samples of this size give one that holds it.
        """
        if not 0 < confidence < 1:
            raise InputError(f"confidence must be between 0 and 1, not {confidence!r}")
        tail = math.log((1 - confidence) / 2)
        chances = _Binomial(self.total)
        low = 0.0
        if self.correct > 0:  # so small that as many correct ones are too rare
            low = _last(lambda p: chances.log_between(self.correct, self.total, p) <= tail)
        high = 1.0
        if self.correct < self.total:  # so large that as few correct ones are too rare
            high = 1 - _last(lambda p: chances.log_between(0, self.correct, 1 - p) <= tail)
        return 100 * max(low - _MARGIN, 0.0), 100 * min(high + _MARGIN, 1.0)


def _last(holds: Callable[[float], bool]) -> float:
    """Return the largest number from 0 to 1 for which ``holds``, which does so up to some number, from below."""
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
        """Return the logarithm of the chance of ``first`` to ``last`` successes, each of chance ``p``."""
        if not 0 < p < 1:
            return 0.0 if (first == 0 if p <= 0 else last == self._total) else -math.inf
        counts = self._counts[first : last + 1]
        logs = self._ways[first : last + 1] + counts * math.log(p) + (self._total - counts) * math.log1p(-p)
        most = logs.max()
        return float(most + math.log(np.exp(logs - most).sum()))
