"""Compute tanh, the logistic function and exp so exactly that every rounding of them is right.

At a rational argument other than 0 each value is transcendental, so it is never on a step nor halfway: enough digits
always tell between which halves of steps it is, and with that every rounding is known.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

__all__ = ["FUNCTIONS", "exp", "near"]

_HALF = Fraction(1, 2)
#: Decimal digits that are tried first, and the most: a distance of 10**-5000 to a half step does not come by chance.
_FIRST, _MOST = 25, 5000

#: The least and the largest that a value can be, both of them out of reach, from bounds of exp(-abs(x)).
_Bounds = Callable[[bool, Fraction, Fraction], tuple[Fraction, Fraction]]


def _tanh(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    """tanh(x) = (1 - t*t) / (1 + t*t)."""
    found = (1 - hi * hi) / (1 + hi * hi), (1 - lo * lo) / (1 + lo * lo)
    return (-found[1], -found[0]) if negative else found


def _sigmoid(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    return (lo / (1 + lo), hi / (1 + hi)) if negative else (1 / (1 + hi), 1 / (1 + lo))


def _exp(negative: bool, lo: Fraction, hi: Fraction) -> tuple[Fraction, Fraction]:
    return (lo, hi) if negative else (1 / hi, 1 / lo)


def _exp_minus(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return strict bounds of exp(-x) for x > 0; below 10**-digits they only say that."""
    tiny = Fraction(1, 10**digits)
    if x > 3 * digits:
        return Fraction(0), tiny
    context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    # Dyadic numbers are decimals: the quotient is exact, and exp is correctly rounded.
    exact = Context(prec=x.numerator.bit_length() + 3 * x.denominator.bit_length() + 9)
    value = Fraction(context.exp(-exact.divide(Decimal(x.numerator), Decimal(x.denominator))))
    return value * (1 - 10 * tiny), value * (1 + 10 * tiny)


def near(bounds: _Bounds, at_zero: Fraction, x: Fraction, exponent: int) -> Fraction:
    """Return a number that every rounding to integers rounds like the value at ``x``, in units of ``2**exponent``.

    The value itself where it is rational, at 0. ``x`` must be dyadic.
    """
    scale = Fraction(2) ** -exponent
    if not x:
        return at_zero * scale
    digits = _FIRST
    while digits <= _MOST:
        lo, hi = (one * scale * 2 for one in bounds(x < 0, *_exp_minus(abs(x), digits)))
        below = lo.numerator // lo.denominator
        if hi <= below + 1:  # neither bound is reached
            return (below + _HALF) / 2
        digits *= 2
    raise ArithmeticError(f"{_MOST} digits do not tell how the value at {x} is rounded")


def _function(bounds: _Bounds, at_zero: Fraction) -> Callable[[Fraction, int], Fraction]:
    return lambda x, exponent: near(bounds, at_zero, x, exponent)


exp = _function(_exp, Fraction(1))

#: By ONNX's names, each a function of an argument and the exponent of the step; each grows with its argument.
FUNCTIONS: dict[str, Callable[[Fraction, int], Fraction]] = {
    "Tanh": _function(_tanh, Fraction(0)),
    "Sigmoid": _function(_sigmoid, _HALF),
}
