"""Compute with undefined bits (X) as four-state simulation does.

Simulation gives X even where the result cannot depend on the undefined value: for ``a ^ n ^ n`` if ``n`` has no
driver, or for the lowest bit of a sum if the highest bit of a summand is X. Front ends therefore build terms with these
functions, which follow the X rules of IEEE 1800 (11.4, 11.8.4) or are stricter. Each bit of a term is either defined or
a single undefined bit, never a function of several undefined bits. If no operand has undefined bits, these functions
equal those of ``terms``, at the cost of one look-up in a set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dais_verif.prover import terms
from dais_verif.prover.terms import Term, concat, const, extract, is_open, nodes, undefined, var

__all__ = [
    "add",
    "all_ones",
    "ashr",
    "band",
    "bnot",
    "bor",
    "bxor",
    "eq",
    "ite",
    "leaf",
    "lookup",
    "lshr",
    "mul",
    "neg",
    "nonzero",
    "nowhere",
    "parts",
    "rebuild",
    "shl",
    "slt",
    "strict",
    "sub",
    "udiv",
    "ult",
    "urem",
]


class Parts(NamedTuple):
    """A term split into two fully defined terms: its bits are ``value`` where ``unknown`` is 0, and else undefined.

    ``cause``: the name of one of the undefined values in it.
    """

    value: Term
    unknown: Term
    cause: str


_known: dict[Term, Parts] = {}


def parts(t: Term) -> Parts:
    """Split ``t`` into its defined bits and the mask of its undefined bits."""
    if not is_open(t):
        return Parts(t, const(t.width, 0), "")
    work = [t]
    while work:
        x = work[-1]
        if x in _known:
            work.pop()
            continue
        waiting = [y for y in x.args if is_open(y) and y not in _known] if x.op != "undefined" else []
        if waiting:
            work += waiting
        else:
            _known[x] = _divided(x)
            work.pop()
    return _known[t]


def nowhere(*operands: Term) -> Term:
    """Return a bit that is 1 where no bit of ``operands`` is undefined."""
    found = const(1, 0)
    for x in operands:
        if is_open(x):
            found = terms.bor(found, terms.nonzero(parts(x).unknown))
    return terms.bnot(found)


def leaf(width: int, name: str) -> tuple[Term, Term, Term]:
    """Make a term for an arbitrary four-state value; return it, its value variable and its variable of unknown bits."""
    value, unknown = var(width, name), var(width, f"unknown bits of {name}")
    return _joined(Parts(value, unknown, name)), value, unknown


def strict(result: Term, *operands: Term) -> Term:
    """Return ``result``, with all its bits undefined wherever a bit of ``operands`` is undefined."""
    if not any(map(is_open, operands)):
        return result
    known = parts(result)
    spoilt = terms.bnot(nowhere(*operands))
    unknown = terms.bor(known.unknown, terms.sext(spoilt, result.width))
    if not is_open(result):
        unknown = terms.sext(spoilt, result.width)
    return _joined(Parts(known.value, unknown, _cause(operands)))


def _cause(operands: Sequence[Term]) -> str:
    return next(parts(x).cause for x in operands if is_open(x))


def _joined(found: Parts) -> Term:
    """Return the term whose parts are ``found``."""
    value, unknown, cause = found
    width = value.width
    if unknown.op == "const":
        return _by_runs(value, unknown.value, cause)
    if width == 1:
        return terms.ite(unknown, undefined(1, cause), value)
    if unknown.op == "sext" and unknown.args[0].width == 1:
        return terms.ite(unknown.args[0], undefined(width, cause), value)
    defined = terms.band(value, terms.bnot(unknown))
    t = terms.bor(defined, terms.band(undefined(width, cause), unknown))
    _known.setdefault(t, Parts(defined, unknown, cause))
    return t


def _by_runs(value: Term, unknown: int, cause: str) -> Term:
    pieces, low = [], 0
    while low < value.width:
        bit, end = unknown >> low & 1, low
        while end < value.width and unknown >> end & 1 == bit:
            end += 1
        pieces.append(undefined(end - low, cause) if bit else extract(value, low, end - low))
        low = end
    return concat(*reversed(pieces))


# taking apart


def _divided(t: Term) -> Parts:
    rule = _APART.get(t.op)
    if rule is not None:
        return rule(t)
    cause = _cause(t.args)  # no function of this module makes such a term: treat all its bits alike
    spoilt = terms.sext(terms.bnot(nowhere(*t.args)), t.width)
    args = tuple(parts(x).value for x in t.args)
    return Parts(terms.rebuild(t, dict(zip(t.args, args, strict=True))), spoilt, cause)


def _choice_apart(t: Term) -> Parts:
    c, a, b = t.args
    if is_open(c):
        return _chosen(c, a, b)
    (x, m, _), (y, n, _) = parts(a), parts(b)
    value = y if a.op == "undefined" else x if b.op == "undefined" else terms.ite(c, x, y)
    return Parts(value, terms.ite(c, m, n), _cause(t.args))


def _or_apart(t: Term) -> Parts:
    """Split an OR; recognise also the pattern that ``_joined`` makes, after its variables have been replaced."""
    for known, open_ in (t.args, t.args[::-1]):
        if is_open(known) or open_.op != "and":
            continue
        unknown = next((x for x, y in (open_.args, open_.args[::-1]) if y.op == "undefined"), None)
        if unknown is not None and known.op == "and" and terms.bnot(unknown) in known.args:
            return Parts(known, unknown, _cause((open_,)))
    return _bitwise("or", *t.args)


_APART: dict[str, Callable[[Term], Parts]] = {
    "undefined": lambda t: Parts(const(t.width, 0), const(t.width, -1), str(t.data)),
    "extract": lambda t: _mapped(t, lambda x: extract(x, t.low, t.width)),
    "concat": lambda t: _mapped(t, concat),
    "sext": lambda t: _mapped(t, lambda x: terms.sext(x, t.width)),
    "not": lambda t: parts(t.args[0])._replace(value=terms.bnot(parts(t.args[0]).value)),
    "ite": _choice_apart,
    "and": lambda t: _bitwise("and", *t.args),
    "or": _or_apart,
    "xor": lambda t: _bitwise("xor", *t.args),
}


def _mapped(t: Term, rule: Callable[..., Term]) -> Parts:
    found = [parts(x) for x in t.args]
    return Parts(rule(*(x.value for x in found)), rule(*(x.unknown for x in found)), _cause(t.args))


# operations


def _bitwise(op: str, a: Term, b: Term) -> Parts:
    """Apply ``op``; a bit is undefined where one operand's bit is, unless the other operand decides it."""
    (x, m, _), (y, n, _) = parts(a), parts(b)
    value = _BITWISE[op](x, y)
    if op == "xor":
        return Parts(value, terms.bor(m, n), _cause((a, b)))
    p, q = (terms.bnot(x), terms.bnot(y)) if op == "or" else (x, y)  # 1 where this operand does not decide the bit
    unknown = terms.bor(terms.band(m, terms.bor(n, q)), terms.band(n, terms.bor(m, p)))
    return Parts(value, unknown, _cause((a, b)))


