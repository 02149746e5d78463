"""Measure the quality of a verification: each mutant of the RTL is judged by the selected methods."""

from __future__ import annotations

import time as clock
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path

from dais_verif.base.errors import MutationError, RequestError, ToolError, ViolationError
from dais_verif.base.files import read_toml, write_atomically
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.toml import parse_toml
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.mutant import Mutant
from dais_verif.campaigns.mutation.operators import KINDS
from dais_verif.campaigns.mutation.sites import all_mutants, drawn
from dais_verif.golden.fast import threads
from dais_verif.hardware.ports.interface import Dut, packed
from dais_verif.record.campaigns import Fate, MutantRow, MutationRecord, MutationSummary, score_of
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.simulation.boards.compare import BOARD
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.machine.step import step_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus.machines import InputSequence, sequence_of_bits
from dais_verif.subject import open_for
from dais_verif.subject.run_inputs import includes_of_copies
from dais_verif.verbs.design_rtl import design_of, with_netlist
from dais_verif.verbs.machines.designs import machine_design, opened_design
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.machines.simulate import sequences_of
from dais_verif.verbs.mutation.proofs import Proved, Question, ToProve, prove_all, prove_original, with_latency
from dais_verif.verbs.mutation.requests import RECORD_NAME, MutationRequest
from dais_verif.verbs.mutation.simulations import Bench, Boards, Wrong, machine_plan, plan_of, simulators_of
from dais_verif.verbs.overwrite_guard import earlier_record
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.vectors import batch_of, decimal, real_inputs
from dais_verif.verbs.work_folder import WatchedFiles, locked

__all__ = [
    "Expectation",
    "Judged",
    "fate_of",
    "mutate",
    "mutated_machine",
    "opened_machine",
    "read_expected",
    "stimulus_of",
    "unexpected",
]


#: The stimulus: vectors, or sequences of a machine.
_Stimulus = Batch | list[InputSequence]

#: Seconds for the proof of a mutant that simulation has killed.
_KILLED_SECONDS = 2.0
#: A proof may take this multiple of the time for the original design, even if the timeout is smaller.
_TIMES = 2
#: The least seconds for the proof of the original design; and seconds for each build and each run of a simulator.
_ORIGINAL_SECONDS, _SIMULATOR_SECONDS = 120.0, 600.0


def mutate(request: MutationRequest, *, progress: Progress = SILENT) -> MutationRecord:
    """Judge mutants of the RTL of ``request``, and keep the record in its folder.

    Verdicts: PASS if all mutants were judged, and score, unknowns and expectations are as required; NOT_SIGNED_OFF if
    not; UNSOUND if a mutant was proved that differs from the program in a simulator; NOT_RUN if there is no mutant; the
    verdict on the original design if that is not PASS. If interrupted, the run keeps a record of the mutants judged so
    far, with verdict INTERRUPTED, and raises ``KeyboardInterrupt`` again. Raises ``InputError``, ``ProgramError`` or
    ``RequestError`` for an unusable request, ``ToolError`` if a simulator fails on the original design.
    """
    with locked(request.output):
        return _mutate(request, progress)


