"""Evaluate terms with numpy for many assignments of their variables at once; exact at every width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.terms import Term, nodes

__all__ = ["Values", "evaluate", "narrow"]

#: Values of one term: uint64 where every term has at most 64 bits, else Python integers.
Values = NDArray[Any]


def narrow(*roots: Term) -> bool:
    """Return whether all nodes of ``roots`` have at most 64 bits."""
    return all(t.width <= 64 for t in nodes(*roots))


def evaluate(roots: Sequence[Term], given: Mapping[Term, Values]) -> list[Values]:
    """Return the values of ``roots``: arrays of shape (n,), or (1,) if nothing is given.

    ``given``: the values of every variable and every undefined term, of shape (n,). Values are uint64 if all terms have
    at most 64 bits, else Python integers in an object array.
    """
    order = nodes(*roots)
    kind: Any = np.uint64 if all(t.width <= 64 for t in order) else object
    size = len(next(iter(given.values()))) if given else 1
    values: dict[Term, Values] = {}
    last = {x: t.number for t in order for x in t.args}
    wanted = set(roots)
    for t in order:
        if t in given:
            values[t] = given[t].astype(kind, copy=False)
        elif t.op == "const":
            values[t] = np.full(size, t.value, dtype=kind)
        else:
            values[t] = _RULES[t.op](t, *(values[x] for x in t.args))
        for x in t.args:
            if last[x] == t.number and x not in wanted:
                values.pop(x, None)
    return [values[t] for t in roots]


def _mask(x: Values, width: int) -> Values:
    return x if width == 64 and x.dtype != object else x & _n(x, (1 << width) - 1)


def _n(like: Values, value: int) -> Any:
    """Return a number of the dtype of ``like``."""
    return value if like.dtype == object else np.uint64(value)


def _bit(where: Any, like: Values) -> Values:
    return np.asarray(where, dtype=bool).astype(np.uint64).astype(like.dtype)


def _concat(t: Term, *parts: Values) -> Values:
    row = [(x.width, part) for x, part in zip(t.args, parts, strict=True)]
    while len(row) > 1:  # join pairs: joining thousands of parts one after the other would be quadratic
        pairs = zip(row[::2], row[1::2], strict=False)
        joined = [(m + n, (a << _n(b, n)) | b) for (m, a), (n, b) in pairs]
        row = joined + row[len(joined) * 2 :]
    return row[0][1]


def _sext(t: Term, x: Values) -> Values:
    half = _n(x, 1 << (t.args[0].width - 1))
    return _mask((x ^ half) - half, t.width)


def _add(t: Term, *parts: Values) -> Values:
    result = parts[0]
    for part in parts[1:]:
        result = result + part
    return _mask(result + _n(result, t.low), t.width)


def _divided(t: Term, a: Values, b: Values) -> Values:
    zero = np.asarray(b == 0, dtype=bool)
    safe = np.where(zero, _n(b, 1), b)
    if t.op == "udiv":
        return np.where(zero, _n(a, (1 << t.width) - 1), a // safe)
    return np.where(zero, a, a % safe)


def _shifted(t: Term, a: Values, b: Values) -> Values:
    width = t.width
    far = np.asarray(b >= _n(b, width), dtype=bool)
    n = np.where(far, _n(b, width - 1), b)
    if t.op == "shl":
        return np.where(far, _n(a, 0), _mask(a << n, width))
    if t.op == "lshr":
        return np.where(far, _n(a, 0), a >> n)
    ones = _n(a, (1 << width) - 1)
    negative = np.asarray(a >> _n(a, width - 1) != 0, dtype=bool)
    # The bits shifted in are those above ``ones >> n``; n is limited to width - 1, which gives only copies of the sign.
    return np.where(negative, (a >> n) | (ones ^ (ones >> n)), a >> n)


def _lookup(t: Term, index: Values) -> Values:
    entries = np.array([*t.entries, 0], dtype=index.dtype)
    position = np.minimum(index, _n(index, len(t.entries))).astype(np.int64)
    found: Values = entries[position]
    return found


def _slt(t: Term, a: Values, b: Values) -> Values:
    half = _n(a, 1 << (t.args[0].width - 1))
    return _bit((a ^ half) < (b ^ half), a)


_RULES: dict[str, Any] = {
    "extract": lambda t, x: _mask(x >> _n(x, t.low), t.width),
    "concat": _concat,
    "sext": _sext,
    "add": _add,
    "neg": lambda t, x: _mask(_n(x, 0) - x, t.width),
    "mul": lambda t, a, b: _mask(a * b, t.width),
    "udiv": _divided,
    "urem": _divided,
    "and": lambda t, a, b: a & b,
    "or": lambda t, a, b: a | b,
    "xor": lambda t, a, b: a ^ b,
    "not": lambda t, x: x ^ _n(x, (1 << t.width) - 1),
    "shl": _shifted,
    "lshr": _shifted,
    "ashr": _shifted,
    "eq": lambda t, a, b: _bit(a == b, a),
    "ult": lambda t, a, b: _bit(a < b, a),
    "slt": _slt,
    "ite": lambda t, c, a, b: np.where(np.asarray(c != 0, dtype=bool), a, b),
    "lookup": _lookup,
}
