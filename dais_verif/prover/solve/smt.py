"""Solve terms with bitwuzla, an SMT solver for bit-vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import bitwuzla

from dais_verif.prover.terms import Term, nodes

__all__ = ["SmtAnswer", "satisfy"]

#: Maximum number of bits in a question: bitwuzla needs some 250 bytes for each before its time limit applies.
_MOST_BITS = 1 << 23

_K: Any = bitwuzla.Kind

_PLAIN: dict[str, Any] = {
    "concat": _K.BV_CONCAT,
    "mul": _K.BV_MUL,
    "udiv": _K.BV_UDIV,
    "urem": _K.BV_UREM,
    "and": _K.BV_AND,
    "or": _K.BV_OR,
    "xor": _K.BV_XOR,
    "neg": _K.BV_NEG,
    "not": _K.BV_NOT,
}
_PREDICATES: dict[str, Any] = {"eq": _K.EQUAL, "ult": _K.BV_ULT, "slt": _K.BV_SLT}
_SHIFTS: dict[str, Any] = {"shl": _K.BV_SHL, "lshr": _K.BV_SHR, "ashr": _K.BV_ASHR}


#: A single manager for the process: terms must not outlive it, and Python does not define the order of deallocation.
_MANAGER = bitwuzla.TermManager()

#: bitwuzla's binding converts numbers to decimal, and Python limits the length of decimal conversions.
_DECIMAL_BITS = 4096


class SmtAnswer(NamedTuple):
    """An answer. ``verdict``: ``sat``, ``unsat`` or ``unknown``. ``model``: values of all variables if ``sat``."""

    verdict: str
    model: Mapping[Term, int]


def satisfy(conditions: Sequence[Term], seconds: float) -> SmtAnswer:
    """Search for values that make every one-bit term of ``conditions`` 1; give up after ``seconds``.

    Questions so large that they would need gigabytes are given up immediately.
    """
    if _bits_of(conditions) > _MOST_BITS:
        return SmtAnswer("unknown", {})
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, max(int(seconds * 1000), 1))
    solver = bitwuzla.Bitwuzla(_MANAGER, options)
    translation = _Translation(_MANAGER)
    for condition, term in zip(conditions, translation(conditions), strict=True):
        if condition.width != 1:
            raise AssertionError(f"a condition of {condition.width} bits")
        solver.assert_formula(_MANAGER.mk_term(_K.EQUAL, [term, translation.number(1, 1)]))
    result = solver.check_sat()
    if result == bitwuzla.Result.SAT:
        free = translation.free
        return SmtAnswer("sat", {t: int(solver.get_value(x).value(2), 2) for t, x in free.items()})
    return SmtAnswer("unsat" if result == bitwuzla.Result.UNSAT else "unknown", {})


def _bits_of(conditions: Sequence[Term]) -> int:
    """Estimate how many bits bitwuzla makes for ``conditions``; the weights are measured."""
    found = 0
    pieces: dict[Term, int] = {}  # the parts of terms, which an extract searches one by one
    for t in nodes(*conditions):
        if t.op in ("concat", "extract", "sext"):
            pieces[t] = sum(pieces.get(x, 1) for x in t.args)
        if t.op in ("mul", "udiv", "urem"):
            found += t.width * t.width >> 10
        elif t.op in _SHIFTS:
            found += t.width * t.width.bit_length()
        elif t.op == "extract":
            found += max(pieces[t] >> 2, 1)
        elif t.op not in ("const", "concat", "sext"):
            found += t.args[0].width * len(t.args) if t.op in _PREDICATES else t.width * max(len(t.args) - 1, 1)
    return found


class _Translation:
    def __init__(self, manager: Any) -> None:
        self._manager = manager
        #: Variables and undefined terms.
        self.free: dict[Term, Any] = {}
        self._sorts: dict[int, Any] = {}

    def _sort(self, width: int) -> Any:
        if width not in self._sorts:
            self._sorts[width] = self._manager.mk_bv_sort(width)
        return self._sorts[width]

    def number(self, width: int, value: int) -> Any:
        if value.bit_length() > _DECIMAL_BITS:
            return self._manager.mk_bv_value(self._sort(width), format(value, "b"), 2)
        return self._manager.mk_bv_value(self._sort(width), value)

    def _term(self, kind: Any, args: list[Any], indices: list[int] | None = None) -> Any:
        return self._manager.mk_term(kind, args, indices) if indices else self._manager.mk_term(kind, args)

    def _bit(self, truth: Any) -> Any:
        return self._term(_K.ITE, [truth, self.number(1, 1), self.number(1, 0)])

    def __call__(self, roots: Sequence[Term]) -> list[Any]:
        made: dict[Term, Any] = {}
        for t in nodes(*roots):
            made[t] = self._one(t, [made[x] for x in t.args])
        return [made[t] for t in roots]

    def _one(self, t: Term, args: list[Any]) -> Any:
        op = t.op
        if op in _PLAIN:
            return self._term(_PLAIN[op], args)
        if op in _PREDICATES:
            return self._bit(self._term(_PREDICATES[op], args))
        if op == "const":
            return self.number(t.width, t.value)
        if op in ("var", "undefined"):
            self.free[t] = self._manager.mk_const(self._sort(t.width), f"x{len(self.free)}")
            return self.free[t]
        if op == "extract":
            return self._term(_K.BV_EXTRACT, args, [t.low + t.width - 1, t.low])
        if op == "sext":
            return self._term(_K.BV_SIGN_EXTEND, args, [t.width - t.args[0].width])
        if op == "add":
            addends = [*args, self.number(t.width, t.low)] if t.low or len(args) == 1 else args
            return self._term(_K.BV_ADD, addends)
        if op == "ite":
            return self._term(_K.ITE, [self._term(_K.EQUAL, [args[0], self.number(1, 1)]), *args[1:]])
        if op == "lookup":
            return self._lookup(t, args[0])
        return self._shift(t, *args)

    def _shift(self, t: Term, a: Any, b: Any) -> Any:
        """Translate a shift; bitwuzla needs both operands in the same width."""
        wide, amount = t.width, t.args[1].width
        if amount > wide:
            kind = _K.BV_SIGN_EXTEND if t.op == "ashr" else _K.BV_ZERO_EXTEND
            a = self._term(kind, [a], [amount - wide])
        elif wide > amount:
            b = self._term(_K.BV_ZERO_EXTEND, [b], [wide - amount])
        shifted = self._term(_SHIFTS[t.op], [a, b])
        return self._term(_K.BV_EXTRACT, [shifted], [wide - 1, 0]) if amount > wide else shifted

    def _lookup(self, t: Term, index: Any) -> Any:
        """Translate a table to choices by the bits of the index, the highest first; equal halves need no choice."""
        index_width = t.args[0].width
        used = max((len(t.entries) - 1).bit_length(), 1)
        padded = (*t.entries, *[0] * ((1 << used) - len(t.entries)))
        found = self._chosen(t.width, index, padded, used - 1, {})
        if used < index_width:
            high = self._term(_K.BV_EXTRACT, [index], [index_width - 1, used])
            zero = self._term(_K.EQUAL, [high, self.number(index_width - used, 0)])
            found = self._term(_K.ITE, [zero, found, self.number(t.width, 0)])
        return found

    def _chosen(self, width: int, index: Any, entries: tuple[int, ...], bit: int, known: dict[Any, Any]) -> Any:
        if entries in known:
            return known[entries]
        if len(set(entries)) == 1:
            result = self.number(width, entries[0])
        else:
            half = len(entries) // 2
            high = self._term(_K.EQUAL, [self._term(_K.BV_EXTRACT, [index], [bit, bit]), self.number(1, 1)])
            arms = [self._chosen(width, index, part, bit - 1, known) for part in (entries[half:], entries[:half])]
            result = self._term(_K.ITE, [high, *arms])
        known[entries] = result
        return result
