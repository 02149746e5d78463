"""Round to integers exactly, in all modes of QONNX: by additions, a floor, and a choice if the sign matters."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dais_verif.kernels.blocks.builder import Value
from dais_verif.networks.arithmetic import Arithmetic, Element, raw_of

__all__ = ["ROUNDINGS", "Rounding"]

Rounding = Callable[[Arithmetic, Element], Element]

_HALF = Fraction(1, 2)


def _fraction_bits(a: Element) -> int:
    """Return the number of fractional bits of an element."""
    if isinstance(a, Value):
        return 0 if a.op is None else a.f - a.shift
    return raw_of(a)[1]


def _floor(ops: Arithmetic, a: Element) -> Element:
    return ops.floor(a)


def _ceil(ops: Arithmetic, a: Element) -> Element:
    return -ops.floor(-a)


def _down(ops: Arithmetic, a: Element) -> Element:
    return ops.select(a, _ceil(ops, a), _floor(ops, a))


def _up(ops: Arithmetic, a: Element) -> Element:
    return ops.select(a, _floor(ops, a), _ceil(ops, a))


def _half_up(ops: Arithmetic, a: Element) -> Element:
    """Round to the nearest integer, and ties away from 0."""
    return ops.select(a, _ceil(ops, ops.subtract(a, _HALF)), _floor(ops, ops.add(a, _HALF)))


def _half_down(ops: Arithmetic, a: Element) -> Element:
    """Round to the nearest integer, and ties towards 0."""
    return ops.select(a, _floor(ops, ops.add(a, _HALF)), _ceil(ops, ops.subtract(a, _HALF)))


def _half_even(ops: Arithmetic, a: Element) -> Element:
    """Add one half, less one step if the integer below is even, so that only ties above odd integers round up."""
    step = Fraction(1, 1 << _fraction_bits(a))
    up = ops.shift(ops.is_odd(ops.floor(a)), -_fraction_bits(a))
    return ops.floor(ops.sum([a, _HALF - step, up]))


def _where_needed(rounding: Rounding) -> Rounding:
    """Return ``rounding`` for elements with fractional bits; others are integers already."""
    return lambda ops, a: rounding(ops, a) if _fraction_bits(a) > 0 else a


#: Rounding modes by QONNX's names, in capital letters.
ROUNDINGS: dict[str, Rounding] = {
    name: _where_needed(rounding)
    for name, rounding in {
        "ROUND": _half_even,
        "HALF_EVEN": _half_even,
        "CEIL": _ceil,
        "FLOOR": _floor,
        "UP": _up,
        "DOWN": _down,
        "HALF_UP": _half_up,
        "HALF_DOWN": _half_down,
    }.items()
}
