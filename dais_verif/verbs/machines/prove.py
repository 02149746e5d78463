"""Prove that RTL equals a machine in every cycle, or show a sequence of inputs for which it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import DesignInterface, Dut
from dais_verif.prover.results import ProofOptions
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import Confirmation, ProofRecord, ProvedMachine, Status
from dais_verif.record.simulation import Mismatch, SimulationRecord
from dais_verif.simulation.simulators.build import simulators_for
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.machine.step import Step
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus.machines import npz_of, sequence_of_bits
from dais_verif.subject.given import is_folder, path_of
from dais_verif.verbs.design_rtl import told_apart, with_netlist
from dais_verif.verbs.machines.designs import machine_design, opened_design
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.machines.simulate import simulate_machine
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.proof.decide import ProofTask, needed_packages, read_design
from dais_verif.verbs.proof.deep_stack import run_deep
from dais_verif.verbs.proof.proof_record import proof_record
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.proof.replay import several_readings
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.work_folder import WatchedFiles, WorkFolder, work_folder

if TYPE_CHECKING:
    from dais_verif.prover.clocked.machines.condition_sequences import SideSequence
    from dais_verif.prover.clocked.machines.proof import MachineProof
    from dais_verif.prover.results import Proof

__all__ = ["prove_machine"]

_FILE = "counterexample.npz"
#: Cycles simulated to confirm a proof of user RTL.
_CYCLES = 500
#: A sequence for the conditions of the RTL, and the seconds in which it is searched.
_SIDES, _SIDE_SECONDS = "conditions.npz", 2.0
_SHOWN = 64
#: Possible verdicts of a simulator on a sequence that the proof found to be wrong.
_CONFIRMED = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE)


def prove_machine(
    machine: Machine, request: ProveRequest, options: ProofOptions, progress: Progress, watch: Stopwatch
) -> tuple[ProofRecord, None, Path | None, Mismatch | None]:
    """Return the record, None for the program, the folder if it was kept, and the mismatch that a simulator showed.

    A sequence that shows a difference is simulated before the RTL is called wrong, and user RTL is simulated before it
    passes. Raises ``InputError`` for unusable files, ``RequestError`` for options that only programs have.
    """
    _require_options(request)
    asked, project = opened_design(request.program, request.design)
    with work_folder(request.output, _FILE) as folder:
        with watch.stage("emit"):
            asked = with_netlist(asked, folder.path)
            design = machine_design(machine, asked, folder.path)
        readings = [] if asked.of_bits else told_apart(design, asked, progress)
        dut = Dut(DesignInterface((), ()), Ports((), ()), (), "the machine's types")
        netlist = asked.of_bits
        options = replace(options, bits=options.bits or netlist)
        reader = RtlReader.of(
            request.front_end, design, folder.path / "yosys", bitwise=netlist, foreign=bool(asked.rtl), machine=True
        )
        task = ProofTask(
            program=Program.build([], []),
            design=design,
            said=None,
            reader=reader,
            options=options,
            watched=WatchedFiles.of(design, asked.bitstream_facts),
            watch=watch,
            progress=progress,
        )
        found, unread = _proved(machine, task, asked.pins.clock or CLOCK)
        task = replace(task, program=found.step.program)
        proof = found.proof if unread is None else replace(found.proof, unread=unread)
        replayed: SimulationRecord | None = None
        confirmation: Confirmation | None = None
        if found.found is not None:
            folder.kept = True
            with watch.stage("replay"), progress.working("replaying the sequence"):
                replayed = _replay(machine, request, asked.rtl, found, folder)
            proof = _judged(proof, replayed, readings)
        elif proof.verdict is Verdict.PASS and asked.rtl and request.confirm:
            with watch.stage("confirm"), progress.working("confirming by simulation"):
                sides = _sides(machine, task, asked.pins.clock or CLOCK)
                confirmation = _confirmed(machine, request, sides, folder)
            verdict, message = confirmation.weigh(proof.message, several_readings(readings) if readings else "")
            proof = replace(proof, verdict=verdict, message=message)
        task.watched.require_unchanged("proved")
        record = proof_record(
            request,
            task,
            proof,
            design,
            dut,
            finding=None,
            confirmation=confirmation,
            written=None,
            warnings=readings,
            simulate=None if replayed is None else _command(request, folder),
            project=project,
        )
        record = replace(record, program=ProgramInfo.of_machine(machine), machine=_of_machine(found, replayed))
        if folder.kept or request.output is not None:
            folder.kept = True
            write_atomically(folder.path / "result.json", record.to_json().encode())
        mismatch = None if replayed is None else replayed.first_mismatch
        return record, None, folder.path if folder.kept else None, mismatch


def _require_options(request: ProveRequest) -> None:
    asked, pins = request.design, request.design.pins
    require_no_options(
        layout=request.layout,
        wrapped=asked.wrapped,
        stages=asked.pipeline and asked.pipeline.stages,
        max_depth=asked.pipeline and asked.pipeline.max_depth,
        ports=asked.ports,
        **{f.name: getattr(pins, f.name) for f in fields(pins) if f.name != "clock"},
        out_of_range=request.out_of_range,
        dump_smt=request.dump_smt,
    )
    if pins.clock is not None and not (asked.rtl or asked.of_bits) and not is_folder(request.program):
        raise RequestError.of(
            "{clock} {value} applies only to RTL given with {rtl}: emitted RTL has clock {ours}.",
            value=pins.clock,
            ours=CLOCK,
        )


def _proved(machine: Machine, task: ProofTask, clock: str) -> tuple[MachineProof, Mapping[str, str] | None]:
    """Prove the netlist of each front end; return the worst result, and why Yosys was left out, if it was optional."""
    with needed_packages():
        from dais_verif.prover.clocked.machines.proof import prove_machine as prove

        with task.watch.stage("elaborate"):
            netlists, refused = read_design(task.reader, task.reader.in_verilog(task.design))
        found: list[MachineProof] = []
        for netlist in netlists:
            with task.watch.stage("prove"), task.progress.working("proving") as tell:
                found.append(run_deep(partial(prove, machine, netlist, clock, task.options, task.listener(tell))))
            if found[-1].proof.verdict is not Verdict.PASS:
                break
    return found[-1], None if refused is None else {"yosys": refused}


def _replay(
    machine: Machine, request: ProveRequest, rtl: Sequence[Path], found: MachineProof, folder: WorkFolder
) -> SimulationRecord | None:
    """Return the simulation of the sequence that was found; None if no file can hold its numbers."""
    assert found.found is not None
    arrays = _arrays(machine, found.step, found.found.inputs)
    if arrays is None:
        return None
    path = folder.path / _FILE
    write_atomically(path, npz_of(arrays))
    record: SimulationRecord | None = None
    for simulator in simulators_for(request.simulator, rtl):
        asked = SimulationRequest(
            program=machine if not is_folder(request.program) else request.program,
            design=request.design,
            inputs=(path,),
            vectors=0,
            simulator=simulator,
            unchecked=request.unchecked,
            seed=request.seed,
        )
        record, _, _ = simulate_machine(machine, asked, SILENT, Stopwatch())
        if record.verdict in _CONFIRMED:
            break
    return record


def _arrays(machine: Machine, step: Step, inputs: Sequence[Sequence[int]]) -> dict[str, NDArray[np.float64]] | None:
    """Return the sequence: for each signal, an array of shape (cycles, elements); None if doubles cannot hold it."""
    sequence = sequence_of_bits(machine, step.inputs, inputs)
    arrays = {}
    for signal in machine.inputs:
        rows = sequence.rows[signal.name]
        array = np.array([[float(value) for value in row] for row in rows], dtype=np.float64)
        array = array.reshape(len(rows), len(signal.types))
        if [[Fraction(value) for value in row] for row in array.tolist()] != rows:
            return None
        arrays[signal.name] = array
    return arrays


def _judged(proof: Proof, replayed: SimulationRecord | None, readings: Sequence[str]) -> Proof:
    """Return ``proof`` updated by the replay: the results of simulators and oracle take precedence."""
    if replayed is None:
        text = f"{proof.message}; not replayed: a file of vectors cannot hold inputs of more than 53 bits"
        return replace(proof, verdict=Verdict.UNKNOWN, message=text)
    if replayed.verdict in _CONFIRMED:
        return replace(proof, verdict=replayed.verdict)
    if replayed.verdict is Verdict.TOOL_FAILURE:
        message = f"{proof.message}; not replayed: {replayed.message}"
        stopped = any(result.stopped for result in replayed.simulators)
        return replace(proof, verdict=Verdict.UNKNOWN if stopped else Verdict.TOOL_FAILURE, message=message)
    why = (
        several_readings(readings)
        if readings
        else "undefined values may hide the difference; otherwise please report this"
    )
    said = f"{replayed.verdict.value}: {replayed.message}"
    message = f"the proof found a sequence that the simulation does not confirm ({said}); {why}; {proof.message}"
    return replace(proof, verdict=Verdict.UNKNOWN, message=message)


def _sides(machine: Machine, task: ProofTask, clock: str) -> SideSequence | None:
    """Return a sequence for the conditions of the RTL; None if only rewriting makes it readable."""
    from dais_verif.prover.clocked.machines.condition_sequences import sequence_of_sides
    from dais_verif.prover.terms import as_written

    if task.reader.bitwise:
        return None
    verilog = task.reader.in_verilog(task.design)

    def work() -> SideSequence:
        with as_written(), task.reader.readable(task.reader.names[0], verilog) as read:
            return sequence_of_sides(machine, read(), clock, _SIDE_SECONDS)

    try:
        return run_deep(work)
    except InputError:
        return None


def _confirmed(machine: Machine, request: ProveRequest, sides: SideSequence | None, folder: WorkFolder) -> Confirmation:
    """Return the simulation of RTL that was proved, on the sequence of ``sides`` and on generated ones."""
    arrays = None if sides is None or not sides.inputs else _arrays(machine, sides.step, sides.inputs)
    path = folder.path / _SIDES
    if arrays is not None:
        write_atomically(path, npz_of(arrays))
    tries = [request.simulator] if request.simulator else [None]
    asked = SimulationRequest(
        program=machine if not is_folder(request.program) else request.program,
        design=request.design,
        inputs=() if arrays is None else (path,),
        vectors=_CYCLES,
        simulator=tries[0],
        unchecked=request.unchecked,
        seed=request.seed,
    )
    record, _, _ = simulate_machine(machine, asked, SILENT, Stopwatch())
    verdict, unconfirmed = record.verdict, {}
    if verdict in (Verdict.TOOL_FAILURE, Verdict.PROGRAM_INVALID):  # the simulators could not judge the sequence
        unconfirmed = {result.name: result.failure or record.message for result in record.simulators}
        stopped = any(result.stopped for result in record.simulators)
        verdict = Verdict.TOOL_FAILURE if stopped else Verdict.NOT_RUN
    message = record.message
    if verdict is Verdict.PASS and sides is not None and sides.sides:
        reached = sides.reached if arrays is not None else 0
        message = f"{message}; {reached} of {sides.sides} sides of conditions reached"
    if verdict is Verdict.PASS:
        path.unlink(missing_ok=True)
    return Confirmation(verdict, message, list(record.simulators), unconfirmed)


def _command(request: ProveRequest, folder: WorkFolder) -> str:
    words = ["sim", path_of(request.program), *request.design.words()]
    return own_command([*words, "--inputs", str(folder.path / _FILE), "--vectors", "0"])


def _of_machine(found: MachineProof, replayed: SimulationRecord | None) -> ProvedMachine:
    open_ops = [claim for claim in found.proof.ops if claim.status is not Status.PROVED]
    owners = {claim.number: found.step.owners[claim.number] for claim in open_ops[:_SHOWN]}
    return ProvedMachine(
        outputs=list(found.claims),
        registers=dict(found.registers),
        invariants=list(found.invariants),
        assumed=list(found.assumed),
        unproved_ops={str(n): f"block {owner[0]}, op {owner[1]}" for n, owner in owners.items() if owner is not None},
        cycles=None if found.found is None else len(found.found.inputs),
        wrong=None if found.found is None else found.found.output,
        replay=None if replayed is None else f"{replayed.verdict.value}: {replayed.message}",
    )
