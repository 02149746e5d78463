"""Words of bits as integer combinations of atoms, so that a sum is one form in whatever pieces it is computed.

An atom is an integer that no combination is: a variable, the low bits of a combination, whether one is below 0, a
combination where a bit is 1, or the result of any other operation, known by what it is made of. What truncates,
slices and extends is arithmetic with low bits: bits ``k`` and on of x are ``(x - low_k(x)) / 2**k``, and a carry that
is computed apart cancels. Every rule is an equation of integers, so equal forms are equal values, for all inputs;
forms that differ say nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import gcd

from dais_verif.prover.form import ZERO, Form, Key, constant_form, key_of, negated
from dais_verif.prover.residues.combinations import Combinations, TooMuchError, zeros_of
from dais_verif.prover.residues.recipes import Low, Masked, Negative

__all__ = ["Atoms"]

#: Forms that the same low bits were taken of, as far as they are remembered.
_MOST_TAKEN = 4
#: Atoms that are replaced in one residue, at most: what is masked may be brought to and fro between two forms.
_MOST_STEPS = 10_000


class Atoms(Combinations):
    """The atoms so far, and what is made of words with them."""

    def __init__(self) -> None:
        super().__init__()
        #: Forms with close bounds, by what they are modulo a power of two.
        self._close: dict[tuple[int, Key], Form] = {}
        #: What the low bits were taken of: atom -> (n, form, bits), where n * atom are the low bits of the form.
        self._taken: dict[int, list[tuple[int, Form, int]]] = {}
        #: Whether forms are below 0, as others say it that are so in the same places.
        self._signs: dict[Key, Form] = {}
        self._zeros: dict[int, int] = {}
        self._low: dict[tuple[int, Key], Form] = {}
        self._residues: dict[tuple[int, int], Form] = {}

    def _zeros_of(self, atom: int) -> int:
        """How many low bits of an atom are 0, as far as that is known."""
        known = self._zeros.get(atom)
        if known is None:
            recipe, known = self.recipes[atom], 0
            if isinstance(recipe, Masked):
                floored = self._floored(recipe.form) or self._floored(negated(recipe.form))
                low = self.recipes[min(floored[0].terms)] if floored else None
                known = low.bits if isinstance(low, Low) else 0
            self._zeros[atom] = known
        return known

    # bounds

    def close(self, form: Form) -> Form:
        """``form`` with closer bounds: what is left of a value without its low bits is a multiple of their weight."""
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
        """Return the canonical form that is ``form`` modulo ``2**bits``; both are combinations of integers alone."""
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
        if found.f:  # of a bit that is written with fractions
            return self._form(0, constant, terms)
        if found.terms.keys() != terms.keys():
            return self.residue(found, bits)
        return found

    def vanishes(self, form: Form, bits: int) -> bool:
        """Whether ``form`` is shown to be 0 modulo ``2**bits``."""
        rest = self.residue(form._replace(f=0), bits + form.f)
        return not rest.terms and not rest.constant

    def _masked_residue(self, atom: int, recipe: Masked, bits: int) -> Form:
        known = self._residues.get((atom, bits))
        if known is None:
            inner = self.residue(recipe.form, bits)
            known = self._residues[atom, bits] = self.masked_by(recipe.condition, recipe.holds, inner)
        return known

    def low(self, form: Form, bits: int) -> Form:
        """Return the lowest ``bits`` bits of ``form``, an integer that may be written with fractions."""
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
            and rest.terms != form.terms
            and isinstance(self.recipes[min(rest.terms)], Masked)
        ):
            return self._low_of(rest, bits)
        key = bits, key_of(rest)
        known = self._low.get(key)
        if known is None:
            near = (self._near(x, bits) for x in (form, self._close.get(key, rest), rest))
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
        """Return the low bits where all above are equal, for any value, or copies of a sign."""
        first, last = form.lo >> bits, form.hi >> bits
        if last == first:
            return self.plus(form, -(first << bits))
        if first != -1 or last:
            return None
        return self.sum(form, self.scaled(self.negative(form), 1 << bits))

    def _low_new(self, form: Form, bits: int) -> Form:
        """Return the same of a residue."""
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
        """Return the low bits of a form, some of whose terms never reach those of the others, or are their low bits."""
        floored = self._floored(form)
        if floored is not None:
            taken, whole = floored  # form = whole - taken
            return self.minus(self._low_of(whole, bits), taken)
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

    def _floored(self, form: Form) -> tuple[Form, Form] | None:
        """Return some low bits and a form, if ``form`` is that form less its own low bits."""
        for atom, n in form.terms.items():
            recipe = self.recipes[atom]
            if n == -1 and isinstance(recipe, Low):
                taken = Form(0, 0, {atom: 1}, *self.bounds[atom])
                whole = self.sum(form, taken)
                if not whole.f and key_of(self.residue(whole, recipe.bits)) == key_of(recipe.form):
                    return taken, whole
        return None

    def name(self, what: Hashable, form: Form, lo: int, hi: int, bits: int) -> Form:
        """Make an atom for ``form``, of ``bits`` bits; what shares low bits or a sign is said in terms of it."""
        named = self.other(what, (form,), lo, hi)
        raw, down = form._replace(f=0), form.f
        for whole_of in (raw, self.residue(raw, bits + down)):
            floored = self._floored(whole_of)
            if floored is None or not named.terms:
                continue
            taken, whole = floored
            low = self.recipes[min(taken.terms)]
            if not isinstance(low, Low) or low.bits != down:
                continue
            if whole_of is raw:
                self._signs.setdefault(key_of(self.negative(whole)), self.negative(named))
            for more in range(1, bits):
                key = down + more, key_of(self.residue(whole, down + more))
                self._low[key] = self.sum(taken, self.scaled(self.low(named, more), 1 << down))
        return named

    # readings of words

    def _alike(self, form: Form, bits: int) -> list[Form]:
        """Forms that are ``form`` modulo ``2**bits``: one with close bounds, if it is known, and the canonical one."""
        rest = self.residue(form._replace(f=0), bits + form.f)
        known = self._close.get((bits + form.f, key_of(rest)))
        return [self._moved(x, -form.f) for x in (known, rest) if x is not None]

    def _closed(self, form: Form) -> Form:
        found = self.close(form._replace(f=0))
        return found._replace(f=form.f)

    def normal(self, form: Form, bits: int) -> Form:
        """Return the same form for all that are equal modulo ``2**bits``, as far as that is seen."""
        return self._alike(form, bits)[0]

    def learn(self, form: Form, bits: int) -> None:
        """Let what is ``form`` modulo ``2**bits`` be known by it: its bounds are close."""
        raw, bits = form._replace(f=0), bits + form.f
        self._close.setdefault((bits, key_of(self.residue(raw, bits))), raw)

    def signed(self, form: Form, bits: int) -> Form:
        """Return the number that the lowest ``bits`` bits of ``form`` are in two's complement."""
        half = 1 << (bits - 1) + form.f
        if -half <= form.lo and form.hi < half:
            return form
        for rest in (form, *self._alike(form, bits)):
            rest = self._closed(rest)
            half = 1 << (bits - 1) + rest.f
            if -half <= rest.lo and rest.hi < half:
                return rest
        return self.minus(self.scaled(self.low(form, bits - 1), 2), self.low(form, bits))

    def shifted_down(self, form: Form, shift: int) -> Form:
        """``form`` without its lowest ``shift`` bits."""
        return self._moved(self.minus(form, self.low(form, shift)), -shift) if shift else form

    # decisions

    def negative(self, form: Form) -> Form:
        """Whether ``form`` is below 0."""
        form = self.close(form._replace(f=0))
        if form.hi < 0 or form.lo >= 0:
            return constant_form(int(form.hi < 0), 0)
        floored = self._floored(form)
        if floored is not None:
            return self.negative(floored[1])
        factor = gcd(*form.terms.values())
        terms = {atom: n // factor for atom, n in form.terms.items()}
        form = self._form(0, form.constant // factor, terms)
        if form.hi < 0 or form.lo >= 0:
            return constant_form(int(form.hi < 0), 0)
        if terms[min(terms)] < 0:
            return self.plus(negated(self.negative(self.plus(negated(form), -1))), 1)
        if len(terms) == 1 and self.bounds[min(terms)] == (0, 1):
            return self.plus(negated(Form(0, 0, terms, 0, 1)), 1)  # bit - 1, and never bit
        found = self.atom(("negative", key_of(form)), Negative(form), 0, 1)
        return self._signs.get(key_of(found), found)

    def _condition(self, bit: Form) -> tuple[int, bool]:
        """Return the number of a bit that is no constant, or of its inverse; and whether it is 1 where ``bit`` is."""
        holds = bit.terms[min(bit.terms)] > 0
        bit = bit if holds else self.plus(negated(bit), 1)
        number = self._condition_of.setdefault(key_of(bit), len(self.conditions))
        if number == len(self.conditions):
            self.conditions.append(bit)
            if len(bit.terms) == 1 and not bit.constant and not bit.f and min(bit.terms.values()) == 1:
                self._as_condition[min(bit.terms)] = number
        return number, holds

    def masked(self, bit: Form, form: Form) -> Form:
        """``form`` where ``bit`` is 1, else 0."""
        if not bit.terms:
            return form if bit.constant else ZERO
        return self.masked_by(*self._condition(bit), form)

    def masked_by(self, condition: int, holds: bool, form: Form) -> Form:
        """``form`` where ``condition`` is ``holds``, else 0."""
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
        """Return the form that is below 0 exactly where ``condition`` is 1, if there is one."""
        bit = self.conditions[condition]
        if bit.constant or len(bit.terms) != 1 or bit.f:
            return None
        ((atom, n),) = bit.terms.items()
        recipe = self.recipes[atom]
        return recipe.form if n == 1 and isinstance(recipe, Negative) else None

    def _bounds_where(self, condition: int, holds: bool, form: Form) -> tuple[int, int]:
        """Bounds of ``form`` where a condition holds; the condition says most of what it is the sign of."""
        for turned in (False, True):
            whole = negated(form) if turned else form
            floored = self._floored(whole)
            if floored is None:
                continue
            low = self.recipes[min(floored[0].terms)]
            assert isinstance(low, Low)
            lo, hi = (edge >> low.bits << low.bits for edge in self._whole_bounds(condition, holds, floored[1]))
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
        """Return what is equal to ``form`` where a condition holds."""
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
            if not isinstance(recipe, Low) or atom in sign.terms:  # which would bring it back
                continue
            lo, hi = (sign.lo, -1) if holds else (0, sign.hi)
            first = lo >> recipe.bits
            if first == hi >> recipe.bits and key_of(self.residue(sign, recipe.bits)) == key_of(recipe.form):
                rest = {other: m for other, m in form.terms.items() if other != atom}
                inside = self.plus(sign, -(first << recipe.bits))
                inside = self._moved(self.scaled(inside, n), -form.f)
                return self._assuming(condition, holds, self.sum(self._form(form.f, form.constant, rest), inside))
        return form


def _divided(form: Form, zeros: int) -> Form:
    terms = {atom: n >> zeros for atom, n in form.terms.items()}
    return Form(0, form.constant >> zeros, terms, form.lo >> zeros, form.hi >> zeros)
