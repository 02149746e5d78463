"""Parts of terms and extensions, and the rules that move them through other operations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache
from itertools import accumulate, pairwise

from dais_verif.prover.terms.node import BUILD, MODE, Term, const, make, ones, signed_value, varies

__all__ = [
    "JOIN",
    "concat",
    "ends_in_zeros",
    "exact_signed",
    "exact_unsigned",
    "extract",
    "follows",
    "replaced",
    "resize",
    "sext",
    "top_bit",
    "zext",
]


def extract(t: Term, low: int, width: int) -> Term:
    """Return bits ``low .. low + width - 1`` of ``t``."""
    if low < 0 or width <= 0 or low + width > t.width:
        raise AssertionError(f"bits {low} to {low + width - 1} of {t.width}")
    if width == t.width:
        return t
    if MODE.literal and varies(t):
        return make("extract", width, (t,), low)
    return _extracted(t, low, width)


@cache
def _extracted(t: Term, low: int, width: int) -> Term:
    rule = _EXTRACT.get(t.op)
    found = rule(t, low, width) if rule else None
    return found if found is not None else make("extract", width, (t,), low)


def _extract_concat(t: Term, low: int, width: int) -> Term:
    ends, parts = _ends(t), []
    for number in range(bisect_right(ends, t.width - low - width), len(ends)):
        part, offset = t.args[number], t.width - ends[number]
        first, last = max(low - offset, 0), min(low + width - offset, part.width)
        parts.append(extract(part, first, last - first))
        if offset <= low:
            break
    return concat(*parts)


@cache
def _ends(t: Term) -> list[int]:
    """Return where each part of a ``concat`` ends, in bits counted from the highest one."""
    return list(accumulate(part.width for part in t.args))


def _extract_sext(t: Term, low: int, width: int) -> Term:
    (x,) = t.args
    if low + width <= x.width:
        return extract(x, low, width)
    first = min(low, x.width - 1)
    return sext(extract(x, first, x.width - first), width)


def _either(t: Term, width: int, change: Callable[[Term], Term]) -> Term:
    """Return the choice ``t`` with ``change`` applied to both of its arms."""
    return BUILD["ite"](width, (t.args[0], change(t.args[1]), change(t.args[2])), None)


def _extract_bitwise(t: Term, low: int, width: int) -> Term:
    return BUILD[t.op](width, tuple(extract(x, low, width) for x in t.args), None)


def _extract_modular(t: Term, low: int, width: int) -> Term | None:
    """Return low bits of a sum or product as the sum or product of low bits; higher bits do not affect them."""
    if low:
        if low + width < t.width:
            return extract(extract(t, 0, low + width), low, width)
        return _upper_half(t, low, width) if t.op == "add" else None
    data = t.low & ones(width) if t.op == "add" else None
    return BUILD[t.op](width, tuple(extract(x, 0, width) for x in t.args), data)


def _upper_half(t: Term, low: int, width: int) -> Term | None:
    """Return the upper bits of a sum if at most one term has lower bits, so that no carry reaches the upper ones."""
    if t.low & ones(low) or sum(not ends_in_zeros(x, low) for x in t.args) > 1:
        return None
    return BUILD["add"](width, tuple(extract(x, low, width) for x in t.args), t.low >> low)


def ends_in_zeros(t: Term, bits: int) -> bool:
    """Return whether the lowest ``bits`` bits of ``t`` are constant zeros."""
    last = t.args[-1] if t.op == "concat" else t
    return last.op == "const" and last.width >= bits and not last.value & ones(bits)


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
    "ite": lambda t, low, width: _either(t, width, lambda x: extract(x, low, width)),
    "lookup": lambda t, low, width: BUILD["lookup"](width, t.args, tuple(e >> low for e in t.entries)),
}


def top_bit(t: Term) -> Term:
    """Return the most significant bit of ``t``."""
    return extract(t, t.width - 1, 1)


def concat(*parts: Term) -> Term:
    """Return the bits of all ``parts``, the first one most significant."""
    if MODE.literal and varies(*parts) and len(parts) > 1:
        return make("concat", sum(part.width for part in parts), parts)
    return _joined(parts)


def replaced(t: Term, low: int, piece: Term) -> Term:
    """Return ``t`` with its bits from ``low`` on replaced by ``piece``.

    If ``piece`` lies within one part of a ``concat``, only the neighbours of this part are examined for joins.
    """
    high = low + piece.width
    if piece.width == t.width:
        return piece
    if t.op == "concat" and piece.op != "concat" and not MODE.literal:
        ends = list(accumulate(part.width for part in t.args))  # from the highest bits on
        number = bisect_left(ends, t.width - low)
        part = t.args[number]
        start = t.width - ends[number]
        if start <= low and high <= start + part.width:
            new = [extract(part, high - start, start + part.width - high)] if high < start + part.width else []
            new += [piece] + ([extract(part, 0, low - start)] if start < low else [])
            near = [*t.args[max(number - 1, 0) : number], *new, *t.args[number + 1 : number + 2]]
            if all(x.op != "concat" for x in new) and all(_join(a, b) is None for a, b in pairwise(near)):
                return make("concat", t.width, (*t.args[:number], *new, *t.args[number + 1 :]))
    above = [extract(t, high, t.width - high)] if high < t.width else []
    return concat(*above, piece, *([extract(t, 0, low)] if low else []))


@cache
def _joined(parts: tuple[Term, ...]) -> Term:
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
    return make("concat", sum(piece.width for piece in merged), tuple(merged))


def _join(high: Term, low: Term) -> Term | None:
    """Return two neighbours as one term that is not a ``concat``; None if there is no such term."""
    if high.op == "const":
        if low.op == "const":
            return const(high.width + low.width, high.value << low.width | low.value)
        return _zeros_before(low, high.width + low.width) if high.value == 0 else None
    if high.op == "sext":
        (x,) = high.args
        if x.width == 1 and x is top_bit(low):
            return sext(low, high.width + low.width)
        both = _adjacent(x, low)
        return sext(both, high.width + low.width) if both is not None else None
    rule = JOIN.get(high.op)
    if rule is not None and low.op != "const":
        return rule(high, low)
    both = _adjacent(high, low)
    if both is None and high.width == 1 and high.op == "extract" and high is top_bit(low):
        return sext(low, low.width + 1)
    return both


#: For each operation, the rule that joins its terms with the term below; added by the module of the operation.
JOIN: dict[str, Callable[[Term, Term], Term | None]] = {}


def follows(high: Term, low: Term) -> bool:
    """Return whether ``high`` is the part directly above ``low`` in some term, or a copy of the sign of ``low``."""
    last = high.args[-1] if high.op == "concat" else high
    if last.op == "sext":
        (last,) = last.args
    if last.op != "extract":
        return False
    if last.width == 1 and last.args[0] in (low, *low.args) and last is top_bit(low):
        return True
    return _adjacent(last, low) is not None


def _zeros_before(t: Term, width: int) -> Term | None:
    """Return ``t``, extended with zeros, as an operation on wider arguments if it cannot overflow; else None."""
    if t.op == "ite":
        return _either(t, width, lambda x: zext(x, width))
    if t.op == "lookup":
        return BUILD["lookup"](width, t.args, t.entries)
    if t.op in ("add", "mul"):
        if exact_unsigned(t) is not None:
            return BUILD[t.op](width, tuple(zext(x, width) for x in t.args), t.data)
        found = exact_signed(t)
        if found is not None and found[0] >= 0:
            return sext(t, width)
    return None


def _adjacent(high: Term, low: Term) -> Term | None:
    """Return two adjacent parts of one term as one part; None if they are not adjacent."""
    if high.op == low.op == "extract" and high.args == low.args and high.low == low.low + low.width:
        return extract(low.args[0], low.low, high.width + low.width)
    return None


def sext(t: Term, width: int) -> Term:
    """Return ``t`` extended with copies of its top bit."""
    if width < t.width:
        raise AssertionError(f"{t.width} bits do not fit {width}")
    if width == t.width:
        return t
    if MODE.literal and varies(t):
        return make("sext", width, (t,))
    return _extended(t, width)


@cache
def _extended(t: Term, width: int) -> Term:
    more = width - t.width
    if t.op == "const":
        return const(width, t.value - (1 << t.width) if t.value >> (t.width - 1) else t.value)
    if t.op == "sext":
        return sext(t.args[0], width)
    if t.op == "concat":
        return concat(sext(t.args[0], t.args[0].width + more), *t.args[1:])
    if t.op in ("and", "or", "xor", "not"):
        return BUILD[t.op](width, tuple(sext(x, width) for x in t.args), None)
    if t.op == "ite":
        return _either(t, width, lambda x: sext(x, width))
    if t.op == "lookup":
        return BUILD["lookup"](width, t.args, tuple(signed_value(e, t.width) for e in t.entries))
    if t.op in ("add", "neg", "mul") and exact_signed(t) is not None:
        return _wider(t, width)
    if t.op == "extract" and t.low + t.width == t.args[0].width and exact_signed(t.args[0]) is not None:
        return extract(_wider(t.args[0], t.low + width), t.low, width)
    return make("sext", width, (t,))


def _wider(t: Term, width: int) -> Term:
    """Return a sum or product that does not overflow, computed in more bits."""
    data = signed_value(t.low, t.width) & ones(width) if t.op == "add" else None
    return BUILD[t.op](width, tuple(sext(x, width) for x in t.args), data)


def zext(t: Term, width: int) -> Term:
    """Return ``t`` extended with zeros."""
    if width < t.width:
        raise AssertionError(f"{t.width} bits do not fit {width}")
    return t if width == t.width else concat(const(width - t.width, 0), t)


def resize(t: Term, width: int, signed: bool) -> Term:
    """Return ``t`` cut to its low bits, or extended."""
    if width <= t.width:
        return extract(t, 0, width)
    return sext(t, width) if signed else zext(t, width)


BUILD.update(
    {
        "extract": lambda w, args, data: extract(args[0], int(str(data)), w),
        "concat": lambda w, args, data: concat(*args),
        "sext": lambda w, args, data: sext(args[0], w),
    }
)


# Ranges of terms, derived from their nearest arguments, to show that a sum or product cannot overflow.


Range = tuple[int, int]

#: How many levels of operations are examined for a range.
_NEAR = 5


def exact_signed(t: Term) -> Range | None:
    """Return bounds of ``t``, a sum or product of signed numbers, if it cannot overflow; else None."""
    return _signed_result(t, _NEAR)


def exact_unsigned(t: Term) -> Range | None:
    """Return bounds of ``t``, a sum or product of unsigned numbers, if it cannot overflow; else None."""
    return _unsigned_result(t, _NEAR)


def _signed_result(t: Term, depth: int) -> Range | None:
    if t.op not in ("add", "neg", "mul") or depth == 0:
        return None
    ranges = [_signed_range(x, depth - 1) for x in t.args]
    lo, hi = ranges[0]
    if t.op == "neg":
        lo, hi = -hi, -lo
    elif t.op == "add":
        constant = signed_value(t.low, t.width)
        lo, hi = sum(r[0] for r in ranges) + constant, sum(r[1] for r in ranges) + constant
    else:
        products = [x * y for x in ranges[0] for y in ranges[1]]
        lo, hi = min(products), max(products)
    half = 1 << (t.width - 1)
    return (lo, hi) if -half <= lo and hi < half else None


def _unsigned_result(t: Term, depth: int) -> Range | None:
    if t.op not in ("add", "mul") or depth == 0:
        return None
    ranges = [_unsigned_range(x, depth - 1) for x in t.args]
    if t.op == "add":
        lo, hi = sum(r[0] for r in ranges) + t.low, sum(r[1] for r in ranges) + t.low
    else:
        lo, hi = ranges[0][0] * ranges[1][0], ranges[0][1] * ranges[1][1]
    return (lo, hi) if hi <= ones(t.width) else None


def _signed_range(t: Term, depth: int) -> Range:
    """Return bounds of ``t`` as a two's complement number."""
    full = -(1 << (t.width - 1)), (1 << (t.width - 1)) - 1
    if depth == 0:
        return full
    if t.op == "const":
        value = signed_value(t.value, t.width)
        return value, value
    if t.op == "sext":
        return _signed_range(t.args[0], depth - 1)
    if t.op == "concat":
        lo, hi = _signed_range(t.args[0], depth - 1)
        rest = t.width - t.args[0].width
        zeros = t.args[-1].width if t.args[-1].op == "const" and t.args[-1].value == 0 else 0
        return lo << rest, (hi << rest) + ones(rest) - ones(zeros)
    if t.op == "ite":
        (a, b), (c, d) = (_signed_range(x, depth - 1) for x in t.args[1:])
        return min(a, c), max(b, d)
    return _signed_result(t, depth) or full


def _unsigned_range(t: Term, depth: int) -> Range:
    full = 0, ones(t.width)
    if depth == 0:
        return full
    if t.op == "const":
        return t.value, t.value
    if t.op == "concat":
        lo, hi = _unsigned_range(t.args[0], depth - 1)
        rest = t.width - t.args[0].width
        zeros = t.args[-1].width if t.args[-1].op == "const" and t.args[-1].value == 0 else 0
        return lo << rest, (hi << rest) + ones(rest) - ones(zeros)
    if t.op == "ite":
        (a, b), (c, d) = (_unsigned_range(x, depth - 1) for x in t.args[1:])
        return min(a, c), max(b, d)
    return _unsigned_result(t, depth) or full
