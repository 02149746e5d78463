"""Terms: what a bundle of wires computes, as an immutable graph of bit-vector operations.

Both sides of a proof speak in terms: the meaning of an op, and the RTL that claims to compute it. Every term of one
shape is one object, so equal terms are identical ones, and building a term brings it to a normal form by rules that
hold for all values. Thus most proofs end before they begin.

A term has a width of at least one bit and a value of ``0 .. 2**width - 1``; whoever means a signed number reads it in
two's complement. Bit 0 is the least significant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "Term",
    # leaves
    "const",
    "undefined",
    "var",
    # parts and extensions
    "concat",
    "extract",
    "resize",
    "sext",
    "zext",
    # arithmetic, modulo 2**width
    "add",
    "mul",
    "neg",
    "sub",
    "udiv",
    "urem",
    # bits
    "band",
    "bnot",
    "bor",
    "bxor",
    "lshr",
    "shl",
    "ashr",
    # decisions
    "all_ones",
    "eq",
    "ite",
    "lookup",
    "nonzero",
    "slt",
    "ult",
    # walking
    "leaves",
    "nodes",
    "rebuild",
    "top_bit",
]


class Term:
    """One node. Made by the functions of this module only; compared by identity.

    ``op``: the operation. ``data``: a constant's value, a variable's name, the low bit of an ``extract``, the
    entries of a ``lookup``, the constant of an ``add``. ``number`` grows, so arguments have smaller ones.
    """

    __slots__ = ("args", "data", "number", "op", "width")

    def __init__(self, op: str, width: int, args: tuple[Term, ...], data: object, number: int) -> None:
        self.op, self.width, self.args, self.data, self.number = op, width, args, data, number

    def __repr__(self) -> str:
        inside = [*map(repr, self.args), *([] if self.data is None else [str(self.data)])]
        return f"{self.op}{self.width}({', '.join(inside)})"

    @property
    def value(self) -> int:
        """The value of a constant."""
        assert self.op == "const" and isinstance(self.data, int)
        return self.data

    @property
    def low(self) -> int:
        """The low bit of an ``extract``, or the constant of an ``add``."""
        assert isinstance(self.data, int)
        return self.data

    @property
    def entries(self) -> tuple[int, ...]:
        """The table of a ``lookup``."""
        assert isinstance(self.data, tuple)
        return self.data


_known: dict[tuple[str, int, tuple[Term, ...], object], Term] = {}


def _make(op: str, width: int, args: tuple[Term, ...] = (), data: object = None) -> Term:
    key = (op, width, args, data)
    term = _known.get(key)
    if term is None:
        term = _known[key] = Term(op, width, args, data, len(_known))
    return term


def _ones(width: int) -> int:
    return (1 << width) - 1


# leaves


def const(width: int, value: int) -> Term:
    """The low ``width`` bits of ``value``, which may be negative."""
    assert width > 0
    return _make("const", width, (), value & _ones(width))


def var(width: int, name: str) -> Term:
    """Any value at all, the same one wherever ``name`` stands."""
    assert width > 0
    return _make("var", width, (), name)


def undefined(width: int, what: str, *args: Term) -> Term:
    """What hardware may choose: a word beyond the end of a memory, say. The same choice for the same ``args``."""
    return _make("undefined", width, args, what)


# parts and extensions


def extract(t: Term, low: int, width: int) -> Term:
    """Bits ``low .. low + width - 1`` of ``t``."""
    assert low >= 0 and width > 0 and low + width <= t.width, (t.width, low, width)
    if width == t.width:
        return t
    rule = _EXTRACT.get(t.op)
    found = rule(t, low, width) if rule else None
    return found if found is not None else _make("extract", width, (t,), low)


def _extract_concat(t: Term, low: int, width: int) -> Term:
    parts, offset = [], t.width
    for part in t.args:
        offset -= part.width
        first, last = max(low - offset, 0), min(low + width - offset, part.width)
        if first < last:
            parts.append(extract(part, first, last - first))
    return concat(*parts)


def _extract_sext(t: Term, low: int, width: int) -> Term:
    (x,) = t.args
    if low + width <= x.width:
        return extract(x, low, width)
    first = min(low, x.width - 1)
    return sext(extract(x, first, x.width - first), width)


def _extract_bitwise(t: Term, low: int, width: int) -> Term:
    return _REBUILD[t.op](width, tuple(extract(x, low, width) for x in t.args), None)


def _extract_modular(t: Term, low: int, width: int) -> Term | None:
    """The low bits of a sum or product are the sum or product of the low bits."""
    if low:
        return None
    data = t.low & _ones(width) if t.op == "add" else None
    return _REBUILD[t.op](width, tuple(extract(x, 0, width) for x in t.args), data)


_EXTRACT: dict[str, Callable[[Term, int, int], Term | None]] = {
    "const": lambda t, low, width: const(width, t.value >> low),
    "extract": lambda t, low, width: extract(t.args[0], t.low + low, width),
    "concat": _extract_concat,
    "sext": _extract_sext,
    "add": _extract_modular,
    "neg": _extract_modular,
    "mul": _extract_modular,
    "and": _extract_bitwise,
    "or": _extract_bitwise,
    "xor": _extract_bitwise,
    "not": _extract_bitwise,
    "ite": lambda t, low, width: ite(t.args[0], extract(t.args[1], low, width), extract(t.args[2], low, width)),
    "lookup": lambda t, low, width: lookup(t.args[0], tuple(e >> low for e in t.entries), width),
}


def top_bit(t: Term) -> Term:
    """The most significant bit of ``t``."""
    return extract(t, t.width - 1, 1)


def concat(*parts: Term) -> Term:
    """The bits of all ``parts``, the first one most significant."""
    merged: list[Term] = []
    for part in parts:
        for piece in part.args if part.op == "concat" else (part,):
            joined = piece
            while merged:
                both = _join(merged[-1], joined)
                if both is None:
                    break
                merged.pop()
                joined = both
            merged.append(joined)
    if len(merged) == 1:
        return merged[0]
    if any(piece.op == "concat" for piece in merged):
        return concat(*merged)
    return _make("concat", sum(piece.width for piece in merged), tuple(merged))


def _join(high: Term, low: Term) -> Term | None:
    """Two neighbours as one term that is no ``concat``, if there is one."""
    if high.op == "const" and low.op == "const":
        return const(high.width + low.width, high.value << low.width | low.value)
    if high.op == "sext":
        (x,) = high.args
        if x.width == 1 and x is top_bit(low):
            return sext(low, high.width + low.width)
        both = _adjacent(x, low)
        return sext(both, high.width + low.width) if both is not None else None
    both = _adjacent(high, low)
    if both is None and high.width == 1 and high.op == "extract" and high is top_bit(low):
        return sext(low, low.width + 1)
    return both


def _adjacent(high: Term, low: Term) -> Term | None:
    """Two neighbouring parts of one term as one part of it."""
    if high.op == low.op == "extract" and high.args == low.args and high.low == low.low + low.width:
        return extract(low.args[0], low.low, high.width + low.width)
    return None


def sext(t: Term, width: int) -> Term:
    """``t`` with copies of its top bit before it."""
    assert width >= t.width
    if width == t.width:
        return t
    more = width - t.width
    if t.op == "const":
        return const(width, t.value - (1 << t.width) if t.value >> (t.width - 1) else t.value)
    if t.op == "sext":
        return sext(t.args[0], width)
    if t.op == "concat":
        return concat(sext(t.args[0], t.args[0].width + more), *t.args[1:])
    if t.op in ("and", "or", "xor", "not"):
        return _REBUILD[t.op](width, tuple(sext(x, width) for x in t.args), None)
    if t.op == "ite":
        return ite(t.args[0], sext(t.args[1], width), sext(t.args[2], width))
    if t.op == "lookup":
        half = 1 << (t.width - 1)
        return lookup(t.args[0], tuple((e ^ half) - half for e in t.entries), width)
    return _make("sext", width, (t,))


def zext(t: Term, width: int) -> Term:
    """``t`` with zeros before it."""
    assert width >= t.width
    return t if width == t.width else concat(const(width - t.width, 0), t)


def resize(t: Term, width: int, signed: bool) -> Term:
    """``t`` cut to its low bits, or extended."""
    if width <= t.width:
        return extract(t, 0, width)
    return sext(t, width) if signed else zext(t, width)


# arithmetic


def add(*terms: Term) -> Term:
    """The sum."""
    return _sum(terms[0].width, terms, 0)


def _sum(width: int, terms: Iterable[Term], constant: int) -> Term:
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
        else:
            counts[t] = counts.get(t, 0) + sign

    for term in terms:
        assert term.width == width
        collect(term, 1)
    constant &= _ones(width)
    parts = [_multiple(t, n) for t, n in counts.items() if n & _ones(width)]
    if not parts:
        return const(width, constant)
    if len(parts) == 1:
        (x,) = parts
        if constant == 0:
            return x
        if x.op == "neg" and constant == _ones(width):
            return bnot(x.args[0])
    parts.sort(key=_number)
    return _make("add", width, tuple(parts), constant)


def _number(t: Term) -> int:
    return t.number


def _multiple(t: Term, n: int) -> Term:
    """``n * t`` where ``t`` is no sum."""
    if n == 1:
        return t
    return neg(t) if n == -1 else mul(t, const(t.width, n))


def neg(t: Term) -> Term:
    """Minus ``t``."""
    if t.op == "const":
        return const(t.width, -t.value)
    if t.op == "neg":
        return t.args[0]
    if t.op in ("add", "not"):
        constant = -t.low if t.op == "add" else 1
        return _sum(t.width, [neg(x) for x in t.args] if t.op == "add" else t.args, constant)
    if t.op == "concat" and t.args[-1].op == "const" and t.args[-1].value == 0:
        return concat(neg(concat(*t.args[:-1])), t.args[-1])
    return _make("neg", t.width, (t,))


def sub(a: Term, b: Term) -> Term:
    """``a - b``."""
    return add(a, neg(b))


def mul(a: Term, b: Term) -> Term:
    """The product."""
    assert a.width == b.width
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
        if n == _ones(a.width):
            return neg(a)
        return _make("mul", a.width, (a, b))
    if b.number < a.number:
        a, b = b, a
    return _make("mul", a.width, (a, b))


def udiv(a: Term, b: Term) -> Term:
    """The quotient of unsigned values; all ones where ``b`` is 0."""
    if b.op == "const":
        if b.value == 1:
            return a
        if a.op == "const":
            return const(a.width, a.value // b.value if b.value else _ones(a.width))
    return _make("udiv", a.width, (a, b))


def urem(a: Term, b: Term) -> Term:
    """The remainder of unsigned values; ``a`` where ``b`` is 0."""
    if b.op == "const" and a.op == "const":
        return const(a.width, a.value % b.value if b.value else a.value)
    return _make("urem", a.width, (a, b))


# bits


def bnot(t: Term) -> Term:
    """Every bit inverted."""
    if t.op == "const":
        return const(t.width, ~t.value)
    if t.op == "not":
        return t.args[0]
    if t.op == "add":
        return _sum(t.width, [neg(t)], -1)
    return _make("not", t.width, (t,))


def _runs(mask: int, width: int) -> list[tuple[int, int, int]]:
    """Runs of equal bits of ``mask``, most significant first: (low bit, length, bit)."""
    runs, low = [], 0
    while low < width:
        bit = mask >> low & 1
        rest = (mask >> low) ^ (-bit & _ones(width - low))
        length = min((rest & -rest).bit_length() - 1, width - low) if rest else width - low
        runs.append((low, length, bit))
        low += length
    return runs[::-1]


def _commuted(a: Term, b: Term) -> tuple[Term, Term]:
    """A constant last, else by number."""
    if a.op == "const" or (b.op != "const" and b.number < a.number):
        return b, a
    return a, b


def band(a: Term, b: Term) -> Term:
    """AND, bit by bit."""
    assert a.width == b.width
    a, b = _commuted(a, b)
    if a is b:
        return a
    if b.op == "const":
        pieces = [extract(a, low, n) if bit else const(n, 0) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return _make("and", a.width, (a, b))


def bor(a: Term, b: Term) -> Term:
    """OR, bit by bit."""
    assert a.width == b.width
    a, b = _commuted(a, b)
    if a is b:
        return a
    if b.op == "const":
        pieces = [const(n, -1) if bit else extract(a, low, n) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return _make("or", a.width, (a, b))


def bxor(a: Term, b: Term) -> Term:
    """XOR, bit by bit."""
    assert a.width == b.width
    a, b = _commuted(a, b)
    if a is b:
        return const(a.width, 0)
    if b.op == "const":
        pieces = [bnot(extract(a, low, n)) if bit else extract(a, low, n) for low, n, bit in _runs(b.value, b.width)]
        return concat(*pieces)
    return _make("xor", a.width, (a, b))


def shl(a: Term, b: Term) -> Term:
    """``a`` shifted left by the unsigned value of ``b``, zeros coming in."""
    if b.op == "const":
        n = min(b.value, a.width)
        return const(a.width, 0) if n == a.width else concat(extract(a, 0, a.width - n), *_zeros(n))
    return _make("shl", a.width, (a, b))


def lshr(a: Term, b: Term) -> Term:
    """``a`` shifted right by the unsigned value of ``b``, zeros coming in."""
    if b.op == "const":
        n = min(b.value, a.width)
        return const(a.width, 0) if n == a.width else zext(extract(a, n, a.width - n), a.width)
    return _make("lshr", a.width, (a, b))


def ashr(a: Term, b: Term) -> Term:
    """``a`` shifted right by the unsigned value of ``b``, copies of its top bit coming in."""
    if b.op == "const":
        n = min(b.value, a.width - 1)
        return sext(extract(a, n, a.width - n), a.width)
    return _make("ashr", a.width, (a, b))


def _zeros(n: int) -> list[Term]:
    return [const(n, 0)] if n else []


# decisions; their own results have one bit, those of ``ite`` and ``lookup`` excepted


def eq(a: Term, b: Term) -> Term:
    """Whether ``a`` and ``b`` are equal."""
    assert a.width == b.width
    a, b = _commuted(a, b)
    if a is b:
        return const(1, 1)
    if b.op == "const":
        rule = _EQUALS.get(a.op)
        found = rule(a, b.value) if rule else None
        if found is not None:
            return found
        if a.width == 1:
            return a if b.value else bnot(a)
    return _make("eq", 1, (a, b))


def _sext_equals(a: Term, value: int) -> Term:
    (x,) = a.args
    low = const(x.width, value)
    return eq(x, low) if sext(low, a.width).value == value else const(1, 0)


def _concat_equals(a: Term, value: int) -> Term | None:
    """A constant part is compared at once, the others if only one is left."""
    rest: list[Term] = []
    kept, offset = 0, a.width
    for part in a.args:
        offset -= part.width
        wanted = value >> offset & _ones(part.width)
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
    plain = _sum(a.width, a.args, 0)
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
    """Whether any bit of ``t`` is 1."""
    return t if t.width == 1 else bnot(eq(t, const(t.width, 0)))


def all_ones(t: Term) -> Term:
    """Whether every bit of ``t`` is 1."""
    return eq(t, const(t.width, -1))


def ult(a: Term, b: Term) -> Term:
    """Whether ``a < b``, both unsigned."""
    assert a.width == b.width
    if a.op == b.op == "const":
        return const(1, int(a.value < b.value))
    if a is b or (b.op == "const" and b.value == 0):
        return const(1, 0)
    return _make("ult", 1, (a, b))


def slt(a: Term, b: Term) -> Term:
    """Whether ``a < b``, both in two's complement."""
    assert a.width == b.width
    half = 1 << (a.width - 1)
    if a.op == b.op == "const":
        return const(1, int(a.value ^ half < b.value ^ half))
    if a is b:
        return const(1, 0)
    if b.op == "const" and b.value == 0:
        return top_bit(a)
    return _make("slt", 1, (a, b))


