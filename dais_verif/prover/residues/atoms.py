"""Words of bits as integer combinations of atoms, so that a sum has one form however it is split and computed.

An atom is an integer that is not a combination: a variable, the low bits of a combination, the sign of a combination, a
combination that is masked by a bit, or the result of any other operation. It is identified by its construction.
Truncation, slices and extensions are arithmetic with low bits: bits ``k`` and up of x are ``(x - low_k(x)) / 2**k``, so
a carry that is computed separately cancels. Every rule is an equation of integers, so equal forms are equal values for
all inputs. Forms that differ prove nothing.
"""

from __future__ import annotations

from math import gcd

from dais_verif.prover.form import ZERO, Form, constant_form, key_of, negated
from dais_verif.prover.residues.low_bits import LowBits
from dais_verif.prover.residues.recipes import Low, Masked, Negative

__all__ = ["Atoms"]


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
