"""Verify a design by simulation: compare the outputs of all simulators with the golden model, and give one verdict.

stimulus -> golden model -> chunks ──────┐
program -> Verilog -> build -> bench <───┴-> compare -> verdict (-> blame)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dais_verif.base.errors import ToolError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import Evidence, Mismatch, OutputEvidence, SimulatorResult
from dais_verif.simulation.diagnosis.blame import blame_engines, blame_expectation, blame_undriven, judge_rows
from dais_verif.simulation.diagnosis.mismatch import describe, first_difference, replay_in_simulators
from dais_verif.simulation.feed import Feed, chunk_size
from dais_verif.simulation.in_parallel import EarlyVerdict, simulate_all
from dais_verif.simulation.judge import judge, second_opinion
from dais_verif.simulation.launch import StoppedRun
from dais_verif.simulation.outputs import outputs_of
from dais_verif.simulation.scoreboard import DIGESTED
from dais_verif.simulation.simulate import PendingRun, SimulatorOutcome, begin
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.simulators.verilator import undriven
from dais_verif.simulation.task import SimulationOptions, SimulationWatcher, Task
from dais_verif.simulation.testbench.idle import idle_text
from dais_verif.simulation.testbench.job import LEAST_IN_ICARUS
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus import ExhaustiveRows, Vectors
from dais_verif.stimulus.pseudo_exhaustive.plan import Plan
from dais_verif.stimulus.pseudo_exhaustive.plan import plan as exhaustive_plan

__all__ = ["Finding", "SimulationOptions", "SimulationWatcher", "feed_of", "finding_of", "verify"]


@dataclass(frozen=True)
class Finding:
    """The result of ``verify``. ``outputs``: the evidence for each output, if all simulators compared all of them."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult]
    first_mismatch: Mismatch | None = None
    evidence: Evidence | None = None
    exhaustive_vectors: int = 0
    outputs: list[OutputEvidence] = field(default_factory=list)


def verify(
    program: Program,
    vectors: Vectors,
    design: RtlDesign,
    folder: Path,
    options: SimulationOptions,
    watcher: SimulationWatcher | None = None,
    watch: Stopwatch | None = None,
    begun: Mapping[str, PendingRun] | None = None,
) -> Finding:
    """Simulate ``design`` on ``vectors`` and compare every output bit with the golden model of ``program``.

    ``folder`` receives builds, logs and waves. ``begun``: the simulators, if already started. Tool failures
    and violations are findings, not exceptions.
    """
    task = Task(program, design, folder, options, watcher or SimulationWatcher(), watch or Stopwatch())
    if begun is not None:
        return _verify(task, vectors, begun)
    with begin(
        options.simulators,
        design,
        folder,
        seed=options.seed,
        waves=options.waves,
        timeout=options.timeout,
        watch=task.watch,
    ) as begun:
        return _verify(task, vectors, begun)


def _verify(task: Task, vectors: Vectors, begun: Mapping[str, PendingRun]) -> Finding:
    plan, feed = feed_of(task, vectors)
    try:
        outcomes = simulate_all(task, feed, begun)
    except EarlyVerdict as settled:
        return Finding(settled.verdict, settled.message, [])
    return finding_of(task, vectors.rows, plan, feed, outcomes)


