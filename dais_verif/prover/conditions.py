"""Input vectors for both sides of the conditions in RTL, which random vectors may never reach.

A reader that misreads RTL proves something else than simulators run, and a simulation shows it only if its vectors
reach the place. Therefore each condition of a branch, a multiplexer or an item that was met while the RTL was read,
and each comparison, even where its result is not used, gets a vector on either side, within a time limit. So does each
operator that readers have misread before: a vector on which its other reading gives another output.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from dais_verif.base.errors import InputError
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, bnot, bor, const, eq, leaves, nodes, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Element

__all__ = ["Sides", "conditions_in", "other_readings_of", "sides_of", "wanted"]

#: Prefix of the names of variables that stand for signals in blocks.
_SIGNAL = "signal "
#: The largest number of conditions, and of nodes of all of them.
_CONDITIONS, _NODES = 2_000, 200_000
#: The largest number of other readings.
_DOUBTS = 200
#: The number of random vectors by which most sides are reached, without the solver.
_ROWS = 256
#: Seconds for one question: about a side, and about another reading.
_SECONDS, _SECONDS_OF_READINGS = 0.5, 1.5


class Sides(NamedTuple):
    """Vectors, as the bits of each of ``elements``, that reach ``reached`` of ``sides`` sides of conditions."""

    vectors: tuple[tuple[int, ...], ...] = ()
    reached: int = 0
    sides: int = 0
    elements: tuple[Element, ...] = ()

    def and_those_of(self, other: Sides) -> Sides:
        """Return the vectors and the numbers of both."""
        vectors = tuple(dict.fromkeys((*self.vectors, *other.vectors)))
        return Sides(vectors, self.reached + other.reached, self.sides + other.sides, self.elements)


def sides_of(
    program: Program, netlist: Netlist, dut: Dut, held: Sequence[tuple[str, int]], declared: bool, seconds: float
) -> Sides:
    """Return vectors for the conditions of ``netlist``, found within ``seconds``.

    ``held``: pins that a proof holds at a value. ``declared``: inputs stay within the declared intervals. Raises
    ``InputError`` if ``netlist`` is no function of its inputs, or a pipeline whose control logic cannot be removed.
    """
    opened = _Opened.of(program, netlist, dut, held, declared)
    own = frozenset(opened.inputs)
    conditions = [t for t in conditions_in(netlist, opened.cone, opened.results) if own.issuperset(leaves(t))]
    goals = dict.fromkeys(goal for t in conditions for goal in wanted(t) if goal.op != "const")
    return _searched([*goals], opened, seconds)


def other_readings_of(
    program: Program, netlist: Netlist, dut: Dut, held: Sequence[tuple[str, int]], declared: bool, seconds: float
) -> Sides:
    """Return vectors on which outputs differ between ``netlist`` and each of its other readings of an operator.

    Other arguments and errors are those of ``sides_of``. Readings that never differ are no sides.
    """
    opened = _Opened.of(program, netlist, dut, held, declared)
    doubts = list(netlist.doubts.values())[:_DOUBTS]
    never = {t: const(t.width, 0) for t in leaves(*opened.results) if t.op == "undefined"}
    never |= {doubt: const(1, 0) for doubt in netlist.doubts.values()}
    right = [rebuild(t, never) for t in opened.results]
    own = frozenset(opened.inputs)
    goals: dict[Term, None] = {}
    end = time.monotonic() + seconds / 2
    for doubt in doubts:
        other = [rebuild(t, {**never, doubt: const(1, 1)}) for t in opened.results]
        differ = [bnot(eq(a, b)) for a, b in zip(right, other, strict=True) if a is not b]
        goal = reduce(bor, differ, const(1, 0))
        if goal.op != "const" and own.issuperset(leaves(goal)):
            goals[goal] = None
        if time.monotonic() > end:
            break
    return _searched([*goals], opened, seconds / 2, possible=True)


class _Opened(NamedTuple):
    """The outputs of a design as terms over its ``inputs``; ``given`` holds for all inputs."""

    inputs: tuple[Term, ...]
    elements: tuple[Element, ...]
    given: tuple[Term, ...]
    cone: Cone
    results: tuple[Term, ...]

    @classmethod
    def of(
        cls, program: Program, netlist: Netlist, dut: Dut, held: Sequence[tuple[str, int]], declared: bool
    ) -> _Opened:
        boundary = Boundary.of(program, netlist, dut)
        boundary = boundary.holding({netlist.signals[name]: value for name, value in held})
        found = infer_controls(netlist, boundary, boundary.result_ports, dut.interface.clocking)
        boundary = boundary.holding({netlist.signals[name]: value for name, value in found.items()})
        inputs = tuple(var(max(element.width, 1), f"directed {j}") for j, element in enumerate(boundary.inputs))
        assumed = Assumptions(program, boundary.inputs, declared)
        given = tuple(term for j, x in enumerate(inputs) for term in assumed.of_input(j, x))

        def cut(signal: Signal, low: int, width: int) -> Term | None:
            return boundary.given(signal, low, width, lambda j: inputs[j])

        cone = Cone(cut)
        results = tuple(cone.read(signal, 0, signal.width) for signal in boundary.result_ports)
        return cls(inputs, boundary.inputs, given, cone, results)


def conditions_in(netlist: Netlist, cone: Cone, results: Sequence[Term]) -> list[Term]:
    """Return the conditions in ``results`` and those met in ``netlist``, read by ``cone``; the largest come first."""
    found: dict[Term, int] = {}
    for term in (*_of_terms(results), *_resolved(netlist, cone, [*netlist.conditions])):
        if term.op != "const" and term not in found:
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


def wanted(condition: Term) -> Iterator[Term]:
    """Yield what should hold once: each side of a condition, and the values around a constant to compare with."""
    yield condition
    yield bnot(condition)
    if condition.op in ("ult", "slt"):
        a, b = condition.args
        for x, limit in ((a, b), (b, a)):
            if limit.op == "const" and x.op != "const":
                yield from (eq(x, const(x.width, limit.value + step)) for step in (-1, 0, 1))


def _searched(goals: Sequence[Term], opened: _Opened, seconds: float, *, possible: bool = False) -> Sides:
    """Return vectors for ``goals``. ``possible``: goals that no input reaches are not counted as sides."""
    inputs, given = opened.inputs, opened.given
    if not goals:
        return Sides(elements=opened.elements)
    end = time.monotonic() + seconds
    rng = random.Random(0)
    columns = {x: np.array([rng.getrandbits(x.width) for _ in range(_ROWS)], dtype=object) for x in inputs}
    allowed = np.ones(_ROWS, dtype=bool)
    if given:
        allowed = np.logical_and.reduce([np.asarray(v, dtype=bool) for v in evaluate(list(given), columns)])
    met = [np.asarray(values, dtype=bool) & allowed for values in evaluate(goals, columns)]
    vectors: dict[tuple[int, ...], None] = {}
    reached = impossible = 0
    for goal, rows in zip(goals, met, strict=True):
        if rows.any():
            row = int(np.argmax(rows))
            vectors[tuple(int(columns[x][row]) for x in inputs)] = None
            reached += 1
            continue
        left = end - time.monotonic()
        answer = (
            satisfy([goal, *given], min(left, _SECONDS_OF_READINGS if possible else _SECONDS)) if left > 0 else None
        )
        if answer is not None and answer.verdict == "sat":
            vectors[tuple(answer.model.get(x, 0) for x in inputs)] = None
            reached += 1
        elif answer is not None and answer.verdict == "unsat" and possible:
            impossible += 1
    return Sides(tuple(vectors), reached, len(goals) - impossible, opened.elements)