def ite(c: Term, a: Term, b: Term) -> Term:
    """``a`` where the bit ``c`` is 1, else ``b``."""
    assert c.width == 1 and a.width == b.width
    if a is b:
        return a
    if c.op == "const":
        return a if c.value else b
    if c.op == "not":
        return ite(c.args[0], b, a)
    if a.width == 1 and a.op == b.op == "const":
        return c if a.value else bnot(c)
    return _make("ite", a.width, (c, a, b))


def lookup(index: Term, entries: Sequence[int], width: int) -> Term:
    """Entry number ``index`` of ``entries``, cut to ``width`` bits; 0 beyond their end."""
    cut = tuple(e & _ones(width) for e in entries[: 1 << index.width])
    if index.op == "const":
        return const(width, cut[index.value] if index.value < len(cut) else 0)
    return _make("lookup", width, (index,), cut)


# walking

#: Each operation from its width, arguments and data.
_REBUILD: dict[str, Callable[[int, tuple[Term, ...], object], Term]] = {
    "const": lambda w, args, data: _make("const", w, (), data),
    "var": lambda w, args, data: _make("var", w, (), data),
    "undefined": lambda w, args, data: _make("undefined", w, args, data),
    "extract": lambda w, args, data: extract(args[0], int(str(data)), w),
    "concat": lambda w, args, data: concat(*args),
    "sext": lambda w, args, data: sext(args[0], w),
    "add": lambda w, args, data: _sum(w, args, int(str(data))),
    "neg": lambda w, args, data: neg(args[0]),
    "mul": lambda w, args, data: mul(*args),
    "udiv": lambda w, args, data: udiv(*args),
    "urem": lambda w, args, data: urem(*args),
    "and": lambda w, args, data: band(*args),
    "or": lambda w, args, data: bor(*args),
    "xor": lambda w, args, data: bxor(*args),
    "not": lambda w, args, data: bnot(args[0]),
    "shl": lambda w, args, data: shl(*args),
    "lshr": lambda w, args, data: lshr(*args),
    "ashr": lambda w, args, data: ashr(*args),
    "eq": lambda w, args, data: eq(*args),
    "ult": lambda w, args, data: ult(*args),
    "slt": lambda w, args, data: slt(*args),
    "ite": lambda w, args, data: ite(*args),
    "lookup": lambda w, args, data: lookup(args[0], data if isinstance(data, tuple) else (), w),
}


def nodes(*roots: Term) -> list[Term]:
    """All that ``roots`` are made of, each once, arguments before what reads them."""
    seen = set(roots)
    work = list(seen)
    while work:
        for x in work.pop().args:
            if x not in seen:
                seen.add(x)
                work.append(x)
    return sorted(seen, key=_number)


def leaves(*roots: Term) -> list[Term]:
    """The variables and the undefined terms of ``roots``."""
    return [t for t in nodes(*roots) if t.op in ("var", "undefined")]


def rebuild(root: Term, replaced: Mapping[Term, Term]) -> Term:
    """``root`` with terms replaced by others of the same width."""
    new: dict[Term, Term] = {}
    for t in nodes(root):
        other = replaced.get(t)
        if other is None:
            args = tuple(new[x] for x in t.args)
            other = t if args == t.args else _REBUILD[t.op](t.width, args, t.data)
        assert other.width == t.width
        new[t] = other
    return new[root]
