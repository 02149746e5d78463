"""Quantisation of real numbers to narrow integers, which saturate, and back. Scales are powers of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dais_verif.compile.networks.arithmetic import Element, raw_of
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.reals import Quantiser, Real
from dais_verif.compile.networks.rounding import ROUNDINGS

__all__ = ["INTEGERS", "OPERATORS", "QONNX_OPERATORS", "quantised_type"]

#: The kinds of integers that quantisers return, as (signed, bits).
INTEGERS = {f"{'' if signed else 'U'}INT{bits}": (signed, bits) for signed in (1, 0) for bits in (2, 4, 8, 16)}

_MOST_BITS = 32


def _exponents(call: Call, shape: tuple[int, ...], axis: int | None) -> Data:
    """Return the binary logarithm of each element's scale. ``axis``: the axis of a vector of scales."""
    scale = call.input(1, "scale")
    exponents = []
    for one in call.numbers(1, "scale"):
        raw, f = raw_of(one)
        if raw != 1:
            raise Refusal(f"scale {float(one)!r} is not a power of two")
        exponents.append(-f)
    distinct, found = np.unique(exponents, return_inverse=True)
    values = tuple(distinct.tolist())
    if len(found) == 1:
        return Data(np.zeros(shape, dtype=np.int64), values, scale.dtype)
    if axis is not None:
        if len(scale.shape) != 1 or not 0 <= axis < len(shape) or len(found) != shape[axis]:
            raise Refusal(f"{len(found)} scales do not fit a tensor of shape {shape} along axis {axis}")
        return Data(np.broadcast_to(found.reshape(-1, *(1,) * (len(shape) - axis - 1)), shape), values, scale.dtype)
    try:
        return Data(np.broadcast_to(found.reshape(scale.shape), shape), values, scale.dtype)
    except ValueError:
        raise Refusal(f"scales of shape {scale.shape} do not fit a tensor of shape {shape}") from None


def _require_no_zero_point(call: Call) -> None:
    if call.optional(2) is not None and any(call.numbers(2, "zero point")):
        raise Refusal("its zero point is not 0")


def _axis(call: Call, rank: int) -> int:
    found = call.integer("axis", 1)
    return found + rank if found < 0 else found


def _saturated(call: Call, data: Data, exponents: Data, rounding: str, lo: int, hi: int) -> Data:
    """Return integers: each element divided by its scale, rounded, and saturated at ``lo`` and ``hi``."""
    if rounding not in ROUNDINGS:
        raise Refusal(f"rounding mode {rounding!r} is not supported; {', '.join(ROUNDINGS)} are")
    call.budget.take(data.size)
    spent = 0

    def quantised(one: Element | Real, exponent: int) -> Element:
        nonlocal spent
        by, before = Quantiser(call, exponent, rounding, lo, hi), call.budget.repeated
        found = one.quantised(by) if isinstance(one, Real) else by.of(call.ops.shift(one, -exponent))
        spent = call.budget.repeated - before
        return found

    return each(quantised, data, exponents, again=lambda more: call.budget.take(more * spent))


def _range(signed: int, bits: int, narrow: int) -> tuple[int, int]:
    if signed:
        return -(1 << (bits - 1)) + narrow, (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1 - narrow


#: ONNX's numbers of element types, by kind of integers.
_NUMBERS = {
    "UINT8": 2,
    "INT8": 3,
    "UINT16": 4,
    "INT16": 5,
    "UINT4": 21,
    "INT4": 22,
    "UINT2": 25,
    "INT2": 26,
}


def _kind_of_result(call: Call) -> str:
    """Return the kind of integers that QuantizeLinear returns: that of its zero point or of ``output_dtype``."""
    zero = call.optional(2)
    if zero is not None:
        return zero.dtype
    number = call.integer("output_dtype", 2) or 2
    return next((name for name, known in _NUMBERS.items() if known == number), f"number {number}")


def _quantize_linear(call: Call) -> Data:
    data, kind = call.reals(0, "data"), _kind_of_result(call)
    if kind not in INTEGERS:
        raise Refusal(f"integers of kind {kind} are not supported; {', '.join(INTEGERS)} are")
    _require_no_zero_point(call)
    if call.integer("block_size", 0):
        raise Refusal("scales of blocks are not supported")
    exponents = _exponents(call, data.shape, _axis(call, len(data.shape)))
    found = _saturated(call, data, exponents, "ROUND", *_range(*INTEGERS[kind], 0))
    return replace(found, dtype=kind)


def _dequantize_linear(call: Call) -> Data:
    data = call.input(0, "data")
    if data.dtype not in (*INTEGERS, "INT32"):
        raise Refusal(f"its data is of kind {data.dtype}, not integers")
    _require_no_zero_point(call)
    if call.integer("block_size", 0):
        raise Refusal("scales of blocks are not supported")
    exponents = _exponents(call, data.shape, _axis(call, len(data.shape)))
    call.budget.take(data.size)
    return replace(each(call.ops.shift, data, exponents), dtype=call.input(1, "scale").dtype)


def _quant_range(call: Call) -> tuple[int, int, int]:
    """Return ``(signed, bits, narrow)`` of QONNX's Quant."""
    bits = set(call.integers(3, "bit width"))
    signed, narrow = call.integer("signed", 1), call.integer("narrow", 0)
    if len(bits) != 1 or signed not in (0, 1) or narrow not in (0, 1):
        raise Refusal("its bit width must be one number, signed and narrow 0 or 1")
    width = bits.pop()
    if not 1 + signed <= width <= _MOST_BITS:
        raise Refusal(f"a bit width of {width} is not supported; {1 + signed} to {_MOST_BITS} are")
    return signed, width, narrow


def _quant(call: Call) -> Data:
    """Compute QONNX's Quant: quantise, and scale back."""
    data = call.reals(0, "data")
    lo, hi = _range(*_quant_range(call))
    _require_no_zero_point(call)
    exponents = _exponents(call, data.shape, None)
    found = _saturated(call, data, exponents, call.text("rounding_mode", "ROUND").upper(), lo, hi)
    return each(call.ops.shift, found, exponents)


def quantised_type(call: Call) -> tuple[int, int, int] | None:
    """Return ``(signed, bits, exponent)`` of the results of a quantiser; None if they do not have one type."""
    if call.op == "Quant":
        signed, bits, _ = _quant_range(call)
    elif _kind_of_result(call) in INTEGERS:
        signed, bits = INTEGERS[_kind_of_result(call)]
    else:
        return None
    steps = {raw_of(one) for one in call.numbers(1, "scale")}
    raw, f = steps.pop()
    return None if steps or raw != 1 else (signed, bits, -f)


OPERATORS: dict[str, Callable[[Call], Data]] = {
    "QuantizeLinear": _quantize_linear,
    "DequantizeLinear": _dequantize_linear,
}
QONNX_OPERATORS: dict[str, Callable[[Call], Data]] = {"Quant": _quant}
