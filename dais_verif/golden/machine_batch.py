"""The fast engine of machines: many sequences at once, one lane each, with one call of the program engine per cycle.

One cycle of a machine is a program (``machine/step``), which the C kernel runs on inputs and state of all sequences.
Values that may be unknown have an extra bit (``machine/unknowns``). Results must equal those of the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError, MachineInputError, ViolationError
from dais_verif.golden import Golden
from dais_verif.golden.machine import Value, trace_machine
from dais_verif.golden.machine_lanes import Integers, Lanes
from dais_verif.machine.model import Machine, Signal
from dais_verif.machine.step import Step, conflict_of, step_of
from dais_verif.machine.unknowns import step_with_unknowns
from dais_verif.program import Program
from dais_verif.program.numbers import Batch, doubles_of_raw
from dais_verif.program.opcodes import Code

__all__ = ["MACHINE_ENGINES", "MachineRun", "RawRun", "run_machine", "run_raw"]

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
    """

    before: Integers
    after: Integers
    unknowns: bool


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
    if step is None or problem is not None or (step.indexed and (after or not check)):
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
    return RawRun(before, late, step.unknowns)


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
    if engine not in MACHINE_ENGINES:
        raise MachineInputError(f"engine must be one of {', '.join(MACHINE_ENGINES)}, not {engine!r}")
    given = {name: _array(name, array) for name, array in inputs.items()}
    if given and all(array.ndim == 2 for array in given.values()):
        given = {name: array[None] for name, array in given.items()}
    _require_fitting(machine, given)
    if engine != "exact":
        step, problem = _step(machine)
        if step is not None and step.indexed and (after or not check):
            problem = "without checks an index may be outside of its memory, where reads are unknown"
        if step is not None and problem is None:
            found = _fast(machine, step, given, after, check)
            if found is not None:
                return MachineRun(found, "fast")
            problem = "it cannot decide whether an unknown value breaks a promise"
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
    """Run all cycles in the C kernel; None if only the oracle can decide whether a promise is broken."""
    shape = next(iter(given.values())).shape[:2] if given else (1, 0)
    lanes = Lanes(machine, step, shape, check, before=not after, after=after)
    found = {s.name: np.empty((*shape, len(s.types)), dtype=np.float64) for s in machine.outputs}
    try:
        for part in lanes.run(_driven(machine, given, lanes.integer)):
            _keep(machine, part.after if after else part.before, part.first, found, step.unknowns)
    except ViolationError as error:
        lanes.explain(given, error)
        return None
    return found


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
