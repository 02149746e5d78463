"""Select configurations: those on the curve of HPVM's runtime, and the fastest one within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Literal

import numpy as np

from dais_verif.approx.model import Configuration, ConfigurationFile
from dais_verif.errors import ApproximationError

__all__ = ["Gain", "choose", "pareto"]

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
