"""Operations on bits, and shifts by variable amounts."""

from __future__ import annotations

from dais_verif.prover.terms.arithmetic import bnot
from dais_verif.prover.terms.node import BUILD, MODE, Term, commuted, const, make, misfit, ones, varies
from dais_verif.prover.terms.parts import concat, extract, sext, zext

__all__ = ["ashr", "band", "bor", "bxor", "lshr", "shl"]


def _runs(mask: int, width: int) -> list[tuple[int, int, int]]:
    """Return runs of equal bits of ``mask``, most significant first: (low bit, length, bit)."""
    runs, low = [], 0
    while low < width:
        bit = mask >> low & 1
        rest = (mask >> low) ^ (-bit & ones(width - low))
        length = min((rest & -rest).bit_length() - 1, width - low) if rest else width - low
        runs.append((low, length, bit))
        low += length
    return runs[::-1]


def band(a: Term, b: Term) -> Term:
    """Return the AND of two terms, bit by bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("and", a.width, (a, b))
    a, b = commuted(a, b)
    if a is b:
        return a
    if b.op == "const":
        pieces = [extract(a, low, n) if bit else const(n, 0) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return make("and", a.width, (a, b))


def bor(a: Term, b: Term) -> Term:
    """Return the OR of two terms, bit by bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("or", a.width, (a, b))
    a, b = commuted(a, b)
    if a is b:
        return a
    if b.op == "const":
        pieces = [const(n, -1) if bit else extract(a, low, n) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return make("or", a.width, (a, b))


def bxor(a: Term, b: Term) -> Term:
    """Return the XOR of two terms, bit by bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("xor", a.width, (a, b))
    a, b = commuted(a, b)
    if a is b:
        return const(a.width, 0)
    if b.op == "const":
        pieces = [bnot(extract(a, low, n)) if bit else extract(a, low, n) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return make("xor", a.width, (a, b))


def shl(a: Term, b: Term) -> Term:
    """Shift ``a`` left by the unsigned value of ``b``; shift in zeros."""
    if MODE.literal and varies(a, b):
        return make("shl", a.width, (a, b))
    if b.op == "const":
        n = min(b.value, a.width)
        return const(a.width, 0) if n == a.width else concat(extract(a, 0, a.width - n), *_zeros(n))
    return make("shl", a.width, (a, b))


def lshr(a: Term, b: Term) -> Term:
    """Shift ``a`` right by the unsigned value of ``b``; shift in zeros."""
    if MODE.literal and varies(a, b):
        return make("lshr", a.width, (a, b))
    if b.op == "const":
        n = min(b.value, a.width)
        return const(a.width, 0) if n == a.width else zext(extract(a, n, a.width - n), a.width)
    return make("lshr", a.width, (a, b))


def ashr(a: Term, b: Term) -> Term:
    """Shift ``a`` right by the unsigned value of ``b``; shift in copies of its top bit."""
    if MODE.literal and varies(a, b):
        return make("ashr", a.width, (a, b))
    if b.op == "const":
        n = min(b.value, a.width - 1)
        return sext(extract(a, n, a.width - n), a.width)
    return make("ashr", a.width, (a, b))


def _zeros(n: int) -> list[Term]:
    return [const(n, 0)] if n else []


BUILD.update(
    {
        "and": lambda w, args, data: band(*args),
        "or": lambda w, args, data: bor(*args),
        "xor": lambda w, args, data: bxor(*args),
        "shl": lambda w, args, data: shl(*args),
        "lshr": lambda w, args, data: lshr(*args),
        "ashr": lambda w, args, data: ashr(*args),
    }
)
