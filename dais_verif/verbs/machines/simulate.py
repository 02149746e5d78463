"""Simulate RTL of a machine: every output bit before and after every edge, against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import MachineInputError, RequestError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines.folder import machine_hash
from dais_verif.record.simulation import Decision, SimulationRecord, StimulusClass
from dais_verif.simulation.machines.axis import simulate_machine_axis
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.stimulus.generate_sequences import generate_sequences
from dais_verif.stimulus.machines import InputSequence, given_sequences
from dais_verif.subject.given import is_folder
from dais_verif.verbs.design_rtl import told_apart, with_netlist
from dais_verif.verbs.machines.designs import machine_design, opened_design
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.machines.streams import held_stream
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.simulation_record import begun_machine_record, finished_record, given_vectors
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.work_folder import WatchedFiles, work_folder
from dais_verif.verbs.wrapper import WrapperFolder

__all__ = ["Sequences", "sequences_of", "simulate_machine", "simulate_wrapped_machine"]


class Sequences(NamedTuple):
    """Sequences instead of the files and vectors of a request, their sources, and a description in words."""

    sequences: list[InputSequence]
    classes: list[StimulusClass]
    about: str


def simulate_machine(
    machine: Machine,
    request: SimulationRequest,
    progress: Progress,
    watch: Stopwatch,
    given: Sequences | None = None,
    finish: Callable[[SimulationRecord], SimulationRecord] = lambda record: record,
) -> tuple[SimulationRecord, None, Path | None]:
    """Compare every output bit of every cycle; return the record, and the folder if it was kept.

    Vectors are cycles: first the cycles of each file, then one generated sequence; or the ``given`` sequences. Tool
    failures and broken promises are verdicts. ``finish``: completes the record before it is kept. Raises ``InputError``
    for files that cannot be used, ``RequestError`` for options that only programs have.
    """
    _require_options(request)
    if request.design.wrapped is not None:
        record, _, place = simulate_wrapped_machine(machine, request.design.wrapped, request, progress, watch)
        return finish(record), None, place
    asked, project = opened_design(request.program, request.design)
    simulators = simulators_for(request.simulator, asked.rtl)
    with watch.stage("read"):
        sequences, classes = (given.sequences, given.classes) if given else sequences_of(machine, request)
    with work_folder(request.output) as folder:
        with watch.stage("emit"):
            asked = with_netlist(asked, folder.path)
            design = machine_design(machine, asked, folder.path)
        warnings = [] if asked.of_bits else told_apart(design, asked, progress)
        watched = WatchedFiles.of(design, asked.bitstream_facts)
        record = begun_machine_record(request, machine, watched, asked, warnings, classes, simulators, project)
        if given and given.about:
            record = replace(record, decisions=[*record.decisions, Decision("stimulus", given.about, "as it is used")])
        folder.begin(record)
        # Imported here: loading it takes as long as simulating a small design.
        from dais_verif.golden.fast import threads
        from dais_verif.hardware.ports.interface import Dut
        from dais_verif.simulation.machines.rows import interface_of
        from dais_verif.simulation.machines.simulate import simulate_machine as simulated
        from dais_verif.spec.program.ports import Ports

        interface = interface_of(machine, asked.pins.clock or CLOCK)
        design = replace(design, dut=Dut(interface, Ports((), ()), (), "the machine's types"))
        with progress.working(f"simulating {record.vectors} cycles"):
            finding = simulated(
                machine,
                sequences,
                design,
                interface,
                folder.path,
                simulators=simulators,
                check=not request.unchecked,
                seed=request.seed,
                waves=request.waves,
                timeout=request.timeout,
                jobs=threads(request.jobs),
                bulk=request.bulk,
                watch=watch,
            )
        watched.require_unchanged("simulated")
        if request.covering.coverage and finding.verdict is not Verdict.PROGRAM_INVALID:
            from dais_verif.coverage.machines import measure_machine

            with watch.stage("coverage"), progress.working("counting coverage"):
                coverage = measure_machine(machine, sequences, check=not request.unchecked)
            record = replace(record, coverage=coverage)
        record = finished_record(record, finding, watch)
        record = finish(record)
        folder.keep(record)
        return record, None, folder.path if folder.kept else None


def sequences_of(machine: Machine, request: SimulationRequest) -> tuple[list[InputSequence], list[StimulusClass]]:
    """Return the sequences of the files of ``request``, then generated ones; and the number of cycles per source."""
    found = [given_sequences(path, machine) for path in request.inputs]
    classes = [
        given_vectors(path, sum(sequence.cycles for sequence in each))
        for path, each in zip(request.inputs, found, strict=True)
    ]
    sequences = [sequence for each in found for sequence in each]
    if request.vectors:
        classes.append(StimulusClass("generated", request.vectors))
        sequences += generate_sequences(machine, request.vectors, request.seed)
    return sequences, classes


def _require_options(request: SimulationRequest) -> None:
    """Raise ``RequestError`` for options that are for programs, or for one port for all inputs."""
    asked, pins = request.design, request.design.pins
    require_no_options(
        layout=request.layout,
        stages=asked.pipeline and asked.pipeline.stages,
        max_depth=asked.pipeline and asked.pipeline.max_depth,
        ports=asked.ports,
        **{f.name: getattr(pins, f.name) for f in fields(pins) if f.name != "clock"},
        rtl_coverage=request.covering.rtl_coverage,
        out_of_range=request.out_of_range,
        exhaustive=request.exhaustive,
        icarus_vectors=request.icarus_vectors,
    )
    if pins.clock is not None and not (asked.rtl or asked.of_bits) and not is_folder(request.program):
        raise RequestError.of(
            "{clock} {value} applies only to RTL given with {rtl}: emitted RTL has clock {ours}.",
            value=pins.clock,
            ours=CLOCK,
        )


# Simulate a folder of ``emit --wrap axis`` with a machine, through its streams, as it is deployed.


def simulate_wrapped_machine(
    machine: Machine, wrapped: WrapperFolder, request: SimulationRequest, progress: Progress, watch: Stopwatch
) -> tuple[SimulationRecord, None, Path | None]:
    """Compare every output beat of ``wrapped`` with the outputs of ``machine``; vectors are input beats.

    Raises ``InputError`` if the folder holds another machine, or if the machine is not a stream.
    """
    if request.inputs:
        raise RequestError.of(
            "{inputs} are cycles of a machine; behind AXI4-Stream, only generated beats are supported: {vectors}."
        )
    if wrapped.pins is None or machine_hash(machine, wrapped.core) != wrapped.program_hash:
        raise MachineInputError(
            f"the folder holds {'a program' if wrapped.pins is None else 'another machine'}; wrap this machine with "
            "`dais-verif emit --wrap axis --stream`, or name the other"
        )
    stream = held_stream(machine, wrapped.pins)
    simulators = simulators_for(request.simulator, ())
    with work_folder(request.output) as folder:
        watched = WatchedFiles.of(wrapped.design)
        classes = [StimulusClass("generated", request.vectors)] if request.vectors else []
        record = begun_machine_record(request, machine, watched, request.design, [], classes, simulators, None)
        stalls = "backpressure, pauses and resets must not change any output beat"
        others = [one for one in record.decisions if one.what != "sequences"]
        record = replace(record, decisions=[Decision("streams", "with random stalls", stalls), *others])
        folder.begin(record)
        with progress.working("simulating streams"):
            finding = simulate_machine_axis(
                machine,
                stream,
                request.vectors,
                wrapped.design,
                folder.path,
                simulators=simulators,
                check=not request.unchecked,
                seed=request.seed,
                waves=request.waves,
                timeout=request.timeout,
            )
        watched.require_unchanged("simulated")
        record = finished_record(record, finding, watch)
        folder.keep(record)
        return record, None, folder.path if folder.kept else None
