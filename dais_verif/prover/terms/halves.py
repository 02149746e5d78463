"""Join sums that are written in two halves, in which the low bits are copied or negated, into one sum.

If only one operand has low bits, RTL often copies them: ``x + (y << k)`` is ``{(x >> k) + y, x[k-1:0]}``. If that
operand is subtracted, it borrows from the upper half unless its low bits are 0: ``(y << k) - x`` is
``{y - (x >> k) - (x[k-1:0] != 0), -x[k-1:0]}``.
"""

from __future__ import annotations

from dais_verif.prover.terms.arithmetic import neg, total
from dais_verif.prover.terms.choices import nonzero
from dais_verif.prover.terms.node import Term, const
from dais_verif.prover.terms.parts import JOIN, concat, follows, zext

__all__: list[str] = []


def _joined_sum(high: Term, low: Term) -> Term | None:
    """Return the sum ``high`` with ``low`` below it as one sum; None if that is not possible.

    It is possible if ``low`` is the lower part of a term of the sum, or minus the lower part of a subtracted term.
    """
    for number, t in enumerate(high.args):
        if follows(t, low):
            others = [*high.args[:number], *high.args[number + 1 :]]
            return _shifted_sum(others, high.low, low.width, concat(t, low))
    return _borrowed(high, low)


def _borrowed(high: Term, low: Term) -> Term | None:
    """Return one sum if ``low`` is minus the lower part of a subtracted term and ``high`` has the borrow; else None."""
    if low.op != "neg" and low.width > 1:
        return None
    lower = low.args[0] if low.op == "neg" else low  # one bit equals its negation
    borrow = neg(zext(nonzero(lower), high.width))
    if borrow not in high.args:
        return None
    others = [t for t in high.args if t is not borrow]
    for number, t in enumerate(others):
        if t.op == "neg" and follows(t.args[0], lower):
            return _shifted_sum(
                others[:number] + others[number + 1 :], high.low, low.width, neg(concat(t.args[0], lower))
            )
    return None


def _shifted_sum(others: list[Term], constant: int, shift: int, t: Term) -> Term:
    zeros = const(shift, 0)
    return total(t.width, [t, *(concat(x, zeros) for x in others)], constant << shift)


JOIN["add"] = _joined_sum
