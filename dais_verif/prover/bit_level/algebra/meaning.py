"""Terms as polynomials of bits: sums, products, choices and sign extensions by arithmetic, other terms bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dais_verif.prover.bit_level.algebra.polynomials import ONE, Polynomial, plus, single, times
from dais_verif.prover.bit_level.bit_blasting import Word
from dais_verif.prover.terms import Term, nodes

__all__ = ["Number", "meaning_of", "number_of"]

#: The largest number of terms that a product of two polynomials may have.
_MOST = 50_000


class Number(NamedTuple):
    """An integer in ``least .. most`` with the value ``polynomial``; a word holds it modulo ``2**width``."""

    polynomial: Polynomial
    least: int
    most: int


def number_of(word: Word) -> Number:
    """Return the unsigned number that the bits ``word`` encode."""
    total: Polynomial = {}
    for place, bit in enumerate(word):
        total = plus(total, single(bit), 1 << place)
    return Number(total, 0, (1 << len(word)) - 1)


def meaning_of(root: Term, given: Mapping[Term, Number], bits: Callable[[Term], Word]) -> Number:
    """Return a number that ``root`` holds. ``given``: the numbers of variables. ``bits`` returns the bits of a term."""
    meaning = _Meaning(given, bits)
    for t in nodes(root):
        if t not in meaning.numbers:
            rule = getattr(meaning, f"_{t.op}", None)
            made = None if rule is None else rule(t)
            meaning.numbers[t] = number_of(bits(t)) if made is None else made
    return meaning.numbers[root]


class _Meaning:
    """One method per operation, named after it: returns the number of a term, or None if it must be read bit by bit."""

    def __init__(self, given: Mapping[Term, Number], bits: Callable[[Term], Word]) -> None:
        self.numbers = dict(given)
        self._bits = bits

    def _unsigned(self, t: Term) -> Number:
        """Return the bits of ``t`` as an unsigned number."""
        number = self.numbers[t]
        return number if number.least >= 0 and not number.most >> t.width else number_of(self._bits(t))

    def _signed(self, t: Term) -> Number:
        """Return the bits of ``t`` as a two's complement number."""
        number, half = self.numbers[t], 1 << (t.width - 1)
        if -half <= number.least and number.most < half:
            return number
        word = self._bits(t)
        return Number(plus(number_of(word).polynomial, single(word[-1]), -(1 << t.width)), -half, half - 1)

    def _const(self, t: Term) -> Number:
        return _constant(t.value)

    def _add(self, t: Term) -> Number:
        total = Number({}, 0, 0)
        for x in t.args:
            total = _sum(total, self.numbers[x], 1)
        whole = _sum(total, _constant(t.low), 1)
        if whole.most >> t.width:  # it may overflow: take the constant as negative
            whole = _sum(total, _constant(t.low - (1 << t.width)), 1)
        return whole

    def _neg(self, t: Term) -> Number:
        return _sum(Number({}, 0, 0), self.numbers[t.args[0]], -1)

    def _not(self, t: Term) -> Number:
        number = self.numbers[t.args[0]]
        fits = number.least >= 0 and not number.most >> t.width
        return _sum(_constant((1 << t.width) - 1 if fits else -1), number, -1)

    def _mul(self, t: Term) -> Number | None:
        a, b = (self.numbers[x] for x in t.args)
        if len(a.polynomial) * len(b.polynomial) > _MOST:
            return None
        corners = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
        return Number(times(a.polynomial, b.polynomial), min(corners), max(corners))

    def _sext(self, t: Term) -> Number:
        return self._signed(t.args[0])

    def _extract(self, t: Term) -> Number | None:
        return None if t.low else self.numbers[t.args[0]]

    def _concat(self, t: Term) -> Number:
        """Add the parts from the lowest on; copies of one bit that fill all high bits are a sign extension."""
        parts, place = t.args[::-1], 0
        total = Number({}, 0, 0)
        for number, part in enumerate(parts):
            rest = set(parts[number:])
            if part.width == 1 and part.op != "const" and len(rest) == 1 and number < len(parts) - 1:
                return _sum(total, self._unsigned(part), -(1 << place))
            value = self._unsigned(part) if number < len(parts) - 1 else self.numbers[part]
            total = _sum(total, value, 1 << place)
            place += part.width
        return total

    def _ite(self, t: Term) -> Number | None:
        c, a, b = t.args
        one, two = self.numbers[a], self.numbers[b]
        choice = self._unsigned(c).polynomial
        difference = plus(one.polynomial, two.polynomial, -1)
        if len(choice) * len(difference) > _MOST:
            return None
        polynomial = plus(two.polynomial, times(choice, difference))
        return Number(polynomial, min(one.least, two.least), max(one.most, two.most))


def _constant(value: int) -> Number:
    return Number({ONE: value} if value else {}, value, value)


def _sum(a: Number, b: Number, factor: int) -> Number:
    """Return ``a + factor * b``."""
    ends = factor * b.least, factor * b.most
    return Number(plus(a.polynomial, b.polynomial, factor), a.least + min(ends), a.most + max(ends))
