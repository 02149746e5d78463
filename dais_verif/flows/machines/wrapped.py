"""Simulate a folder of ``emit --wrap axis`` with a machine, through its streams, as it is deployed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.emitter.machines.folder import machine_hash
from dais_verif.errors import MachineInputError, RequestError
from dais_verif.flows.machines.streams import held_stream
from dais_verif.flows.progress import Progress
from dais_verif.flows.simulation_record import begun_machine_record, finished_record
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.flows.watched_files import WatchedFiles
from dais_verif.flows.work_folder import work_folder
from dais_verif.flows.wrapper import WrapperFolder
from dais_verif.machine import Machine
from dais_verif.record.simulation import Decision, SimulationRecord, StimulusClass
from dais_verif.simulation.machines.axis import simulate_machine_axis
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.stopwatch import Stopwatch

__all__ = ["simulate_wrapped_machine"]


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
