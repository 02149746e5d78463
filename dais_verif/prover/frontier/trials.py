"""Try findings: give a place the values of an op, and see which outputs of the RTL are right then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.frontier.search import Candidate
from dais_verif.prover.frontier.structure import Structure
from dais_verif.prover.frontier.values import Place
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Signal
from dais_verif.prover.random_simulation import Trace, Wires, differs
from dais_verif.spec.program import Program

__all__ = ["State", "Trials"]

#: The largest shift of an op's values that is tried.
_SHIFTS = 8
#: The largest number of wide signals in a row.
_STEPS = 16


class State(NamedTuple):
    """Values of signals, and the rows in which each output is wrong then."""

    wires: Wires
    wrong: Mapping[int, NDArray[np.bool_]]

    @property
    def errors(self) -> int:
        """The number of wrong values."""
        return sum(int(rows.sum()) for rows in self.wrong.values())


class Trials:
    """Outputs of RTL with other values at some places."""

    def __init__(self, program: Program, structure: Structure, found: Trace) -> None:
        self._program, self._structure, self._found = program, structure, found
        self._boundary = structure.boundary
        self._passed: dict[Place, list[Signal]] | None = None
        self._sources: dict[int, frozenset[Signal | int]] = {}

    def judged(self, wires: Wires, outputs: Iterable[int], before: State | None = None) -> State:
        """Return which of ``outputs`` are wrong in which rows. ``before``: what is known of other values."""
        wrong = {}
        for j in outputs:
            if before is not None and not self._is_moved(j, wires, before.wires):
                wrong[j] = before.wrong[j]
            else:
                wrong[j] = differs(self._program, self._boundary, j, [wires], self._found) & ~self._found.broken
        return State(wires, wrong)

    def _is_moved(self, output: int, wires: Wires, before: Wires) -> bool:
        if output not in self._sources:
            self._sources[output] = wires.sources_of(partial(self._boundary.result, output))
        return any(
            wires.values.get(one) is not before.values.get(one)
            for one in self._sources[output]
            if isinstance(one, Signal)
        )

    def with_op(self, state: State, candidate: Candidate) -> State | None:
        """Return ``state`` with the values of the candidate's op at its place, in the form with most outputs right.

        None if the values of the place cannot be set.
        """
        place, op = candidate.place, candidate.op
        targets = self._settable(place, state.wires)
        if op is None or not targets:
            return None
        tried = None
        for bits in self._forms(place, op):
            require_time()
            changed = state.wires.changed({one.signal: _put(state.wires, one, bits) for one in targets})
            one = self.judged(changed, state.wrong, state)
            if tried is None or one.errors < tried.errors:
                tried = one
            if not one.errors:
                break
        return tried

    def _settable(self, place: Place, wires: Wires) -> list[Place]:
        """Return the place itself, or, in a wide signal that is read part by part, the signals that pass it on."""
        if place.signal in wires.values:
            return [place]
        if self._passed is None:
            self._passed = {}
            for signal in wires.values:
                for one in self._chain(Place.whole(signal), wires):
                    self._passed.setdefault(one, []).append(signal)
        return [Place.whole(signal) for signal in self._passed.get(place, ())]

    def _chain(self, place: Place, wires: Wires) -> Iterator[Place]:
        """Yield the parts of wide signals that a place passes on."""
        for _ in range(_STEPS):
            reads = self._structure.reads(place) if self._structure.is_alias(place) else ()
            if len(reads) != 1 or reads[0].signal in wires.values or reads[0].width != place.width:
                return
            (place,) = reads
            yield place

    def _forms(self, place: Place, op: int) -> Iterator[NDArray[Any]]:
        """Yield the bits of a place that carries an op: as wide as the place, then shifted or negated."""
        kind = self._program.ops[op].type
        raw = self._found.values[op].astype(object)
        if kind.k:
            raw = (raw ^ (1 << (kind.width - 1))) - (1 << (kind.width - 1))
        mask = (1 << place.width) - 1
        yield raw & mask
        for shift in range(1, min(place.width - kind.width, _SHIFTS) + 1):
            yield (raw << shift) & mask
        if place.width > kind.width:
            yield -raw & mask


def _put(wires: Wires, place: Place, bits: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a place's signal with other bits at the place."""
    old = wires.values[place.signal].astype(object)
    mask = ((1 << place.width) - 1) << place.low
    new: NDArray[Any] = (old & ~mask) | (bits << place.low)
    return new.astype(np.uint64) if place.signal.width <= 64 else new
