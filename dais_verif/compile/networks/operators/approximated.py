"""Operators under knobs: convolutions that skip some of their work, and any op in half precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from dais_verif.compile.approximation import Knob
from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.knobs import Applied, half_element, perforation_of, sampled
from dais_verif.compile.networks.operators.pooling import Windows, sums_of_windows
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.reals import half_data

__all__ = ["approximated", "filled", "under_knobs", "with_bias"]


def under_knobs(operator: Callable[[Call], Data], call: Call) -> Data:
    """Return the result of ``operator`` under the knobs of ``call``. Raises ``Refusal`` for unsupported knobs.

    In half precision the operands of an op are rounded to binary16, and its result is rounded once, from the exact
    value. A layer and its bias are two ops. Softmax is never computed in half precision, as in HPVM's runtime.
    """
    applied = call.applied
    if applied is None or applied.plain or call.op == "Conv":
        return operator(call)
    if call.op == "Softmax" and applied.first.axis is None:
        assert call.approximation is not None
        call.approximation.notes.append(
            f"knob {applied.first.number} of a softmax changes nothing, as in HPVM's runtime"
        )
        return operator(call)
    if applied.first.axis is not None:
        raise Refusal(f"knob {applied.first.number} ({applied.first.words}) is for convolutions")
    if applied.bias is not None:
        return _with_bias_apart(operator, call, applied.first, applied.bias)
    inputs = tuple(one if one is None else half_data(call.ops, one) for one in call.inputs)
    call.budget.take(sum(one.size for one in inputs if one is not None))
    found = operator(replace(call, inputs=inputs))
    return half_data(call.ops, found)


def _with_bias_apart(operator: Callable[[Call], Data], call: Call, first: Knob, bias: Knob) -> Data:
    """Apply a layer and its bias as two ops, each in its own precision."""
    addend = call.optional_reals(2, "C")
    assert addend is not None
    product = under_knobs(operator, replace(call, inputs=call.inputs[:2], applied=Applied(first)))
    factor = call.number("beta", 1.0)
    scaled = each(lambda one: call.ops.multiply(one, factor), addend)
    parts = [half_data(call.ops, one) if bias.half else one for one in (product, scaled)]
    total = each(call.ops.add, *call.broadcast(*parts))
    return half_data(call.ops, total) if bias.half else total


def approximated(
    call: Call, windows: Windows, shape: tuple[int, ...], data: Data, weights: Data, bias: Data | None, groups: int
) -> Data:
    """Return a convolution under its knobs: skipped parts are not computed, and the bias is added afterwards."""
    assert call.applied is not None and call.approximation is not None
    knob, added = call.applied.first, call.applied.bias
    if knob.axis is not None and (groups > 1 or len(windows.sizes) != 2):
        raise Refusal(f"knob {knob.number} ({knob.words}) is for convolutions of images without groups")
    if not weights.constant:
        raise Refusal(f"knob {knob.number} ({knob.words}) is for convolutions with constant weights")
    taps = weights
    if knob.axis == "filter":
        taps = sampled(weights, knob, call.approximation.grid, call.approximation.notes)
    elif knob.half:
        taps = half_data(call.ops, weights)
    if knob.half:
        data = half_data(call.ops, data)
    sums = _sums(call, windows, shape, data, taps, knob, groups)
    if bias is not None:
        sums = with_bias(call, sums, bias, added is not None and added.half)
    return sums.moved(lambda codes: codes.reshape(shape))


def _sums(
    call: Call, windows: Windows, shape: tuple[int, ...], data: Data, taps: Data, knob: Knob, groups: int
) -> Data:
    """Return the sums of products of each filter, without bias, of shape (batch, filters, places)."""
    count = len(windows.places)
    sources: list[tuple[int, ...]] = [(at,) for at in range(count)]
    if knob.axis in ("rows", "columns"):
        sources = perforation_of(knob, (windows.sizes[0], windows.sizes[1]))
    computed = sorted({at for source in sources for at in source})
    (batch, filters), zero = shape[:2], [number for number, one in enumerate(taps.values) if not one]
    call.budget.take(batch * len(computed) * int(np.sum(~np.isin(taps.codes, zero))) + math.prod(shape))
    starts = [Fraction(0)] * filters
    finish: Callable[[Element], Element] | None = partial(half_element, call.ops) if knob.half else None
    known = sums_of_windows(call, windows.places[computed], data, taps, starts, groups, finish)
    if all(len(source) == 1 for source in sources) and len(computed) == count:
        return known
    at = {place: number for number, place in enumerate(computed)}
    first, second = (
        Data(known.codes[..., [at[source[end]] for source in sources]], known.values, known.dtype) for end in (0, -1)
    )
    single = np.broadcast_to([len(source) == 1 for source in sources], first.shape).astype(np.int64)

    def of_neighbours(before: Element, behind: Element, alone: bool) -> Element:
        return filled(call, [before] if alone else [before, behind], knob.half)

    return each(of_neighbours, first, second, Data(single, (False, True), data.dtype))


def filled(call: Call, values: list[Element], half: bool) -> Element:
    """Return a computed value as it is, or the mean of two neighbours of a skipped place."""
    if len(values) == 1:
        return values[0]
    total = call.ops.add(*values)
    mean = call.ops.shift(half_element(call.ops, total) if half else total, -1)
    return half_element(call.ops, mean) if half else mean


def with_bias(call: Call, sums: Data, bias: Data, half: bool) -> Data:
    """Return ``sums`` plus the bias of each filter; filters are dimension 1. ``half``: add in half precision."""
    addend = half_data(call.ops, bias) if half else bias
    call.budget.take(sums.size)

    def biased(value: Element, number: Element) -> Element:
        total = call.ops.add(half_element(call.ops, value) if half else value, number)
        return half_element(call.ops, total) if half else total

    codes = addend.codes.reshape(-1, *(1,) * (len(sums.shape) - 2))
    return each(biased, sums, Data(np.broadcast_to(codes, sums.shape), addend.values, addend.dtype))
