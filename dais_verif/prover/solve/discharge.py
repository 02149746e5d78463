"""Decide an obligation by the cheapest method that can decide it.

Identical terms are equal. If the inputs are few, all their values are tried. All other questions go to the SMT solver.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, band, bnot, eq, nodes
from dais_verif.prover.terms.evaluate import Values, evaluate
from dais_verif.record.proof import Method

__all__ = ["Discharge", "decide"]

#: Maximum number of input bits for which all combinations are tried: if all terms have at most 64 bits, and if not.
_EXHAUSTIVE_BITS, _WIDE_BITS = 20, 10
#: With more bits than this, the solver is tried first unless there is a product or table, for which it is slow.
_SOON_BITS = 13
#: The number of rows that are evaluated at once.
_ROWS = 1 << 16


@dataclass(frozen=True)
class Discharge:
    """A decision. ``equal``: whether the terms are equal; None: undecided. ``model``: values for which they differ."""

    equal: bool | None
    method: Method
    seconds: float
    model: Mapping[Term, int] = field(default_factory=dict)


def decide(a: Term, b: Term, given: Sequence[Term], timeout: float) -> Discharge:
    """Decide whether ``a`` and ``b`` are equal wherever all of ``given`` are 1. ``timeout``: seconds for the solver."""
    start = time.perf_counter()
    if a is b:
        return Discharge(True, Method.IDENTICAL, 0.0)
    order = nodes(a, b, *given)
    free = [t for t in order if t.op in ("var", "undefined")]
    bits = sum(t.width for t in free)
    narrow = all(t.width <= 64 for t in order)
    hard = any(t.op in ("mul", "udiv", "urem", "lookup") for t in order)
    if bits <= ((_EXHAUSTIVE_BITS if hard else _SOON_BITS) if narrow else _WIDE_BITS):
        model = _try_all(a, b, given, free, bits)
        return Discharge(model is None, Method.EXHAUSTIVE, time.perf_counter() - start, model or {})
    conditions = [bnot(eq(a, b)), *given]
    answer = satisfy(conditions, timeout)
    if answer.verdict == "unknown" and narrow and bits <= _EXHAUSTIVE_BITS:
        model = _try_all(a, b, given, free, bits)
        return Discharge(model is None, Method.EXHAUSTIVE, time.perf_counter() - start, model or {})
    equal = {"unsat": True, "sat": False}.get(answer.verdict)
    return Discharge(equal, Method.SMT, time.perf_counter() - start, answer.model)


def _try_all(a: Term, b: Term, given: Sequence[Term], free: Sequence[Term], bits: int) -> Mapping[Term, int] | None:
    """Return values of the ``free`` terms for which the two differ; None if there are none."""
    same = eq(a, b)
    wrong = bnot(same)
    for condition in given:
        wrong = band(wrong, condition)
    for first in range(0, 1 << bits, _ROWS):
        rows = np.arange(first, min(first + _ROWS, 1 << bits), dtype=np.uint64)
        values: dict[Term, Values] = {}
        place = 0
        for t in free:
            values[t] = (rows >> np.uint64(place)) & np.uint64((1 << t.width) - 1)
            place += t.width
        (found,) = evaluate([wrong], values)
        if found.any():
            row = int(np.argmax(found != 0))
            return {t: int(column[row]) for t, column in values.items()}
    return None