def _mutate(request: MutationRequest, progress: Progress) -> MutationRecord:
    begun = clock.monotonic()
    machine = mutated_machine(request)
    if machine is None:
        opened = open_projects(request.program, request.design)
        request = replace(request, design=opened.design)
        program, warnings = read_program(opened.program, request.layout, progress)
        opened.require_dialect(program)
    else:
        program, warnings = Program.build([], []), []
    earlier_record(request.output / RECORD_NAME, MutationRecord)
    expectations = [] if request.expected is None else read_expected(request.expected)
    with temporary_folder() as scratch:
        asked = with_netlist(request.design, scratch.path)
        if machine is None:
            design = design_of(program, asked, scratch.path)
            dut = design.dut or packed(program)
        else:
            design, dut = opened_machine(machine, request, scratch.path)
        _refuse_arrays(request, design)
        if any(map(is_vhdl, design.sources)):
            raise MutationError("mutants are made of Verilog; VHDL is not mutated")
        files = _texts(design)
        own = files if not asked.of_bits else {design.sources[0].name: files[design.sources[0].name]}
        possible = all_mutants(own)
        chosen = dict(enumerate(drawn(possible, request.count, request.seed), start=1))
        stimulus = _vectors(program, request, progress) if machine is None else stimulus_of(machine, request)
        question = Question(
            program,
            files,
            design.top,
            dut,
            design.data,
            not request.unchecked,
            asked.of_bits,
            request.seed,
            machine,
            () if asked.of_bits else includes_of_copies(design.sources),
        )
        watched = WatchedFiles.of(replace(design, data=question.read))
        with progress.working("proving the unmutated design"):
            first = prove_original(question, scratch.path, max(_ORIGINAL_SECONDS, request.timeout))
        question = replace(question, dut=with_latency(question.dut, first))
        judged, interrupt = Judged(), None
        try:
            verdict, message = _judge(request, question, chosen, stimulus, first, scratch.path, progress, judged)
            watched.require_unchanged("mutated")
        except KeyboardInterrupt as error:
            interrupt, verdict = error, Verdict.INTERRUPTED
    if interrupt is not None:
        chosen = {n: mutant for n, mutant in chosen.items() if n in judged.wrong or n in judged.proved}
        message = f"interrupted when {len(chosen)} mutants were judged"
    of = chosen if verdict in (Verdict.PASS, Verdict.INTERRUPTED) else {}  # otherwise no mutant was judged
    rows = [_row(number, mutant, judged, program, question.dut, request) for number, mutant in of.items()]
    summary = _summary(rows)
    missed = [] if interrupt else unexpected(expectations, rows)
    if verdict is Verdict.PASS:
        verdict, message = _verdict(request, summary, missed)
    kinds = {kind: dict(Counter(row.fate for row in rows if row.kind == kind)) for kind in KINDS}
    if request.add_vectors is not None:
        write_atomically(request.add_vectors, _found_vectors(rows).encode())
    record = MutationRecord(
        verdict=verdict,
        message=message,
        program=ProgramInfo.of(program) if machine is None else ProgramInfo.of_machine(machine),
        rtl=_facts(request, watched),
        judges=list(request.asked),
        simulators=[*simulators_of(request.simulator), *([BOARD] if "hil" in request.asked else [])],
        vectors=_length(stimulus),
        seed=request.seed,
        possible=len(possible),
        summary=summary,
        kinds={kind: fates for kind, fates in kinds.items() if fates},
        mutants=rows,
        unexpected=missed,
        seconds=round(clock.monotonic() - begun, 3),
        warnings=[*warnings, *judged.warnings],
        reproduce=request.reproduce(),
    )
    write_atomically(request.output / RECORD_NAME, record.to_json().encode())
    if interrupt is not None:
        raise interrupt
    return record


def _refuse_arrays(request: MutationRequest, design: RtlDesign) -> None:
    """Raise ``InputError`` if simulation is requested for mutants with array ports: the bench connects names."""
    wires = () if design.dut is None else (*design.dut.interface.inputs, *design.dut.interface.outputs)
    array = next((wire.name for wire in wires if "[" in wire.name), None)
    if array is not None and {"sim", "directed"} & {*request.asked}:
        raise MutationError.of(
            "port {name!r} is an element of an array; mutants cannot be simulated through such ports: prove them"
            " alone ({judges} prove), or name a module around it that has one port per element",
            name=array,
        )


def _texts(design: RtlDesign) -> dict[str, str]:
    """Return the sources by name, one character per byte. Raises ``InputError`` for two files of the same name."""
    files = {source.name: source.read_bytes().decode("latin-1") for source in design.sources}
    if len(files) < len(design.sources):
        raise MutationError("two files of the RTL have the same name; rename one of them to have mutants of both")
    return files


def _facts(request: MutationRequest, watched: WatchedFiles) -> RtlFacts:
    return RtlFacts(
        top=watched.design.top,
        emitted=not (request.design.rtl or request.design.of_bits),
        files=[source.name for source in watched.design.sources],
        sha256=watched.of_sources,
        data=watched.of_data,
    )


