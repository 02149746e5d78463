"""A sequence of inputs for both sides of the conditions in the RTL of a machine, from power-up.

From the state that is reached, the solver is asked for a few cycles to a side that was not reached yet, during which
the machine keeps its promises; both sides run these cycles, and the search continues from the state after them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from dais_verif.prover.clocked.machines.both_sides import read_rtl
from dais_verif.prover.clocked.machines.bounded import Unrolled, unrolled
from dais_verif.prover.clocked.machines.registers import Place, open_registers
from dais_verif.prover.conditions import conditions_in, wanted
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, const, extract, leaves, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Step, step_of

__all__ = ["SideSequence", "sequence_of_sides"]

#: The largest number of cycles from one reached state to a side, of cycles in all, and of questions about one side.
_AHEAD, _CYCLES, _TRIES = 3, 200, 3
#: Seconds for one question.
_SECONDS = 0.25


class SideSequence(NamedTuple):
    """One row per cycle, with the bits of every element of the inputs; it reaches ``reached`` of ``sides`` sides."""

    step: Step
    inputs: tuple[tuple[int, ...], ...]
    reached: int
    sides: int


class _State(NamedTuple):
    """The registers of the machine and of the RTL."""

    state: Sequence[Term]
    held: Mapping[Place, Term]


def sequence_of_sides(machine: Machine, netlist: Netlist, clock: str, seconds: float) -> SideSequence:
    """Return a sequence for the conditions of ``netlist``, found within about ``seconds``.

    Raises ``InputError`` if a register has another clock than the input ``clock``, or an asynchronous reset.
    """
    end = time.monotonic() + seconds
    step = step_of(machine)
    opened = open_registers(netlist, clock)
    rtl = read_rtl(machine, opened, ())
    ends = {*(netlist.signals[name] for name in netlist.inputs), *opened.now.values()}
    names: dict[Term, Signal] = {}

    def cut(signal: Signal, low: int, width: int) -> Term | None:
        if signal not in ends:
            return None
        whole = var(signal.width, f"rtl {signal.name}")
        names[whole] = signal
        return extract(whole, low, width)

    results = [*rtl.outputs.values(), *rtl.after.values()]
    conditions = conditions_in(opened.netlist, Cone(cut), results)
    goals = list(dict.fromkeys(goal for term in conditions for goal in wanted(term) if goal.op != "const"))
    names |= rtl.signals
    tries = {goal: 0 for goal in goals if all(leaf in names for leaf in leaves(goal))}
    sides = len(tries)
    rows: list[tuple[int, ...]] = []
    start: _State | None = None
    while tries and len(rows) < _CYCLES and time.monotonic() < end:
        runs: list[Unrolled] = []
        found = None
        for run in islice(unrolled(machine, step, opened, rtl, start), _AHEAD):
            runs.append(run)
            found = _reached(run, tries, names, end)
            if found is not None or time.monotonic() > end:
                break
        if found is None:
            break
        rows += [tuple(found.get(t, 0) if t is not None else 0 for t in row) for row in runs[-1].given]
        for run in runs:
            values = _values([_at(goal, run, names) for goal in tries], found)
            tries = {goal: n for (goal, n), value in zip(list(tries.items()), values, strict=True) if not value}
        last = runs[-1]
        state = _values([*last.state, *last.held.values()], found)
        terms = [const(t.width, v) for t, v in zip([*last.state, *last.held.values()], state, strict=True)]
        start = _State(terms[: len(last.state)], dict(zip(last.held, terms[len(last.state) :], strict=True)))
    return SideSequence(step, tuple(rows), sides - len(tries), sides)


def _reached(
    run: Unrolled, tries: dict[Term, int], names: Mapping[Term, Signal], end: float
) -> Mapping[Term, int] | None:
    """Return the inputs of all cycles so far with which one of ``tries`` is reached in the last; None if none is."""
    for goal in [goal for goal, n in tries.items() if n < _TRIES * _AHEAD]:
        left = end - time.monotonic()
        if left <= 0:
            return None
        tries[goal] += 1
        answer = satisfy([_at(goal, run, names), *run.kept], min(left, _SECONDS))
        if answer.verdict == "sat":
            return answer.model
    return None


def _at(goal: Term, run: Unrolled, names: Mapping[Term, Signal]) -> Term:
    """Return ``goal`` in the last cycle of ``run``."""
    known = {leaf: run.known.get(names[leaf]) for leaf in leaves(goal)}
    return rebuild(goal, {leaf: const(leaf.width, 0) if term is None else term for leaf, term in known.items()})


def _values(terms: Sequence[Term], found: Mapping[Term, int]) -> list[int]:
    """Return the values of ``terms`` for the inputs ``found``; what is undefined at power-up is 0."""
    columns = {leaf: np.array([found.get(leaf, 0)], dtype=object) for leaf in leaves(*terms)}
    return [int(value[0]) for value in evaluate(list(terms), columns)]
