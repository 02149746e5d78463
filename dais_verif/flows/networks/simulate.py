"""Simulate a folded network: drive images through its RTL, and compare with the network in each configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.counts import counted
from dais_verif.errors import RequestError
from dais_verif.flows.kernels.driven import read_driven, rows_of
from dais_verif.flows.machines.simulate import Sequences, simulate_machine
from dais_verif.flows.networks.expected import expected_tensors, raw_tensors
from dais_verif.flows.networks.requests import inputs_of
from dais_verif.flows.progress import Progress
from dais_verif.flows.simulation_record import given_vectors
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.kernels.driving.frames import Driven, Found, Ints, Run, random_tensors
from dais_verif.machine import Machine
from dais_verif.networks.hardware.driving import drive_network
from dais_verif.networks.hardware.folder import NetworkFolder
from dais_verif.networks.hardware.stream_driving import drive_images
from dais_verif.record.kernels import KernelRun
from dais_verif.record.simulation import SimulationRecord, StimulusClass
from dais_verif.stimulus import read_tensors
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["simulate_network"]

#: The least number of samples per sequence; a sequence runs its samples back to back. The approximate number of
#: sequences, each of which is an Icarus process.
_BACK_TO_BACK, _SEQUENCES = 2, 8


@dataclass(frozen=True)
class _Driven:
    """A sequence, and the samples that it drives, each with the number of its configuration."""

    driven: Driven
    tensors: tuple[Ints, ...]
    configurations: list[int]


def simulate_network(
    folder: NetworkFolder, request: SimulationRequest, progress: Progress, watch: Stopwatch
) -> tuple[SimulationRecord, None, Path | None]:
    """Compare every output bit of every cycle with the machine, and output tensors with the unrolled network.

    ``vectors`` are cycles: sequences of random images, in which each configuration runs, are added until this number of
    cycles is reached. Images from files take the configurations in turn. Raises the errors of
    ``simulate_machine``, and ``InputError`` for files that do not fit.
    """
    if request.printf:
        raise RequestError.of("{printf} is for kernels: name a folder of `kernel build`.")
    machine = folder.machine
    with watch.stage("read"):
        sequences, classes = _sequences(folder, machine, request, np.random.default_rng(request.seed))
    design = request.design
    if not design.rtl and not design.of_bits and design.wrapped is None:
        design = replace(design, rtl=(folder.rtl,))
    given = Sequences(
        [rows_of(machine, one.driven) for one in sequences], classes, _describe(folder, sequences) if sequences else ""
    )
    asked = replace(request, design=design, inputs=(), command=request.reproduce)

    def finish(record: SimulationRecord) -> SimulationRecord:
        run, found = _compared(folder, machine, sequences, check=not request.unchecked)
        if record.verdict is Verdict.PASS and run.wrong is not None:
            message = f"RTL and machine agree, but not with the network: {run.wrong}"
            record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
        elif record.verdict is Verdict.PASS:
            message = (
                f"{record.message}; {run.elements} elements of {counted(run.samples, 'image')} equal the network's"
            )
            record = replace(record, message=message)
        place = None if record.first_mismatch is None else record.first_mismatch.place
        if place is not None and place.sequence < len(found):
            run = replace(run, member=_at_work(folder, found[place.sequence], place.cycle))
        return replace(record, kernel=run)

    return simulate_machine(machine, asked, progress, watch, given, finish)


def _sequences(
    folder: NetworkFolder, machine: Machine, request: SimulationRequest, rng: np.random.Generator
) -> tuple[list[_Driven], list[StimulusClass]]:
    chain, count = folder.chain, len(folder.configurations)
    found, classes = list[_Driven](), list[StimulusClass]()
    for path in request.inputs:
        tensors = raw_tensors(chain, read_tensors(path, inputs_of(folder.chain.networks[0])))
        in_turn = [sample % count for sample in range(len(tensors[0]))]
        if in_turn:
            found.append(_drive(folder, machine, tensors, in_turn, rng))
        classes.append(given_vectors(path, found[-1].driven.cycles if in_turn else 0))
    sizes = [(chain.storage[name].words * chain.storage[name].channels,) for name in chain.inputs]
    cycles, samples = 0, max(_BACK_TO_BACK, count)
    while cycles < request.vectors:
        tensors = random_tensors(list(chain.inputs.values()), sizes, samples, rng)
        every = [*rng.permutation(count).tolist(), *rng.integers(count, size=samples).tolist()]
        found.append(_drive(folder, machine, tensors, every[:samples], rng))
        cycles += found[-1].driven.cycles
        samples = max(samples, request.vectors * samples // (found[-1].driven.cycles * _SEQUENCES))
    return found, [*classes, *([StimulusClass("generated", cycles)] if cycles else [])]


def _drive(
    folder: NetworkFolder,
    machine: Machine,
    tensors: tuple[Ints, ...],
    configurations: list[int],
    rng: np.random.Generator,
) -> _Driven:
    if folder.form == "stream":
        return _Driven(drive_images(folder.stream, tensors[0], rng), tensors, configurations)
    driven = drive_network(folder.chain, folder.cycles, machine, tensors, configurations, rng)
    return _Driven(driven, tensors, configurations)


def _describe(folder: NetworkFolder, sequences: Sequence[_Driven]) -> str:
    resets, pauses = (sum(getattr(one.driven, name) for one in sequences) for name in ("broken_off", "stalls"))
    parts = ["images in sequences from power-up"] + ["words in random order"] * (folder.form == "memory")
    if len(folder.configurations) > 1:
        parts.append("each image in a configuration of its own, with other values of config while it runs")
    return ", ".join([*parts, f"{counted(resets, 'run')} aborted by a reset", f"{counted(pauses, 'cycle')} of pauses"])


def _compared(
    folder: NetworkFolder, machine: Machine, sequences: Sequence[_Driven], *, check: bool
) -> tuple[KernelRun, list[Found]]:
    """Return the outputs of the machine for all sequences, compared with the golden model of the network."""
    found, elements, samples, wrong = list[Found](), 0, dict.fromkeys(folder.configurations, 0), None
    for number, one in enumerate(sequences):
        found.append(read_driven(machine, one.driven, check=check))
        for configuration in one.configurations:
            samples[folder.configurations[configuration]] += 1
        expected = expected_tensors(folder.chain, one.configurations, one.tensors, check=check)
        wrong = wrong or _difference(folder, one, found[-1], expected, number if len(sequences) > 1 else None)
        elements += 0 if wrong else sum(tensor.size for tensor in expected)
    run = KernelRun(
        kernel=folder.name,
        form=folder.form,
        members=sum(
            stage.instance.mapping.members
            for place in folder.chain.places
            for variant in place.variants
            for stage in variant.stages
        ),
        samples=sum(samples.values()),
        ranges=sum(one.driven.ranges for one in sequences),
        broken_off=sum(one.driven.broken_off for one in sequences),
        stalls=sum(one.driven.stalls for one in sequences),
        elements=elements,
        wrong=wrong if elements or wrong or not sequences else "no element was compared",
        configurations=samples,
    )
    return run, found


def _difference(
    folder: NetworkFolder, driven: _Driven, found: Found, expected: tuple[Ints, ...], number: int | None
) -> str | None:
    """Return the earliest element that differs from the network."""
    which = "" if number is None else f"sequence {number}, "
    if found.problem is not None:
        return f"{which}{found.problem}"
    first: tuple[int, str] | None = None
    first_network = folder.chain.networks[0]
    for own, kind, read, cycles, wanted in zip(
        first_network.outputs, folder.chain.outputs.values(), found.tensors, found.cycles, expected, strict=True
    ):
        wrong = np.argwhere(read != wanted)
        if len(wrong):
            sample, element = min((tuple(map(int, at)) for at in wrong), key=lambda at: int(cycles[at]))
            cycle, place = int(cycles[sample, element]), np.unravel_index(element, first_network.tensors[own].shape)
            text = (
                f"{which}cycle {cycle}: {own}{[int(at) for at in place]} of image {sample} in configuration "
                f"{folder.configurations[driven.configurations[sample]]} is {read[sample, element]}, must be "
                f"{wanted[sample, element]} (raw integers of {kind})"
            )
            first = min(first or (cycle, text), (cycle, text))
    return None if first is None else first[1]


def _at_work(folder: NetworkFolder, found: Found, cycle: int) -> str | None:
    """Return the stages that run in a cycle."""
    run: Run | None = next((run for run in found.runs if run.first <= cycle <= run.last), None)
    return None if run is None else f"image {run.sample} in configuration {folder.configurations[run.member[0]]}"
