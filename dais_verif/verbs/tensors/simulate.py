"""Simulate hardware that computes tensors: drive them through its RTL, and compare with machine and golden model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.driving.frames import Driven, Found, Ints
from dais_verif.golden.machine_batch import run_raw
from dais_verif.record.kernels import KernelRun
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.spec.machine import Machine
from dais_verif.stimulus.machines import ArrayRows, InputSequence
from dais_verif.verbs.machines.simulate import Sequences, simulate_machine
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.simulation_record import given_vectors
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.source import Drive, TensorSource

__all__ = ["compared", "difference", "drives_of", "read_driven", "rows_of", "simulate_tensors"]


#: The approximate number of sequences, each of which is an Icarus process; one runs its samples back to back.
_SEQUENCES = 8


def simulate_tensors(
    source: TensorSource, request: SimulationRequest, progress: Progress, watch: Stopwatch
) -> tuple[SimulationRecord, None, Path | None]:
    """Compare every output bit of every cycle with the machine, and output tensors with the golden model.

    ``vectors`` are cycles: sequences of random samples are added until this number of cycles is reached. Raises the
    errors of ``simulate_machine``, and ``InputError`` for files of tensors that do not fit.
    """
    if request.printf:
        source.require_printing(request.design)
    machine, check = source.machine, not request.unchecked
    with watch.stage("read"):
        drives, classes = drives_of(source, request, np.random.default_rng(request.seed))
    design = request.design
    if not design.rtl and not design.of_bits and design.wrapped is None:
        design = replace(design, rtl=(source.rtl,))
    given = Sequences(
        [rows_of(machine, one.driven) for one in drives], classes, source.describe(drives) if drives else ""
    )
    asked = replace(request, design=design, inputs=(), command=request.reproduce)

    def finish(record: SimulationRecord) -> SimulationRecord:
        run, found = compared(source, machine, drives, check=check)
        if record.verdict is Verdict.PASS and run.wrong is not None:
            message = f"RTL and machine agree, but not with {source.function}: {run.wrong}"
            record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
        elif record.verdict is Verdict.PASS:
            samples = counted(run.samples, source.sample)
            message = f"{record.message}; {run.elements} elements of {samples} equal those of {source.function}"
            record = replace(record, message=message)
        if request.printf:
            record, run = source.printed(request, drives, record, run)
        place = None if record.first_mismatch is None else record.first_mismatch.place
        if place is not None and place.sequence < len(found):
            run = replace(run, member=source.running(found[place.sequence], place.cycle))
        return replace(record, kernel=run)

    return simulate_machine(machine, asked, progress, watch, given, finish)


def drives_of(
    source: TensorSource, request: SimulationRequest, rng: np.random.Generator
) -> tuple[list[Drive], list[StimulusClass]]:
    """Return the sequences of files, then random ones, and the number of cycles of each kind."""
    found, classes = list[Drive](), list[StimulusClass]()
    for path in request.inputs:
        given = source.given(path, rng)
        found += [given] if given else []
        classes.append(given_vectors(path, given.driven.cycles if given else 0))
    cycles, samples = 0, source.fewest
    while cycles < request.vectors:
        found.append(source.generated(samples, rng))
        cycles += found[-1].driven.cycles
        samples = max(samples, request.vectors * samples // (found[-1].driven.cycles * _SEQUENCES))
    return found, [*classes, *([StimulusClass("generated", cycles)] if cycles else [])]


def compared(
    source: TensorSource, machine: Machine, drives: Sequence[Drive], *, check: bool = True
) -> tuple[KernelRun, list[Found]]:
    """Return the outputs of the machine for all sequences, compared with the golden model."""
    found, elements, wrong = list[Found](), 0, None
    for number, one in enumerate(drives):
        found.append(read_driven(machine, one.driven, check=check))
        expected = source.expected(one, check=check)
        wrong = wrong or difference(source, one, found[-1], expected, number if len(drives) > 1 else None)
        elements += 0 if wrong else sum(tensor.size for tensor in expected)
    settings = [setting for one in drives for setting in one.settings]
    run = KernelRun(
        kernel=source.name,
        form=source.form,
        members=source.members,
        samples=len(settings),
        ranges=sum(one.driven.ranges for one in drives),
        broken_off=sum(one.driven.broken_off for one in drives),
        stalls=sum(one.driven.stalls for one in drives),
        elements=elements,
        wrong=wrong if elements or wrong or not drives else "no element was compared",
        configurations={name: settings.count(number) for number, name in enumerate(source.settings)} or None,
    )
    return run, found


def difference(
    source: TensorSource, drive: Drive, found: Found, expected: tuple[Ints, ...], number: int | None = None
) -> str | None:
    """Return the earliest element that differs from the golden model; ``number``: of the sequence."""
    which = "" if number is None else f"sequence {number}, "
    if found.problem is not None:
        return f"{which}{found.problem}"
    first: tuple[int, str] | None = None
    for output, read, cycles, wanted in zip(source.outputs, found.tensors, found.cycles, expected, strict=True):
        wrong = np.argwhere(read != wanted)
        if len(wrong):
            place = min((tuple(map(int, at)) for at in wrong), key=lambda at: int(cycles[at]))
            cycle, sample = int(cycles[place]), place[0]
            element = np.unravel_index(np.ravel_multi_index(place[1:], read.shape[1:]), output.shape)
            setting = f" in configuration {source.settings[drive.settings[sample]]}" if source.settings else ""
            text = (
                f"{which}cycle {cycle}: {output.name}{[int(at) for at in element]} of {source.sample} {sample}{setting}"
                f" is {int(read[place])}, must be {wanted[place]} (raw integers of {output.type})"
            )
            running = source.running(found, cycle)
            text += f", while {running} runs" if running else ", while nothing runs"
            first = min(first or (cycle, text), (cycle, text))
    return None if first is None else first[1]


# Convert sequences that drive a machine with tensors for simulations, and run the machine on them.


def rows_of(machine: Machine, driven: Driven) -> InputSequence:
    """Return the inputs of all cycles as a sequence for simulation."""
    types = {signal.name: signal.types for signal in machine.inputs}
    return InputSequence(driven.cycles, {name: ArrayRows(raw, types[name]) for name, raw in driven.inputs.items()})


def read_driven(machine: Machine, driven: Driven, *, check: bool = True) -> Found:
    """Run the machine in the fast engine, and return the outputs read from it."""
    raw = {name: array[None] for name, array in driven.inputs.items()}
    run = run_raw(machine, raw, sequences=1, cycles=driven.cycles, after=False, check=check)
    if run is None or run.unknowns:
        return Found(problem="the machine has unknown outputs, or the fast engine does not support it")
    outputs, first = {}, 0
    for signal in machine.outputs:
        outputs[signal.name] = run.before[:, first : first + len(signal.types), 0]
        first += len(signal.types)
    return driven.read(outputs)
