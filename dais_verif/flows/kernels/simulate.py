"""Simulate the hardware of a kernel: drive tensors through its RTL; compare with the golden model of all members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.counts import counted
from dais_verif.errors import KernelError, RequestError
from dais_verif.flows.kernels.driven import read_driven, rows_of
from dais_verif.flows.kernels.printing import print_folder, require_shown
from dais_verif.flows.kernels.tensors import read_tensors
from dais_verif.flows.machines.simulate import Sequences, simulate_machine
from dais_verif.flows.progress import Progress
from dais_verif.flows.simulation_record import given_vectors
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.flows.work_folder import work_folder
from dais_verif.golden.members import run_instance
from dais_verif.kernels.driving.frames import Driven, Found, Ints, Run, random_tensors
from dais_verif.kernels.driving.memory import drive_memory
from dais_verif.kernels.driving.stream import drive_stream
from dais_verif.kernels.folder import KernelFolder
from dais_verif.kernels.forms.memory import MemoryTiming
from dais_verif.machine import Machine
from dais_verif.record.kernels import KernelRun
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["simulate_kernel"]

#: The least number of samples per sequence; a sequence runs its samples back to back. The approximate number of
#: sequences, each of which is an Icarus process.
_BACK_TO_BACK, _SEQUENCES = 2, 8


@dataclass(frozen=True)
class _Driven:
    """A sequence and the tensors that it drives."""

    driven: Driven
    tensors: tuple[Ints, ...]
    samples: int

    def expected(self, kernel: KernelFolder) -> tuple[Ints, ...]:
        """Return the outputs of the golden model; without inputs all samples are the same one."""
        found = run_instance(kernel.instance, self.tensors)
        return found if self.tensors else tuple(np.repeat(one, self.samples, axis=0) for one in found)


def simulate_kernel(
    kernel: KernelFolder, request: SimulationRequest, progress: Progress, watch: Stopwatch
) -> tuple[SimulationRecord, None, Path | None]:
    """Compare every output bit of every cycle with the machine, and output tensors with the golden model of members.

    ``vectors`` are cycles: sequences of random tensors, with at least two samples each, are added until this number of
    cycles is reached. Raises the errors of ``simulate_machine``, and ``InputError`` for files of tensors that do not
    fit.
    """
    machine = kernel.machine
    if request.printf:
        require_shown(kernel)
        design = request.design
        if design.of_bits or design.wrapped is not None:
            raise RequestError.of("{printf} is for RTL with the ports of the machine, not for a netlist or wrapper.")
    rng = np.random.default_rng(request.seed)
    with watch.stage("read"):
        sequences, classes = _sequences(kernel, machine, request, rng)
    design = request.design
    if not design.rtl and not design.of_bits and design.wrapped is None:
        design = replace(design, rtl=(kernel.rtl,))
    given = Sequences(
        [rows_of(machine, one.driven) for one in sequences], classes, _describe(kernel, sequences) if sequences else ""
    )
    asked = replace(request, design=design, inputs=(), command=request.reproduce)

    def finish(record: SimulationRecord) -> SimulationRecord:
        run, found = _compared(kernel, machine, sequences)
        if record.verdict is Verdict.PASS and run.wrong is not None:
            message = f"RTL and machine agree, but not with kernel {run.kernel}: {run.wrong}"
            record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
        elif record.verdict is Verdict.PASS:
            message = (
                f"{record.message}; {run.elements} elements of {counted(run.samples, 'sample')} equal the kernel's"
            )
            record = replace(record, message=message)
        if request.printf:
            record, run = _printed(kernel, request, sequences, record, run)
        place = None if record.first_mismatch is None else record.first_mismatch.place
        if place is not None and place.sequence < len(found):
            run = replace(run, member=_member(found[place.sequence], place.cycle))
        return replace(record, kernel=run)

    return simulate_machine(machine, asked, progress, watch, given, finish)


def _printed(
    kernel: KernelFolder,
    request: SimulationRequest,
    sequences: Sequence[_Driven],
    record: SimulationRecord,
    run: KernelRun,
) -> tuple[SimulationRecord, KernelRun]:
    """Add the text that members print for the first sequence to both records; simulators must print the same."""
    if not sequences:
        raise RequestError.of("{printf} needs tensors, and there are none: see {inputs}.")
    rtl = request.design.rtl or (kernel.rtl,)
    with work_folder(None) as folder:
        simulators = simulators_for(request.simulator, rtl)
        found = print_folder(kernel, sequences[0].tensors, simulators, rtl, folder.path, request.timeout)
    if record.verdict is Verdict.PASS:
        record = replace(record, verdict=found.verdict, message=f"{record.message}; {found.message}")
    return record, replace(run, printed=found.texts, printed_by=found.simulators)


def _sequences(
    kernel: KernelFolder, machine: Machine, request: SimulationRequest, rng: np.random.Generator
) -> tuple[list[_Driven], list[StimulusClass]]:
    found, classes = [], []
    for path in request.inputs:
        tensors, _ = read_tensors(path, kernel)
        found.append(_driven(kernel, machine, tensors, len(tensors[0]) if tensors else 1, rng))
        classes.append(given_vectors(path, found[-1].driven.cycles))
    instance, cycles, samples = kernel.instance, 0, _BACK_TO_BACK
    shapes = [one.sizes[::-1] for one in instance.mapping.inputs]
    while cycles < request.vectors:
        tensors = random_tensors(instance.input_types, shapes, samples, rng)
        found.append(_driven(kernel, machine, tensors, samples, rng))
        cycles += found[-1].driven.cycles
        samples = max(samples, request.vectors * _BACK_TO_BACK // (found[-1].driven.cycles * _SEQUENCES))
    return found, [*classes, *([StimulusClass("generated", cycles)] if cycles else [])]


def _driven(
    kernel: KernelFolder, machine: Machine, tensors: tuple[Ints, ...], samples: int, rng: np.random.Generator
) -> _Driven:
    try:
        if kernel.form == "memory":
            timing = MemoryTiming.of(kernel.instance, kernel.facts["parallel"])
            driven = drive_memory(kernel.instance, timing, machine, tensors, rng, samples)
        else:
            driven = drive_stream(kernel.instance, kernel.facts["flush"], machine, tensors, rng)
    except (KeyError, TypeError) as error:
        raise KernelError(f"{str(kernel.path)!r}: its facts are not those of a {kernel.form} form: {error}") from None
    return _Driven(driven, tensors, samples)


def _describe(kernel: KernelFolder, sequences: Sequence[_Driven]) -> str:
    parts = [f"tensors of kernel {kernel.instance.name} in sequences from power-up, back to back"]
    ranges, resets, stalls = (
        sum(getattr(one.driven, name) for one in sequences) for name in ("ranges", "broken_off", "stalls")
    )
    parts += [f"{ranges} ranges of the index space in random order"] * bool(ranges)
    return ", ".join([*parts, f"{resets} aborted by a reset", f"{counted(stalls, 'cycle')} of stalls and pauses"])


def _compared(kernel: KernelFolder, machine: Machine, sequences: Sequence[_Driven]) -> tuple[KernelRun, list[Found]]:
    """Return the outputs of the machine for all sequences, compared with the golden model of all members."""
    found, elements, samples, wrong = list[Found](), 0, 0, None
    for number, one in enumerate(sequences):
        found.append(read_driven(machine, one.driven))
        samples += one.samples
        expected = one.expected(kernel)
        wrong = wrong or _difference(kernel, found[-1], expected, number if len(sequences) > 1 else None)
        elements += 0 if wrong else sum(tensor.size for tensor in expected)
    run = KernelRun(
        kernel=kernel.instance.name,
        form=kernel.form,
        members=kernel.instance.mapping.members,
        samples=samples,
        ranges=sum(one.driven.ranges for one in sequences),
        broken_off=sum(one.driven.broken_off for one in sequences),
        stalls=sum(one.driven.stalls for one in sequences),
        elements=elements,
        wrong=wrong if elements or wrong or not sequences else "no element was compared",
    )
    return run, found


def _difference(kernel: KernelFolder, found: Found, expected: tuple[Ints, ...], number: int | None) -> str | None:
    """Return the earliest element that differs from the golden model of the kernel."""
    which = "" if number is None else f"sequence {number}, "
    if found.problem is not None:
        return f"{which}{found.problem}"
    first: tuple[int, str] | None = None
    for name, kind, read, cycles, wanted in zip(
        kernel.outputs, kernel.instance.output_types, found.tensors, found.cycles, expected, strict=True
    ):
        wrong = np.argwhere(read != wanted)
        if len(wrong):
            place = min((tuple(map(int, at)) for at in wrong), key=lambda at: int(cycles[at]))
            cycle = int(cycles[place])
            text = (
                f"{which}cycle {cycle}: {name}{list(place[1:])} of sample {place[0]} is {int(read[place])}, must be "
                f"{int(wanted[place])} (raw integers of {kind}), of {_member(found, cycle) or 'no member'}"
            )
            first = min(first or (cycle, text), (cycle, text))
    return None if first is None else first[1]


def _member(found: Found, cycle: int) -> str | None:
    """Return the members active in a cycle."""
    run: Run | None = next((run for run in found.runs if run.first <= cycle <= run.last), None)
    return None if run is None else f"member {list(run.member)} of sample {run.sample}"
