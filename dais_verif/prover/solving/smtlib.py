"""Write terms as SMT-LIB 2, for any solver of quantifier-free bit-vectors.

This is independent of the translation to bitwuzla: each node is one definition, with the operators of the standard.
One-bit terms are bit-vectors, too, and comparisons become 1 or 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dais_verif.prover.terms import Term, nodes

__all__ = ["script"]


def script(rtl: Term, wanted: Term, given: Sequence[Term] = (), names: Mapping[Term, str] | None = None) -> str:
    """Return a script that asks for values for which ``rtl`` and ``wanted`` differ and all of ``given`` are 1.

    The answer ``unsat`` means that ``rtl`` and ``wanted`` are equal. ``names``: names of leaves, for comments.
    """
    lines = ["(set-logic QF_BV)"]
    known: dict[Term, str] = {}
    order = nodes(rtl, wanted, *given)
    for t in order:
        if t.op in ("var", "undefined"):
            known[t] = f"{'x' if t.op == 'var' else 'any'}{len(known)}"
            said = (names or {}).get(t, str(t.data))
            lines.append(f"(declare-const {known[t]} {_sort(t.width)}) ; {said}")
    for t in order:
        if t.op == "const":
            known[t] = _number(t.width, t.value)
        elif t not in known:
            known[t] = f"t{len(known)}"
            lines.append(f"(define-fun {known[t]} () {_sort(t.width)} {_RULES[t.op](t, *(known[x] for x in t.args))})")
    lines += [f"(assert (= {known[t]} #b1)) ; assumed" for t in given]
    lines += [f"(assert (distinct {known[rtl]} {known[wanted]})) ; RTL, program", "(check-sat)", "(exit)"]
    return "\n".join(lines) + "\n"


def _sort(width: int) -> str:
    return f"(_ BitVec {width})"


def _number(width: int, value: int) -> str:
    return f"#b{value:0{width}b}"


def _plain(word: str) -> Callable[..., str]:
    return lambda t, *args: f"({word} {' '.join(args)})" if len(args) > 1 or word in ("bvneg", "bvnot") else args[0]


def _predicate(word: str) -> Callable[..., str]:
    return lambda t, a, b: f"(ite ({word} {a} {b}) #b1 #b0)"


def _add(t: Term, *args: str) -> str:
    addends = [*args, *([_number(t.width, t.low)] if t.low else [])]
    return f"(bvadd {' '.join(addends)})" if len(addends) > 1 else addends[0]


def _shift(word: str) -> Callable[..., str]:
    """Return a rule for a shift: SMT-LIB needs both operands in the same width.

    The amount is extended with zeros, the value according to the kind of shift.
    """

    def rule(t: Term, a: str, b: str) -> str:
        more = t.args[1].width - t.width
        if more <= 0:
            return f"({word} {a} {f'((_ zero_extend {-more}) {b})' if more else b})"
        extend = "sign_extend" if word == "bvashr" else "zero_extend"
        return f"((_ extract {t.width - 1} 0) ({word} ((_ {extend} {more}) {a}) {b}))"

    return rule


def _lookup(t: Term, index: str) -> str:
    """Write a table as one choice per entry; 0 beyond the last entry."""
    width = t.args[0].width
    chosen = "".join(f"\n  (ite (= {index} {_number(width, n)}) {_number(t.width, e)}" for n, e in enumerate(t.entries))
    return f"{chosen} {_number(t.width, 0)}{')' * len(t.entries)}"


_RULES: dict[str, Callable[..., str]] = {
    "extract": lambda t, x: f"((_ extract {t.low + t.width - 1} {t.low}) {x})",
    "concat": _plain("concat"),
    "sext": lambda t, x: f"((_ sign_extend {t.width - t.args[0].width}) {x})",
    "add": _add,
    "neg": _plain("bvneg"),
    "not": _plain("bvnot"),
    "mul": _plain("bvmul"),
    "udiv": _plain("bvudiv"),
    "urem": _plain("bvurem"),
    "and": _plain("bvand"),
    "or": _plain("bvor"),
    "xor": _plain("bvxor"),
    "shl": _shift("bvshl"),
    "lshr": _shift("bvlshr"),
    "ashr": _shift("bvashr"),
    "eq": _predicate("="),
    "ult": _predicate("bvult"),
    "slt": _predicate("bvslt"),
    "ite": lambda t, c, a, b: f"(ite (= {c} #b1) {a} {b})",
    "lookup": _lookup,
}
