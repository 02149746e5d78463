"""Words of bits as integer combinations of atoms, so that a sum has one form however it is split and computed.

An atom is an integer that is not a combination: a variable, the low bits of a combination, the sign of a combination, a
combination that is masked by a bit, or the result of any other operation. It is identified by its construction.
Truncation, slices and extensions are arithmetic with low bits: bits ``k`` and up of x are ``(x - low_k(x)) / 2**k``, so
a carry that is computed separately cancels. Every rule is an equation of integers, so equal forms are equal values for
all inputs. Forms that differ prove nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from math import gcd
from typing import NamedTuple

from dais_verif.prover.arithmetic.combinations import Combinations, TooMuchError, zeros_of
from dais_verif.prover.arithmetic.linear import ZERO, Form, Key, constant_form, key_of, negated
from dais_verif.prover.arithmetic.recipes import Low, Masked, Negative, Other

__all__ = ["Atoms", "LowBits"]


# Low bits of combinations, which express truncation, slices and extensions however they are written.
#
# A floor, a combination minus its own low bits, is recognised among other terms, also where a bit masks it and where
# its low bits are expressed by named atoms.


#: Maximum number of forms with the same low bits that are remembered.
_MOST_TAKEN = 4
#: Maximum number of atoms that are replaced in one residue: masked atoms may alternate between two forms.
_MOST_STEPS = 10_000


class Floored(NamedTuple):
    """A form that equals ``whole`` minus ``taken``, the lowest ``bits`` bits of ``whole``."""

    taken: Form
    whole: Form
    bits: int


class LowBits(Combinations):
    """All atoms so far, and low bits of their combinations."""

    def __init__(self) -> None:
        super().__init__()
        #: Forms with tight bounds, by number of bits and residue.
        self.close_forms: dict[tuple[int, Key], Form] = {}
        #: Origins of low bits: atom -> (n, form, bits), where n * atom equals the low bits of the form.
        self._taken: dict[int, list[tuple[int, Form, int]]] = {}
        #: For the key of a sign, the equal sign that is preferred.
        self.signs: dict[Key, Form] = {}
        #: Low bits expressed by named atoms; for each atom in such an expression: the number of low bits, their form,
        #: and the key of the form to which they belong.
        self._spelled: dict[int, list[tuple[int, Form, Key]]] = {}
        self._zeros: dict[int, int] = {}
        self._low: dict[tuple[int, Key], Form] = {}
        self._residues: dict[tuple[int, int], Form] = {}

    @abstractmethod
    def negative(self, form: Form) -> Form:
        """Return a form that is 1 where ``form`` is negative, else 0."""

    def _zeros_of(self, atom: int) -> int:
        """Return how many low bits of an atom are known to be 0."""
        known = self._zeros.get(atom)
        if known is None:
            recipe, known = self.recipes[atom], 0
            if isinstance(recipe, Masked):
                floored = self.floored(recipe.form) or self.floored(negated(recipe.form))
                known = floored.bits if floored else 0
            self._zeros[atom] = known
        return known

    # bounds

    def close(self, form: Form) -> Form:
        """Return ``form`` with tighter bounds: a value without its low bits is a multiple of a power of two."""
        atoms = sorted((atom for atom in form.terms if atom in self._taken), reverse=True)
        rest, lo, hi = form, 0, 0
        for atom in atoms:
            m = rest.terms.get(atom, 0)
            found: tuple[Form, int, int] | None = None
            for n, whole, bits in self._taken[atom] if m else ():
                if m % n:
                    continue
                q = m // n
                other = self.sum(rest, self.scaled(whole, q), Form(0, 0, {atom: -m}, 0, 0))
                if not other.f and (found is None or len(other.terms) < len(found[0].terms)):
                    edges = [-q * (edge >> bits << bits) for edge in (whole.lo, whole.hi)]
                    found = other, min(edges), max(edges)
            if found is not None:
                rest, lo, hi = found[0], lo + found[1], hi + found[2]
        return form._replace(lo=max(form.lo, rest.lo + lo), hi=min(form.hi, rest.hi + hi))

    # low bits

    def residue(self, form: Form, bits: int) -> Form:
        """Return the canonical form that equals ``form`` modulo ``2**bits``; both have ``f`` 0."""
        waiting = dict(form.terms)
        constant, terms = form.constant, dict[int, int]()
        steps = 0
        while waiting:
            steps += 1
            if steps > _MOST_STEPS:
                raise TooMuchError
            self.worked(1)
            atom, n = waiting.popitem()
            n += terms.pop(atom, 0)
            half = 1 << max(bits - self._zeros_of(atom) - 1, 0)
            n = (n + half) % (2 * half) - half if bits > self._zeros_of(atom) else 0
            if not n:
                continue
            recipe = self.recipes[atom]
            inner = None
            matter = bits - zeros_of(n)
            if isinstance(recipe, Low) and recipe.bits >= matter:
                inner = recipe.form
            elif isinstance(recipe, Masked):
                found = self._masked_residue(atom, recipe, matter)
                inner = None if found.f or found.terms == {atom: 1} else found
            if inner is None:
                terms[atom] = n
                continue
            constant += n * inner.constant
            for other, m in inner.terms.items():
                waiting[other] = waiting.get(other, 0) + n * m
        half = 1 << max(bits - 1, 0)
        constant = (constant + half) % (2 * half) - half if bits else 0
        found = self._gathered(0, constant, dict(terms))
        if found.f:  # a condition may be a form with fractions
            return self._form(0, constant, terms)
        if found.terms.keys() != terms.keys():
            return self.residue(found, bits)
        return found

    def vanishes(self, form: Form, bits: int) -> bool:
        """Return whether ``form`` is proved to be 0 modulo ``2**bits``."""
        rest = self.residue(form._replace(f=0), bits + form.f)
        return not rest.terms and not rest.constant

    def _masked_residue(self, atom: int, recipe: Masked, bits: int) -> Form:
        known = self._residues.get((atom, bits))
        if known is None:
            inner, sign = self._signless(self.residue(recipe.form, bits), bits)
            masked = self.masked_by(recipe.condition, recipe.holds, inner)
            known = self._residues[atom, bits] = self.scaled(masked, sign)
        return known

    def _signless(self, form: Form, bits: int) -> tuple[Form, int]:
        """Return a form shared by a residue modulo ``2**bits`` and its negative, and the sign of ``form``.

        A coefficient that is half of its modulus has no sign.
        """
        half = {atom: 1 << max(bits - self._zeros_of(atom) - 1, 0) for atom in form.terms}
        rest = [atom for atom, n in form.terms.items() if abs(n) != half[atom]]
        sign = -1 if rest and form.terms[min(rest)] < 0 else 1
        terms = {atom: half[atom] if abs(n) == half[atom] else sign * n for atom, n in form.terms.items()}
        constant = abs(form.constant) if abs(form.constant) == 1 << max(bits - 1, 0) else sign * form.constant
        return self._form(0, constant, terms), sign

    def low(self, form: Form, bits: int) -> Form:
        """Return the lowest ``bits`` bits of ``form``: an integer, even if the coefficients are fractions."""
        raw, bits = form._replace(f=0), bits + form.f
        found = self._low_of(raw, bits)
        return self._moved(found, -form.f) if form.f else found

    def _low_of(self, form: Form, bits: int) -> Form:
        if form.lo >= 0 and form.hi >> bits == 0:
            return form
        if len(form.terms) == 1 and not form.constant:
            ((atom, n),) = form.terms.items()
            mask = self.recipes[atom]
            if isinstance(mask, Masked):
                return self.masked_by(mask.condition, mask.holds, self._low_of(self.scaled(mask.form, n), bits))
        form = self.close(form)
        if form.lo >= 0 and form.hi >> bits == 0:
            return form
        rest = self.residue(form, bits)
        if (
            len(rest.terms) == 1
            and not rest.constant
            and (form.constant or rest.terms != form.terms)
            and isinstance(self.recipes[min(rest.terms)], Masked)
        ):
            return self._low_of(rest, bits)
        key = bits, key_of(rest)
        known = self._low.get(key)
        if known is None:
            near = (self._near(x, bits) for x in (form, self.close_forms.get(key, rest), rest))
            known = next((x for x in near if x is not None), None)
            if known is None:
                known = self._low_new(rest, bits)
            self._low[key] = known
        if len(known.terms) == 1 and not known.constant:
            ((atom, n),) = known.terms.items()
            taken = self._taken.setdefault(atom, [])
            if len(taken) < _MOST_TAKEN and (n, form, bits) not in taken:
                taken.append((n, form, bits))
        return known

    def _near(self, form: Form, bits: int) -> Form | None:
        """Return the low bits if all higher bits are constant or copies of a sign; else None."""
        first, last = form.lo >> bits, form.hi >> bits
        if last == first:
            return self.plus(form, -(first << bits))
        if first != -1 or last:
            return None
        return self.sum(form, self.scaled(self.negative(form), 1 << bits))

    def _low_new(self, form: Form, bits: int) -> Form:
        """Return the low bits of a residue for which none are known yet."""
        together = form.constant
        for n in form.terms.values():
            together |= n
        if not together:
            return ZERO
        zeros = zeros_of(together)
        if zeros:
            return self.scaled(self._low_of(_divided(form, zeros), bits - zeros), 1 << zeros)
        split = self._split(form, bits)
        if split is not None:
            return split
        return self.atom(("low", bits, key_of(form)), Low(bits, form), 0, (1 << bits) - 1)

    def _split(self, form: Form, bits: int) -> Form | None:
        """Return the low bits of a form that splits into parts without carries between them; else None."""
        for turned in self._turned(form, bits):
            floored = self.floored(turned)
            if floored is not None and floored.bits <= bits:
                return self.minus(self._low_of(floored.whole, bits), floored.taken)
        for place in sorted({zeros_of(n) for n in form.terms.values()} | ({bits - 1} if form.constant else set())):
            if not place or place >= bits:
                continue
            below = {atom: n for atom, n in form.terms.items() if n & ((1 << place) - 1)}
            lower = self._form(0, form.constant & ((1 << place) - 1), below)
            if below and lower.lo >= 0 and lower.hi >> place == 0:
                above = {atom: n for atom, n in form.terms.items() if atom not in below}
                upper = self._form(0, form.constant >> place << place, above)
                return self.sum(lower, self._low_of(upper, bits))
        return None

    def _turned(self, form: Form, bits: int) -> Iterator[Form]:
        """Yield ``form``, and equal forms modulo ``2**bits`` in which a subtracted atom is added instead."""
        yield form
        for atom, n in form.terms.items():
            if n == -1 and isinstance(self.recipes[atom], Masked) and self._zeros_of(atom) == bits - 1:
                yield self._form(0, form.constant, {**form.terms, atom: 1})

    def floored(self, form: Form) -> Floored | None:
        """Split ``form`` into a whole value minus as many of its low bits as possible; None if that cannot be done."""
        found: Floored | None = None
        for atom, n in form.terms.items():
            recipe = self.recipes[atom]
            if isinstance(recipe, Masked) and abs(n) == 1:
                inner = self.floored(self.scaled(recipe.form, n))
                if inner is not None and (found is None or inner.bits > found.bits):
                    taken = self.masked_by(recipe.condition, recipe.holds, inner.taken)
                    whole = self.sum(form, taken)
                    if not whole.f and not taken.f and key_of(self._low_of(whole, inner.bits)) == key_of(taken):
                        found = Floored(taken, whole, inner.bits)
            if not isinstance(recipe, Low):
                continue
            own = [(recipe.bits, Form(0, 0, {atom: 1}, *self.bounds[atom]), key_of(recipe.form))] if n == -1 else []
            for bits, low, key in (*own, *self._spelled.get(atom, ())):
                if found is None or bits > found.bits:
                    whole = self.sum(form, low)
                    if not whole.f and key_of(self.residue(whole, bits)) == key:
                        found = Floored(low, whole, bits)
        return found

    def name(self, what: Hashable, form: Form, lo: int, hi: int, bits: int) -> Form:
        """Make an atom for ``form``, of ``bits`` bits, and express related low bits and signs by this atom."""
        named = self.other(what, (form,), lo, hi)
        raw, down = form._replace(f=0), form.f
        for whole_of in (raw, self.residue(raw, bits + down)):
            floored = self.floored(whole_of)
            if floored is None or not named.terms or floored.bits != down:
                continue
            whole = floored.whole
            if whole_of is raw:
                self.signs.setdefault(key_of(self.negative(whole)), self.negative(named))
                if all(isinstance(self.recipes[atom], Other) for atom in whole.terms):
                    # From here on, low bits are the sum minus its named floor, so a floor in any sum becomes its name.
                    taken = self.minus(whole, self.scaled(named, 1 << down))._replace(lo=0, hi=(1 << down) - 1)
                    self._low[down, key_of(self.residue(whole, down))] = taken
            taken = self._low.get((down, key_of(self.residue(whole, down))), floored.taken)
            for more in range(1, bits + 1):
                key = key_of(self.residue(whole, down + more))
                low = self.sum(taken, self.scaled(self.low(named, more), 1 << down))
                self._low[down + more, key] = low
                for atom in low.terms:
                    if atom not in floored.taken.terms:
                        self._spelled.setdefault(atom, []).append((down + more, low, key))
        return named


def _divided(form: Form, zeros: int) -> Form:
    terms = {atom: n >> zeros for atom, n in form.terms.items()}
    return Form(0, form.constant >> zeros, terms, form.lo >> zeros, form.hi >> zeros)


# Words of bits as integer combinations of atoms, so that a sum has one form however it is split and computed.


class Atoms(LowBits):
    """All atoms so far, and the operations on words that may add atoms."""

    # readings of words

    def _alike(self, form: Form, bits: int) -> list[Form]:
        """Return forms equal to ``form`` modulo ``2**bits``: one with tight bounds, if known, and the canonical one."""
        rest = self.residue(form._replace(f=0), bits + form.f)
        known = self.close_forms.get((bits + form.f, key_of(rest)))
        return [self._moved(x, -form.f) for x in (known, rest) if x is not None]

    def _closed(self, form: Form) -> Form:
        found = self.close(form._replace(f=0))
        return found._replace(f=form.f)

    def normal(self, form: Form, bits: int) -> Form:
        """Return a form that is the same for all forms recognised as equal modulo ``2**bits``."""
        return self._alike(form, bits)[0]

    def learn(self, form: Form, bits: int) -> None:
        """Record ``form``, which has tight bounds, as the preferred form of its residue modulo ``2**bits``."""
        raw, bits = form._replace(f=0), bits + form.f
        self.close_forms.setdefault((bits, key_of(self.residue(raw, bits))), raw)

    def signed(self, form: Form, bits: int) -> Form:
        """Return the lowest ``bits`` bits of ``form`` as a two's complement number."""
        half = 1 << (bits - 1) + form.f
        if -half <= form.lo and form.hi < half:
            return form
        for rest in (form, *self._alike(form, bits)):
            rest = self._closed(rest)
            half = 1 << (bits - 1) + rest.f
            if -half <= rest.lo and rest.hi < half:
                return rest
        floored = self.floored(form._replace(f=0))
        if floored is not None and floored.bits < bits + form.f:
            whole = self.signed(floored.whole, bits + form.f)
            return self._moved(self.minus(whole, floored.taken), -form.f)
        return self.minus(self.scaled(self.low(form, bits - 1), 2), self.low(form, bits))

    def shifted_down(self, form: Form, shift: int) -> Form:
        """Return ``form`` without its lowest ``shift`` bits, divided by ``2**shift``."""
        return self._moved(self.minus(form, self.low(form, shift)), -shift) if shift else form

    # decisions

    def negative(self, form: Form) -> Form:
        """Return a form that is 1 where ``form`` is negative, else 0."""
        form = self.close(form._replace(f=0))
        if form.hi < 0 or form.lo >= 0:
            return constant_form(int(form.hi < 0), 0)
        floored = self.floored(form)
        if floored is not None:
            return self.negative(floored.whole)
        factor = gcd(*form.terms.values())
        terms = {atom: n // factor for atom, n in form.terms.items()}
        form = self._form(0, form.constant // factor, terms)
        if form.hi < 0 or form.lo >= 0:
            return constant_form(int(form.hi < 0), 0)
        if terms[min(terms)] < 0:
            return self.plus(negated(self.negative(self.plus(negated(form), -1))), 1)
        if len(terms) == 1 and self.bounds[min(terms)] == (0, 1):
            return self.plus(negated(Form(0, 0, terms, 0, 1)), 1)  # bit - 1 is negative where the bit is 0
        found = self.atom(("negative", key_of(form)), Negative(form), 0, 1)
        return self.signs.get(key_of(found), found)

    def _condition(self, bit: Form) -> tuple[int, bool]:
        """Return the number of the condition for ``bit``, which is not constant, or for its inverse.

        The second result is True if the condition is ``bit`` itself.
        """
        holds = bit.terms[min(bit.terms)] > 0
        bit = bit if holds else self.plus(negated(bit), 1)
        number = self._condition_of.setdefault(key_of(bit), len(self.conditions))
        if number == len(self.conditions):
            self.conditions.append(bit)
            if len(bit.terms) == 1 and not bit.constant and not bit.f and min(bit.terms.values()) == 1:
                self._as_condition[min(bit.terms)] = number
        return number, holds

    def masked(self, bit: Form, form: Form) -> Form:
        """Return ``form`` where ``bit`` is 1, else 0."""
        if not bit.terms:
            return form if bit.constant else ZERO
        return self.masked_by(*self._condition(bit), form)

    def masked_by(self, condition: int, holds: bool, form: Form) -> Form:
        """Return ``form`` where ``condition`` equals ``holds``, else 0."""
        form = self._assuming(condition, holds, form)
        if not form.terms:
            bit = self.conditions[condition]
            return self._moved(self.scaled(bit if holds else self.plus(negated(bit), 1), form.constant), -form.f)
        factor = gcd(form.constant, *form.terms.values())
        factor = -factor if form.terms[min(form.terms)] < 0 else factor
        unit = self._form(0, form.constant // factor, {atom: n // factor for atom, n in form.terms.items()})
        if len(unit.terms) == 1 and not unit.constant:
            ((atom, _),) = unit.terms.items()
            recipe = self.recipes[atom]
            if isinstance(recipe, Masked) and recipe.condition == condition:
                return form if recipe.holds == holds else ZERO
        lo, hi = self._bounds_where(condition, holds, unit)
        if lo > hi:
            return ZERO
        key = ("masked", condition, holds, key_of(unit))
        masked = self.atom(key, Masked(condition, holds, unit), min(0, lo), max(0, hi))
        return self._moved(self.scaled(masked, factor), -form.f)

    def _sign(self, condition: int) -> Form | None:
        """Return the form that is negative exactly where ``condition`` is 1; None if there is none."""
        bit = self.conditions[condition]
        if bit.constant or len(bit.terms) != 1 or bit.f:
            return None
        ((atom, n),) = bit.terms.items()
        recipe = self.recipes[atom]
        return recipe.form if n == 1 and isinstance(recipe, Negative) else None

    def _bounds_where(self, condition: int, holds: bool, form: Form) -> tuple[int, int]:
        """Return bounds of ``form`` where ``condition`` equals ``holds``; tight if it is the sign of a related form."""
        for turned in (False, True):
            whole = negated(form) if turned else form
            floored = self.floored(whole)
            if floored is None:
                continue
            lo, hi = (
                edge >> floored.bits << floored.bits for edge in self._whole_bounds(condition, holds, floored.whole)
            )
            return (-hi, -lo) if turned else (lo, hi)
        return self._whole_bounds(condition, holds, form)

    def _whole_bounds(self, condition: int, holds: bool, form: Form) -> tuple[int, int]:
        lo, hi = form.lo, form.hi
        sign = self._sign(condition)
        if sign is None:
            return lo, hi
        atom = min(sign.terms)
        n, rest = divmod(form.terms.get(atom, 0), sign.terms[atom])
        offset = self.minus(form, self.scaled(sign, n))
        if rest or not n or offset.terms or offset.f:
            return lo, hi
        edge = offset.constant - n if holds else offset.constant  # form = n * sign + offset; sign <= -1, or sign >= 0
        return (lo, min(hi, edge)) if (n > 0) == holds else (max(lo, edge), hi)

    def _assuming(self, condition: int, holds: bool, form: Form) -> Form:
        """Return a form that equals ``form`` where ``condition`` equals ``holds``."""
        bit = self.conditions[condition]
        if len(bit.terms) == 1 and not bit.constant and not bit.f:
            ((atom, n),) = bit.terms.items()
            if n == 1 and atom in form.terms:
                terms = dict(form.terms)
                n = terms.pop(atom)
                constant = form.constant + (n if holds else 0)
                form = self._form(form.f, constant, terms)
        sign = self._sign(condition)
        if sign is None:
            return form
        for atom, n in form.terms.items():
            recipe = self.recipes[atom]
            if not isinstance(recipe, Low) or atom in sign.terms:  # replacing such an atom would bring it back
                continue
            lo, hi = (sign.lo, -1) if holds else (0, sign.hi)
            first = lo >> recipe.bits
            if first == hi >> recipe.bits and key_of(self.residue(sign, recipe.bits)) == key_of(recipe.form):
                rest = {other: m for other, m in form.terms.items() if other != atom}
                inside = self.plus(sign, -(first << recipe.bits))
                inside = self._moved(self.scaled(inside, n), -form.f)
                return self._assuming(condition, holds, self.sum(self._form(form.f, form.constant, rest), inside))
        return form
