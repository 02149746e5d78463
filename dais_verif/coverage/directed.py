"""Vectors computed from the program for bins that are open, and proofs that there are none.

First what is cheap: inputs that are simply given; values pulled back; all inputs of small cones, which either hit a
bin or show that nothing does; last a solver. What is found is run on the golden model, and counts only for what it
does there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.counts import counted
from dais_verif.coverage.goals import Goal, Wish, goal_of, wishes
from dais_verif.coverage.pullback import Ground, pull
from dais_verif.coverage.search import How, Search
from dais_verif.golden.batch import compile_program
from dais_verif.program.cones import exact_bits
from dais_verif.program.numbers import Batch, Column, compact, floor_to_grid
from dais_verif.program.ports import ports_of
from dais_verif.stimulus.generate import generate
from dais_verif.stimulus.pseudo_exhaustive.domain import domain_of
from dais_verif.stimulus.pseudo_exhaustive.plan import plan_vectors

__all__ = ["Effort", "enumerate_cones", "give_inputs", "pull_back", "solve"]


@dataclass(frozen=True)
class Effort:
    """The effort limits. ``seconds``: for the solver, in all; the other limits do not depend on the machine.

    ``rounds``, ``goals``: of pulling back, and goals in each; ``steps``: ops that are asked for one vector, ``asked``:
    for all. ``bits``: of a cone that is small; ``evaluations``: ops times vectors to go through such cones.
    ``values``: ops times vectors whose values are kept; inputs times vectors that are made for inputs alone.
    """

    seconds: float = 10.0
    rounds: int = 24
    goals: int = 256
    steps: int = 300
    asked: int = 500_000
    bits: int = 20
    evaluations: int = 1_000_000_000
    values: int = 1 << 23


#: Vectors that pulling starts from.
_BASES = 128
_STRETCH = 16384
#: The search stops after this many rounds of pulling without a useful vector.
_PATIENCE = 4
#: Ops times rounds of pulling: in very large programs a round takes seconds.
_ROUND_OPS = 400_000
#: In larger programs, only to look for small cones takes seconds.
_LARGE = 20_000
#: Parts of its time that the solver may spend on one bin, in one round after the other.
_SHARES = (0.01, 0.1, 0.5)


def give_inputs(search: Search, effort: Effort) -> None:
    """Corners and odd numbers of the inputs themselves."""
    bins, n_in = search.bins, search.bins.program.n_in
    start = bins.places.size
    search.offer(bins.readers.together(search.seen[start:-2], n_in))
    # Values that another input of such a vector forbids may still be allowed on their own.
    batch, left = bins.readers.alone(search.seen[start:-2], n_in, effort.values)
    search.offer(batch)
    if left:
        search.limits.append(f"{left} input values not yet seen were not tried one by one")


def _goals(search: Search) -> list[tuple[int, Goal]]:
    """Open bins and what they want, without those of inputs."""
    pairs = ((number, goal_of(search.bins, number)) for number in search.open().tolist())
    return [(number, goal) for number, goal in pairs if goal is not None]


# ------------------------------------------------------------------ pulling back


def pull_back(search: Search, effort: Effort, seed: int, notice: Callable[[str], object]) -> None:
    """Vectors from which wished values were pulled back to the inputs, and pulled further from there."""
    program, rng = search.bins.program, random.Random(seed)
    if not len(search.open()):
        return
    ports = ports_of(program)
    ground = Ground(program, ports, search.analysis.intervals)
    compiled = compile_program(program)
    given = program if search.declared else replace(program, intervals=None)
    most = max(effort.values // max(program.n_ops, 1), 1)
    base = _Rows(ports, generate(given, min(_BASES, most), seed), compiled)
    last: dict[int, tuple[_Rows, int]] = {}
    idle, left = 0, effort.asked
    rounds = max(min(effort.rounds, _ROUND_OPS // max(program.n_ops, 1)), 1) if effort.rounds else 0
    for number_of_round in range(rounds):
        goals = _goals(search)
        if not goals:
            return
        notice(f"coverage: values pulled back to the inputs, {len(goals)} bins open, round {number_of_round + 1}")
        some = rng.sample(goals, min(len(goals), effort.goals, most))
        vectors = []
        for number, goal in some:
            rows, row = last.get(number, (base, rng.randrange(base.count)))
            if rng.random() < 0.25:
                rows, row = base, rng.randrange(base.count)
            now = rows.values(row)
            wished: Sequence[Wish] = wishes(program, goal, now, rng)
            pulled = pull(ground, wished, now, rows.inputs(row), rng, steps=min(effort.steps, left))
            vectors.append(pulled.inputs)
            left -= pulled.asked
            if not left:
                break
        batch, before = _batch(search, vectors), search.vectors
        search.offer(batch)
        idle = idle + 1 if search.vectors == before else 0
        if idle == _PATIENCE:
            return
        if not left:
            break
        tried = _Rows(ports, batch, compiled)
        last = {number: (tried, row) for row, (number, _) in enumerate(some)}
    if rounds and (found := len(_goals(search))):
        why = f"{effort.asked:,} ops were asked" if not left else counted(rounds, "round")
        search.limits.append(f"values were pulled back to the inputs until {why}, with {found:,} bins open")


class _Rows:
    """The values of all ops on some vectors."""

    def __init__(self, ports: Any, batch: Batch, compiled: Any) -> None:
        self.count = batch.rows
        elements = zip(ports.inputs, batch.columns, strict=True)
        self._inputs = [floor_to_grid(column, -e.lo).astype(object) & (1 << e.width) - 1 for e, column in elements]
        values = [raw if raw is not None else np.zeros(batch.rows, dtype=np.int64) for raw in compiled.trace(batch)]
        #: (rows, ops), so that a row is at hand.
        self._values: NDArray[Any] = np.array(values).T if values else np.zeros((batch.rows, 0), dtype=np.int64)

    def values(self, row: int) -> Sequence[int]:
        """Raw values of all ops as Python integers, each computed on first use."""
        values = self._values[row]
        found: Sequence[int] = values.tolist() if values.dtype == object else memoryview(values)
        return found

    def inputs(self, row: int) -> list[int]:
        """Return the bits of every port element."""
        return [int(column[row]) for column in self._inputs]


def _batch(search: Search, vectors: Sequence[Sequence[int]]) -> Batch:
    """Vectors given as bits of the port elements, read as signed where the input is."""
    domain = search.domain
    columns = []
    for j, (element, signed) in enumerate(zip(domain.ports.inputs, domain.signed, strict=True)):
        half = 1 << element.width - 1 if signed and element.width else 0
        column = np.empty(len(vectors), dtype=object)
        column[:] = [(vector[j] ^ half) - half for vector in vectors]
        columns.append(Column(compact(column), element.lo))
    return Batch(len(vectors), tuple(columns))


# ------------------------------------------------------------------ small cones


def enumerate_cones(search: Search, effort: Effort, seed: int, *, take: bool, exclude: bool) -> None:
    """All inputs of ops that few bits reach. ``take``: vectors that hit something; ``exclude``: what none hits."""
    bins = search.bins
    program = bins.program if search.declared else replace(bins.program, intervals=None)
    goals = _goals(search)
    if not goals:
        return
    if program.n_ops > _LARGE:
        search.limits.append(f"small cones were not searched in programs of more than {_LARGE:,} ops")
        return
    domain = domain_of(program)
    masks = exact_bits(program, {goal.op for _, goal in goals}, at_most=effort.bits)
    cones = {
        op: domain.closed(mask)
        for op, mask in masks.items()
        if mask is not None and not mask & domain.tangled and domain.size(mask) <= 1 << effort.bits
    }
    rows = effort.evaluations // (program.n_ops + 1)
    if search.probes.engine != "fast":
        rows //= 100
    for exhaustive in plan_vectors(domain, cones, max_rows=rows, max_bits=effort.bits):
        met = search.seen.copy()
        for start in range(0, exhaustive.rows, _STRETCH):
            batch = exhaustive.batch(start, start + _STRETCH, seed)
            search.see(batch, met)
            if take:
                search.offer(batch)
        hit = bins.hit(met)
        exhausted = set(exhaustive.outputs)
        never = [number for number, goal in goals if goal.op in exhausted and not hit[number]]
        if exclude:
            search.exclude(np.array(never, dtype=np.intp), How.ENUMERATION)


# ------------------------------------------------------------------ the solver


def solve(search: Search, effort: Effort, *, take: bool, exclude: bool) -> None:
    """Decide as many bins as time permits, cheapest first: by a vector, or by showing that there is none."""
    goals = _goals(search)
    if not goals or not effort.seconds:
        return
    # Imported when needed: the solver takes a while to load.
    from dais_verif.coverage.solver import GoalSolver

    solver = GoalSolver(search.bins.program, search.declared)
    end = time.monotonic() + effort.seconds
    wanted: dict[Goal, list[int]] = {}
    for number, goal in sorted(goals, key=lambda pair: pair[1].op):
        wanted.setdefault(goal, []).append(number)
    for share in _SHARES:
        for goal, numbers in list(wanted.items()):
            left = end - time.monotonic()
            if left <= 0:
                search.limits.append(
                    f"the solver was asked for {effort.seconds:g} s (--timeout), with {len(wanted):,} questions left"
                )
                return
            still = search.still_open(numbers)
            answer = solver.solve(goal, min(left, share * effort.seconds)) if still else True
            if answer is False and exclude:
                search.exclude(np.array(still, dtype=np.intp), How.SOLVER)
            elif take and isinstance(answer, list):
                search.offer(_batch(search, [answer]))
            if answer is not None:
                del wanted[goal]