def _vectors(program: Program, request: MutationRequest, progress: Progress) -> Batch:
    """Return the vectors of files, generated ones, and directed ones if requested."""
    batch = batch_of([program], request.inputs, request.vectors, request.seed)
    if "directed" not in request.asked:
        return batch
    from dais_verif.coverage import measure

    with progress.working("counting coverage") as tell:
        _, found = measure(
            program, batch, seed=request.seed, check=not request.unchecked, jobs=threads(request.jobs), notice=tell
        )
    return Batch.concatenate([batch, found]) if found.rows else batch


def _judge(
    request: MutationRequest,
    question: Question,
    chosen: Mapping[int, Mutant],
    stimulus: _Stimulus,
    first: Proved,
    folder: Path,
    progress: Progress,
    judged: Judged,
) -> tuple[Verdict, str]:
    """Run all judges on the ``chosen`` mutants, and add results to ``judged``; return the verdict so far, and why."""
    if not chosen:
        return Verdict.NOT_RUN, "the RTL has nothing that can be mutated"
    if first.verdict is Verdict.RTL_MISMATCH:
        return Verdict.RTL_MISMATCH, f"the unmutated design is wrong: {first.message}"
    provable = first.verdict is Verdict.PASS
    if not provable:
        if "prove" in request.asked:
            return Verdict.UNKNOWN, f"the unmutated design is not proved: {first.message}"
        judged.warnings.append(f"equivalence is unknown, since the unmutated design is not proved: {first.message}")
    clocking = question.dut.interface.clocking
    if clocking is not None and clocking.latency is None:
        raise MutationError.of("the latency of the design is not known: give it with {latency}")
    bench = None
    if {"sim", "directed"} & {*request.asked}:
        if not _length(stimulus):
            return Verdict.NOT_RUN, "there is no vector to simulate"
        bench = _bench(question, stimulus, folder)
        for name in simulators_of(request.simulator):
            if not bench.is_right(name):
                return Verdict.RTL_MISMATCH, f"the unmutated design fails in {name}"
            left = {number: mutant for number, mutant in chosen.items() if number not in judged.wrong}
            with progress.working(f"simulating {len(left)} mutants") as tell:
                found, said = bench.judge(name, left, partial(_tell, tell, "simulating", len(left)))
            judged.add(left, found, said)
    boards = None
    if "hil" in request.asked:
        assert isinstance(stimulus, Batch)  # ``hil`` is refused for machines
        boards = Boards.of(question, stimulus, folder, threads(request.jobs))
        with progress.working("building a board"):
            as_it_is = boards.original()
        if as_it_is.verdict is not Verdict.PASS:
            return as_it_is.verdict, f"the unmutated design on a board: {as_it_is.message}"
        left = {number: mutant for number, mutant in chosen.items() if number not in judged.wrong}
        with progress.working(f"running {len(left)} mutants on boards") as tell:
            found, said = boards.judge(left, partial(_tell, tell, "on boards", len(left)))
        judged.add(left, found, said)
    wrong, questions = judged.wrong, []
    seconds = max(request.timeout, _TIMES * first.seconds)
    if provable:
        for number, mutant in chosen.items():
            if number not in wrong:
                questions.append(ToProve(number, mutant, seconds))
        for number, mutant in chosen.items():
            if number in wrong and "prove" in request.asked:
                questions.append(ToProve(number, mutant, min(_KILLED_SECONDS, request.timeout), quick=True))
    with progress.working(f"proving {len(questions)} mutants") as tell:
        told = partial(_tell, tell, "proving", len(questions))
        for answer in prove_all(question, questions, folder, threads(request.jobs), told):
            judged.proved[answer.number] = _confirmed(question, answer, chosen[answer.number], folder, judged)
    for number, answer in judged.proved.items():
        if number not in wrong or answer.verdict is not Verdict.PASS:
            continue
        if boards is not None and wrong[number].simulator == BOARD:
            judged.again[number] = boards.goes_wrong(chosen[number])
        elif bench is not None:
            judged.again[number] = bench.goes_wrong(wrong[number].simulator, chosen[number])
    return Verdict.PASS, ""


