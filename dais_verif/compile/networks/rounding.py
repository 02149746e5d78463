"""Round to integers exactly, in all modes of QONNX: by additions, a floor, and a choice if the sign matters."""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks.arithmetic import Arithmetic, Element, raw_of

__all__ = ["FUNCTIONS", "ROUNDINGS", "Rounding", "exp", "near"]


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


# Compute tanh, the logistic function and exp precisely enough to round them correctly in every mode.
#
# At a rational argument other than 0 each value is transcendental, so it never equals a multiple of half a step. With
# enough digits it is known between which two multiples the value lies, and this determines its rounding in every mode.


#: Decimal digits of the first and of the last attempt: no value is expected within 10**-5000 of a multiple of
#: half a step.
_FIRST, _MOST = 25, 5000

#: A function that returns strict bounds of a value, given whether x is negative and strict bounds of exp(-abs(x)).
_Bounds = Callable[[bool, Fraction, Fraction], tuple[Fraction, Fraction]]


def _tanh(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    """Use tanh(abs(x)) = (1 - t*t) / (1 + t*t) with t = exp(-abs(x))."""
    found = (1 - hi * hi) / (1 + hi * hi), (1 - lo * lo) / (1 + lo * lo)
    return (-found[1], -found[0]) if negative else found


def _sigmoid(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    return (lo / (1 + lo), hi / (1 + hi)) if negative else (1 / (1 + hi), 1 / (1 + lo))


def _exp(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    return (lo, hi) if negative else (1 / hi, 1 / lo)


def _exp_minus(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return strict bounds of exp(-x) for x > 0: 0 and 10**-digits if x is above ``3 * digits``."""
    tiny = Fraction(1, 10**digits)
    if x > 3 * digits:
        return Fraction(0), tiny
    context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    # A dyadic number is a finite decimal, so the quotient is exact; exp is correctly rounded.
    exact = Context(prec=x.numerator.bit_length() + 3 * x.denominator.bit_length() + 9)
    value = Fraction(context.exp(-exact.divide(Decimal(x.numerator), Decimal(x.denominator))))
    return value * (1 - 10 * tiny), value * (1 + 10 * tiny)


def near(bounds: _Bounds, at_zero: Fraction, x: Fraction, exponent: int) -> Fraction:
    """Return a number that every mode rounds to the same integer as the value at ``x``, in units of ``2**exponent``.

    At 0, where the value is rational, return the value itself. ``x`` must be dyadic.
    """
    scale = Fraction(2) ** -exponent
    if not x:
        return at_zero * scale
    digits = _FIRST
    while digits <= _MOST:
        lo, hi = (one * scale * 2 for one in bounds(x < 0, *_exp_minus(abs(x), digits)))
        below = lo.numerator // lo.denominator
        if hi <= below + 1:  # the bounds are strict
            return (below + _HALF) / 2
        digits *= 2
    raise ArithmeticError(f"{_MOST} digits do not tell how the value at {x} is rounded")


def _function(bounds: _Bounds, at_zero: Fraction) -> Callable[[Fraction, int], Fraction]:
    return lambda x, exponent: near(bounds, at_zero, x, exponent)


exp = _function(_exp, Fraction(1))

#: Increasing functions by their names in ONNX; each takes an argument and the exponent of the step.
FUNCTIONS: dict[str, Callable[[Fraction, int], Fraction]] = {
    "Tanh": _function(_tanh, Fraction(0)),
    "Sigmoid": _function(_sigmoid, _HALF),
}
