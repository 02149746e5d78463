"""All readings of operators that tools have misread: with which sign, and which bits they keep.

A design that is read with doubts has two readings of each such operator: a variable of one bit selects the other one.
For each variable, a solver can find an input on which the readings differ at an output, and simulators decide there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dais_verif.prover.four_state import add, ashr, bxor, ite, lshr, neg, nonzero, slt, udiv, ult, urem
from dais_verif.prover.terms import Term, concat, extract, top_bit, var
from dais_verif.prover.terms import resize as resized

__all__ = ["READINGS", "Doubts"]

_Rule = Callable[[Callable[[Term, Term], Term], Term, Term], Term]


class Doubts(dict[tuple[Any, str], Term]):
    """The variables that select other readings, by expression and kind of operator."""

    def either(self, e: Any, kind: str, found: Term, *operands: Any) -> Term:
        """Return ``found``, or another reading of ``e`` where its variable is 1; ``operands``: those of its ``kind``.

        Constants, such as the conditions of loops, are doubted only where the other reading is none.
        """
        for other in READINGS[kind](*operands):
            if other is not found and not found.op == other.op == "const":
                return ite(self.setdefault((e, kind), var(1, f"other reading {len(self)}")), other, found)
        return found


def _extensions(term: Term, width: int) -> Iterable[Term]:
    return resized(term, width, False), resized(term, width, True)


def _narrowings(term: Term, width: int) -> Iterable[Term]:
    """Yield the lower bits, as in Verilog, and the sign with the bits below it, as ``resize`` of numeric_std keeps."""
    yield extract(term, 0, width)
    yield concat(top_bit(term), extract(term, 0, width - 1)) if width > 1 else top_bit(term)


def _concatenations(parts: list[Term]) -> Iterable[Term]:
    """Yield the lower bits of a value of which a concatenation keeps the sign."""
    if len(parts) == 2:
        sign, low = parts
        same = sign.op == low.op == "extract" and sign.args == low.args and low.low == 0
        if same and sign.width == 1 and sign.low > low.width:
            yield extract(low.args[0], 0, low.width + 1)


def _shifts(a: Term, b: Term) -> Iterable[Term]:
    return lshr(a, b), ashr(a, b)


def _comparisons(rule: _Rule, a: Term, b: Term) -> Iterable[Term]:
    return rule(slt, a, b), rule(ult, a, b)


def _beyond_range(rule: Callable[[Term, Term], Term], a: Term, b: Term, width: int) -> Iterable[Term]:
    """Yield a comparison with a constant, and with its lower bits, as many as the other operand has."""
    return rule(a, b), rule(extract(a, 0, width), extract(b, 0, width))


def _divisions(a: Term, b: Term, quotient: bool) -> Iterable[Term]:
    """Yield a signed result, rounded towards zero, an unsigned one, and a remainder with the sign of the divisor."""
    rule = udiv if quotient else urem
    whole = rule(*(ite(top_bit(x), neg(x), x) for x in (a, b)))
    opposite = bxor(top_bit(a), top_bit(b))
    result = ite(opposite if quotient else top_bit(a), neg(whole), whole)
    yield result
    yield rule(a, b)
    if not quotient:
        yield ite(nonzero(result), ite(opposite, add(result, b), result), result)


#: For each kind of operator, all readings of its operands.
READINGS: dict[str, Callable[..., Iterable[Term]]] = {
    "extension": _extensions,
    "narrowing": _narrowings,
    "kept sign": _concatenations,
    "shift to the right": _shifts,
    "order": _comparisons,
    "constant beyond the range": _beyond_range,
    "division": _divisions,
}