def _length(stimulus: _Stimulus) -> int:
    """Return the number of vectors, or of cycles."""
    return stimulus.rows if isinstance(stimulus, Batch) else sum(sequence.cycles for sequence in stimulus)


def _bench(question: Question, stimulus: _Stimulus, folder: Path) -> Bench:
    if isinstance(stimulus, Batch):
        plan = plan_of(question.program, question.dut, stimulus, question.check, question.seed)
    else:
        assert question.machine is not None
        plan = machine_plan(question.machine, question.dut.interface, stimulus, question.check)
    return Bench(question.files, question.top, question.dut, question.read, plan, folder, _SIMULATOR_SECONDS)


def _confirmed(question: Question, answer: Proved, mutant: Mutant, folder: Path, judged: Judged) -> Proved:
    """Return ``answer``, or UNKNOWN if it calls a machine's RTL wrong and no simulator confirms the error."""
    if question.machine is None or answer.verdict is not Verdict.RTL_MISMATCH or answer.number in judged.wrong:
        return answer
    text = "the proof found a sequence that the simulation does not confirm"
    if answer.sequence is not None:
        try:
            inputs = step_of(question.machine).inputs
            found = [sequence_of_bits(question.machine, inputs, answer.sequence)]
            if _bench(question, found, folder).goes_wrong("icarus", mutant):
                return answer
        except (ToolError, ViolationError) as error:
            text = f"{text}: {error}"
    return answer._replace(verdict=Verdict.UNKNOWN, message=f"{text}; {answer.message}")


def _tell(tell: Callable[[str], None], what: str, total: int, done: int) -> None:
    tell(f"{what}: {done} of {total} mutants")


def _row(
    number: int, mutant: Mutant, judged: Judged, program: Program, dut: Dut, request: MutationRequest
) -> MutantRow:
    wrong, proved = judged.wrong.get(number), judged.proved.get(number)
    inputs = None
    if proved is not None and proved.vector is not None:
        inputs = [decimal(value) for value in real_inputs(program, proved.vector, dut.ports.inputs)]
    proof = None if proved is None else "refused" if proved.verdict is None else proved.verdict.value
    text = "" if proved is None else proved.message
    if wrong is not None and wrong.text:
        text = "; ".join([wrong.text, *([text] if text else [])])
    if number in judged.refused:
        text = "; ".join(dict.fromkeys([*judged.refused[number], *([text] if text else [])]))
    return MutantRow(
        number=number,
        kind=mutant.kind,
        file=mutant.file,
        line=mutant.line,
        op=mutant.op,
        old=mutant.old,
        new=mutant.new,
        fate=fate_of(number, judged, request.asked),
        simulator=None if wrong is None else wrong.simulator,
        vector=None if wrong is None else wrong.row,
        proof=proof,
        text=text,
        inputs=inputs,
    )


def _summary(rows: Sequence[MutantRow]) -> MutationSummary:
    counts = Counter(row.fate for row in rows)
    killed = counts[Fate.SIMULATION] + counts[Fate.PROOF]
    judged = len(rows) - counts[Fate.INVALID]
    to_kill = judged - counts[Fate.EQUIVALENT]
    return MutationSummary(
        mutants=judged,
        killed_by_simulation=counts[Fate.SIMULATION],
        killed_by_proof=counts[Fate.PROOF],
        equivalent=counts[Fate.EQUIVALENT],
        unknown=counts[Fate.UNKNOWN],
        survived=counts[Fate.SURVIVED],
        unsound=counts[Fate.UNSOUND],
        invalid=counts[Fate.INVALID],
        score=score_of(killed, to_kill),
    )


