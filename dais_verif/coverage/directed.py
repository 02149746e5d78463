"""Compute vectors for open bins from the program, or prove that there are none.

Cheap methods come first: values of the inputs themselves; values pulled back to the inputs; all inputs of small cones,
which either hit a bin or show that no input hits it; finally a solver. Every vector is run on the golden model, and
counts only for the bins that it hits there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.text import counted
from dais_verif.coverage.bins import Bins
from dais_verif.coverage.count import count, count_batch
from dais_verif.coverage.goals import Goal, Wish, goal_of, wishes
from dais_verif.coverage.pullback import Ground, pull
from dais_verif.coverage.unreachable import by_ranges
from dais_verif.golden.batch import compile_program
from dais_verif.golden.coverage_probes import CoverageProbes, ProbeBytes
from dais_verif.spec.program.graph import exact_bits
from dais_verif.spec.program.numbers import Batch, Column, compact, floor_to_grid
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import Analysis, sharp_ranges
from dais_verif.stimulus import Vectors
from dais_verif.stimulus.generate import generate
from dais_verif.stimulus.pseudo_exhaustive.domain import Domain, domain_of
from dais_verif.stimulus.pseudo_exhaustive.plan import plan_vectors

__all__ = ["Effort", "How", "Rows", "Search", "batch_of_bits", "enumerate_cones", "give_inputs", "pull_back", "solve"]


@dataclass(frozen=True)
class Effort:
    """Limits of the effort. ``seconds``: total time of the solver; the other limits do not depend on the computer.

    ``rounds``, ``goals``: rounds of pulling back, and goals in each round; ``steps``, ``asked``: ops visited for one
    vector, and for all vectors. ``bits``: the largest small cone; ``evaluations``: ops times vectors for all small
    cones. ``values``: ops times vectors whose values are stored, and inputs times vectors that are made for inputs
    alone.
    """

    seconds: float = 10.0
    rounds: int = 24
    goals: int = 256
    steps: int = 300
    asked: int = 500_000
    bits: int = 20
    evaluations: int = 1_000_000_000
    values: int = 1 << 23


#: The number of vectors from which pulling back starts.
_BASES = 128
_STRETCH = 16384
#: Pulling back stops after this many rounds without a useful vector.
_PATIENCE = 4
#: Limit of ops times rounds of pulling back: in very large programs one round takes seconds.
_ROUND_OPS = 400_000
#: In programs with more ops than this, it takes seconds merely to look for small cones.
_LARGE = 20_000
#: The fractions of its total time that the solver may spend on one bin, round by round.
_SHARES = (0.01, 0.1, 0.5)


def give_inputs(search: Search, effort: Effort) -> None:
    """Offer corners, out-of-range and off-grid values of the inputs themselves."""
    bins, n_in = search.bins, search.bins.program.n_in
    start = bins.places.size
    search.offer(bins.readers.together(search.seen[start:-2], n_in))
    # A value may be allowed on its own even if its vector was rejected because of another input.
    batch, left = bins.readers.alone(search.seen[start:-2], n_in, effort.values)
    search.offer(batch)
    if left:
        search.limits.append(f"{left} input values not yet seen were not tried one by one")


def _goals(search: Search) -> list[tuple[int, Goal]]:
    """Return the open bins and their goals, except bins of inputs."""
    pairs = ((number, goal_of(search.bins, number)) for number in search.open().tolist())
    return [(number, goal) for number, goal in pairs if goal is not None]


# ------------------------------------------------------------------ pulling back


def pull_back(search: Search, effort: Effort, seed: int, notice: Callable[[str], object]) -> None:
    """Offer vectors found by pulling wished values back to the inputs, round by round from the last vectors."""
    program, rng = search.bins.program, random.Random(seed)
    if not len(search.open()):
        return
    ports = ports_of(program)
    ground = Ground(program, ports, search.analysis.intervals)
    compiled = compile_program(program)
    given = program if search.declared else replace(program, intervals=None)
    most = max(effort.values // max(program.n_ops, 1), 1)
    base = Rows(ports, generate(given, min(_BASES, most), seed), compiled)
    last: dict[int, tuple[Rows, int]] = {}
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
        batch, before = batch_of_bits(search.domain, vectors), search.vectors
        search.offer(batch)
        idle = idle + 1 if search.vectors == before else 0
        if idle == _PATIENCE:
            return
        if not left:
            break
        tried = Rows(ports, batch, compiled)
        last = {number: (tried, row) for row, (number, _) in enumerate(some)}
    if rounds and (found := len(_goals(search))):
        why = f"{effort.asked:,} ops" if not left else counted(rounds, "round")
        search.limits.append(f"pulling values back to the inputs stopped after {why}, with {found:,} bins open")


class Rows:
    """The values of all ops on some vectors."""

    def __init__(self, ports: Any, batch: Batch, compiled: Any) -> None:
        self.count = batch.rows
        elements = zip(ports.inputs, batch.columns, strict=True)
        self._inputs = [floor_to_grid(column, -e.lo).astype(object) & (1 << e.width) - 1 for e, column in elements]
        values = [raw if raw is not None else np.zeros(batch.rows, dtype=np.int64) for raw in compiled.trace(batch)]
        #: (rows, ops), so that a row is contiguous.
        self._values: NDArray[Any] = np.array(values).T if values else np.zeros((batch.rows, 0), dtype=np.int64)

    def values(self, row: int) -> Sequence[int]:
        """Return the raw values of all ops as Python integers, each converted when it is read."""
        values = self._values[row]
        found: Sequence[int] = values.tolist() if values.dtype == object else memoryview(values)
        return found

    def inputs(self, row: int) -> list[int]:
        """Return the bits of every port element."""
        return [int(column[row]) for column in self._inputs]


def batch_of_bits(domain: Domain, vectors: Sequence[Sequence[int]]) -> Batch:
    """Return vectors that are given as bits of port elements, which are read as signed if the input is."""
    columns = []
    for j, (element, signed) in enumerate(zip(domain.ports.inputs, domain.signed, strict=True)):
        half = 1 << element.width - 1 if signed and element.width else 0
        column = np.empty(len(vectors), dtype=object)
        column[:] = [(vector[j] ^ half) - half for vector in vectors]
        columns.append(Column(compact(column), element.lo))
    return Batch(len(vectors), tuple(columns))


# ------------------------------------------------------------------ small cones


def enumerate_cones(search: Search, effort: Effort, seed: int, *, take: bool, exclude: bool) -> None:
    """Try all inputs of small cones. ``take``: offer vectors that hit bins; ``exclude``: bins that no input hits."""
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
    """Decide as many bins as time permits, in order of ops: find a vector, or prove that there is none."""
    goals = _goals(search)
    if not goals or not effort.seconds:
        return
    # Imported here, since loading the solver takes time.
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
                search.offer(batch_of_bits(search.domain, [answer]))
            if answer is not None:
                del wanted[goal]


# The state of a search: bins that are hit, bins that are unreachable, and the vectors found for the rest.


class How(IntEnum):
    """How a bin was shown to be unreachable."""

    NOT = 0
    RANGES = 1
    ENUMERATION = 2
    SOLVER = 3


class Search:
    """The bins of a program and their state. ``check``: reject vectors that break promises.

    ``declared``: also reject vectors with inputs outside the intervals that the program's source declares.
    """

    def __init__(self, bins: Bins, *, check: bool, declared: bool, jobs: int = 1) -> None:
        self.bins, self.check, self.declared, self._jobs = bins, check, declared, jobs
        self.probes = CoverageProbes(bins.program, check=False)
        self.seen: ProbeBytes = bins.nothing()
        #: A ``How`` for every bin.
        self.how: NDArray[np.uint8] = np.zeros(len(bins.owner), dtype=np.uint8)
        self._found: list[Batch] = []
        self.vectors = 0
        #: The parts of the search that were skipped because of a limit, as text.
        self.limits: list[str] = []

    def count(self, vectors: Vectors) -> None:
        """Count ``vectors``. Raises ``ViolationError`` if promises are checked and one is broken."""
        probes = CoverageProbes(self.bins.program) if self.check else self.probes
        count(self.bins, probes, vectors, self.seen, jobs=self._jobs)
        self.vectors += vectors.rows

    def exclude_by_ranges(self) -> None:
        """Mark the bins that range analysis shows to be unreachable."""
        impossible = by_ranges(self.bins, self.analysis)
        self.exclude(np.flatnonzero(self.bins.never(impossible)), How.RANGES)

    def exclude(self, bins: NDArray[np.intp], how: How) -> None:
        """Mark ``bins`` as unreachable. Raises ``AssertionError`` if one of them is hit."""
        hit = bins[self.bins.hit(self.seen)[bins]]
        if len(hit):
            raise AssertionError(f"{self.bins.text(int(hit[0]))}: hit, but unreachable by {how.name.lower()}")
        self.how[bins] = how

    def open(self) -> NDArray[np.intp]:
        """Return the bins that are neither hit nor unreachable."""
        return np.flatnonzero(~self.bins.hit(self.seen) & (self.how == How.NOT))

    def still_open(self, bins: Sequence[int]) -> list[int]:
        """Return the open bins among ``bins``, without checking any other bin."""
        first, second = self.bins.first, self.bins.second
        return [n for n in bins if not (self.seen[first[n]] or self.seen[second[n]] or self.how[n])]

    @cached_property
    def analysis(self) -> Analysis:
        """The range analysis of all ops."""
        return sharp_ranges(self.bins.program, declared=self.declared)

    @cached_property
    def domain(self) -> Domain:
        """The input declarations of the program."""
        return domain_of(self.bins.program)

    @property
    def found(self) -> Batch:
        """The vectors that were accepted, in order."""
        return Batch.concatenate(self._found) if self._found else self._no_vector

    @property
    def _no_vector(self) -> Batch:
        return Batch.of(np.zeros((0, self.bins.program.n_in)), self.bins.program.n_in)

    def offer(self, batch: Batch) -> None:
        """Accept vectors of ``batch`` that hit open bins; repeated halving finds a small set of them."""
        wanted = self.open()
        if not batch.rows or not len(wanted):
            return
        waiting = [batch]
        while waiting:
            part = waiting.pop()
            shown = self.seen.copy()
            self.see(part, shown)
            gained = shown[self.bins.first[wanted]] | shown[self.bins.second[wanted]]
            if not gained.any():
                continue
            if part.rows > 1:
                middle = part.rows // 2
                waiting += [part.slice(middle, part.rows), part.slice(0, middle)]
            elif self._allowed(part):
                self.seen = shown
                self._found.append(part)
                self.vectors += 1
                wanted = wanted[gained == 0]
                if not len(wanted):
                    return

    def see(self, batch: Batch, seen: ProbeBytes) -> None:
        """Set the places of ``seen`` that ``batch`` reaches, even if it breaks promises."""
        count_batch(self.bins, self.probes, batch, seen, jobs=self._jobs)

    def _allowed(self, vector: Batch) -> bool:
        if self.declared and not self.bins.readers.declare(vector):
            return False
        return not (self.check and self.probes.breaks(vector))
