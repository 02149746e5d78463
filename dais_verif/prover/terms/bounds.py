"""Ranges of terms, derived from their nearest arguments, to show that a sum or product cannot overflow."""

from __future__ import annotations

from dais_verif.prover.terms.node import Term, ones, signed_value

__all__ = ["exact_signed", "exact_unsigned"]

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
