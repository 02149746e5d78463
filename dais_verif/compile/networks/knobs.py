"""Apply knobs while nodes are lowered: leave weights out, fill in rows or columns, round numbers to binary16.

``approximation.convolution`` defines what each knob computes; this module turns it into ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dais_verif.base.errors import InputError
from dais_verif.compile.approximation import Knob
from dais_verif.compile.approximation.convolution import STEPS, fill_sources, half_steps, kept_elements, weight_factor
from dais_verif.compile.networks.arithmetic import Arithmetic, Element, bounds_of, dyadic, raw_of
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.rounding import ROUNDINGS

__all__ = ["GRID", "Applied", "Approximation", "half_element", "perforation_of", "sampled"]

#: Additional fractional bits of scaled weights if the factor is not a binary fraction.
GRID = 2

_DIGITS, _LARGEST, _LAST = 11, 65504, 24
_EVEN = ROUNDINGS["ROUND"]


@dataclass(frozen=True)
class Applied:
    """The knob of an operator, and the knob of a bias among its inputs, which HPVM counts as a separate op."""

    first: Knob
    bias: Knob | None = None

    @property
    def plain(self) -> bool:
        """True if nothing is approximated."""
        return not any(knob is not None and (knob.half or knob.axis is not None) for knob in (self.first, self.bias))


@dataclass
class Approximation:
    """The approximation of each node, by the tensor that it writes; ``notes``: choices that the knobs left open.

    ``grid``: fractional bits of weights that are scaled by a factor such as 4/3; None: ``GRID`` more than before.
    """

    nodes: Mapping[str, Applied]
    grid: int | None = None
    notes: list[str] = field(default_factory=list)


# weights


def sampled(weights: Data, knob: Knob, grid: int | None, notes: list[str]) -> Data:
    """Return the scaled weights that are kept, and zeros for the others: (filters, channels, rows, columns)."""
    factor = weight_factor(knob)
    try:
        kept = kept_elements(knob, *weights.shape[1:])
        if knob.half:
            factor = Fraction(half_steps(factor.numerator, factor.denominator), STEPS)
    except InputError as error:
        raise Refusal(str(error)) from None
    there = Data(np.broadcast_to(kept, weights.shape).astype(np.int64), (False, True), weights.dtype)
    halved = each(_nearest_half, weights) if knob.half else weights
    scaled = each(lambda one, is_kept: one * factor if is_kept else Fraction(0), halved, there)
    if knob.half:
        return each(_nearest_half, scaled)
    if all(map(dyadic, scaled.values)):
        return scaled
    finest = max(raw_of(one)[1] for one in weights.values)
    bits = finest + GRID if grid is None else grid
    unit = Fraction(2) ** -bits
    furthest = max(abs(round(one / unit) * unit - one) for one in scaled.values)
    why = "as requested" if grid is not None else f"{GRID} more than the weights have"
    notes.append(
        f"knob {knob.number} multiplies weights by {factor}: they have {bits} fractional bits, {why}; the largest"
        f" error of one is {float(furthest):.3g}"
    )
    return each(lambda one: round(one / unit) * unit, scaled)


# rows and columns


def perforation_of(knob: Knob, sizes: tuple[int, int]) -> list[tuple[int, ...]]:
    """Return for each place of a result of ``sizes`` the numbers of the one or two computed places it depends on."""
    axis = 0 if knob.axis == "rows" else 1
    try:
        sources = fill_sources(knob, sizes[axis])
    except InputError as error:
        raise Refusal(str(error)) from None
    rows, columns = sizes
    if axis == 0:
        return [tuple(row * columns + column for row in sources[at]) for at in range(rows) for column in range(columns)]
    return [tuple(at * columns + column for column in sources[place]) for at in range(rows) for place in range(columns)]


# half precision


def half_element(ops: Arithmetic, element: Element) -> Element:
    """Return ``element`` rounded to the nearest number of binary16, ties to even. Raises ``Refusal`` for infinities."""
    if isinstance(element, Fraction):
        return _nearest_half(element)
    lo, hi = bounds_of(element)
    if max(-lo, hi) > _LARGEST:
        raise Refusal(f"a value can be {float(max(-lo, hi)):g}, beyond {_LARGEST}, and infinite in half precision")
    f = 0 if element.op is None else element.f - element.shift
    if f > _LAST:
        raise Refusal(f"a value has {f} fractional bits; half-precision numbers have at most {_LAST}")
    unit = Fraction(1, 1 << f) if f >= 0 else Fraction(1 << -f)
    known = ops.of_range(*_half_range(int(lo / unit), int(hi / unit), f)) if element.op is not None else None
    if known is not None:
        return known
    found: Element = element
    step = 1
    while max(-lo, hi) / unit >= 1 << (_DIGITS - 1 + step):
        limit = unit * (1 << (_DIGITS - 1 + step))
        rounded = ops.shift(_EVEN(ops, ops.shift(element, f - step)), step - f)
        if hi >= limit:
            found = ops.select(ops.subtract(element, limit), found, rounded)
        if -lo >= limit:
            found = ops.select(ops.add(element, limit), rounded, found)
        step += 1
    return found


def _half_range(lo: int, hi: int, f: int) -> tuple[int, int, int]:
    """Return the range of the ops below, for a range of integers times ``2**-f``."""
    found, point, step = (lo, hi), f, 1
    while max(-lo, hi) >= 1 << (_DIGITS - 1 + step):
        limit, most = 1 << (_DIGITS - 1 + step), (1 << (step - 1)) - 1
        odd = (lo >> step, hi >> step)
        odd = odd if odd[0] >= 0 and odd[1] <= 1 else (0, 1)
        rounded = ((lo + most + odd[0]) >> step << step, (hi + most + odd[1]) >> step << step)
        for surely, perhaps in ((lo >= limit, hi > limit), (lo < -limit >= hi, lo < -limit)):
            if surely:
                found, point = rounded, f - step
            elif perhaps:
                found, point = (min(found[0], rounded[0]), max(found[1], rounded[1])), max(point, f - step)
        step += 1
    return found[0] >> (f - point), found[1] >> (f - point), point


def _nearest_half(value: Fraction) -> Fraction:
    try:
        return Fraction(half_steps(value.numerator, value.denominator), STEPS)
    except InputError as error:
        raise Refusal(str(error)) from None