def _chosen(c: Term, a: Term, b: Term) -> Parts:
    """Choose an arm; where the condition is undefined, a bit is defined only if both arms agree on it."""
    (which, open_, cause), (x, m, _), (y, n, _) = parts(c), parts(a), parts(b)
    merged = terms.bor(terms.bor(m, n), terms.bxor(x, y))
    return Parts(terms.ite(which, x, y), terms.ite(open_, merged, terms.ite(which, m, n)), cause)


def _spoiling(rule: Callable[..., Term]) -> Callable[..., Term]:
    """Return an operation whose result is undefined as a whole if any bit of an operand is undefined."""

    def built(*operands: Term) -> Term:
        if not any(map(is_open, operands)):
            return rule(*operands)
        return strict(rule(*(parts(x).value for x in operands)), *operands)

    return built


def _bit_by_bit(op: str) -> Callable[[Term, Term], Term]:
    def built(a: Term, b: Term) -> Term:
        return _joined(_bitwise(op, a, b)) if is_open(a) or is_open(b) else _BITWISE[op](a, b)

    return built


_Rule = Callable[..., Term]
_BITWISE: dict[str, Callable[[Term, Term], Term]] = {"and": terms.band, "or": terms.bor, "xor": terms.bxor}
band, bor, bxor = map(_bit_by_bit, _BITWISE)
_SPOILING: tuple[_Rule, ...] = (terms.add, terms.sub, terms.mul, terms.neg, terms.udiv, terms.urem)
add, sub, mul, neg, udiv, urem = map(_spoiling, _SPOILING)
ult, slt = map(_spoiling, (terms.ult, terms.slt))


