"""Integer combinations of atoms: sums in which all terms masked by the same bit are combined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable

from dais_verif.prover.arithmetic.linear import Form, Key, constant_form, key_of, negated, on_grid, times
from dais_verif.prover.arithmetic.recipes import Masked, Other, Recipe

__all__ = ["Combinations", "TooMuchError", "zeros_of"]

#: Maximum number of terms that are added or examined: some twenty seconds of work.
_MOST_WORK = 1 << 24


class TooMuchError(Exception):
    """The forms grow too large to be useful; usually the two sides have no atoms in common."""


def zeros_of(n: int) -> int:
    """Return the number of trailing zeros of ``n``, which must not be 0."""
    return (n & -n).bit_length() - 1


class Combinations(ABC):
    """All atoms so far. ``recipes``: the construction of each atom. ``bounds``: the least and largest value of each."""

    def __init__(self) -> None:
        self.recipes: list[Recipe] = []
        self.bounds: list[tuple[int, int]] = []
        #: The bits of masks, as forms that are 0 or 1.
        self.conditions: list[Form] = []
        self._work = 0
        self._numbers: dict[Hashable, int] = {}
        self._condition_of: dict[Key, int] = {}
        #: For atoms that are conditions themselves, the number of the condition.
        self._as_condition: dict[int, int] = {}

    @abstractmethod
    def masked_by(self, condition: int, holds: bool, form: Form) -> Form:
        """Return ``form`` where ``condition`` equals ``holds``, else 0."""

    def atom(self, key: Hashable, recipe: Recipe, lo: int, hi: int) -> Form:
        """Return the atom with identity ``key``; a new one, an integer in ``lo .. hi``, if there is none yet."""
        if lo == hi:
            return constant_form(lo, 0)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.bounds)
            self.bounds.append((lo, hi))
            self.recipes.append(recipe)
        return Form(0, 0, {number: 1}, *self.bounds[number])

    def other(self, what: Hashable, of: tuple[Form, ...], lo: int, hi: int) -> Form:
        """Return an atom for a value to which no rule applies: the result of operation ``what`` on ``of``."""
        return self.atom(("other", what, *map(key_of, of)), Other(what, of), lo, hi)

    def worked(self, steps: int) -> None:
        """Count ``steps`` of work. Raises ``TooMuchError`` above the limit."""
        self._work += steps
        if self._work > _MOST_WORK:
            raise TooMuchError

    # sums

    def sum(self, *parts: Form) -> Form:
        """Return the sum; terms that are masked by the same bit are combined."""
        self.worked(len(parts))
        f = max(part.f for part in parts)
        constant, terms = 0, dict[int, int]()
        for part in parts:
            up = f - part.f
            constant += part.constant << up
            self._work += len(part.terms)
            for atom, n in part.terms.items():
                total = terms.get(atom, 0) + (n << up)
                if total:
                    terms[atom] = total
                else:
                    del terms[atom]
        return self._gathered(f, constant, terms)

    def _form(self, f: int, constant: int, terms: dict[int, int]) -> Form:
        lo = hi = constant
        for atom, n in terms.items():
            least, most = self.bounds[atom]
            lo += n * (least if n > 0 else most)
            hi += n * (most if n > 0 else least)
        if f and not constant & 1:
            together = constant
            for n in terms.values():
                together |= n
            down = min(zeros_of(together), f) if together else f
            if down:
                terms = {atom: n >> down for atom, n in terms.items()}
                return Form(f - down, constant >> down, terms, lo >> down, hi >> down)
        return Form(f, constant, terms, lo, hi)

    def _gathered(self, f: int, constant: int, terms: dict[int, int]) -> Form:
        """Return the form of ``terms``, with at most one masked atom for each value of each condition."""
        recipes = self.recipes
        masks: dict[tuple[int, bool], list[int]] = {}
        for atom in terms:
            recipe = recipes[atom]
            if isinstance(recipe, Masked):
                masks.setdefault(recipe[:2], []).append(atom)
        if not masks:
            return self._form(f, constant, terms)
        bits = {condition: atom for atom in terms if (condition := self._as_condition.get(atom)) is not None}
        again: list[Form] = []
        for (condition, holds), atoms in masks.items():
            bit = bits.get(condition)
            if bit is not None and bit not in terms:
                bit = None
            if len(atoms) == 1 and bit is None:
                continue
            inner = [times(recipes[atom].form, terms.pop(atom), 0) for atom in atoms]  # type: ignore[union-attr]
            if bit is not None:
                n = terms.pop(bit)
                inner.append(constant_form(n if holds else -n, 0))
                constant += 0 if holds else n
            again.append(self.masked_by(condition, holds, self.sum(*inner)))
        if not again:
            return self._form(f, constant, terms)
        rest = self._form(0, constant, terms)
        return self._moved(self.sum(rest, *again), -f)

    def _moved(self, form: Form, shift: int) -> Form:
        """Return ``form`` times ``2**shift``, with the smallest possible ``f``."""
        return (
            self._form(form.f - shift, form.constant, form.terms)
            if form.f >= shift
            else on_grid(form._replace(f=form.f - shift), 0)
        )

    def plus(self, form: Form, n: int) -> Form:
        """Return ``form + n``."""
        up = n << form.f
        return Form(form.f, form.constant + up, form.terms, form.lo + up, form.hi + up)

    def scaled(self, form: Form, n: int) -> Form:
        """Return ``n * form``."""
        found = times(form, n, 0)
        return self._form(found.f, found.constant, found.terms) if found.f else found

    def minus(self, a: Form, b: Form) -> Form:
        """Return ``a - b``."""
        return self.sum(a, negated(b))
