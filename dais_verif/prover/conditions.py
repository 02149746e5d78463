"""Input vectors for both sides of the conditions in RTL, which random vectors may never reach.

A reader that misreads RTL proves something else than simulators run, and a simulation shows it only if its vectors
reach the place. Therefore each condition of a branch, a multiplexer or an item that was met while the RTL was read,
and each comparison, even where its result is not used, gets a vector on either side, within a time limit.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dais_verif.dut.placement import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.prover.assumptions import Assumptions
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.solving.smt import satisfy
from dais_verif.prover.terms import Term, bnot, const, eq, leaves, nodes, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate

__all__ = ["Sides", "sides_of"]

#: Prefix of the names of variables that stand for signals in blocks.
_SIGNAL = "signal "
#: The largest number of conditions, and of nodes of all of them.
_CONDITIONS, _NODES = 2_000, 200_000
#: The number of random vectors by which most sides are reached, without the solver.
_ROWS = 256
#: Seconds for one question.
_SECONDS = 0.5


class Sides(NamedTuple):
    """Vectors, as the bits of each input, that reach ``reached`` of ``sides`` sides of conditions."""

    vectors: tuple[tuple[int, ...], ...] = ()
    reached: int = 0
    sides: int = 0


def sides_of(
    program: Program, netlist: Netlist, dut: Dut, held: Sequence[tuple[str, int]], declared: bool, seconds: float
) -> Sides:
    """Return vectors for the conditions of ``netlist``, found within ``seconds``; none if it is not readable so.

    ``held``: pins that a proof holds at a value. ``declared``: inputs stay within the declared intervals.
    """
    try:
        boundary = Boundary.of(program, netlist, dut)
        boundary = boundary.holding({netlist.signals[name]: value for name, value in held})
        inputs = [var(max(element.width, 1), f"directed {j}") for j, element in enumerate(boundary.inputs)]
        conditions = _conditions(netlist, boundary, inputs)
    except InputError:
        return Sides()
    assumed = Assumptions(program, boundary.inputs, declared)
    given = [term for j, x in enumerate(inputs) for term in assumed.of_input(j, x)]
    return _searched(conditions, inputs, given, seconds)


def _conditions(netlist: Netlist, boundary: Boundary, inputs: Sequence[Term]) -> list[Term]:
    """Return conditions over ``inputs``, those of the largest cones first."""

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        return boundary.given(signal, low, width, lambda j: inputs[j])

    cone = Cone(cut)
    results = [cone.read(signal, 0, signal.width) for signal in boundary.result_ports]
    own = frozenset(inputs)
    found: dict[Term, int] = {}
    for term in (*_of_terms(results), *_resolved(netlist, cone, [*netlist.conditions])):
        if term.op != "const" and term not in found and own.issuperset(leaves(term)):
            found[term] = len(nodes(term))
            if len(found) == _CONDITIONS or sum(found.values()) > _NODES:
                break
    return sorted(found, key=lambda term: -found[term])


def _of_terms(roots: Sequence[Term]) -> Iterator[Term]:
    for t in nodes(*roots):
        if t.op == "ite":
            yield t.args[0]
        elif t.op in ("eq", "ult", "slt"):
            yield t


def _resolved(netlist: Netlist, cone: Cone, conditions: Sequence[Term]) -> Iterator[Term]:
    """Yield conditions with the terms of signals in place of their variables."""
    for condition in conditions:
        replaced: dict[Term, Term] = {}
        for leaf in leaves(condition):
            signal = netlist.signals.get(str(leaf.data).removeprefix(_SIGNAL)) if leaf.op == "var" else None
            if signal is not None and str(leaf.data).startswith(_SIGNAL) and signal.width == leaf.width:
                try:
                    replaced[leaf] = cone.read(signal, 0, signal.width)
                except InputError:
                    break
        else:
            yield rebuild(condition, replaced)


def _wanted(condition: Term) -> Iterator[Term]:
    """Yield what should hold once: each side of a condition, and the values around a constant to compare with."""
    yield condition
    yield bnot(condition)
    if condition.op in ("ult", "slt"):
        a, b = condition.args
        for x, limit in ((a, b), (b, a)):
            if limit.op == "const" and x.op != "const":
                yield from (eq(x, const(x.width, limit.value + step)) for step in (-1, 0, 1))


def _searched(conditions: Sequence[Term], inputs: Sequence[Term], given: Sequence[Term], seconds: float) -> Sides:
    goals = [goal for condition in conditions for goal in _wanted(condition) if goal.op != "const"]
    goals = list(dict.fromkeys(goals))
    if not goals:
        return Sides()
    end = time.monotonic() + seconds
    rng = random.Random(0)
    columns = {x: np.array([rng.getrandbits(x.width) for _ in range(_ROWS)], dtype=object) for x in inputs}
    allowed = np.ones(_ROWS, dtype=bool)
    if given:
        allowed = np.logical_and.reduce([np.asarray(v, dtype=bool) for v in evaluate(list(given), columns)])
    met = [np.asarray(values, dtype=bool) & allowed for values in evaluate(goals, columns)]
    vectors: dict[tuple[int, ...], None] = {}
    reached = 0
    for goal, rows in zip(goals, met, strict=True):
        if rows.any():
            row = int(np.argmax(rows))
            vectors[tuple(int(columns[x][row]) for x in inputs)] = None
            reached += 1
            continue
        left = end - time.monotonic()
        answer = satisfy([goal, *given], min(left, _SECONDS)) if left > 0 else None
        if answer is not None and answer.verdict == "sat":
            vectors[tuple(answer.model.get(x, 0) for x in inputs)] = None
            reached += 1
    return Sides(tuple(vectors), reached, len(goals))
