"""Integer combinations of atoms, with a point and bounds: their arithmetic, exact, and what is compared of them."""

from __future__ import annotations

from math import gcd
from typing import Final, NamedTuple

__all__ = [
    "ZERO",
    "Form",
    "Key",
    "constant_form",
    "key_of",
    "negated",
    "on_grid",
    "primitive",
    "raw_of",
    "shifted",
    "times",
]


class Form(NamedTuple):
    """The value ``2**-f * (constant + sum of coefficient * atom)``, and the least and largest that it can be, raw."""

    f: int
    constant: int
    terms: dict[int, int]
    lo: int
    hi: int


#: A form as it is compared: no common factor 2, terms sorted by atom.
Key = tuple[int, int, tuple[tuple[int, int], ...]]

ZERO: Final = Form(0, 0, {}, 0, 0)


def key_of(form: Form) -> Key:
    """Return what is the same for two forms if they are the same combination, on whatever grids."""
    together = form.constant
    for n in form.terms.values():
        together |= n
    if not together:
        return 0, 0, ()
    zeros = (together & -together).bit_length() - 1
    return form.f - zeros, form.constant >> zeros, tuple(sorted((atom, n >> zeros) for atom, n in form.terms.items()))


def constant_form(value: int, f: int) -> Form:
    """Return ``value * 2**-f``."""
    return Form(f, value, {}, value, value)


def raw_of(form: Form, f: int) -> int:
    """Return a constant, which is a multiple of ``2**-f``, in such units."""
    return form.constant << f - form.f if f >= form.f else form.constant >> form.f - f


def on_grid(form: Form, f: int) -> Form:
    """Return the same value in units of ``2**-f``, which is no coarser."""
    up = f - form.f
    if not up:
        return form
    terms = {atom: n << up for atom, n in form.terms.items()}
    return Form(f, form.constant << up, terms, form.lo << up, form.hi << up)


def negated(form: Form) -> Form:
    """Minus ``form``."""
    terms = {atom: -n for atom, n in form.terms.items()}
    return Form(form.f, -form.constant, terms, -form.hi, -form.lo)


def shifted(form: Form, shift: int, *, negative: bool = False) -> Form:
    """Return ``form`` times ``2**shift``."""
    form = negated(form) if negative else form
    return form._replace(f=form.f - shift) if shift else form


def times(form: Form, factor: int, f: int) -> Form:
    """Return ``form`` times the constant ``factor * 2**-f``."""
    if not factor:
        return ZERO
    lo, hi = sorted((form.lo * factor, form.hi * factor))
    terms = {atom: n * factor for atom, n in form.terms.items()}
    return Form(form.f + f, form.constant * factor, terms, lo, hi)


def primitive(form: Form) -> tuple[Form, int]:
    """Return the raw value of ``form`` divided by the largest integer that divides it, and that integer."""
    factor = gcd(form.constant, *form.terms.values()) or 1
    terms = {atom: n // factor for atom, n in form.terms.items()}
    return Form(0, form.constant // factor, terms, -(-form.lo // factor), form.hi // factor), factor
