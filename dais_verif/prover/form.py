"""Integer combinations of atoms with a binary point and bounds: exact arithmetic, and keys to compare them."""

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
    """The value ``2**-f * (constant + sum of coefficient * atom)``.

    ``terms``: the coefficient of each atom. ``lo``, ``hi``: bounds of the raw value, which is the value times ``2**f``.
    """

    f: int
    constant: int
    terms: dict[int, int]
    lo: int
    hi: int


#: The normalised form that is compared: no common factor 2, terms sorted by atom.
Key = tuple[int, int, tuple[tuple[int, int], ...]]

ZERO: Final = Form(0, 0, {}, 0, 0)


def key_of(form: Form) -> Key:
    """Return a key that is equal for two forms if they are the same combination, even with different ``f``."""
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
    """Return the value of a constant form in units of ``2**-f``; it must be a multiple of this unit."""
    return form.constant << f - form.f if f >= form.f else form.constant >> form.f - f


def on_grid(form: Form, f: int) -> Form:
    """Return the same value in units of ``2**-f``; ``f`` must not be less than ``form.f``."""
    up = f - form.f
    if not up:
        return form
    terms = {atom: n << up for atom, n in form.terms.items()}
    return Form(f, form.constant << up, terms, form.lo << up, form.hi << up)


def negated(form: Form) -> Form:
    """Return minus ``form``."""
    terms = {atom: -n for atom, n in form.terms.items()}
    return Form(form.f, -form.constant, terms, -form.hi, -form.lo)


def shifted(form: Form, shift: int, *, negative: bool = False) -> Form:
    """Return ``form`` times ``2**shift``, negated if ``negative``."""
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
    """Return the raw value of ``form`` divided by the gcd of its constant and coefficients, and that gcd."""
    factor = gcd(form.constant, *form.terms.values()) or 1
    terms = {atom: n // factor for atom, n in form.terms.items()}
    return Form(0, form.constant // factor, terms, -(-form.lo // factor), form.hi // factor), factor
