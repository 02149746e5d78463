"""Pooling: the maximum or the mean of the elements under a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Codes, Data, joined, patterns, rows_of
from dais_verif.compile.networks.onnx_file import MOST_ELEMENTS
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.reals import Quotient, Real

__all__ = ["OPERATORS", "Windows", "pads_of", "sums_of_windows"]


def _pool(call: Call, data: Data, compute: Callable[[list[Element], int], Element | Real]) -> Data:
    """Pool ``data``: ``compute`` gets a window's elements, without padding, and its number of places."""
    if len(data.shape) < 3:
        raise Refusal(f"data of shape {data.shape} has no dimension to pool over")
    batch, channels, *spatial = data.shape
    kernel = call.attributes.get("kernel_shape")
    if not isinstance(kernel, tuple) or len(kernel) != len(spatial):
        raise Refusal(f"attribute kernel_shape must be {len(spatial)} integers")
    windows = Windows(call, spatial, kernel)
    shape = (batch, channels, *windows.sizes)
    call.require_size(shape)
    call.budget.take(math.prod(shape) * math.prod(kernel))
    flat = data.codes.reshape(batch * channels, -1)
    under = np.where(windows.places < 0, -1, flat[:, windows.places]).reshape(-1, windows.places.shape[1])
    distinct, which = patterns(under)
    found = [compute([data.values[code] for code in row if code >= 0], len(row)) for row in distinct.tolist()]
    return Data(which.reshape(shape), tuple(found), data.dtype)


def _larger(call: Call, a: Element | Real, b: Element | Real) -> Element | Real:
    if isinstance(a, Real):
        return a.maximum(b, call.ops)
    return b.maximum(a, call.ops) if isinstance(b, Real) else call.ops.maximum(a, b)


def _max_pool(call: Call) -> Data:
    def largest(found: list[Element], _: int) -> Element | Real:
        under: list[Element | Real] = list(found)
        if not under:
            raise Refusal("a window covers only padding")
        while len(under) > 1:
            pairs = [_larger(call, a, b) for a, b in zip(under[::2], under[1::2], strict=False)]
            under = pairs + under[len(pairs) * 2 :]
        return under[0]

    return _pool(call, call.input(0, "data"), largest)


def _mean(call: Call, under: list[Element], count: int) -> Element | Real:
    if not count:
        raise Refusal("a window covers only padding")
    if count & (count - 1):
        return Quotient(f"a mean of {count} elements", call.ops.sum(under), Fraction(count), Fraction(count))
    return call.ops.shift(call.ops.sum(under), 1 - count.bit_length())


def _average_pool(call: Call) -> Data:
    padding = bool(call.integer("count_include_pad", 0))
    return _pool(
        call,
        call.reals(0, "data"),
        lambda under, places: _mean(call, under, places if padding else len(under)),
    )


def _global_average_pool(call: Call) -> Data:
    data = call.reals(0, "data")
    if len(data.shape) < 3:
        raise Refusal(f"data of shape {data.shape} has no dimension to pool over")
    call.budget.take(data.size)
    batch, channels, *spatial = data.shape
    distinct, which = patterns(data.codes.reshape(batch * channels, -1))
    found = [_mean(call, row, len(row)) for row in rows_of(Data(distinct, data.values, data.dtype))]
    return Data(which.reshape(batch, channels, *(1 for _ in spatial)), tuple(found), data.dtype)


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average_pool,
}


# Sliding windows of convolutions and pooling: the element under each place of each window.


