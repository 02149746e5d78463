"""Real numbers that are rounded only once, by the quantiser that reads them.

Values of tanh and of the logistic function become tables of their quantised values; quotients are computed bit by bit.
The only other operations on such numbers are the maximum of two of the same kind, and half precision for values in
tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dais_verif.compile.approximation.convolution import STEPS, half_steps
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks.arithmetic import Arithmetic, Element, bounds_of, raw_of
from dais_verif.compile.networks.call import Call
from dais_verif.compile.networks.data import Data, each
from dais_verif.compile.networks.knobs import half_element
from dais_verif.compile.networks.problems import Refusal
from dais_verif.compile.networks.rounding import FUNCTIONS, ROUNDINGS
from dais_verif.spec.program.types import type_of_interval

__all__ = ["MOST_INDEX", "NO_FIXED_POINT", "Mapped", "Quotient", "Quantiser", "Real", "half_data", "table"]

#: The reason why an operator does not support such numbers.
NO_FIXED_POINT = "not a fixed-point number: let a QuantizeLinear or Quant read it first"

#: The maximum number of bits that index a table.
MOST_INDEX = 16


@dataclass(frozen=True)
class Quantiser:
    """Rounding to integers in steps of ``2**exponent``, which saturate at ``lo`` and ``hi``."""

    call: Call
    exponent: int
    rounding: str
    lo: int
    hi: int

    def of(self, element: Element) -> Element:
        """Return ``element``, a fixed-point number in steps, rounded and saturated."""
        ops = self.call.ops
        rounded = ROUNDINGS[self.rounding](ops, element)
        return ops.clamp(rounded, Fraction(self.lo), Fraction(self.hi))


class Real:
    """A number that is not a fixed-point number until it is quantised."""

    def quantised(self, by: Quantiser) -> Element:
        """Return the exact result of ``by``. Raises ``Refusal`` if it needs too large a table or too many steps."""
        raise NotImplementedError

    def halved(self) -> Real:
        """Return the number rounded to binary16. Raises ``Refusal`` if this is not supported."""
        raise Refusal(f"{self} is {NO_FIXED_POINT}, so it cannot be rounded to half precision")

    def maximum(self, other: object, ops: Arithmetic) -> Real:
        """Return the larger of both. Raises ``Refusal`` if they are not of the same kind."""
        raise Refusal(f"{self} cannot be compared with another value; quantise them first")


@dataclass(frozen=True)
class Mapped(Real):
    """A value of the increasing function ``name``. ``half``: rounded to binary16."""

    name: str
    argument: Element
    half: bool = False

    def __str__(self) -> str:
        return f"a result of {self.name}"

    def halved(self) -> Mapped:
        """Return the number rounded to binary16, which never decreases."""
        return replace(self, half=True)

    def quantised(self, by: Quantiser) -> Element:
        """Return a look-up, by the argument's bits, in a table of the results for all values of its type."""
        function = FUNCTIONS[self.name]

        def value(x: Fraction) -> Fraction:
            if not self.half:
                return function(x, by.exponent)
            # Binary16 rounds at multiples of half its smallest step, none of which lies between the value and this one.
            near = function(x, -STEPS.bit_length()) / (2 * STEPS)
            return Fraction(half_steps(near.numerator, near.denominator), STEPS) / Fraction(2) ** by.exponent

        def entry(x: Fraction) -> int:
            return int(bounds_of(by.of(value(x)))[0])

        key = (self.name, self.half, by.exponent, by.rounding, by.lo, by.hi)
        return table(by.call, self.argument, entry, 0, key)

    def maximum(self, other: object, ops: Arithmetic) -> Real:
        """Return the function of the larger argument, since the function is increasing."""
        if not isinstance(other, Mapped) or (other.name, other.half) != (self.name, self.half):
            return super().maximum(other, ops)
        return replace(self, argument=ops.maximum(self.argument, other.argument))


