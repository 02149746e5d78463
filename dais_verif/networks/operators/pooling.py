"""Pooling: the maximum or the mean of the elements under a window."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dais_verif.networks.arithmetic import Element
from dais_verif.networks.call import Call, Data, data_of
from dais_verif.networks.operators.windows import Windows
from dais_verif.networks.problems import Refusal
from dais_verif.networks.reals import Quotient, Real

__all__ = ["OPERATORS"]


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
    flat = data.elements.reshape(batch * channels, -1)
    found = [
        compute(channel[places[places >= 0]].tolist(), len(places)) for channel in flat for places in windows.places
    ]
    return data_of(found, shape, data.dtype)


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
    call.budget.take(data.elements.size)
    batch, channels, *spatial = data.shape
    flat = data.elements.reshape(batch * channels, -1)
    found = [_mean(call, one.tolist(), len(one)) for one in flat]
    return data_of(found, (batch, channels, *(1 for _ in spatial)), data.dtype)


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average_pool,
}
