"""Select configurations: those on the curve of HPVM's runtime, and the fastest one within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

import numpy as np

from dais_verif.base.errors import ApproximationError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation.configuration import Configuration, ConfigurationFile

__all__ = ["Accuracy", "Choice", "Gain", "choose", "choose_within", "pareto"]


#: The column that measures the gain of a configuration.
Gain = Literal["speedup", "energy"]

#: Losses that differ by less count as equal. HPVM compares a difference in binary32 with this number in binary64.
_NEAR = 0.01


def pareto(file: ConfigurationFile, by: Gain = "speedup") -> list[str]:
    """Return the names of the configurations on the runtime's curve of loss against ``by``, in the curve's order.

    The first configuration is always on the curve. The others are sorted by loss and grouped: a group has all those
    with losses within 0.01 of the loss of its first. The best of a group, or the first of equally good ones, is on the
    curve if it is better than the last configuration there.
    """
    if by not in ("speedup", "energy"):
        raise ApproximationError(f"by must be speedup or energy, not {by!r}")
    curve = [file.configurations[0]]
    for group in _groups(sorted(file.configurations[1:], key=_loss)):
        best = max(group, key=lambda one: _binary32(getattr(one, by)))
        if _binary32(getattr(best, by)) > _binary32(getattr(curve[-1], by)):
            curve.append(best)
    return [one.name for one in curve]


def choose(file: ConfigurationFile, budget: Decimal | float | str) -> Configuration | None:
    """Return the fastest configuration whose loss is at most ``budget``; None if there is none.

    Losses and budget are compared as written, as decimals. Of equally fast configurations the one with the smaller loss
    is chosen, then the first.
    """
    most = _decimal(budget)
    fitting = [one for one in file.configurations if one.loss.exact <= most]
    return min(fitting, key=lambda one: (one.speedup.exact.copy_negate(), one.loss.exact), default=None)


def _decimal(budget: Decimal | float | str) -> Decimal:
    try:
        most = Decimal(repr(budget) if isinstance(budget, float) else budget)
    except (InvalidOperation, TypeError, ValueError):
        most = Decimal("NaN")
    if not most.is_finite():
        raise ApproximationError(f"budget must be a finite number, not {budget!r}")
    return most


def _groups(ordered: list[Configuration]) -> Iterator[list[Configuration]]:
    group: list[Configuration] = []
    for one in ordered:
        if group and not float(_loss(one) - _loss(group[0])) < _NEAR:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _loss(one: Configuration) -> np.float32:
    return _binary32(one.loss)


def _binary32(number: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(number)


# The choice of a configuration under an accuracy budget, and the verdict if there is none.


@dataclass(frozen=True)
class Choice:
    """The fastest configuration within a budget, or None. ``nearest``: the configuration with the smallest loss."""

    budget: Decimal
    chosen: Configuration | None
    nearest: Configuration

    @property
    def verdict(self) -> Verdict:
        """PASS, or NOT_SIGNED_OFF (exit code 7) if no configuration is within the budget."""
        return Verdict.NOT_SIGNED_OFF if self.chosen is None else Verdict.PASS

    @property
    def message(self) -> str:
        """The choice in one line."""
        if self.chosen is None:
            near = f"{self.nearest.name} has the smallest, {self.nearest.loss}"
            return f"no configuration has a loss of at most {self.budget}: {near}"
        return f"{self.chosen.name} is the fastest with a loss of at most {self.budget}: {self._gain(self.chosen)}"

    def _gain(self, one: Configuration) -> str:
        return f"{one.speedup:.4g}x at a loss of {one.loss}"


def choose_within(file: ConfigurationFile, budget: Decimal | float | str) -> Choice:
    """Return the choice for ``file`` if its loss may be at most ``budget``, as in ``choose``."""
    chosen = choose(file, budget)
    nearest = min(file.configurations, key=lambda one: one.loss.exact)
    return Choice(Decimal(str(budget)), chosen, nearest)


# Accuracy on counted samples, and its confidence interval.


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
