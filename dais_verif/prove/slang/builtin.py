"""System functions that compute from their arguments."""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.prove.terms import Term, add, band, bnot, const, eq, extract, ite, nonzero, resize, ult

__all__ = ["BUILTIN"]


def _count(t: Term, width: int) -> Term:
    bits = [resize(extract(t, bit, 1), width, False) for bit in range(t.width)]
    while len(bits) > 1:
        bits = [add(*bits[n : n + 2]) if n + 1 < len(bits) else bits[n] for n in range(0, len(bits), 2)]
    return bits[0]


def _at_most_one(t: Term, width: int) -> Term:
    return resize(eq(band(t, add(t, const(t.width, -1))), const(t.width, 0)), width, False)


def _one(t: Term, width: int) -> Term:
    return resize(band(nonzero(t), _at_most_one(t, 1)), width, False)


def _digits(t: Term, width: int) -> Term:
    """How many bits it takes to count to ``t``: 0 for 0 and for 1."""
    found = const(width, t.width)
    for bits in range(t.width - 1, -1, -1):
        found = ite(bnot(ult(const(t.width, 1 << bits), t)), const(width, bits), found)
    return found


#: The value of each, of so many bits.
BUILTIN: dict[str, Callable[[Term, int], Term]] = {
    "$countones": _count,
    "$onehot": _one,
    "$onehot0": _at_most_one,
    "$clog2": _digits,
}
