"""Prove for all inputs that RTL computes a program, or show an input vector on which it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.cache_folder import proof_store
from dais_verif.base.errors import InputError, ProofError
from dais_verif.base.files import write_atomically
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.golden.fast import threads
from dais_verif.hardware.ports.interface import Dut, packed
from dais_verif.prover.results import ProofOptions
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import Confirmation, ProofRecord, WrittenStatements
from dais_verif.record.simulation import Mismatch
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.subject import open_for
from dais_verif.verbs.common_options import require_program_rtl
from dais_verif.verbs.design_rtl import emitted, given, told_apart, with_netlist
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.machines.prove import prove_machine
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.proof.confirm import prove_and_confirm
from dais_verif.verbs.proof.decide import (
    ProofTask,
    empty_folder,
    prove_design,
    state_obligations,
    write_contradicted,
    write_statements,
)
from dais_verif.verbs.proof.links import core_request, hints_of, link_asked, prove_link
from dais_verif.verbs.proof.proof_record import proof_record
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.proof.replay import (
    COUNTEREXAMPLE,
    judge_replay,
    replay_counterexample,
    replay_handshake,
    simulate_command,
    simulate_out_of_step,
    with_found_pins,
)
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.tensors.opening import source_of
from dais_verif.verbs.work_folder import WatchedFiles, WorkFolder, work_folder
from dais_verif.verbs.wrong_lines import with_lines

if TYPE_CHECKING:
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.verify import Finding

__all__ = ["Proved", "ProveRequest", "prove"]


@dataclass(frozen=True)
class Proved:
    """The result of ``prove``: its record, the program (None for other designs), and the folder that was kept.

    ``mismatch``: the mismatch that a simulator showed. ``bitwise``: a netlist was proved, bit by bit.
    """

    record: ProofRecord
    program: Program | None
    folder: Path | None
    mismatch: Mismatch | None
    bitwise: bool


@dataclass(frozen=True)
class _Answer:
    """The prover's answer, and ``design`` with inferred facts. ``finding``: a simulator's result for a mismatch."""

    proof: Proof
    design: RtlDesign
    dut: Dut
    confirmation: Confirmation | None = None
    finding: Finding | None = None


def prove(request: ProveRequest, *, progress: Progress = SILENT, watch: Stopwatch | None = None) -> Proved:
    """Prove that the design computes the program, or refute it.

    Counterexamples are replayed in a simulator, and user RTL is simulated before it passes: the simulator's result
    decides. Raises ``InputError``, ``ProgramError`` or ``RequestError`` for unusable arguments, ``ToolError`` if a
    package or a tool is missing.
    """
    watch = watch or Stopwatch()
    subject = open_for("prove", request.program, request.layout)
    source = source_of(subject)
    require_program_rtl(request.suggest, source is None and subject.machine is None)
    if source is not None:
        from dais_verif.verbs.tensors.prove import prove_tensors

        options = _options(request, request.design)
        return Proved(*prove_tensors(source, request, options, progress, watch), bitwise=False)
    if subject.machine is not None:
        options = _options(request, request.design)
        return Proved(*prove_machine(subject.machine, request, options, progress, watch), bitwise=False)
    kind = link_asked(request)
    if kind is not None:
        hints = hints_of(request)  # before the long steps
        core = prove(core_request(request), progress=progress, watch=watch)
        record, kept = prove_link(request, kind, core.record, hints, progress)
        return Proved(record, core.program, kept, None, bitwise=False)
    statements = None if request.dump_smt is None else empty_folder(request.dump_smt)
    with watch.stage("read"):
        opened = open_projects(request.program, request.design)
        asked = opened.design
        require_program_rtl(request.suggest, bool(asked.rtl))
        program, warnings = read_program(opened.program, request.layout, progress)
        opened.require_dialect(program)
    with work_folder(request.output, COUNTEREXAMPLE) as folder:
        with watch.stage("emit"):
            asked = with_netlist(asked, folder.path)
            design, said = given(asked, folder.path) if asked.rtl else (emitted(program, asked, folder.path), None)
            readings = [] if asked.of_bits else told_apart(design, asked, progress)
            watched = WatchedFiles.of(design, asked.bitstream_facts)
        task = ProofTask(
            program=program,
            design=design,
            said=said,
            reader=RtlReader.of(
                request.front_end, design, folder.path / "yosys", bitwise=asked.of_bits, foreign=bool(asked.rtl)
            ),
            options=_options(request, asked),
            watched=watched,
            watch=watch,
            progress=progress,
        )
        found = _answer(request, task, asked, folder, readings)
        written = None if statements is None else _written(statements, task, found)
        found = _replayed(request, task, found, folder, readings)
        watched.require_unchanged("proved")
        proof, sample = found.proof, found.proof.sample
        if (found.confirmation is not None and found.confirmation.contradicts) or (sample and sample.contradicted):
            folder.kept = True
        if sample is not None and sample.contradicted:
            write_contradicted(folder.path / "disagreement", proof.contradicted)
        record = proof_record(
            request,
            task,
            proof,
            found.design,
            found.dut,
            finding=found.finding,
            confirmation=found.confirmation,
            written=written,
            warnings=[*warnings, *readings],
            project=opened.project,
            simulate=None if proof.counterexample is None else simulate_command(request, asked, found.design, folder),
        )
        if folder.kept or proof.counterexample is not None or request.output is not None:
            folder.kept = True
            write_atomically(folder.path / "result.json", record.to_json().encode())
        mismatch = None if found.finding is None else found.finding.first_mismatch
        return Proved(record, program, folder.path if folder.kept else None, mismatch, proof.bits)


def _options(request: ProveRequest, asked: DesignRequest) -> ProofOptions:
    return ProofOptions(
        timeout=request.timeout,
        check=not request.unchecked,
        jobs=threads(request.jobs),
        store=proof_store() if request.cache else None,
        seed=request.seed,
        declared=not request.out_of_range,
        bits=asked.of_bits,
        sample=request.sample,
    )


def _answer(
    request: ProveRequest, task: ProofTask, asked: DesignRequest, folder: WorkFolder, readings: list[str]
) -> _Answer:
    """Return the result of the proof, or of a simulator if registers do not advance together."""
    try:
        if asked.rtl and request.confirm:
            proof, dut, confirmation = prove_and_confirm(task, folder.path / "confirmation", readings)
            return _Answer(proof, task.design, dut, confirmation)
        proof, dut = prove_design(task)
        return _Answer(proof, task.design, dut)
    except InputError as error:
        with task.watch.stage("replay"):
            shown = simulate_out_of_step(request, task.program, error, asked, task.said, folder, task.progress)
        if shown is None:
            raise
        proof, design, finding = shown
        folder.kept = True
        return _Answer(proof, design, design.dut or packed(task.program), finding=finding)


def _written(statements: Path, task: ProofTask, found: _Answer) -> WrittenStatements | None:
    """Write all obligations of the proof; return None if it has no outputs. Raises ``InputError`` for netlists."""
    if found.proof.bits:
        raise ProofError.of("a netlist is proved bit by bit: there are no obligations of ops for {dump_smt} to write")
    if not found.proof.outputs:
        return None
    return write_statements(statements, ProgramInfo.of(task.program), *state_obligations(task, found.dut, found.proof))


def _replayed(
    request: ProveRequest, task: ProofTask, found: _Answer, folder: WorkFolder, readings: list[str]
) -> _Answer:
    """Replay the counterexample or handshake trace of ``found``, if any, in a simulator; return the updated answer."""
    proof = found.proof
    if proof.counterexample is not None:
        design = replace(found.design, dut=with_found_pins(found.dut, proof))
        with task.watch.stage("replay"):
            finding = replay_counterexample(request, task.program, proof, design, folder, task.progress)
        if task.reader.foreign and not task.reader.bitwise and finding is not None:
            with task.watch.stage("lines"), task.progress.working("looking for the lines that are wrong"):
                finding = with_lines(task.program, design, finding, task.progress, request.suggest)
        return replace(found, proof=judge_replay(proof, finding, readings), design=design, finding=finding)
    if proof.handshake is not None and proof.handshake.trace:
        with task.watch.stage("replay"):
            proof = replay_handshake(proof, found.dut, task.reader.in_verilog(found.design), folder)
        folder.kept = True
        return replace(found, proof=proof)
    return found
