"""The measurements and their order.

A program's round is: a new design, the same design again, a million vectors, Icarus; da4ml runs before or after these,
alternately, but not again once it has taken longer than ``PATIENCE``. Designs of more than ``LARGE`` ops have one round
of the first two and of da4ml. Shapes are measured once, each as a new design in both simulators; growth is measured on
networks, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.sim.sides import Ours, Peer, Run
from bench.sim.subjects import Subject

__all__ = ["COLD", "ICARUS", "LARGE", "MANY", "PATIENCE", "PEER", "WARM", "Plan", "Step"]

#: The names of the measurements of a program.
COLD, WARM, MANY, ICARUS, PEER = "cold", "warm", "many", "icarus", "peer"

#: Programs with more ops have one round, without a million vectors and without Icarus.
LARGE = 10_000

#: If da4ml takes more seconds than this, it is measured only once.
PATIENCE = 90.0


class Step(NamedTuple):
    """A run, and the list to which its result is appended."""

    label: str
    action: Callable[[], Run]
    results: list[Run]
    #: The run is repeated only if the previous one took no more seconds than this.
    patience: float = math.inf

    def take(self) -> Run | None:
        """Measure and return the run; None if the previous run took longer than ``patience``."""
        if self.results and self.results[-1]["wall"] > self.patience:
            return None
        run = self.action()
        self.results.append(run)
        return run


@dataclass(frozen=True)
class Plan:
    """The sizes and both sides; ``peer`` is None if it is left out."""

    ours: Ours
    peer: Peer | None
    folder: Path
    rounds: int
    #: Vectors of a verdict, of the run that shows the rate, and of the growth with ops.
    vectors: int = 10_000
    many: int = 1_000_000
    few: int = 1_000
    growth_ops: Sequence[int] = (500, 2_000, 5_000, 20_000, 80_000)
    growth_vectors: Sequence[int] = (1_000, 3_000, 10_000, 100_000, 1_000_000)
    #: Ops of the network whose growth with vectors is measured; Icarus runs at most ``vectors`` vectors.
    growth_design: int = 5_000

    def program(self, subject: Subject) -> tuple[dict[str, Any], list[Step]]:
        """Return the results of ``subject``, which the steps fill, and the steps."""
        runs: dict[str, list[Run]] = {name: [] for name in (PEER, COLD, WARM, MANY, ICARUS)}
        steps = []
        for number in range(self.rounds if subject.ops <= LARGE else 1):
            ours, theirs = list(self._ours(subject, runs)), list(self._theirs(subject, runs))
            steps += ours + theirs if number % 2 else theirs + ours
        return {"name": subject.name, "ops": subject.ops, "runs": runs}, steps

    def _ours(self, subject: Subject, runs: dict[str, list[Run]]) -> Iterator[Step]:
        yield self._step(subject, "verilator", self.vectors, runs[COLD], new=True)
        yield self._step(subject, "verilator", self.vectors, runs[WARM])
        if subject.ops <= LARGE:
            yield self._step(subject, "verilator", self.many, runs[MANY])
            yield self._step(subject, "icarus", self.vectors, runs[ICARUS], new=True)

    def _theirs(self, subject: Subject, runs: dict[str, list[Run]]) -> Iterator[Step]:
        peer = self.peer
        if peer is not None:
            yield Step(f"{subject.name} da4ml", lambda: peer.run(subject, self.vectors), runs[PEER], PATIENCE)

    def shape(self, subject: Subject) -> tuple[dict[str, Any], Step]:
        """Return the result of ``subject``, which the step fills, and the step: both simulators, as users run them."""
        runs: list[Run] = []
        step = self._step(subject, "both", self.few, runs, new=True)
        return {"name": subject.name, "ops": subject.ops, "runs": runs}, step

    def growth(self) -> tuple[dict[str, Any], list[Step]]:
        """Return results and steps of time against ops, with new designs, and against vectors, with a built design."""
        ops: dict[str, list[Run]] = {"verilator": [], "icarus": []}
        vectors: dict[str, list[Run]] = {"verilator": [], "icarus": []}
        steps = []
        for size in self.growth_ops:
            subject = Subject.of_network(size, self.folder)
            for simulator, runs in ops.items():
                steps.append(self._step(subject, simulator, self.few, runs, new=True, size=size))
        subject = Subject.of_network(self.growth_design, self.folder)
        for simulator, runs in vectors.items():
            sizes = [size for size in self.growth_vectors if simulator == "verilator" or size <= self.vectors]
            steps.append(self._step(subject, simulator, sizes[0], [], new=True))
            steps += [self._step(subject, simulator, size, runs, size=size) for size in sizes]
        return {"ops": ops, "vectors": vectors}, steps

    def _step(
        self,
        subject: Subject,
        simulator: str,
        vectors: int,
        runs: list[Run],
        *,
        new: bool = False,
        size: int | None = None,
    ) -> Step:
        """Return a step that runs our side. ``size`` is kept with the result."""

        def action() -> Run:
            if new:
                self.ours.forget()
            return {"size": size, "vectors": vectors, **self.ours.run(subject, simulator, vectors)}

        return Step(f"{subject.name} {simulator} {vectors:,}" + " (new)" * new, action, runs)
