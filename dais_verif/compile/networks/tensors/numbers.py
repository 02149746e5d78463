"""Round numbers of tensors: to integers in every mode of QONNX, and to binary16. Real numbers are rounded only once.

Results of Tanh, Sigmoid, Softmax and of some means are no binary fractions. They are kept as the argument of a function
or as a quotient, and a quantiser needs only their *position*: how many whole half steps they hold, and whether
anything is left. Nothing here is shared with the lowering to ops, which this model checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.networks.tensors.exact import Exact, Integers, added, compact, scaled_up

__all__ = [
    "Curve",
    "Mixed",
    "Ratio",
    "Tables",
    "Tensor",
    "halved",
    "in_half",
    "mean_of",
    "moved",
    "power_of",
    "quantised",
    "shape_of",
]

#: binary16: bits of the significand, and the position of the last bit of the smallest numbers.
_DIGITS, _LAST = 11, 24
#: Decimal digits of the first and of the last attempt to tell between which half steps a value lies.
_FIRST, _MOST = 40, 5000
#: The most entries of a table.
_TABLE = 1 << 18
#: Fractional bits of the powers whose quotients are a softmax; the last one is set, except in the power of 0.
_POWER = 33


@dataclass(frozen=True)
class Curve:
    """Values of the increasing function ``name`` at ``argument``. ``half``: rounded to binary16."""

    name: str
    argument: Exact
    half: bool = False


@dataclass(frozen=True)
class Ratio:
    """Quotients. Denominators are above 0."""

    numerator: Exact
    denominator: Exact


@dataclass(frozen=True)
class Mixed:
    """Elements of several tensors of the same shape. ``which``: the number of the tensor that an element is from."""

    parts: tuple[Tensor, ...]
    which: NDArray[np.int64]


Tensor = Exact | Curve | Ratio | Mixed


def moved(tensor: Tensor, move: Callable[[Integers], Integers]) -> Tensor:
    """Return a tensor whose elements are moved; ``move`` gets and returns arrays whose first axis counts samples."""
    if isinstance(tensor, Exact):
        return Exact(move(tensor.raw), tensor.f)
    if isinstance(tensor, Curve):
        return replace(tensor, argument=Exact(move(tensor.argument.raw), tensor.argument.f))
    if isinstance(tensor, Ratio):
        shape = np.broadcast_shapes(tensor.numerator.shape, tensor.denominator.shape)
        both = (Exact(move(np.broadcast_to(one.raw, shape)), one.f) for one in (tensor.numerator, tensor.denominator))
        return Ratio(*both)
    shape = np.broadcast_shapes(*(shape_of(one) for one in tensor.parts))
    return Mixed(tuple(moved(one, move) for one in tensor.parts), move(np.broadcast_to(tensor.which, (1, *shape[1:]))))


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """Return the sizes of the dimensions, samples included."""
    if isinstance(tensor, Exact):
        return tensor.shape
    if isinstance(tensor, Curve):
        return tensor.argument.shape
    if isinstance(tensor, Ratio):
        return np.broadcast_shapes(tensor.numerator.shape, tensor.denominator.shape)
    return np.broadcast_shapes(*(shape_of(one) for one in tensor.parts))


# rounding to integers


def _rounded(raw: Integers, bits: Integers, mode: str) -> Integers:
    """Return ``raw / 2**bits`` as integers. ``bits``: 0 or more, of a shape that fits."""
    if raw.dtype != object and int(bits.max(initial=0)) > 60:
        raw = raw.astype(object)
    bits = bits.astype(raw.dtype)
    below = raw >> bits
    left = raw - (below << bits)
    # Twice the rest against a whole step: equal for a tie.
    twice, step = left * 2, np.ones_like(bits) << bits
    up: Mapping[str, Callable[[], NDArray[np.bool_]]] = {
        "ROUND": lambda: (twice > step) | ((twice == step) & (below & 1 == 1)),
        "CEIL": lambda: left > 0,
        "FLOOR": lambda: np.zeros(raw.shape, dtype=np.bool_),
        "UP": lambda: (left > 0) & (raw > 0),
        "DOWN": lambda: (left > 0) & (raw < 0),
        "HALF_UP": lambda: (twice > step) | ((twice == step) & (raw > 0)),
        "HALF_DOWN": lambda: (twice > step) | ((twice == step) & (raw < 0)),
    }
    mode = "ROUND" if mode == "HALF_EVEN" else mode
    found: Integers = below + up[mode]().astype(raw.dtype)
    return found


def quantised(tensor: Tensor, exponents: NDArray[np.int64], mode: str, lo: int, hi: int, tables: Tables) -> Integers:
    """Return integers, saturated at ``lo`` and ``hi``: elements in steps of ``2**exponents``, rounded.

    ``exponents`` have the shape of the tensor, for one sample.
    """
    if isinstance(tensor, Mixed):
        found = [quantised(one, exponents, mode, lo, hi, tables) for one in tensor.parts]
        return _chosen(found, tensor.which)
    if isinstance(tensor, Exact):
        bits = exponents + tensor.f
        up = max(-int(bits.min()), 0)
        rounded = _rounded(scaled_up(tensor.raw, up), bits + up, mode)
    else:
        parts, which = [], np.zeros(exponents.shape, dtype=np.int64)
        for number, exponent in enumerate(np.unique(exponents).tolist()):
            which[exponents == exponent] = number
            position = _positions(tensor, exponent, tables)
            parts.append(_rounded(position, np.full((1,) * position.ndim, 2), mode))
        rounded = _chosen(parts, which)
    return np.clip(rounded, lo, hi).astype(np.int64)


def _chosen(parts: list[Integers], which: NDArray[np.int64]) -> Integers:
    found = np.broadcast_to(parts[0], np.broadcast_shapes(*(one.shape for one in parts)))
    for number, part in enumerate(parts[1:], 1):
        found = np.where(which == number, part, found)
    return found


# positions: twice the number of whole half steps, plus 1 if anything is left

#: Positions found so far: by the function and the argument's ``(raw, f)``, for a step.
Tables = dict[tuple[str, bool, int, int], dict[int, int]]


def _positions(tensor: Curve | Ratio, exponent: int, tables: Tables) -> Integers:
    if isinstance(tensor, Ratio):
        up = tensor.denominator.f - tensor.numerator.f + 1 - exponent
        above, below = scaled_up(tensor.numerator.raw, max(up, 0)), scaled_up(tensor.denominator.raw, max(-up, 0))
        if object in (above.dtype, below.dtype):
            above, below = above.astype(object), below.astype(object)
        whole = above // below
        return compact(whole * 2 + (whole * below != above))
    argument = tensor.argument
    table = tables.setdefault((tensor.name, tensor.half, argument.f, exponent), {})
    return _looked_up(argument.raw, lambda raw: _known_position(table, tensor, raw, exponent))


def _known_position(table: dict[int, int], curve: Curve, raw: int, exponent: int) -> int:
    if raw not in table:
        table[raw] = _position(curve.name, Fraction(raw) / Fraction(2) ** curve.argument.f, exponent, curve.half)
    return table[raw]


def _looked_up(raw: Integers, entry: Callable[[int], int]) -> Integers:
    """Return ``entry`` of each number; equal numbers are looked up once."""
    least = int(raw.min(initial=0))
    count = int(raw.max(initial=0)) - least + 1
    if raw.dtype == object or count > _TABLE:
        values, places = np.unique(raw, return_inverse=True)
        return compact(np.array([entry(one) for one in values.tolist()], dtype=object))[places].reshape(raw.shape)
    there = np.zeros(count, dtype=bool)
    there[raw - least] = True
    table = np.zeros(count, dtype=object)
    table[there] = [entry(one) for one in (np.flatnonzero(there) + least).tolist()]
    found: Integers = compact(table)[raw - least]
    return found


def _position(name: str, x: Fraction, exponent: int, half: bool) -> int:
    """Return the position of a function's value at ``x`` in steps of ``2**exponent``."""
    if not half:
        return _between(name, x, exponent)
    # Whether a value is above or below a tie of binary16 does not need more than the position among finer steps.
    fine = _between(name, x, -2 * _LAST)
    value = in_half(Exact(np.array([fine], dtype=object), 2 * _LAST + 2))
    bits = value.f + exponent - 1  # of a half step
    raw = int(value.raw[0])
    if bits <= 0:
        return (raw << -bits) * 2
    return (raw >> bits) * 2 + (raw & ((1 << bits) - 1) != 0)


