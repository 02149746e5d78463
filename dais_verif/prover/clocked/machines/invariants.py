"""Bounds on elements of a machine's state that hold in every cycle: found by exploring its control logic, then proved.

Groups of elements that depend on few others, and on few input bits, are run through all states that they reach from
power-up. The bounds found in this way are proved by induction: they hold at power-up, and if all hold before an edge,
they hold after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.clocked.machines.absent import dependence, ones
from dais_verif.prover.clocked.machines.both_sides import initial_bits
from dais_verif.prover.lemmas import within
from dais_verif.prover.obligations import Builder
from dais_verif.prover.random_simulation import trace
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool
from dais_verif.prover.terms import Term, const
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Step
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import Interval

__all__ = ["bounded", "bounds_of"]

#: The largest number of state bits of a group, and of input bits that are enumerated; for more input bits, ``_DRAWN``
#: random inputs are used.
_STATE_BITS, _INPUT_BITS, _DRAWN = 16, 8, 64
_STATES, _ROWS, _SECONDS = 1 << 14, 1 << 15, 3.0
#: The largest number of ops in the next-value function of an element whose bounds are proved.
_LARGEST = 2000

Column = NDArray[Any]


def bounds_of(machine: Machine, step: Step, options: ProofOptions, watcher: ProofWatcher) -> dict[int, Interval]:
    """Return proved bounds of elements of the state, as raw integers, by element number.

    They hold in every cycle as long as the machine keeps its promises.
    """
    return _inductive(step, _suggested(machine, step), Pool(options, watcher))


def bounded(program: Program, first: int, bounds: Mapping[int, Interval]) -> Program:
    """Return ``program``, whose inputs from ``first`` on are the state, with ``bounds`` as their declared intervals."""
    if not bounds:
        return program
    declared = []
    for op in program.ops:
        bound = bounds.get(op.id0 - first) if op.code == INPUT else None
        declared.append((op.type.raw_min, op.type.raw_max) if bound is None else (bound.lo, bound.hi))
    return replace(program, intervals=tuple(declared))


def _suggested(machine: Machine, step: Step) -> dict[int, Interval]:
    end = time.monotonic() + _SECONDS
    first = initial_bits(machine, step)
    found: dict[int, Interval] = {}
    for group in _groups(step):
        if any(first[n] is None for n in group) or time.monotonic() > end:
            continue
        for number, values in _reached(step, group, [first[n] or 0 for n in group], end).items():
            kind = machine.signals[step.state[number].signal].types[step.state[number].place]
            half = 1 << (kind.width - 1) if kind.k else 0
            raw = [(value ^ half) - half for value in values]
            if min(raw) > kind.raw_min or max(raw) < kind.raw_max:
                found[number] = Interval(min(raw), max(raw), kind.f, 0)
    return found


def _groups(step: Step) -> Iterator[tuple[int, ...]]:
    """Yield small sets of elements whose next values depend only on each other and on inputs."""
    _, before = dependence(step)
    widths = [element.width for element in ports_of(step.program).inputs[len(step.inputs) :]]
    seen: set[int] = set()
    for number in range(len(step.state)):
        closed, waiting = 1 << number, [number]
        while waiting and sum(widths[n] for n in ones(closed)) <= _STATE_BITS:
            new = before[waiting.pop()] & ~closed
            if new.bit_count() > _STATE_BITS:
                closed = 0
                break
            closed |= new
            waiting += ones(new)
        if closed and not waiting and sum(widths[n] for n in ones(closed)) <= _STATE_BITS and closed not in seen:
            seen.add(closed)
            yield tuple(n for n in ones(closed) if widths[n])


def _reached(step: Step, group: Sequence[int], first: Sequence[int], end: float) -> dict[int, set[int]]:
    """Return the values that each element of ``group`` takes; an empty dict if there are too many states."""
    program, n_in, n_out = step.program, len(step.inputs), len(step.outputs)
    roots = [program.outputs[n_out + n][0] for n in group]
    ops = cone(program, roots)
    elements = ports_of(program).inputs
    read = sorted({program.ops[n].id0 for n in ops if program.ops[n].code == INPUT and program.ops[n].id0 < n_in})
    given = _inputs([elements[n].width for n in read])
    rows = len(given[0]) if given else 1
    reached = {tuple(first)}
    frontier = [tuple(first)]
    while frontier:
        some, frontier = frontier[: max(_ROWS // rows, 1)], frontier[max(_ROWS // rows, 1) :]
        columns: list[Column] = [np.zeros(rows * len(some), dtype=object) for _ in elements]
        for n, column in zip(read, given, strict=True):
            columns[n] = np.tile(column, len(some))
        for place, n in enumerate(group):
            columns[n_in + n] = np.repeat(np.array([state[place] for state in some], dtype=object), rows)
        found = trace(program, elements, columns, rows * len(some), ops)
        after = zip(*(found.values[root][~found.broken].tolist() for root in roots), strict=True)
        new = {tuple(map(int, state)) for state in after} - reached
        reached |= new
        frontier += new
        if len(reached) > _STATES or time.monotonic() > end:
            return {}
    return {n: {state[place] for state in reached} for place, n in enumerate(group)}


def _inputs(widths: Sequence[int]) -> list[Column]:
    """Return all values of few input bits, or random values of many.

    Random values may miss states; the proof of the bounds then fails.
    """
    if sum(widths) > _INPUT_BITS:
        rng = np.random.default_rng(0)
        return [
            np.array(
                [int.from_bytes(rng.bytes(width // 8 + 1)) & ((1 << width) - 1) for _ in range(_DRAWN)], dtype=object
            )
            for width in widths
        ]
    rows, low, found = np.arange(1 << sum(widths)), 0, []
    for width in widths:
        found.append(((rows >> low) & ((1 << width) - 1)).astype(object))
        low += width
    return found


def _inductive(step: Step, bounds: dict[int, Interval], pool: Pool) -> dict[int, Interval]:
    """Return those of ``bounds`` that are inductive: together, they hold again after every edge."""
    program, n_in, n_out = step.program, len(step.inputs), len(step.outputs)
    builder = Builder.of_program(program)
    kinds = {op.id0 - n_in: op.type for op in program.ops if op.code == INPUT and op.id0 >= n_in}
    values: dict[int, tuple[Term, dict[Term, int], tuple[Term, ...]]] = {}
    for number in list(bounds):
        root = program.outputs[n_out + number][0]
        if len(cone(program, [root])) > _LARGEST:
            del bounds[number]
        else:
            values[number] = builder.over_inputs(root)
    while True:
        lost = []
        for number, interval in bounds.items():
            value, variables, kept = values[number]
            given = [
                within(kinds[n - n_in], variable, bounds[n - n_in])
                for variable, n in variables.items()
                if n - n_in in bounds
            ]
            claim = within(kinds[number], value, interval)
            given = [term for term in (*given, *kept) if term.op != "const"]
            if pool.equal(claim, const(1, 1), tuple(given)).equal is not True:
                lost.append(number)
        if not lost:
            return bounds
        for number in lost:
            del bounds[number]
