"""Run all sequences of a machine on the kernel: raw integers, with one row per element and one column per sequence.

Each cycle is one run of the step program (``machine/step``) on the rows of inputs and state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import ViolationError
from dais_verif.golden import Golden
from dais_verif.golden.machine import cycle_from
from dais_verif.golden.oracle import quantise, two
from dais_verif.machine.model import Machine
from dais_verif.machine.step import Element, Step
from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import INPUT

__all__ = ["Integers", "Lanes", "Shown"]

Integers = NDArray[np.signedinteger[Any]]

#: The most numbers that are kept at once: few enough for the processor's cache.
_TOGETHER = 1 << 18


class Shown(NamedTuple):
    """Raw outputs of the cycles from ``first`` on, (cycles, elements, sequences); empty if they were not requested.

    If the step tracks unknown values, the elements are followed by the same number of elements that are 1 where a value
    is unknown.
    """

    first: int
    before: Integers
    after: Integers


class Lanes:
    """Independent sequences from power-up. ``shape``: the number of sequences and of cycles."""

    def __init__(
        self, machine: Machine, step: Step, shape: tuple[int, ...], check: bool, *, before: bool, after: bool
    ) -> None:
        self.machine, self.step, self.check = machine, step, check
        self.sequences, self.cycles = shape
        self.before, self.after = before, after
        n_out, n_state, of = len(step.outputs), len(step.state), step.program
        # The outputs of the program: those of the machine, and bits that mark unknown elements.
        shown, following = [*range(n_out)], [*range(n_out, n_out + n_state)]
        if step.unknowns:
            shown += range(n_out + n_state, 2 * n_out + n_state)
            following += range(2 * n_out + n_state, of.n_out)
        # Outputs that are inputs or registers need no computation: their row is copied.
        rows = np.where(of.columns.code[of.out_idx] == INPUT, of.columns.id0[of.out_idx], -1)
        direct = rows[shown]
        self._there, self._given = direct >= 0, direct[direct >= 0]
        computed = [output for output in shown if rows[output] < 0]
        self._computed = len(computed) if before else 0
        self.golden = Golden(_with_outputs(of, (computed if before else []) + following))
        self._settled = Golden(_with_outputs(of, computed)) if after and computed else None
        kinds = [*self._kinds(step.inputs), *self._kinds(step.state), *step.program.output_types]
        bits = max((kind.width + (1 - kind.k) for kind in kinds), default=0)
        self.integer = next(t for t in (np.int8, np.int16, np.int32, np.int64) if np.dtype(t).itemsize * 8 >= bits)
        #: The current cycle, and the rows of inputs and state before its edge.
        self.cycle = 0
        self.rows = np.zeros((of.n_in, self.sequences), dtype=self.integer)

    def run(self, driven: Callable[[slice], Integers]) -> Iterator[Shown]:
        """Yield the raw outputs of several cycles at a time. Raises ``ViolationError`` for the first broken promise.

        ``driven``: returns the raw inputs of a range of cycles, (cycles, elements, sequences).
        """
        rows, n_in, n_state = self.rows, len(self.step.inputs), len(self.step.state)
        found: Integers = np.zeros((self.golden.program.n_out, self.sequences), dtype=self.integer)
        shown, following = found[: self._computed], found[self._computed :]
        late: Integers = np.zeros((int(np.count_nonzero(~self._there)), self.sequences), dtype=self.integer)
        for number, element in enumerate(self.step.state):
            rows[n_in + number] = self._initial(element)
            if self.step.unknowns:
                rows[n_in + n_state + number] = self.machine.signals[element.signal].initial is None
        together = max(1, _TOGETHER // max(1, self.sequences * max(n_in, len(self._there))))
        for first in range(0, self.cycles, together):
            given = driven(slice(first, min(first + together, self.cycles)))
            part = Shown(first, *(self._empty(len(given) if wanted else 0) for wanted in (self.before, self.after)))
            for t, row in enumerate(given):
                self.cycle = first + t
                rows[:n_in] = row
                self.golden.run_planar(rows, check=self.check, jobs=1, out=found)
                if self.before:
                    self._show(part.before[t], shown)
                rows[n_in:] = following
                if self.after:
                    if self._settled is not None:
                        self._settled.run_planar(rows, check=False, jobs=1, out=late)
                    self._show(part.after[t], late)
            yield part

    def _empty(self, cycles: int) -> Integers:
        return np.zeros((cycles, len(self._there), self.sequences), dtype=self.integer)

    def _show(self, row: Integers, computed: Integers) -> None:
        row[~self._there] = computed
        row[self._there] = self.rows[self._given]

    def _kinds(self, elements: Sequence[Element]) -> list[FixedType]:
        return [self.machine.signals[name].types[place] for name, place in elements]

    def _initial(self, element: Element) -> int:
        signal = self.machine.signals[element.signal]
        if signal.initial is None:  # the element has no bits, or its value is unknown
            return 0
        return int(signal.initial[element.place] * two(signal.types[element.place].f))

    def explain(self, given: Mapping[str, NDArray[Any]], error: ViolationError) -> None:
        """Raise the oracle's error for the first sequence that breaks a promise in the current cycle.

        Unknown values break no promise, but the engine computes with arbitrary values in their place. If only such
        values seem to break a promise, nothing is raised.
        """
        sequence = self._first_broken()
        n_in, n_state = len(self.step.inputs), len(self.step.state)
        registers = {s.name: list(s.initial or [None] * len(s.types)) for s in self.machine.registers}
        for number, (name, place) in enumerate(self.step.state):
            kind = self.machine.signals[name].types[place]
            unknown = self.step.unknowns and self.rows[n_in + n_state + number, sequence]
            raw = int(self.rows[n_in + number, sequence])
            registers[name][place] = None if unknown else quantise(raw * two(-kind.f), kind)
        inputs = {name: [Fraction(v) for v in array[sequence, self.cycle].tolist()] for name, array in given.items()}
        try:
            cycle_from(self.machine, registers, inputs, number=self.cycle)
        except ViolationError as found:
            raise ViolationError(f"sequence {sequence}, {found}") from None
        if not self.step.unknowns:
            raise AssertionError(f"the fast engine and the oracle differ in cycle {self.cycle}: {error}")

    def _first_broken(self) -> int:
        """Return the first sequence that breaks a promise in the current cycle; there must be such a sequence."""
        low, high = 0, self.sequences - 1
        while low < high:
            middle = (low + high) // 2
            try:
                self.golden.run_planar(np.ascontiguousarray(self.rows[:, low : middle + 1]), check=True, jobs=1)
                low = middle + 1
            except ViolationError:
                high = middle
        return low


def _with_outputs(program: Program, outputs: Sequence[int]) -> Program:
    """Return ``program`` with only the outputs whose numbers are in ``outputs``."""
    chosen = np.array(outputs, dtype=np.int64)
    return replace(
        program,
        out_idx=program.out_idx[chosen],
        out_shift=program.out_shift[chosen],
        out_neg=program.out_neg[chosen],
    )
