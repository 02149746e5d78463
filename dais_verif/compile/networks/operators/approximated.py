"""Operators under knobs: convolutions that skip some of their work, and any op in half precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dais_verif.compile.approximation import Knob
from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call, Data, Elements, data_of
from dais_verif.compile.networks.knobs import Applied, half_element, perforation_of, sampled
from dais_verif.compile.networks.operators.pooling import Windows
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
    call.budget.take(sum(one.elements.size for one in inputs if one is not None))
    found = operator(replace(call, inputs=inputs))
    return half_data(call.ops, found)


def _with_bias_apart(operator: Callable[[Call], Data], call: Call, first: Knob, bias: Knob) -> Data:
    """Apply a layer and its bias as two ops, each in its own precision."""
    addend = call.optional_reals(2, "C")
    assert addend is not None
    product = under_knobs(operator, replace(call, inputs=call.inputs[:2], applied=Applied(first)))
    factor = call.number("beta", 1.0)
    scaled = data_of([call.ops.multiply(one, factor) for one in addend.elements.flat], addend.shape, addend.dtype)
    parts = [half_data(call.ops, one) if bias.half else one for one in (product, scaled)]
    wide, added = call.broadcast(*(one.elements for one in parts))
    found = [call.ops.add(x, y) for x, y in zip(wide.flat, added.flat, strict=True)]
    total = data_of(found, wide.shape, product.dtype)
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
    taps = weights.elements
    if knob.axis == "filter":
        taps = sampled(taps, knob, call.approximation.grid, call.approximation.notes)
    elif knob.half:
        taps = half_data(call.ops, weights).elements
    if knob.half:
        data = half_data(call.ops, data)
    sums = _sums(call, windows, shape, data, taps, knob, groups)
    if bias is not None:
        sums = with_bias(call, sums, bias, added is not None and added.half)
    return Data(sums.reshape(shape), data.dtype)


def _sums(
    call: Call, windows: Windows, shape: tuple[int, ...], data: Data, taps: Elements, knob: Knob, groups: int
) -> Elements:
    """Return the sums of products of each filter, without bias, of shape (batch, filters, places)."""
    count = len(windows.places)
    sources: list[tuple[int, ...]] = [(at,) for at in range(count)]
    if knob.axis in ("rows", "columns"):
        sources = perforation_of(knob, (windows.sizes[0], windows.sizes[1]))
    computed = sorted({at for source in sources for at in source})
    (batch, filters), depth = shape[:2], taps.shape[1]
    kept = sum(1 for one in taps.ravel().tolist() if one)
    call.budget.take(batch * len(computed) * kept + math.prod(shape))
    flat = data.elements.reshape(batch, data.shape[1], -1)
    flat = np.concatenate([flat, np.full((*flat.shape[:-1], 1), Fraction(0), dtype=object)], axis=-1)
    rows = taps.reshape(filters, -1)
    found = np.empty((batch, filters, count), dtype=object)
    for number in np.ndindex(batch, filters):
        first = number[1] // (filters // groups) * depth
        known: dict[int, Element] = {}
        for at in computed:
            under = flat[number[0], first : first + depth][:, windows.places[at]].ravel().tolist()
            one = call.ops.dot(under, rows[number[1]].tolist(), Fraction(0))
            known[at] = half_element(call.ops, one) if knob.half else one
        for at, source in enumerate(sources):
            found[(*number, at)] = filled(call, [known[place] for place in source], knob.half)
    return found


def filled(call: Call, values: list[Element], half: bool) -> Element:
    """Return a computed value as it is, or the mean of two neighbours of a skipped place."""
    if len(values) == 1:
        return values[0]
    total = call.ops.add(*values)
    mean = call.ops.shift(half_element(call.ops, total) if half else total, -1)
    return half_element(call.ops, mean) if half else mean


def with_bias(call: Call, sums: Elements, bias: Data, half: bool) -> Elements:
    """Return ``sums`` plus the bias of each filter; filters are dimension 1. ``half``: add in half precision."""
    addend = half_data(call.ops, bias) if half else bias
    call.budget.take(sums.size)
    found = np.empty(sums.shape, dtype=object)
    for at in np.ndindex(*sums.shape):
        value: Element = sums.item(at)
        value = half_element(call.ops, value) if half else value
        total = call.ops.add(value, addend.elements.item(at[1]))
        found[at] = half_element(call.ops, total) if half else total
    return data_of(found.ravel().tolist(), sums.shape, bias.dtype).elements
