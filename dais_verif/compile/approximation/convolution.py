"""The semantics of a convolution under a knob, in exact arithmetic: the reference for all other implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dais_verif.base.errors import ApproximationError
from dais_verif.compile.approximation.knobs import Knob, knob_of

__all__ = ["STEPS", "convolve", "fill_sources", "half_steps", "kept_elements", "weight_factor"]


#: Arrays of Python integers, or of int64 where values are known to fit.
_Integers: TypeAlias = NDArray[Any]


class _Scaled(NamedTuple):
    """Numbers as integers over a common denominator."""

    integers: _Integers
    denominator: int


def convolve(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    groups: int = 1,
    knob: Knob | int = 11,
) -> NDArray[np.object_]:
    """Return the convolution of ``x`` and ``w`` under ``knob``: exact values, as an array of ``Fraction``.

    The result has the shape (N, K, rows, columns). ``x``: (N, C, H, W), ``w``: (K, C / groups, KH, KW), not flipped,
    ``bias``: K numbers or None. All are integers, floats, ``Fraction`` or ``Decimal``, which are converted exactly.
    ``stride`` and ``pad``: one number, or one each for rows and columns. The knob applies to the sums of products; the
    bias is added afterwards without rounding, since it is a separate op.

    In half precision ``x``, ``w`` and scaled weights are rounded to binary16. The result is rounded once, from the
    exact sum, since the order of summation is not defined anywhere. The mean of two outputs is then their rounded sum,
    halved and rounded again. Raises ``InputError`` for results that would be infinite, for shapes that do not fit, and
    for a knob that leaves nothing to compute or cannot be applied.
    """
    chosen = knob_of(knob)
    inputs, weights = _numbers(x, "x", 4), _numbers(w, "w", 4)
    strides, pads = _pair(stride, "stride", 1), _pair(pad, "pad", 0)
    _require_shapes(inputs, weights, strides, pads, groups, chosen)
    scaled_x, scaled_w = (_scaled(each, chosen.half) for each in (inputs, weights))
    if chosen.axis == "filter":
        scaled_w = _sampled(scaled_w, chosen)
    sums = _convolved(scaled_x.integers, scaled_w.integers, strides, pads, groups)
    y = _Scaled(sums, scaled_x.denominator * scaled_w.denominator)
    axis = {"rows": 2, "columns": 3}.get(chosen.axis or "")
    y = _perforated(y, chosen, axis) if axis is not None else _rounded(y) if chosen.half else y
    found = _each(lambda value: Fraction(int(value), y.denominator), y.integers)
    return found if bias is None else _with_bias(found, _numbers(bias, "bias", 1))


def _with_bias(y: NDArray[np.object_], bias: NDArray[np.object_]) -> NDArray[np.object_]:
    if len(bias) != y.shape[1]:
        raise ApproximationError(f"bias must have {y.shape[1]} numbers, one for each filter, not {len(bias)}")
    found: NDArray[np.object_] = y + bias[:, None, None]
    return found


# numbers


def _each(function: Callable[[Any], object], values: _Integers) -> NDArray[np.object_]:
    found = np.empty(values.shape, dtype=object)
    found.ravel()[:] = [function(value) for value in values.ravel().tolist()]
    return found


def _numbers(values: ArrayLike, name: str, dimensions: int) -> NDArray[np.object_]:
    """Return ``values`` as an array of ``Fraction``."""
    try:
        given = np.asarray(values, dtype=None if isinstance(values, np.ndarray) else object)
    except ValueError:
        raise ApproximationError(f"{name} must be an array of numbers, but its rows have different lengths") from None
    if given.ndim != dimensions or 0 in given.shape:
        raise ApproximationError(
            f"{name} must be an array of {dimensions} dimensions, none of them empty, not {given.shape}"
        )
    return _each(lambda value: _fraction(value, name), given)


def _fraction(value: Any, name: str) -> Fraction:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return Fraction(int(value)) if isinstance(value, Integral) else Fraction(*value.as_integer_ratio())
    except (AttributeError, ValueError, OverflowError, TypeError):
        raise ApproximationError(f"{name} must hold finite numbers, not {str(value)[:40]!r}") from None


def _scaled(values: NDArray[np.object_], half: bool) -> _Scaled:
    if half:
        return _Scaled(_each(lambda value: half_steps(value.numerator, value.denominator), values), STEPS)
    common = lcm(*{value.denominator for value in values.ravel()})
    return _Scaled(_each(lambda value: value.numerator * (common // value.denominator), values), common)


def _rounded(values: _Scaled) -> _Scaled:
    return _Scaled(_each(lambda value: half_steps(int(value), values.denominator), values.integers), STEPS)


# shapes


def _pair(value: int | Sequence[int], name: str, least: int) -> tuple[int, int]:
    pair: tuple[Any, ...] = (value, value) if isinstance(value, Integral) else ()
    if isinstance(value, Iterable):
        pair = tuple(value)
    if len(pair) != 2 or not all(_is_count(one, least) for one in pair):
        raise ApproximationError(f"{name} must be a number of {least} or more, or two of them, not {value!r}")
    return int(pair[0]), int(pair[1])


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < 1 << 31


def _require_shapes(
    x: NDArray[np.object_],
    w: NDArray[np.object_],
    stride: tuple[int, int],
    pad: tuple[int, int],
    groups: int,
    knob: Knob,
) -> None:
    """Raise ``InputError`` unless the shapes fit together, and the knob can be applied to them."""
    if not _is_count(groups, 1):
        raise ApproximationError(f"groups must be a number of 1 or more, not {groups!r}")
    channels, filters = x.shape[1], w.shape[0]
    if channels % groups or filters % groups or channels // groups != w.shape[1]:
        raise ApproximationError(
            f"{channels} channels of x in {groups} groups do not fit w of shape {w.shape}, which is (filters, channels "
            "of a group, rows, columns)"
        )
    for at, what in ((2, "rows"), (3, "columns")):
        if x.shape[at] + 2 * pad[at - 2] < w.shape[at]:
            raise ApproximationError(
                f"the filter has {w.shape[at]} {what}, more than the {x.shape[at] + 2 * pad[at - 2]} of padded x"
            )
    if groups > 1 and knob.axis is not None:
        raise ApproximationError(
            f"knob {knob.number} ({knob.words}): perforation and sampling are for conv, not for group_conv"
        )


# effects of knobs


def _sampled(w: _Scaled, knob: Knob) -> _Scaled:
    """Return the kept weights, scaled, and zeros in place of the others."""
    factor = weight_factor(knob)
    kept = np.where(kept_elements(knob, *w.integers.shape[1:]), w.integers, 0)
    if not knob.half:
        return _Scaled(kept * factor.numerator, w.denominator * factor.denominator)
    steps = half_steps(factor.numerator, factor.denominator)
    return _rounded(_Scaled(kept * steps, w.denominator * STEPS))


def _perforated(y: _Scaled, knob: Knob, axis: int) -> _Scaled:
    """Return the outputs with skipped places filled in; values that are skipped are never rounded."""
    sources = fill_sources(knob, y.integers.shape[axis])
    left, right = ([source[at] for source in sources] for at in (0, -1))
    if not knob.half:
        return _Scaled(y.integers.take(left, axis) + y.integers.take(right, axis), 2 * y.denominator)
    computed = sorted({*left, *right})
    place = {at: index for index, at in enumerate(computed)}
    known = _rounded(_Scaled(y.integers.take(computed, axis), y.denominator)).integers
    parts = [_filled(known, [place[one] for one in source], axis) for source in sources]
    return _Scaled(np.stack(parts, axis), STEPS)


def _filled(known: _Integers, source: Sequence[int], axis: int) -> _Integers:
    """Return one row or column of binary16 numbers: a computed one, or the mean of two."""
    first, *second = (known.take(at, axis) for at in source)
    if not second:
        return np.asarray(first)
    total = _rounded(_Scaled(first + second[0], STEPS))
    return _rounded(_Scaled(total.integers, 2 * STEPS)).integers


def _convolved(x: _Integers, w: _Integers, stride: tuple[int, int], pad: tuple[int, int], groups: int) -> _Integers:
    """Return the convolution of integers."""
    filters, depth, height, width = w.shape
    largest = _most(x) * _most(w) * depth * height * width
    kind = np.int64 if largest < 1 << 62 and max(_most(x), _most(w)) < 1 << 62 else np.object_
    padded = _padded(x.astype(kind), pad)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (2, 3))[
        :, :, :: stride[0], :: stride[1]
    ]
    rows, columns = windows.shape[2:4]
    count = len(x)
    y = np.empty((count, filters, rows, columns), dtype=kind)
    for group in range(groups):
        mine = slice(group * (filters // groups), (group + 1) * (filters // groups))
        patches = windows[:, group * depth : (group + 1) * depth].transpose(0, 2, 3, 1, 4, 5)
        flat = patches.reshape(count * rows * columns, depth * height * width)
        sums = flat @ w[mine].astype(kind).reshape(-1, depth * height * width).T
        y[:, mine] = sums.reshape(count, rows, columns, -1).transpose(0, 3, 1, 2)
    return y


def _padded(x: _Integers, pad: tuple[int, int]) -> _Integers:
    """Return ``x`` surrounded by zeros. In an array of Python integers ``np.pad`` adds int64 zeros, which overflow."""
    count, channels, rows, columns = x.shape
    padded = np.zeros((count, channels, rows + 2 * pad[0], columns + 2 * pad[1]), dtype=x.dtype)
    padded[:, :, pad[0] : pad[0] + rows, pad[1] : pad[1] + columns] = x
    return padded


def _most(values: _Integers) -> int:
    return max(abs(int(value)) for value in values.ravel())


# Sampling: which elements of a convolution's filter are left out, and the factor that compensates for them.


def kept_elements(knob: Knob, channels: int, height: int, width: int) -> NDArray[np.bool_]:
    """Return a mask of the elements that are kept in every filter, of shape (channels, height, width).

    If the period divides the number of elements of a channel, the first omitted element moves by one from channel to
    channel; otherwise elements are counted across all channels. Raises ``InputError`` if no element is kept.
    """
    size = height * width
    if size % knob.period == 0:
        channel, place = np.ogrid[:channels, :size]
        dropped = place % knob.period == (knob.offset + channel) % knob.period
    else:
        count = np.arange(channels * size)
        dropped = (count >= knob.offset) & ((count - knob.offset) % knob.period == 0)
    kept: NDArray[np.bool_] = ~dropped.reshape(channels, height, width)
    if not kept.any():
        problem = f"knob {knob.number} leaves out the only element of the filter: no element is left"
        raise ApproximationError(f"{problem}; choose a knob with a later offset")
    return kept


def weight_factor(knob: Knob) -> Fraction:
    """Return the factor of each kept weight; it applies even if no weight is left out."""
    return Fraction(knob.period, knob.period - 1)


# Perforation: which rows or columns of a convolution's output are skipped, and how they are filled in.


def fill_sources(knob: Knob, places: int) -> list[tuple[int, ...]]:
    """Return for each of the ``places`` along the knob's axis the computed places that determine its value.

    A place has one or two. One: the place itself if it is computed, otherwise its only neighbour. Two: both neighbours,
    whose mean is the value of the place. Neighbours of a skipped place are computed, since a period is 2 or more.
    Raises ``InputError`` if no place is computed.
    """
    computed = [i for i in range(places) if i < knob.offset or (i - knob.offset) % knob.period]
    if not computed:
        problem = f"knob {knob.number} skips all {knob.axis}, as there is only one: nothing is computed"
        raise ApproximationError(f"{problem}; choose a knob with a later offset")
    known = frozenset(computed)
    return [(i,) if i in known else tuple(j for j in (i - 1, i + 1) if 0 <= j < places) for i in range(places)]


# Half precision, IEEE 754's binary16, as integers in units of its smallest step.


#: The number of steps in 1: every finite value is a whole number of steps.
STEPS = 1 << 24

_LARGEST = 65504
_DIGITS = 11


def half_steps(numerator: int, denominator: int) -> int:
    """Return the binary16 number nearest to ``numerator / denominator``, ties to even, in steps of 2**-24.

    ``denominator`` is positive. Raises ``InputError`` if the result would be infinite.
    """
    size = abs(numerator) * STEPS
    # The result has at most 11 significant bits: the quotient has 11 or 12, in units of no less than 2**-24.
    cut = max(size.bit_length() - denominator.bit_length() - _DIGITS, 0)
    if size >= denominator << (cut + _DIGITS):
        cut += 1
    unit = denominator << cut
    steps, rest = divmod(size, unit)
    if 2 * rest > unit or (2 * rest == unit and steps & 1):
        steps += 1
    steps <<= cut
    if steps > _LARGEST * STEPS:
        raise ApproximationError(f"a value beyond {_LARGEST} would be infinite in half precision")
    return -steps if numerator < 0 else steps
