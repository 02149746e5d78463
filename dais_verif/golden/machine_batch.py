"""The fast engine of machines: many sequences at once, one lane each, with one call of the program engine per cycle.

One cycle of a machine is a program (``spec/machine/step``), which the C kernel runs on inputs and state of all
sequences. Values that may be unknown have an extra bit (``spec/machine/unknowns``). Results must equal those of the
oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, MachineInputError, ViolationError
from dais_verif.golden import Golden, require_bool
from dais_verif.golden.machine import Value, cycle_from, trace_machine
from dais_verif.golden.oracle import quantise, two
from dais_verif.spec.machine.model import Machine, Signal
from dais_verif.spec.machine.step import Element, Step, conflict_of, step_of
from dais_verif.spec.machine.unknowns import step_with_unknowns
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, doubles_of_raw
from dais_verif.spec.program.opcodes import INPUT, Code, low_int32

__all__ = ["Integers", "Lanes", "MACHINE_ENGINES", "MachineRun", "RawRun", "Shown", "run_machine", "run_raw"]


Reals = NDArray[np.float64]

#: The engines: the C kernel, one sequence per lane, or the oracle; ``auto`` uses the kernel wherever possible.
MACHINE_ENGINES = ("auto", "fast", "exact")

_NO_DOUBLE = "output {} has a value that a float64 cannot hold exactly"
#: Wider raw integers do not fit numpy integers.
_WIDEST = 62
#: A float64 exactly holds every raw integer of ``_EXACT`` bits times a power of two with an exponent within ±``_NEAR``.
_EXACT, _NEAR = 53, 900


@dataclass(frozen=True)
class MachineRun:
    """The outputs of all sequences: float64 (sequences, cycles, elements) per signal. ``engine``: the engine used.

    NaN: the value is unknown, since it depends on an uninitialised register.
    """

    outputs: dict[str, Reals]
    engine: str


class RawRun(NamedTuple):
    """Raw outputs ``before`` and ``after`` each edge: integers (cycles, elements of all outputs, sequences).

    ``unknowns``: whether the elements are followed by the same number of elements that are 1 where a value is unknown.
    ``beyond``: the sequences in which an unchecked index was outside of its memory; only the oracle can compute these.
    """

    before: Integers
    after: Integers
    unknowns: bool
    beyond: frozenset[int]


def run_raw(
    machine: Machine,
    inputs: Mapping[str, Integers],
    *,
    sequences: int,
    cycles: int,
    check: bool = True,
    after: bool = True,
) -> RawRun | None:
    """Run independent sequences; return outputs in units of their last bits; None if the fast engine cannot run them.

    ``inputs``: for each input signal an int64 array (sequences, cycles, elements) of raw integers within its types.
    ``after``: also return outputs after edges. Raises ``ViolationError`` if ``check`` and a sequence breaks a promise,
    which the oracle confirms.
    """
    step, problem = _step(machine)
    if step is None or problem is not None:
        return None
    lanes = Lanes(machine, step, (sequences, cycles), check, before=True, after=after)

    def driven(some: slice) -> Integers:
        found = np.zeros((some.stop - some.start, len(step.inputs), sequences), dtype=lanes.integer)
        for number, (name, place) in enumerate(step.inputs):
            found[:, number, :] = inputs[name][:, some, place].T
        return found

    parts = list(lanes.run(driven))
    empty = np.zeros((0, (1 + step.unknowns) * len(step.outputs), sequences), dtype=lanes.integer)
    before, late = (np.concatenate([empty, *some]) for some in ([p.before for p in parts], [p.after for p in parts]))
    return RawRun(before, late, step.unknowns, lanes.beyond)


def run_machine(
    machine: Machine, inputs: Mapping[str, Reals], *, after: bool = False, check: bool = True, engine: str = "auto"
) -> MachineRun:
    """Return outputs of independent sequences from power-up, before the edge of each cycle, or ``after`` it.

    ``inputs``: for each input signal an array (sequences, cycles, elements) of floats or integers, taken exactly;
    arrays (cycles, elements) are one sequence.
    ``check``: raise ``ViolationError`` for the first broken promise, with its sequence, cycle, block and op; the first
    is that of the earliest cycle.
    ``engine``: one of ``MACHINE_ENGINES``. Raises ``InputError`` for inputs that do not fit the machine, and if
    ``engine`` is ``fast`` and does not support the machine.
    """
    require_bool(check)
    if engine not in MACHINE_ENGINES:
        raise MachineInputError(f"engine must be one of {', '.join(MACHINE_ENGINES)}, not {engine!r}")
    given = {name: _array(name, array) for name, array in inputs.items()}
    if given and all(array.ndim == 2 for array in given.values()):
        given = {name: array[None] for name, array in given.items()}
    _require_fitting(machine, given)
    if engine != "exact":
        step, problem = _step(machine)
        if step is not None and problem is None:
            found = _fast(machine, step, given, after, check)
            if found is not None:
                return MachineRun(found, "fast")
            problem = (
                "it cannot decide whether an unknown value breaks a promise"
                if check
                else "an index is outside of its memory, where reads are unknown"
            )
        if engine == "fast":
            raise MachineInputError(f"engine fast: {problem}; use engine exact")
    return MachineRun(_exactly(machine, given, after, check), "exact")


def _array(name: str, values: Any) -> NDArray[Any]:
    """Return ``values`` as an array, without loss."""
    if np.ma.is_masked(values):
        raise MachineInputError(f"input {name} contains masked values; fill them")
    try:
        array = np.asarray(values)
    except ValueError:
        raise MachineInputError(f"input {name} has rows of different lengths") from None
    if array.dtype.itemsize > 8:
        raise MachineInputError(
            f"input {name} has dtype {array.dtype}, must be a float or an integer of at most 64 bits"
        )
    return array


def _require_fitting(machine: Machine, given: Mapping[str, NDArray[Any]]) -> None:
    names = [signal.name for signal in machine.inputs]
    if sorted(given) != sorted(names):
        raise MachineInputError(
            f"inputs are {', '.join(sorted(given)) or 'none'}, must be {', '.join(sorted(names)) or 'none'}"
        )
    shapes = {array.shape[:2] for array in given.values()}
    if len(shapes) > 1:
        raise MachineInputError("the inputs differ in their numbers of sequences or cycles: " + _shapes(given))
    for signal in machine.inputs:
        array = given[signal.name]
        if array.ndim != 3 or array.shape[2] != len(signal.types):
            raise MachineInputError(
                f"input {signal.name} has shape {array.shape}, must be (sequences, cycles, {len(signal.types)})"
            )
        if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
            raise MachineInputError(f"input {signal.name} must hold finite numbers")


def _shapes(given: Mapping[str, NDArray[Any]]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in given.items())


def _beyond(machine: Machine) -> str | None:
    """Return why the fast engine cannot run ``machine``; None if it can."""
    for signal in machine.signals.values():
        widest = max((kind.width for kind in signal.types), default=0)
        if widest > _WIDEST:
            return f"{signal.name} has elements of {widest} bits, more than {_WIDEST}"
    return conflict_of(machine)


def _step(machine: Machine) -> tuple[Step | None, str | None]:
    """Return the step of a cycle, or why there is none; it tracks unknown values if a register is uninitialised."""
    problem = _beyond(machine)
    if problem:
        return None, problem
    unknown = any(s.initial is None and any(kind.width for kind in s.types) for s in machine.registers)
    try:
        return (step_with_unknowns(machine) if unknown else step_of(machine)), None
    except InputError as error:  # a memory has too many words
        return None, str(error)


def _fast(
    machine: Machine, step: Step, given: Mapping[str, NDArray[Any]], after: bool, check: bool
) -> dict[str, Reals] | None:
    """Run all cycles in the C kernel; None if only the oracle can compute the run."""
    shape = next(iter(given.values())).shape[:2] if given else (1, 0)
    lanes = Lanes(machine, step, shape, check, before=not after, after=after)
    found = {s.name: np.empty((*shape, len(s.types)), dtype=np.float64) for s in machine.outputs}
    try:
        for part in lanes.run(_driven(machine, given, lanes.integer)):
            _keep(machine, part.after if after else part.before, part.first, found, step.unknowns)
    except ViolationError as error:
        lanes.explain(given, error)
        return None
    return None if lanes.beyond else found


def _driven(machine: Machine, given: Mapping[str, NDArray[Any]], integer: Any) -> Callable[[slice], Integers]:
    """Return a function that returns the raw inputs of a range of cycles, (cycles, elements, sequences)."""
    readers = {signal.name: Golden(_reader(signal)) for signal in machine.inputs}
    n_in = sum(len(signal.types) for signal in machine.inputs)

    def driven(cycles: slice) -> Integers:
        parts = {name: given[name][:, cycles] for name in readers}
        sequences, count = next(iter(parts.values())).shape[:2]
        found = np.zeros((count, n_in, sequences), dtype=integer)
        first = 0
        for name, reader in readers.items():
            elements = parts[name].shape[2]
            batch = Batch.of(parts[name].reshape(-1, elements), elements)
            for place, raw in enumerate(reader.run_raw(batch, check=False, jobs=1), first):
                found[:, place, :] = raw.reshape(sequences, count).T
            first += elements
        return found

    return driven


def _keep(machine: Machine, kept: Integers, cycle: int, outputs: Mapping[str, Reals], unknowns: bool) -> None:
    """Copy raw outputs of some cycles, which begin at ``cycle``, into the outputs of all cycles."""
    first, n_out = 0, sum(len(signal.types) for signal in machine.outputs)
    for signal in machine.outputs:
        last = first + len(signal.types)
        found = outputs[signal.name][:, cycle : cycle + len(kept)]
        _convert(signal, kept[:, first:last], found)
        if unknowns:
            found[kept[:, n_out + first : n_out + last].transpose(2, 0, 1) != 0] = np.nan
        first = last


def _convert(signal: Signal, kept: Integers, found: Reals) -> None:
    """Convert raw outputs (cycles, elements, sequences) to values (sequences, cycles, elements)."""
    if all(kind.width <= _EXACT and abs(kind.f) <= _NEAR for kind in signal.types):
        scale = np.array([2.0**-kind.f for kind in signal.types])
        # Loop in Python over the shorter dimension, so that numpy handles the longer one.
        if len(scale) < len(kept):
            for place, factor in enumerate(scale.tolist()):
                np.multiply(kept[:, place, :].T, factor, out=found[:, :, place])
        else:
            for t, row in enumerate(kept):
                np.multiply(row.T, scale, out=found[:, t, :])
        return
    for place, kind in enumerate(signal.types):
        try:
            real = doubles_of_raw(kept[:, place, :].astype(np.int64).ravel(), kind.f, place)
        except InputError:
            raise MachineInputError(_NO_DOUBLE.format(signal.name)) from None
        found[:, :, place] = real.reshape(len(kept), -1).T


def _reader(signal: Signal) -> Program:
    """Return a program that quantises the elements of an input signal to their types."""
    rows = [(int(Code.INPUT), place, -1, 0, kind) for place, kind in enumerate(signal.types)]
    outputs = [(place, 0, 0) for place in range(len(rows))]
    return Program.build(rows, outputs, inp_shift=[0] * len(rows))


def _exactly(machine: Machine, given: Mapping[str, NDArray[Any]], after: bool, check: bool) -> dict[str, Reals]:
    """Return the outputs that the oracle computes."""
    sequences, cycles = next(iter(given.values())).shape[:2] if given else (1, 0)
    found = {s.name: np.full((sequences, cycles, len(s.types)), np.nan) for s in machine.outputs}
    runs = []
    for number in range(sequences):
        inputs = {name: [[Fraction(v) for v in row] for row in array[number].tolist()] for name, array in given.items()}
        runs.append(trace_machine(machine, inputs, check=check))
    for t in range(cycles):  # cycle by cycle over all sequences, to find the earliest broken promise
        for number, run in enumerate(runs):
            try:
                cycle = next(run)
            except ViolationError as error:
                raise ViolationError(f"sequence {number}, {error}") from None
            values = cycle.after if after else cycle.before
            for name, array in found.items():
                array[number, t] = [_double(value, name) for value in values[name]]
    return found


def _double(value: Value, name: str) -> float:
    if value is None:
        return float("nan")
    if Fraction(float(value)) != value:
        raise MachineInputError(_NO_DOUBLE.format(name))
    return float(value)


# Run all sequences of a machine on the kernel: raw integers, with one row per element and one column per sequence.
#
# Each cycle is one run of the step program (``spec/machine/step``) on the rows of inputs and state.


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
        # Where promises are not checked, which are those of the next state and of outputs after an edge.
        self._free = None if check else _Guards.of(step.program, step.checks)
        self._late = _Guards.of(step.program, [op for op in step.checks if op < step.settled]) if after else None
        self._beyond: NDArray[np.bool_] = np.zeros(self.sequences, dtype=np.bool_)
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
                if self._free is not None:
                    self._beyond |= self._free.broken(rows)
                self.golden.run_planar(rows, check=self.check, jobs=1, out=found)
                if self.before:
                    self._show(part.before[t], shown)
                rows[n_in:] = following
                if self.after:
                    if self._late is not None:
                        self._beyond |= self._late.broken(rows)
                    if self._settled is not None:
                        self._settled.run_planar(rows, check=False, jobs=1, out=late)
                    self._show(part.after[t], late)
            yield part

    @property
    def beyond(self) -> frozenset[int]:
        """The sequences in which an unchecked index was outside of its memory: their results are undefined."""
        return frozenset(np.flatnonzero(self._beyond).tolist())

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


class _Guards(NamedTuple):
    """The indices that the promises of some lookups are about, and the number of entries of each lookup."""

    golden: Golden
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, program: Program, checks: Collection[int]) -> _Guards | None:
        """Return the guards of the ops ``checks``; None if there are none."""
        if not checks:
            return None
        lookups = [program.ops[op] for op in checks]
        entries = np.array([[len(program.tables[low_int32(op.data)])] for op in lookups], dtype=np.int64)
        chosen = np.array([op.id0 for op in lookups], dtype=np.int64)
        plain = np.zeros(len(lookups), dtype=np.int64)
        return cls(Golden(replace(program, out_idx=chosen, out_shift=plain, out_neg=plain)), entries)

    def broken(self, rows: Integers) -> NDArray[np.bool_]:
        """Return for each sequence whether an index is beyond its lookup."""
        wrong = self.golden.run_planar(rows, check=False, jobs=1) >= self.entries
        found: NDArray[np.bool_] = np.logical_or.reduce(wrong, axis=0)
        return found


def _with_outputs(program: Program, outputs: Sequence[int]) -> Program:
    """Return ``program`` with only the outputs whose numbers are in ``outputs``."""
    chosen = np.array(outputs, dtype=np.int64)
    return replace(
        program,
        out_idx=program.out_idx[chosen],
        out_shift=program.out_shift[chosen],
        out_neg=program.out_neg[chosen],
    )
