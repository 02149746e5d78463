"""Arithmetic modulo ``2**width``: sums, products, quotients; and NOT, which is also a sum."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from dais_verif.prover.terms.node import BUILD, MODE, Term, const, make, misfit, number_of, ones, varies
from dais_verif.prover.terms.parts import concat, ends_in_zeros, extract

__all__ = ["add", "bnot", "mul", "neg", "sub", "total", "udiv", "urem"]


def add(*terms: Term) -> Term:
    """Return the sum."""
    return make("add", terms[0].width, terms, 0) if MODE.literal and varies(*terms) else total(terms[0].width, terms, 0)


def total(width: int, terms: Iterable[Term], constant: int) -> Term:
    """Return the sum of ``terms`` and a constant."""
    return _total(width, tuple(terms), constant)


@cache
def _total(width: int, terms: tuple[Term, ...], constant: int) -> Term:
    counts: dict[Term, int] = {}

    def collect(t: Term, sign: int) -> None:
        nonlocal constant
        if t.op == "const":
            constant += sign * t.value
        elif t.op == "add":
            constant += sign * t.low
            for x in t.args:
                collect(x, sign)
        elif t.op == "neg":
            collect(t.args[0], -sign)
        elif t.op == "not":
            constant -= sign
            collect(t.args[0], -sign)
        elif t.op == "concat" and t.args[0].op in ("add", "neg", "not") and _is_shifted(t):
            shifted, zeros = t.args  # treat the shifted value like the value itself
            if shifted.op != "neg":
                constant += sign * (shifted.low if shifted.op == "add" else -1) << zeros.width
            for x in shifted.args:
                collect(concat(x, zeros), sign if shifted.op == "add" else -sign)
        else:
            counts[t] = counts.get(t, 0) + sign

    for term in terms:
        if term.width != width:
            raise misfit(term, *terms)
        collect(term, 1)
    multiples = [_multiple(t, n) for t, n in counts.items() if n & ones(width)]
    parts = [x for x in multiples if x.op != "const"]  # a multiple of a term with zeros below may be 0
    constant = (constant + sum(x.value for x in multiples if x.op == "const")) & ones(width)
    if not parts:
        return const(width, constant)
    if len(parts) == 1:
        (x,) = parts
        if constant == 0:
            return x
        if x.op == "neg" and constant == ones(width):
            return bnot(x.args[0])
    zeros = min(*map(_zeros_below, parts), (constant & -constant).bit_length() - 1 if constant else width)
    if zeros:
        upper = [extract(x, zeros, width - zeros) for x in parts]
        return concat(total(width - zeros, upper, constant >> zeros), const(zeros, 0))
    parts.sort(key=number_of)
    return make("add", width, tuple(parts), constant)


def _zeros_below(t: Term) -> int:
    """Return how many of the lowest bits of ``t``, which is not constant, are constant zeros."""
    last = t.args[-1] if t.op == "concat" else t
    if last.op != "const":
        return 0
    return (last.value & -last.value).bit_length() - 1 if last.value else last.width


def _is_shifted(t: Term) -> bool:
    """Return whether a concatenation is one term with zeros below it."""
    return len(t.args) == 2 and ends_in_zeros(t, t.args[1].width)


def _multiple(t: Term, n: int) -> Term:
    """Return ``n * t`` for a term that is not a sum."""
    if n == 1:
        return t
    return neg(t) if n == -1 else mul(t, const(t.width, n))


def neg(t: Term) -> Term:
    """Return minus ``t``."""
    if MODE.literal and varies(t):
        return make("neg", t.width, (t,))
    if t.op == "const":
        return const(t.width, -t.value)
    if t.op == "neg":
        return t.args[0]
    if t.op in ("add", "not"):
        constant = -t.low if t.op == "add" else 1
        return total(t.width, [neg(x) for x in t.args] if t.op == "add" else t.args, constant)
    if t.op == "concat" and t.args[-1].op == "const" and t.args[-1].value == 0:
        return concat(neg(concat(*t.args[:-1])), t.args[-1])
    return make("neg", t.width, (t,))


def sub(a: Term, b: Term) -> Term:
    """Return ``a - b``."""
    return add(a, neg(b))


def mul(a: Term, b: Term) -> Term:
    """Return the product."""
    if a.width != b.width:
        raise misfit(a, b)
    if MODE.literal and varies(a, b):
        return make("mul", a.width, (a, b))
    if a.op == "const":
        a, b = b, a
    if b.op == "const":
        if a.op == "const":
            return const(a.width, a.value * b.value)
        n = b.value
        if n == 0:
            return b
        zeros = (n & -n).bit_length() - 1
        if n == 1 << zeros:
            return a if zeros == 0 else concat(extract(a, 0, a.width - zeros), const(zeros, 0))
        if n == ones(a.width):
            return neg(a)
        return make("mul", a.width, (a, b))
    if b.number < a.number:
        a, b = b, a
    return make("mul", a.width, (a, b))


def udiv(a: Term, b: Term) -> Term:
    """Return the quotient of unsigned values; all ones where ``b`` is 0."""
    if MODE.literal and varies(a, b):
        return make("udiv", a.width, (a, b))
    if b.op == "const":
        if b.value == 1:
            return a
        if a.op == "const":
            return const(a.width, a.value // b.value if b.value else ones(a.width))
    return make("udiv", a.width, (a, b))


def urem(a: Term, b: Term) -> Term:
    """Return the remainder of unsigned values; ``a`` where ``b`` is 0."""
    if b.op == "const" and a.op == "const":
        return const(a.width, a.value % b.value if b.value else a.value)
    return make("urem", a.width, (a, b))


def bnot(t: Term) -> Term:
    """Invert every bit."""
    if MODE.literal and varies(t):
        return make("not", t.width, (t,))
    if t.op == "const":
        return const(t.width, ~t.value)
    if t.op == "not":
        return t.args[0]
    if t.op == "add":
        return total(t.width, [neg(t)], -1)
    return make("not", t.width, (t,))


BUILD.update(
    {
        "add": lambda w, args, data: total(w, args, int(str(data))),
        "neg": lambda w, args, data: neg(args[0]),
        "mul": lambda w, args, data: mul(*args),
        "udiv": lambda w, args, data: udiv(*args),
        "urem": lambda w, args, data: urem(*args),
        "not": lambda w, args, data: bnot(args[0]),
    }
)