def _verdict(request: MutationRequest, summary: MutationSummary, missed: Sequence[str]) -> tuple[Verdict, str]:
    if summary.unsound:
        text = f"{summary.unsound} mutants were proved, but a simulator shows that they differ from the program"
        return Verdict.UNSOUND, f"{text}: a defect of dais-verif"
    if not summary.mutants:
        return Verdict.NOT_RUN, "no tool can read any of the mutants"
    if missed:
        return Verdict.NOT_SIGNED_OFF, f"{len(missed)} expectations are not met, the first: {missed[0]}"
    if request.floor and not summary.reaches(request.floor):
        score = "there is no score" if summary.score is None else f"the score is {summary.score:g} %"
        return Verdict.NOT_SIGNED_OFF, f"{score}, must be at least {request.floor:g} %"
    unknown = 100 * summary.unknown / summary.mutants
    if request.most_unknown is not None and unknown > request.most_unknown:
        text = f"{summary.unknown} of {summary.mutants} mutants are unknown, {unknown:.1f} %"
        return Verdict.NOT_SIGNED_OFF, f"{text}; at most {request.most_unknown:g} % are allowed"
    text = f"{summary.killed} of {summary.to_kill} mutants that are not equivalent are killed"
    return Verdict.PASS, f"{text}; {summary.survived} survived, {summary.unknown} unknown"


def _found_vectors(rows: Sequence[MutantRow]) -> str:
    """Return the vectors that simulation lacked, one per line, without duplicates."""
    lacking = (row.inputs for row in rows if row.fate in (Fate.PROOF, Fate.SURVIVED) and row.inputs is not None)
    return "".join(f"{line}\n" for line in dict.fromkeys(",".join(inputs) for inputs in lacking))


# The manifest of expectations: which judges must find which mutants.


#: Expectations by their names in the manifest, with the fates that meet them.
_BY = {
    "simulation": (Fate.SIMULATION,),
    "proof": (Fate.PROOF,),
    "any": (Fate.SIMULATION, Fate.PROOF),
    "equivalent": (Fate.EQUIVALENT,),
}
_WHICH = {"kind": str, "file": str, "line": int, "op": int, "old": str, "new": str}
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Expectation:
    """The expectation that mutants with the fields in ``which`` have a fate that ``by`` allows."""

    which: tuple[tuple[str, str | int], ...]
    by: str

    def matches(self, row: MutantRow) -> bool:
        """Return True if the expectation applies to ``row``."""
        return all(getattr(row, name) == value for name, value in self.which)

    def __str__(self) -> str:
        which = ", ".join(f"{name} = {value!r}" for name, value in self.which)
        return f"{which or 'all mutants'}: by {self.by}"


def read_expected(path: Path) -> list[Expectation]:
    """Return the expectations in the manifest ``path``. Raises ``InputError`` if the file is not a manifest."""
    where = f"manifest {str(path)!r}"
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "manifest"))
    except ValueError as error:
        raise MutationError(f"{where} cannot be read: {error}; give TOML with [[expect]] tables") from None
    entries = tree.get("expect")
    if set(tree) != {"expect"} or not isinstance(entries, list) or not entries:
        raise MutationError(f"{where} must hold [[expect]] tables, and nothing else")
    return [_expectation(entry, f"{where}, [[expect]] {number}") for number, entry in enumerate(entries, start=1)]


def _expectation(entry: object, where: str) -> Expectation:
    if not isinstance(entry, dict) or entry.get("by") not in list(_BY):  # ``by`` may be a table or a list
        raise MutationError(f"{where}: by must be one of {', '.join(_BY)}")
    which: list[tuple[str, str | int]] = []
    for name, value in entry.items():
        if name == "by":
            continue
        if name not in _WHICH or type(value) is not _WHICH[name]:
            known = ", ".join(f"{key} ({kind.__name__})" for key, kind in _WHICH.items())
            raise MutationError(f"{where}: {name} = {value!r} is not a key, or has another type; keys are by, {known}")
        which.append((name, value))  # type: ignore[arg-type]
    return Expectation(tuple(which), entry["by"])


