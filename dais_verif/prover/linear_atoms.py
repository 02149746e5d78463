"""Atoms, of which forms are combinations: integers that are identified by their construction, each with bounds.

An atom is an input, a product of atoms, or a value that is not a combination: a floored or wrapped value, or the choice
of a mux. Equal constructions give the same atom, so the same operation on equal forms gives equal forms.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import gcd

from dais_verif.program import FixedType
from dais_verif.prover.form import ZERO, Form, constant_form, key_of, negated, on_grid, primitive, raw_of, times

__all__ = ["Atoms"]

#: Maximum number of products into which two factors are multiplied out, and of factors of one product.
_MOST_PRODUCTS, _MOST_FACTORS = 64, 8


class Atoms:
    """All atoms so far, and the operations on forms that may add atoms.

    ``bounds``: the least and largest value of each atom. ``wrapped``: for each atom that is a wrapped value, the form
    that was wrapped and the binary logarithm of the modulus. ``work``: the number of terms that were added or examined.
    """

    def __init__(self) -> None:
        self.bounds: list[tuple[int, int]] = []
        self.wrapped: dict[int, tuple[Form, int]] = {}
        self.work = 0
        self._numbers: dict[Hashable, int] = {}
        #: The factors of each atom that is a product.
        self._factors: dict[int, tuple[int, ...]] = {}

    def atom(self, key: Hashable, lo: int, hi: int, f: int) -> Form:
        """Return the atom that ``key`` stands for, an integer from ``lo`` to ``hi``, times ``2**-f``."""
        number = self._numbers.setdefault(key, len(self.bounds))
        if number == len(self.bounds):
            self.bounds.append((lo, hi))
        if lo == hi:
            return constant_form(lo, f)
        return Form(f, 0, {number: 1}, lo, hi)

    def where_negative(self, condition: Form, one: Form, other: Form) -> Form:
        """Return ``one`` where ``condition`` is negative, else ``other``.

        The result is ``other`` plus an atom that is ``one - other`` where ``condition`` is negative, else 0.
        """
        if condition.hi < 0 or condition.lo >= 0:
            return one if condition.hi < 0 else other
        lo, hi = self._interval(condition)
        if hi < 0 or lo >= 0:
            return one if hi < 0 else other
        factor = gcd(*condition.terms.values())
        terms = {atom: n // factor for atom, n in condition.terms.items()}
        constant = condition.constant // factor  # floor division keeps the sign of the sum
        difference = self.sum([one, negated(other)])
        if not difference.terms and not difference.constant:
            return other
        unit, scale = primitive(difference)
        # If both arms are equal where the condition is 0, as for the maximum of two numbers, either may be taken there.
        equal_at_zero = condition.constant % factor == 0 and _along(unit, condition)
        if equal_at_zero and hi <= 0:
            return one
        if terms[min(terms)] < 0:
            terms = {atom: -n for atom, n in terms.items()}
            constant = -constant - (0 if equal_at_zero else 1)
            one, other, scale = other, one, -scale
        factor = scale
        if (unit.terms[min(unit.terms)] if unit.terms else unit.constant) < 0:
            unit, factor = negated(unit), -factor
        key = ("where", constant, tuple(sorted(terms.items())), key_of(unit))
        chosen = self.atom(key, min(0, unit.lo), max(0, unit.hi), 0)
        found = self.sum([other, times(chosen, factor, difference.f)])
        f = max(found.f, one.f, other.f)
        found, one, other = (on_grid(form, f) for form in (found, one, other))
        return found._replace(lo=max(found.lo, min(one.lo, other.lo)), hi=min(found.hi, max(one.hi, other.hi)))

    def sum(self, parts: Sequence[Form], own: Sequence[int] = ()) -> Form:
        """Return the sum; ``own``: indices of the parts whose ``terms`` may be modified in place."""
        f = max((part.f for part in parts), default=0)
        first = next((n for n in own if parts[n].f == f), None)
        terms = {} if first is None else parts[first].terms
        constant, lo, hi = 0, 0, 0
        for number, part in enumerate(parts):
            up = f - part.f
            constant += part.constant << up
            lo += part.lo << up
            hi += part.hi << up
            if number == first:
                continue
            self.work += len(part.terms)
            for atom, n in part.terms.items():
                total = terms.get(atom, 0) + (n << up)
                if total:
                    terms[atom] = total
                else:
                    del terms[atom]
        if not terms:
            return Form(f, constant, {}, constant, constant)
        return Form(f, constant, terms, lo, hi)

    def product(self, a: Form, b: Form) -> Form:
        """Return the product, multiplied out unless that gives too many terms."""
        if not a.terms:
            a, b = b, a
        if not b.terms:
            return times(a, b.constant, b.f)
        corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        left, right = ([*form.terms.items(), (-1, form.constant)] for form in (a, b))
        if len(left) * len(right) > _MOST_PRODUCTS:
            (one, n), (other, m) = primitive(a), primitive(b)
            product = [x * y for x in (one.lo, one.hi) for y in (other.lo, other.hi)]
            atom = self.atom(("times", *sorted([key_of(one), key_of(other)])), min(product), max(product), 0)
            found = times(atom, n * m, a.f + b.f)
        else:
            pairs = [(x, n, y, m) for x, n in left for y, m in right if n and m]
            found = self.sum([times(self._monomial(x, y), n * m, a.f + b.f) for x, n, y, m in pairs])
        least, most = (raw_of(Form(a.f + b.f, n, {}, n, n), found.f) for n in (min(corners), max(corners)))
        return found._replace(lo=max(least, found.lo), hi=min(most, found.hi)) if found.terms else found

    def _monomial(self, x: int, y: int) -> Form:
        """Return the product of two atoms; atom number -1 stands for the constant 1."""
        if x < 0 or y < 0:
            return constant_form(1, 0) if x == y else self._itself(max(x, y))
        factors = tuple(sorted(self._factors.get(x, (x,)) + self._factors.get(y, (y,))))
        if len(factors) > _MOST_FACTORS:
            factors = tuple(sorted((x, y)))
        corners = [p * q for p in self.bounds[x] for q in self.bounds[y]]
        atom = self.atom(("product", factors), min(corners), max(corners), 0)
        (number,) = atom.terms
        self._factors[number] = factors
        return atom

    def _itself(self, atom: int) -> Form:
        return Form(0, 0, {atom: 1}, *self.bounds[atom])

    def _interval(self, form: Form) -> tuple[int, int]:
        """Return the least and largest value of a form, from the bounds of its atoms and its own bounds."""
        self.work += len(form.terms)
        lo, hi = self._bounds_of(form.constant, form.terms)
        return max(lo, form.lo), min(hi, form.hi)

    def _bounds_of(self, constant: int, terms: dict[int, int]) -> tuple[int, int]:
        lo = hi = constant
        for atom, n in terms.items():
            least, most = self.bounds[atom]
            lo += n * (least if n > 0 else most)
            hi += n * (most if n > 0 else least)
        return lo, hi

    def fitted(self, form: Form, kind: FixedType) -> Form:
        """Return ``form`` quantised to ``kind``: TRUNC, then WRAP."""
        if kind.width == 0:
            return ZERO
        form = self._floored(form, kind.f)
        if kind.raw_min <= form.lo and form.hi <= kind.raw_max:
            return form
        lo, hi = self._interval(form)
        if kind.raw_min <= lo and hi <= kind.raw_max:
            return form._replace(lo=lo, hi=hi)
        return self._wrapped_to(form, kind)

    def _floored(self, form: Form, f: int) -> Form:
        """Return ``form`` floored to multiples of ``2**-f``; terms that are such multiples stay outside the floor."""
        if form.f <= f:
            return on_grid(form, f)
        down = form.f - f
        lost = (1 << down) - 1
        rest = {atom: n for atom, n in form.terms.items() if n & lost}
        constant, below = form.constant >> down, form.constant & lost
        terms = {atom: n >> down for atom, n in form.terms.items() if not n & lost}
        lo, hi = form.lo >> down, form.hi >> down
        parts = [Form(f, constant, terms, lo, hi)]
        if rest:
            rest, below, down = self._without_low_bits(rest, below, down)
            least, most = self._bounds_of(below, rest)
            if not down:
                parts.append(Form(f, below, rest, least, most))
            else:
                key = ("floor", key_of(Form(down, below, rest, least, most)))
                parts.append(self.atom(key, least >> down, most >> down, f))
        found = self.sum(parts)
        return found._replace(lo=lo, hi=hi) if found.terms else found

    def _without_low_bits(self, terms: dict[int, int], constant: int, down: int) -> tuple[dict[int, int], int, int]:
        """Return an equal floor that drops fewer bits.

        If a single one-bit atom is odd, that bit and the constant alone decide the lowest bit, which can be removed.
        Rounded values then have the same form whatever their ``f``, even if one step of the rounding breaks ties.
        """
        while down:
            odd = [atom for atom, n in terms.items() if n & 1]
            bits = [atom for atom in odd if self.bounds[atom][1] - self.bounds[atom][0] == 1]
            if len(odd) > 1 or bits != odd:
                break
            terms = dict(terms)
            for atom in bits:  # the value of the atom is least + bit; the bit carries if the rest is odd
                least = self.bounds[atom][0]
                rest = constant + terms[atom] * least
                terms[atom] += 1 if rest & 1 else -1
                constant = rest - terms[atom] * least
            terms = {atom: n >> 1 for atom, n in terms.items() if n}
            constant, down = constant >> 1, down - 1
            self.work += len(terms)
        return terms, constant, down

    def _wrapped_to(self, form: Form, kind: FixedType) -> Form:
        """Return ``form``, in units of ``kind``, modulo ``2**width``: the reduced form if it fits, else an atom."""
        width = kind.width
        modulus, half = 1 << width, 1 << width - 1
        waiting, constant, terms = dict(form.terms), form.constant, dict[int, int]()
        while waiting:
            atom, n = waiting.popitem()
            n = (n + half) % modulus - half
            within = self.wrapped.get(atom)
            if within is not None and not (n << within[1]) % modulus:  # the inner wrap changes nothing here
                constant += n * within[0].constant
                for inner, m in within[0].terms.items():
                    waiting[inner] = waiting.get(inner, 0) + n * m + terms.pop(inner, 0)
            elif n:
                terms[atom] = n
        constant = (constant + half) % modulus - half
        if not terms:
            raw = constant % modulus
            return constant_form(raw - modulus if kind.k and raw >= half else raw, kind.f)
        lo, hi = self._bounds_of(constant, terms)
        reduced = Form(kind.f, constant, terms, lo, hi)
        if kind.raw_min <= lo and hi <= kind.raw_max:
            return reduced
        key = ("wrap", kind.k, width, constant, tuple(sorted(terms.items())))
        wrapped = self.atom(key, kind.raw_min, kind.raw_max, kind.f)
        (number,) = wrapped.terms
        self.wrapped[number] = reduced._replace(f=0), width
        return wrapped


def _along(unit: Form, condition: Form) -> bool:
    """Return whether a primitive form is plus or minus the primitive form of ``condition``, so both are 0 together."""
    own, _ = primitive(condition)
    return key_of(unit) in (key_of(own), key_of(negated(own)))