def _between(name: str, x: Fraction, exponent: int) -> int:
    """Compute with more digits until it is known between which two half steps the value lies."""
    at_zero = {"Sigmoid": Fraction(1, 2), "Tanh": Fraction(0), "Exp": Fraction(1)}[name]
    if not x:
        halves = at_zero * 2 * Fraction(2) ** -exponent
        return 2 * (halves.numerator // halves.denominator) + (halves.denominator != 1)
    digits = _FIRST
    while digits <= _MOST:
        # All values are below 1 in magnitude; a few units of the last place are lost by each of a few operations.
        context = Context(prec=digits, rounding=ROUND_FLOOR)
        lost = Fraction(1, 10 ** (digits - 6))
        value = Fraction(_VALUES[name](context, x))
        # The value lies strictly between these ends: it is never rational, and never a limit of the function.
        lo, hi = max(value - lost, _LEAST[name]), min(value + lost, Fraction(1))
        lo, hi = (end * 2 * Fraction(2) ** -exponent for end in (lo, hi))
        whole = lo.numerator // lo.denominator
        if hi <= whole + 1:
            return 2 * whole + 1
        digits *= 2
    raise ArithmeticError(f"{_MOST} digits do not tell how the value of {name} at {x} is rounded")


def _power(context: Context, x: Fraction) -> Decimal:
    """Return ``exp(x)`` for ``x`` below 0, or 0 if it is smaller than any digit."""
    if x < -4 * context.prec:
        return Decimal(0)
    wide = Context(prec=x.numerator.bit_length() + 2 * x.denominator.bit_length() + 9)
    return context.exp(wide.divide(Decimal(x.numerator), Decimal(x.denominator)))


def _sigmoid(context: Context, x: Fraction) -> Decimal:
    power = _power(context, -abs(x))
    return context.divide(Decimal(1) if x > 0 else power, context.add(1, power))


def _tanh(context: Context, x: Fraction) -> Decimal:
    return context.subtract(context.multiply(2, _sigmoid(context, 2 * x)), 1)


_VALUES: Mapping[str, Callable[[Context, Fraction], Decimal]] = {"Sigmoid": _sigmoid, "Tanh": _tanh, "Exp": _power}


def power_of(lack: Exact, tables: Tables) -> Exact:
    """Return the powers ``exp(-lack)`` of a softmax: rounded down to an odd last bit, and exactly 1 at 0."""
    position = _positions(Curve("Exp", Exact(-lack.raw, lack.f)), 2 - _POWER, tables)
    return Exact(position, _POWER)


#: The limit of each function below.
_LEAST = {"Sigmoid": Fraction(0), "Tanh": Fraction(-1), "Exp": Fraction(0)}


# half precision


def in_half(numbers: Exact) -> Exact:
    """Return the numbers rounded to binary16, ties to even."""
    raw, f = numbers
    cut = np.maximum(np.maximum(_bits_of(raw) - _DIGITS, f - _LAST), 0)
    rounded = _rounded(raw, cut, "ROUND")
    return Exact(compact(rounded << cut.astype(rounded.dtype)), f)


def halved(tensor: Tensor) -> Tensor:
    """Return a tensor rounded to binary16. Quotients cannot be: the reader refuses that."""
    if isinstance(tensor, Exact):
        return in_half(tensor)
    if isinstance(tensor, Mixed):
        return replace(tensor, parts=tuple(map(halved, tensor.parts)))
    assert isinstance(tensor, Curve)
    return replace(tensor, half=True)


def _bits_of(raw: Integers) -> NDArray[np.int64]:
    """Return the number of bits of each magnitude."""
    if raw.dtype == object:
        listed = np.array([abs(int(one)).bit_length() for one in raw.ravel().tolist()], dtype=np.int64)
        return listed.reshape(raw.shape)
    size = np.abs(raw)
    high = size >> 32  # both halves are exact in binary64
    found: NDArray[np.int64] = np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(size & 0xFFFFFFFF)[1])
    return found.astype(np.int64)


def mean_of(first: Exact, second: Exact, half: bool) -> Exact:
    """Return the mean; in half precision the sum is rounded, halved and rounded again."""
    total = added(first, second)
    return in_half(in_half(total) << -1) if half else total << -1