def eq(a: Term, b: Term) -> Term:
    """Return whether all bits are equal: 0 if two defined bits differ, else undefined if any bit is (11.4.5)."""
    if not is_open(a) and not is_open(b):
        return terms.eq(a, b)
    (x, m, _), (y, n, _) = parts(a), parts(b)
    either = terms.bor(m, n)
    differs = terms.nonzero(terms.band(terms.bxor(x, y), terms.bnot(either)))
    unknown = terms.band(terms.bnot(differs), terms.nonzero(either))
    return _joined(Parts(terms.eq(x, y), unknown, _cause((a, b))))


def bnot(t: Term) -> Term:
    """Invert every bit."""
    if not is_open(t):
        return terms.bnot(t)
    found = parts(t)
    return _joined(found._replace(value=terms.bnot(found.value)))


def ite(c: Term, a: Term, b: Term) -> Term:
    """Choose ``a`` where the bit ``c`` is 1, else ``b``; where ``c`` is undefined, keep bits on which both agree."""
    return _joined(_chosen(c, a, b)) if is_open(c) else terms.ite(c, a, b)


def nonzero(t: Term) -> Term:
    """Return whether any bit of ``t`` is 1; undefined if that depends on an undefined bit."""
    if not is_open(t):
        return terms.nonzero(t)
    value, unknown, cause = parts(t)
    found = terms.nonzero(terms.band(value, terms.bnot(unknown)))
    return _joined(Parts(found, terms.band(terms.bnot(found), terms.nonzero(unknown)), cause))


def all_ones(t: Term) -> Term:
    """Return whether every bit of ``t`` is 1; undefined if that depends on an undefined bit."""
    return bnot(nonzero(bnot(t))) if is_open(t) else terms.all_ones(t)


def lookup(index: Term, entries: Sequence[int], width: int) -> Term:
    """Return entry ``index`` of ``entries``; undefined where any bit of ``index`` is undefined."""
    if not is_open(index):
        return terms.lookup(index, entries, width)
    return strict(terms.lookup(parts(index).value, entries, width), index)


def _shift(rule: Callable[[Term, Term], Term]) -> Callable[[Term, Term], Term]:
    def built(a: Term, b: Term) -> Term:
        if not is_open(a) and not is_open(b):
            return rule(a, b)
        (value, unknown, _), by = parts(a), parts(b).value
        return strict(_joined(Parts(rule(value, by), rule(unknown, by), _cause((a, b)))), b)

    return built


shl, lshr, ashr = map(_shift, (terms.shl, terms.lshr, terms.ashr))


def rebuild(root: Term, replaced: Mapping[Term, Term]) -> Term:
    """Return ``root`` with terms replaced by others of the same width, by the rules of this module."""
    if not any(map(is_open, replaced.values())):
        return terms.rebuild(root, replaced)
    new: dict[Term, Term] = {}
    for t in nodes(root):
        other = replaced.get(t)
        if other is None:
            args = tuple(new[x] for x in t.args)
            other = t if args == t.args else _built(t, args)
        new[t] = other
    return new[root]


def _built(t: Term, args: tuple[Term, ...]) -> Term:
    rule = _BUILD.get(t.op)
    if rule is None or not any(map(is_open, args)):
        return terms.built(t, args)
    return rule(t, *args)


def _sum(t: Term, *args: Term) -> Term:
    return add(*args, const(t.width, t.low))


_BUILD: dict[str, Callable[..., Term]] = {
    "add": _sum,
    "neg": lambda t, x: neg(x),
    "mul": lambda t, a, b: mul(a, b),
    "udiv": lambda t, a, b: udiv(a, b),
    "urem": lambda t, a, b: urem(a, b),
    "not": lambda t, x: bnot(x),
    "and": lambda t, a, b: band(a, b),
    "or": lambda t, a, b: bor(a, b),
    "xor": lambda t, a, b: bxor(a, b),
    "shl": lambda t, a, b: shl(a, b),
    "lshr": lambda t, a, b: lshr(a, b),
    "ashr": lambda t, a, b: ashr(a, b),
    "eq": lambda t, a, b: eq(a, b),
    "ult": lambda t, a, b: ult(a, b),
    "slt": lambda t, a, b: slt(a, b),
    "ite": lambda t, c, a, b: ite(c, a, b),
    "lookup": lambda t, index: lookup(index, t.entries, t.width),
}
