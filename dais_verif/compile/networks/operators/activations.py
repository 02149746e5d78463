"""Activations whose results are not fixed-point numbers: a quantiser must read them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dais_verif.compile.networks.arithmetic import Element
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.reals import Mapped, Quotient, Real, table
from dais_verif.compile.networks.rounding import exp

__all__ = ["OPERATORS"]

#: Fractional bits of exp(x - max) in a softmax of more than two numbers. The last bit is always 1, except for the
#: largest number, whose power is exactly 1. So no other power becomes 0, and no quotient becomes a whole number of
#: steps.
_EXP_BITS = 33


def _mapped(call: Call) -> Data:
    data = call.reals(0, "data")
    call.budget.take(data.size)
    return each(lambda one: Mapped(call.op, one), data)


def _softmax(call: Call) -> Data:
    """Compute softmax along one axis; up to opset 12, along all axes from ``axis`` on."""
    data = call.reals(0, "data")
    rank = len(data.shape)
    axis = call.axis("axis", 1 if call.opset < 13 else -1, rank)
    call.budget.take(data.size * 2)
    if call.opset < 13:
        lines = data.codes.reshape(math.prod(data.shape[:axis]), -1)
    else:
        lines = np.moveaxis(data.codes, axis, -1)
    found: list[Element | Real] = []
    for number, codes in enumerate(lines.reshape(-1, lines.shape[-1]).tolist()):
        line = _softmax_of(call, [data.values[code] for code in codes])
        found += [replace(one, line=number) if isinstance(one, Quotient) else one for one in line]
    places = np.arange(data.size).reshape(lines.shape)
    places = places.reshape(data.shape) if call.opset < 13 else np.moveaxis(places, -1, axis)
    return Data(places, tuple(found), data.dtype)


def _softmax_of(call: Call, line: list[Element]) -> list[Element | Real]:
    """Return the softmax of a line: 1 for one number, and the logistic function of the difference for two."""
    ops = call.ops
    if len(line) == 1:
        return [Fraction(1)]
    if len(line) == 2:
        return [Mapped("Sigmoid", ops.subtract(a, b)) for a, b in (line, line[::-1])]
    largest = line[0]
    for one in line[1:]:
        largest = ops.maximum(largest, one)
    lacks = [ops.maximum(ops.subtract(largest, one), Fraction(0)) for one in line]

    def entry(x: Fraction) -> int:
        return int(4 * exp(-x, 2 - _EXP_BITS))

    powers = [table(call, one, entry, _EXP_BITS, ("exp",)) for one in lacks]
    total = ops.sum(powers)  # at least 1, which is the power of the largest number
    return [Quotient("a result of Softmax", one, total, Fraction(1), Fraction(1)) for one in powers]


OPERATORS: dict[str, Callable[[Call], Data]] = {"Tanh": _mapped, "Sigmoid": _mapped, "Softmax": _softmax}