def feed_of(task: Task, vectors: Vectors) -> tuple[Plan, Feed]:
    """Return the plan of exhaustive outputs, and the feed of all vectors: ``vectors``, then the exhaustive ones."""
    program, options = task.program, task.options
    with task.watch.stage("plan"):
        plan = Plan((), (), ())
        if options.exhaustive_rows:
            given = program if options.declared else replace(program, intervals=None)
            plan = exhaustive_plan(given, max_rows=options.exhaustive_rows, max_bits=options.exhaustive_bits)
        passes = [ExhaustiveRows(exhaustive, options.seed) for exhaustive in plan.passes]
    size = chunk_size(vectors.rows + sum(exhaustive.rows for exhaustive in passes), task.ports, options.jobs)
    feed = Feed(
        task.golden,
        task.dut,
        [vectors, *passes],
        size,
        check=options.check,
        growing=task.paired and options.icarus_rows is None and vectors.rows > LEAST_IN_ICARUS,
        cut=options.icarus_rows and -(-options.icarus_rows // DIGESTED) * DIGESTED,
    )
    return plan, feed


def finding_of(
    task: Task, sampled: int, plan: Plan, feed: Feed, outcomes: dict[str, SimulatorOutcome | ToolError]
) -> Finding:
    """Return the finding from ``outcomes`` on ``feed``; ``sampled``: the number of vectors that are not exhaustive."""
    program, options = task.program, task.options
    results = [_result(name, outcome) for name, outcome in outcomes.items()]
    verdict, message = judge(outcomes, task.ports.output_bits)
    # The plan counts only if all of it ran.
    whole = any(result.vectors_compared == feed.rows for result in results)
    ran = plan if whole else Plan((), (), ())
    graded = _graded(task.ports, outcomes, ran)
    first = first_difference(outcomes, verdict)
    swept = feed.rows - sampled
    if first is None:
        evidence = _evidence(task.ports, ran) if verdict is Verdict.PASS else None
        if verdict is Verdict.PASS:
            message += _fewer(results, sampled) + _complaints(outcomes) + _undriven(task, outcomes)
        # Results of one simulator are valid even if another failed.
        outputs = graded if verdict in (Verdict.PASS, Verdict.TOOL_FAILURE) else []
        return Finding(verdict, message, results, None, evidence, swept, outputs)
    name, difference = first
    batch = feed.batch(difference.row, difference.row + 1)
    mismatch = describe(task, batch, name, difference)
    # Check the expectation before blaming the RTL.
    judged = judge_rows(program, batch, [difference.row])
    suspect = blame_engines(program, task.golden.compiled, batch, judged)
    expected = {difference.row: difference.expected}
    suspect = suspect or blame_expectation(program, task.dut, judged, expected, options.check)
    if suspect is not None:
        return Finding(Verdict.UNKNOWN, suspect.text, results, replace(mismatch, blame=suspect), None, swept)
    before = feed.batch(difference.row - 1, difference.row) if difference.row else None
    outcome = outcomes[name]
    assert isinstance(outcome, SimulatorOutcome)
    if verdict is Verdict.X_IN_OUTPUT and outcome.answer.filled_rows:  # a replay has one value for X, and shows nothing
        blame = blame_undriven(task.folder / name)
        return Finding(verdict, message, results, replace(mismatch, blame=blame), None, swept, graded)
    latency = outcome.answer.latency
    mismatch, replayed = replay_in_simulators(task, batch, before, difference, mismatch, latency)
    if verdict is Verdict.RTL_MISMATCH:
        verdict, message = second_opinion(message, outcomes, name, difference, replayed)
    message += idle_text(task.dut.interface)
    return Finding(verdict, message, results, mismatch, None, swept, graded)


def _fewer(results: Sequence[SimulatorResult], sampled: int) -> str:
    """Name the simulators that did not run all ``sampled`` vectors: a pass covers only what each ran."""
    fewer = [result for result in results if result.vectors_compared < sampled]
    return "".join(f" ({result.name}: the first {result.vectors_compared})" for result in fewer)


def _complaints(outcomes: Mapping[str, SimulatorOutcome | ToolError]) -> str:
    """Name the assertions of the RTL that failed in a simulator that continued.

    Failed assertions do not prove a wrong design: the simulator may have evaluated them before all values settled.
    """
    said = [
        (name, outcome.answer.complaint) for name, outcome in outcomes.items() if isinstance(outcome, SimulatorOutcome)
    ]
    return "".join(
        f"; {name} says that an assertion of the RTL fails {text} (its values may not have settled: try verilator)"
        for name, text in said
        if text
    )


def _undriven(task: Task, outcomes: Mapping[str, SimulatorOutcome | ToolError]) -> str:
    """Name what nothing drives in a design that passes: no vector may have shown it."""
    names = [name for simulator in outcomes for name in undriven(task.folder / simulator / "build")]
    return f"; {', '.join(names[:3])}, which no output showed" if names else ""


def _graded(ports: Ports, outcomes: Mapping[str, SimulatorOutcome | ToolError], ran: Plan) -> list[OutputEvidence]:
    """Return the evidence for each output from the simulators that finished.

    Returns nothing if simulators found different latencies or the design breaks its protocol, nor if one failed and
    another found differences, since the differences were not confirmed.
    """
    answers = [outcome.answer for outcome in outcomes.values() if isinstance(outcome, SimulatorOutcome)]
    failed = any(answer.port_error or answer.protocol_error for answer in answers)
    if failed or len({answer.latency for answer in answers}) != 1:
        return []
    wrong = 0
    for answer in answers:
        wrong |= int(answer.wrong, 16)
    if wrong and len(answers) < len(outcomes):
        return []
    return outputs_of(ports, max(answer.rows for answer in answers), wrong, ran.exhausted)


def _evidence(ports: Ports, plan: Plan) -> Evidence:
    """Return the evidence of a passing run for each output that has bits."""
    exhausted = [output for output in plan.exhausted if ports.outputs[output].width]
    with_bits = [output for output, element in enumerate(ports.outputs) if element.width]
    could = {left.output: left.rows for left in plan.could if left.output not in exhausted}
    return Evidence(exhausted, [output for output in with_bits if output not in set(exhausted)], could)


def _sha256(path: Path) -> str:
    """Return the hash of a file; empty if it is missing or unreadable."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _result(name: str, outcome: SimulatorOutcome | ToolError) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(name, failure=str(outcome), stopped=isinstance(outcome, StoppedRun), code=outcome.code)
    answer = outcome.answer
    return SimulatorResult(
        name,
        outcome.version,
        vectors_compared=answer.rows,
        bits_compared=answer.bits,
        mismatches=answer.mismatching_rows,
        vectors_with_x=answer.unknown_rows,
        digest=answer.digest,
        bulk_vectors=answer.bulk_rows,
        cached=outcome.cached,
        also_read={str(path): _sha256(path) for path in outcome.also_read},
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        latency=answer.latency,
        failure=answer.port_error or answer.protocol_error,
    )