class Windows:
    """The windows of a node over the dimensions after batch and channels.

    ``sizes``: the sizes of the result. ``places``: an int64 array (results, places of a window) of positions in
    NumPy's order of the dimensions, -1 where a place is padding.
    """

    def __init__(self, call: Call, spatial: Sequence[int], kernel: Sequence[int]) -> None:
        """Raise ``Refusal`` if attributes are wrong, or the result is empty."""
        ones = (1,) * len(spatial)
        strides, dilations = call.sizes("strides", ones), call.sizes("dilations", ones)
        if min((*kernel, *strides, *dilations), default=1) < 1:
            raise Refusal("sizes, strides and dilations of windows must be above 0")
        if max((*strides, *dilations), default=1) > MOST_ELEMENTS:
            raise Refusal("strides or dilations are larger than any tensor")
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        pads = pads_of(call, spatial, reach, strides)
        free = [n + a + b - r for n, (a, b), r in zip(spatial, pads, reach, strict=True)]
        if call.integer("ceil_mode", 0) and any(f % s for f, s in zip(free, strides, strict=True)):
            raise Refusal("ceil_mode with windows that reach beyond the padding is not supported; set it to 0, or pad")
        self.sizes = tuple(f // s + 1 for f, s in zip(free, strides, strict=True))
        call.require_size(self.sizes)
        call.require_size((math.prod(self.sizes), math.prod(kernel)))
        place: NDArray[Any] = np.zeros((1, 1), dtype=np.int64)
        inside: NDArray[Any] = np.ones((1, 1), dtype=np.bool_)
        for n, count, k, s, d, (before, _) in zip(spatial, self.sizes, kernel, strides, dilations, pads, strict=True):
            at = np.arange(count)[:, None] * s + np.arange(k)[None, :] * d - before
            ok = (at >= 0) & (at < n)
            place = _outer(place * n, place.shape, np.clip(at, 0, n - 1), np.add)
            inside = _outer(inside, inside.shape, ok, np.logical_and)
        self.places: NDArray[np.int64] = np.where(inside, place, -1)


def sums_of_windows(
    call: Call,
    places: Codes,
    data: Data,
    weights: Data,
    starts: Sequence[Element],
    groups: int,
    finish: Callable[[Element], Element] | None = None,
) -> Data:
    """Return sums of products under the windows at ``places``, of shape (batch, filters, places).

    ``starts``: the number to which the sum of each filter is added; ``finish``: applied to each sum.
    """
    (batch, channels), (filters, depth) = data.shape[:2], weights.shape[:2]
    flat = data.codes.reshape(batch, channels, -1)
    flat = np.concatenate([flat, np.full((batch, channels, 1), len(data.values))], axis=-1)
    values, taps = (*data.values, Fraction(0)), weights.codes.reshape(filters, -1)
    parts, size = [], filters // groups
    for image in flat:
        for group in range(groups):
            under = image[group * depth : (group + 1) * depth][:, places].transpose(1, 0, 2).reshape(len(places), -1)
            mine = slice(group * size, (group + 1) * size)
            right = Data(taps[mine], weights.values, weights.dtype)
            parts.append(call.ops.dots(Data(under, values, data.dtype), right, starts[mine], finish))
    return joined(parts, 0).moved(lambda codes: codes.reshape(batch, filters, -1))


def _outer(a: NDArray[Any], shape: tuple[int, ...], b: NDArray[Any], join: np.ufunc) -> NDArray[Any]:
    """Combine each row of ``a`` with each row of ``b``, and likewise their columns."""
    joined = join(a[:, None, :, None], b[None, :, None, :])
    found: NDArray[Any] = joined.reshape(shape[0] * b.shape[0], shape[1] * b.shape[1])
    return found


def pads_of(call: Call, spatial: Sequence[int], reach: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension. Raises ``Refusal`` if attributes are wrong."""
    rank, auto = len(spatial), call.text("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        total = [max((-(-n // s) - 1) * s + r - n, 0) for n, r, s in zip(spatial, reach, strides, strict=True)]
        small = [(one // 2, one - one // 2) for one in total]
        return small if auto == "SAME_UPPER" else [(b, a) for a, b in small]
    if auto not in ("NOTSET", "VALID"):
        raise Refusal(f"auto_pad {auto!r} is unknown")
    pads = call.sizes("pads", (0,) * (2 * rank)) if auto == "NOTSET" else (0,) * (2 * rank)
    if min(pads, default=0) < 0:
        raise Refusal("negative pads are not supported")
    if max(pads, default=0) > max((*spatial, *reach)):
        raise Refusal("pads are larger than the tensor and the window")
    return list(zip(pads[:rank], pads[rank:], strict=True))
