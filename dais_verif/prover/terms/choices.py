"""Comparisons, whose results have one bit, choices and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.prover.terms.arithmetic import bnot, total
from dais_verif.prover.terms.node import BUILD, MODE, Term, commuted, const, make, misfit, ones, varies
from dais_verif.prover.terms.parts import concat, extract, sext, top_bit, zext

__all__ = ["all_ones", "ashr", "band", "bor", "bxor", "eq", "ite", "lookup", "lshr", "nonzero", "shl", "slt", "ult"]


def eq(a: Term, b: Term) -> Term:
    """Return whether ``a`` and ``b`` are equal, as a bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("eq", 1, (a, b))
    a, b = commuted(a, b)
    if a is b:
        return const(1, 1)
    if b.op == "const":
        rule = _EQUALS.get(a.op)
        found = rule(a, b.value) if rule else None
        if found is not None:
            return found
        if a.width == 1:
            return a if b.value else bnot(a)
    return make("eq", 1, (a, b))


def _sext_equals(a: Term, value: int) -> Term:
    (x,) = a.args
    low = const(x.width, value)
    return eq(x, low) if sext(low, a.width).value == value else const(1, 0)


def _concat_equals(a: Term, value: int) -> Term | None:
    """Return whether a concatenation equals ``value``; constant parts are compared now. None if there are none."""
    rest: list[Term] = []
    kept, offset = 0, a.width
    for part in a.args:
        offset -= part.width
        wanted = value >> offset & ones(part.width)
        if part.op == "const":
            if part.value != wanted:
                return const(1, 0)
        else:
            rest.append(part)
            kept = kept << part.width | wanted
    if len(rest) == len(a.args):
        return None
    joined = concat(*rest)
    return eq(joined, const(joined.width, kept))


def _add_equals(a: Term, value: int) -> Term | None:
    if a.low == 0:
        return None
    plain = total(a.width, a.args, 0)
    return eq(plain, const(a.width, value - a.low))


_EQUALS: dict[str, Callable[[Term, int], Term | None]] = {
    "const": lambda a, value: const(1, int(a.value == value)),
    "sext": _sext_equals,
    "concat": _concat_equals,
    "add": _add_equals,
    "neg": lambda a, value: eq(a.args[0], const(a.width, -value)),
    "not": lambda a, value: eq(a.args[0], const(a.width, ~value)),
}


def nonzero(t: Term) -> Term:
    """Return whether any bit of ``t`` is 1, as a bit."""
    return t if t.width == 1 else bnot(eq(t, const(t.width, 0)))


def all_ones(t: Term) -> Term:
    """Return whether every bit of ``t`` is 1, as a bit."""
    return eq(t, const(t.width, -1))


def ult(a: Term, b: Term) -> Term:
    """Return whether ``a < b``, both unsigned, as a bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("ult", 1, (a, b))
    if a.op == b.op == "const":
        return const(1, int(a.value < b.value))
    if a is b or (b.op == "const" and b.value == 0):
        return const(1, 0)
    return make("ult", 1, (a, b))


def slt(a: Term, b: Term) -> Term:
    """Return whether ``a < b``, both in two's complement, as a bit."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("slt", 1, (a, b))
    half = 1 << (a.width - 1)
    if a.op == b.op == "const":
        return const(1, int(a.value ^ half < b.value ^ half))
    if a is b:
        return const(1, 0)
    if b.op == "const" and b.value == 0:
        return top_bit(a)
    return make("slt", 1, (a, b))


def ite(c: Term, a: Term, b: Term) -> Term:
    """Choose ``a`` where the bit ``c`` is 1, else ``b``."""
    if c.width != 1 or a.width != b.width:
        raise misfit(c, a, b)
    if MODE.literal and varies(c, a, b):
        return make("ite", a.width, (c, a, b))
    if a is b:
        return a
    if c.op == "const":
        return a if c.value else b
    if c.op == "not":
        return ite(c.args[0], b, a)
    if a.width == 1 and a.op == b.op == "const":
        return c if a.value else bnot(c)
    return make("ite", a.width, (c, a, b))


def lookup(index: Term, entries: Sequence[int], width: int) -> Term:
    """Return entry ``index`` of ``entries``, cut to ``width`` bits; 0 beyond the last entry."""
    cut = tuple(e & ones(width) for e in entries[: 1 << index.width])
    if index.op == "const":
        return const(width, cut[index.value] if index.value < len(cut) else 0)
    return make("lookup", width, (index,), cut)


BUILD.update(
    {
        "eq": lambda w, args, data: eq(*args),
        "ult": lambda w, args, data: ult(*args),
        "slt": lambda w, args, data: slt(*args),
        "ite": lambda w, args, data: ite(*args),
        "lookup": lambda w, args, data: lookup(args[0], data if isinstance(data, tuple) else (), w),
    }
)


# Operations on bits, and shifts by variable amounts.


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