def unexpected(expectations: Sequence[Expectation], rows: Sequence[MutantRow]) -> list[str]:
    """Return the deviations: mutants with another fate, and expectations that apply to no mutant."""
    found = []
    for expectation in expectations:
        matching = [row for row in rows if expectation.matches(row) and row.fate != Fate.INVALID]
        if not matching:
            found.append(f"{expectation}: there is no such mutant")
        found += [
            f"{expectation}: mutant {row.number} ({row.file}:{row.line}, {row.old!r} -> {row.new!r}) is {row.fate}"
            for row in matching
            if row.fate not in _BY[expectation.by]
        ]
    return found


# The judges' results for mutants, and the fates that follow.


@dataclass(frozen=True)
class Judged:
    """The judges' results for mutants, by number.

    ``ran``: mutants that a simulator or a board ran. ``again``: for mutants that were proved and yet found wrong,
    whether a separate build is wrong, too. Results are added while judges run.
    """

    wrong: dict[int, Wrong] = field(default_factory=dict)
    ran: set[int] = field(default_factory=set)
    refused: dict[int, list[str]] = field(default_factory=dict)
    proved: dict[int, Proved] = field(default_factory=dict)
    again: dict[int, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, asked: Iterable[int], wrong: Mapping[int, Wrong], refused: Mapping[int, str]) -> None:
        """Add the results of a simulator or of boards for the mutants in ``asked``."""
        self.wrong.update(wrong)
        self.ran.update(number for number in asked if number not in refused)
        for number, text in refused.items():
            self.refused.setdefault(number, []).append(text)


def fate_of(number: int, judged: Judged, judges: Collection[str]) -> str:
    """Return the fate of a mutant. The fate is unknown if the batch and a separate build of the mutant differ."""
    proved = judged.proved.get(number)
    verdict = None if proved is None else proved.verdict
    if number in judged.again:
        return Fate.UNSOUND if judged.again[number] else Fate.UNKNOWN
    if number in judged.wrong:
        return Fate.SIMULATION
    if verdict is None and number in judged.refused and number not in judged.ran:
        return Fate.INVALID
    if verdict is Verdict.PASS:
        return Fate.EQUIVALENT
    if verdict is Verdict.RTL_MISMATCH and "prove" in judges:
        return Fate.PROOF
    if verdict is Verdict.RTL_MISMATCH or proved is None:
        return Fate.SURVIVED
    return Fate.UNKNOWN


# Mutate the RTL of machines: read the machine of a request, and use sequences instead of vectors.


def mutated_machine(request: MutationRequest) -> Machine | None:
    """Return the machine whose RTL is mutated; None for a program, and for anything that its reader will refuse.

    Raises ``RequestError`` for options that only programs have.
    """
    machine = open_for("mutate", request.program, request.layout).read
    if machine is None:
        return None
    asked, pins = request.design, request.design.pins
    require_no_options(
        layout=request.layout,
        stages=asked.pipeline and asked.pipeline.stages,
        max_depth=asked.pipeline and asked.pipeline.max_depth,
        ports=asked.ports,
        netlist=asked.of_bits and asked.netlist,
        **{f.name: getattr(pins, f.name) for f in fields(pins) if f.name != "clock"},
        add_vectors=request.add_vectors,
    )
    for name in request.asked:
        if name not in ("sim", "prove"):
            raise RequestError.of(
                "{judges} {name} is for programs, but this is a machine: its judges are sim and prove.", name=name
            )
    return machine


def opened_machine(machine: Machine, request: MutationRequest, folder: Path) -> tuple[RtlDesign, Dut]:
    """Return the RTL of ``machine``, in ``folder`` if emitted, and its ports, whose outputs have latency 0."""
    asked, _ = opened_design(request.program, request.design)
    interface = interface_of(machine, asked.pins.clock or CLOCK).with_latency(0)
    return machine_design(machine, asked, folder), Dut(interface, Ports((), ()), (), "the machine's types")


def stimulus_of(machine: Machine, request: MutationRequest) -> list[InputSequence]:
    """Return the sequences of files, then generated ones, the same as in ``sim``."""
    asked = SimulationRequest(program=machine, inputs=request.inputs, vectors=request.vectors, seed=request.seed)
    return sequences_of(machine, asked)[0]