@dataclass(frozen=True)
class Quotient(Real):
    """``numerator / denominator``. ``least``: the smallest denominator; ``most``: the largest quotient, if known.

    ``line``: tells denominators apart that only have the same range.
    """

    what: str
    numerator: Element
    denominator: Element
    least: Fraction
    most: Fraction | None = None
    line: int = 0

    def __str__(self) -> str:
        return self.what

    def quantised(self, by: Quantiser) -> Element:
        """Compute half steps by long division; these, and whether a remainder is left, decide every rounding."""
        ops, divisor = by.call.ops, self.denominator
        halves = ops.shift(self.numerator, 1 - by.exponent)
        if isinstance(halves, Fraction) and isinstance(divisor, Fraction):
            whole, remainder = divmod(halves, divisor)
            return by.of(Fraction(2 * int(whole) + bool(remainder), 4))
        lo, hi = bounds_of(halves)
        bits = max(raw_of(one)[1] for one in (*_ends(halves), *_ends(divisor)))
        halves, divisor = ops.shift(halves, bits), ops.shift(divisor, bits)  # both are integers now
        ends = (lo / self.least, hi / self.least)
        if self.most is not None:
            ends = (ends[0], self.most * 2 * Fraction(2) ** -by.exponent)
        below = max(0, -(ends[0].numerator // ends[0].denominator))
        count = (int(ends[1]) + below).bit_length() if ends[1] >= 0 else below.bit_length()
        by.call.budget.take(count, repeated=True)
        # One half is added to the remainder, so that its difference to an integer is never 0.
        left = ops.sum([halves, ops.multiply(divisor, Fraction(below)), Fraction(1, 2)])
        found: list[Element] = [Fraction(-below, 2)]
        for bit in reversed(range(count)):
            part = ops.shift(divisor, bit)
            rest = ops.subtract(left, part)
            found.append(ops.shift(ops.select(rest, Fraction(0), Fraction(1)), bit - 1))
            left = _held(ops, ops.select(rest, left, rest), min(bounds_of(part)[1], bounds_of(left)[1]))
        more = ops.select(ops.subtract(Fraction(1), left), Fraction(1), Fraction(0))
        return by.of(ops.sum([*found, ops.shift(more, -2)]))

    def maximum(self, other: object, ops: Arithmetic) -> Real:
        """Return the maximum: of two quotients with the same denominator, that with the larger numerator."""
        if not isinstance(other, Quotient) or (other.line, other.denominator) != (self.line, self.denominator):
            return super().maximum(other, ops)
        return replace(self, numerator=ops.maximum(self.numerator, other.numerator))


def _ends(element: Element) -> tuple[Fraction, Fraction]:
    """Return numbers that need as many fractional bits as ``element`` does."""
    if isinstance(element, Value):
        return Fraction(2) ** (element.shift - element.f), Fraction(0)
    return element, element


def _held(ops: Arithmetic, left: Element, most: Fraction) -> Element:
    """Return ``left``, which is known to lie between 0 and ``most``, in the smallest type for this range."""
    if isinstance(left, Fraction) or left.op is None:
        return left
    f = left.f - left.shift
    return ops.builder.cast(left, type_of_interval(0, int(most * Fraction(2) ** f), f))


def half_data(ops: Arithmetic, data: Data) -> Data:
    """Return a tensor rounded to binary16. Raises ``Refusal`` for infinities, and for numbers not in tables."""
    return each(lambda one: one.halved() if isinstance(one, Real) else half_element(ops, one), data)


def table(call: Call, argument: Element, entry: Callable[[Fraction], int], f: int, key: tuple[object, ...]) -> Element:
    """Return ``entry(argument) * 2**-f`` from a table.

    ``key``: identifies ``entry``, so that it is computed once. ``entry`` never decreases, or never increases.
    """
    if isinstance(argument, Fraction) or argument.op is None:
        return Fraction(entry(argument if isinstance(argument, Fraction) else Fraction(0))) * Fraction(2) ** -f
    kind = argument.type
    if kind.width > MOST_INDEX:
        raise Refusal(
            f"a table would be indexed by {kind.width} bits, but at most {MOST_INDEX} are supported: quantise before it"
        )
    known = call.ops.tables
    if (kind, *key) not in known:
        call.budget.take(1 << kind.width)
        step = Fraction(2) ** -kind.f
        known[(kind, *key)] = tuple(entry(raw * step) for raw in call.ops.indices(kind))
    entries = known[(kind, *key)]
    if len(set(entries)) == 1:
        return Fraction(entries[0]) * Fraction(2) ** -f
    return call.ops.builder.lookup(argument, kind, entries, type_of_interval(min(entries), max(entries), f))
