"""The one judge of simulations: what all simulators answered of programs, machines and streams becomes one verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from dais_verif.base.errors import ToolError
from dais_verif.base.text import counted, equal_text
from dais_verif.base.verdict import Verdict
from dais_verif.simulation.departures import first_known_difference
from dais_verif.simulation.simulate import SimulatorOutcome, UnfinishedBuild
from dais_verif.simulation.testbench.axis_job import AxisAnswer, AxisJob, Scenario
from dais_verif.simulation.testbench.job import Answer, Difference

__all__ = ["AxisOutcome", "is_whole", "judge", "judge_streams", "second_opinion"]


@dataclass(frozen=True)
class AxisOutcome:
    """The result of one simulator; seconds are wall time."""

    answer: AxisAnswer
    version: str
    build_seconds: float
    run_seconds: float
    cached: bool = False


def judge(
    outcomes: Mapping[str, SimulatorOutcome | ToolError], output_bits: int, unit: str = "vector"
) -> tuple[Verdict, str]:
    """Return the verdict over all simulators and one line of why.

    The verdict is the first of these that applies: a tool failed, ports do not match, the protocol of pins is broken,
    simulators disagree on known bits, X in an output, simulators disagree otherwise, mismatch, nothing compared, pass.
    X in only one simulator is X in an output: Verilator cannot show X. ``unit``: what a row of outputs is called.
    """
    failed = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, ToolError)}
    # Do not report a build that was ended because another one failed.
    own = {name: error for name, error in failed.items() if not isinstance(error, UnfinishedBuild)} or failed
    if own:
        return Verdict.TOOL_FAILURE, "; ".join(f"{name}: {error}" for name, error in own.items())
    answers = {name: o.answer for name, o in outcomes.items() if isinstance(o, SimulatorOutcome)}
    for answer in answers.values():
        if answer.port_error:
            return Verdict.INVALID_INPUT, answer.port_error
    for name, answer in answers.items():
        if answer.protocol_error:
            return Verdict.RTL_MISMATCH, f"{answer.protocol_error} ({name})"
    for name, answer in answers.items():
        if answer.unknown_rows:
            known = _known_difference(answers, unit)
            if known:
                return Verdict.SIMULATORS_DISAGREE, known
            count = f"{answer.unknown_rows} of {answer.rows} {unit}s"
            if answer.filled_rows:
                why = f"{count} have outputs that change with the value of what nothing drives or initialises ({name})"
                return Verdict.X_IN_OUTPUT, why
            return Verdict.X_IN_OUTPUT, f"{count} have X or Z in the output ({name})"
    latencies = {name: answer.latency for name, answer in answers.items() if answer.latency is not None}
    if len(set(latencies.values())) > 1:
        found = ", ".join(f"{latency} in {name}" for name, latency in latencies.items())
        return Verdict.SIMULATORS_DISAGREE, f"the simulators find different latencies in the same RTL: {found}"
    # With a wrong latency, outputs belong to other vectors, and the preceding vectors differ between the paths.
    if latencies and all(2 * answer.mismatching_rows > answer.rows for answer in answers.values()):
        answer = next(iter(answers.values()))
        return (
            Verdict.RTL_MISMATCH,
            f"{answer.mismatching_rows} of {answer.rows} vectors are wrong {counted(answer.latency or 0, 'edge')} after"
            " their inputs: the latency is wrong, or the RTL is wrong",
        )
    if len({answer.digest for answer in answers.values()}) > 1:
        counts = ", ".join(f"{name} {answer.mismatching_rows}" for name, answer in answers.items())
        return (
            Verdict.SIMULATORS_DISAGREE,
            f"the simulators differ on the same RTL and {unit}s (mismatches: {counts})",
        )
    wrong = {name: answer for name, answer in answers.items() if answer.mismatching_rows}
    if wrong:
        answer = next(iter(wrong.values()))
        return (
            Verdict.RTL_MISMATCH,
            f"{answer.mismatching_rows} of {answer.rows} {unit}s differ from the golden model",
        )
    if not answers or not all(answer.bits for answer in answers.values()):
        reason = "the program has no output bits" if output_bits == 0 else "there was no vector"
        return Verdict.NOT_RUN, f"nothing was compared: {reason}"
    answer = max(answers.values(), key=lambda answer: answer.rows)
    return Verdict.PASS, equal_text(answer.bits, answer.rows)


def _known_difference(answers: Mapping[str, Answer], unit: str) -> str:
    """Name a row in which two simulators know a bit and it differs; empty if there is none."""
    for (one, its), (other, others) in combinations(answers.items(), 2):
        row = first_known_difference(its.departures, others.departures, min(its.rows, others.rows))
        if row is not None:
            with_x = ", ".join(f"{name} {answer.unknown_rows}" for name, answer in answers.items())
            return (
                f"{one} and {other} differ on the same RTL in {unit} {row}, in bits that are known in both"
                f" ({unit}s with X or Z: {with_x})"
            )
    return ""


def second_opinion(
    message: str,
    outcomes: Mapping[str, SimulatorOutcome | ToolError],
    name: str,
    difference: Difference,
    replayed: Mapping[str, str],
) -> tuple[Verdict, str]:
    """Return the verdict on a mismatch in ``name`` after replays in simulators that had not run its row.

    ``replayed``: the output rows of the replays. If the replay in ``name`` does not repeat the mismatch, the others
    show nothing.
    """
    others = [
        other
        for other, outcome in outcomes.items()
        if isinstance(outcome, SimulatorOutcome) and other != name and outcome.answer.rows <= difference.row
    ]
    for other in others:
        found = replayed.get(other, difference.found)
        if found == difference.found or replayed.get(name) != difference.found:
            continue
        where = f"vector {difference.row}, which {other} was not given before its replay,"
        if set(found) - {"0", "1"}:
            return Verdict.X_IN_OUTPUT, f"{where} has X or Z in the output ({other})"
        return Verdict.SIMULATORS_DISAGREE, f"{where} has different outputs in {other} and {name}: {message}"
    return Verdict.RTL_MISMATCH, message


def judge_streams(outcomes: Mapping[str, AxisOutcome | ToolError], job: AxisJob, nothing: str) -> tuple[Verdict, str]:
    """Return the verdict over all simulators and its reason. ``nothing``: why nothing is compared; empty if it is."""
    if not outcomes or not job.scenarios or nothing:
        what = "no simulator was selected" if not outcomes else nothing or "there was no scenario"
        return Verdict.NOT_RUN, f"nothing was compared: {what}"
    for name, outcome in outcomes.items():
        if isinstance(outcome, ToolError):
            return Verdict.TOOL_FAILURE, f"{name}: {outcome}"
    answers = {name: outcome.answer for name, outcome in outcomes.items() if isinstance(outcome, AxisOutcome)}
    for name, answer in answers.items():
        if answer.port_error:
            what = "an AXI4-Stream wrapper" if job.vectors else "a machine behind AXI4-Stream"
            return Verdict.INVALID_INPUT, f"the design is not {what}: {answer.port_error}"
        for one in answer.heard:
            if one.problems:
                verdict = Verdict.X_IN_OUTPUT if one.unknown else Verdict.RTL_MISMATCH
                return verdict, f"{one.scenario} ({name}, {one.total_problems} problems): {one.problems[0]}"
        if job.vectors is not None:
            rows = job.vectors.rows
            dropped = next((one.scenario for one in answer.heard if not one.compared and one.dropped == rows), None)
            if dropped is not None:
                text = f"scenario '{dropped}' dropped all {rows} vectors and compared none; give more vectors"
                return Verdict.NOT_RUN, text
        if not is_whole(answer, job):
            return Verdict.TOOL_FAILURE, f"{name}: the bench did not compare every beat"
    heard = next(iter(answers.values())).heard
    beats = sum(one.compared for one in heard)
    which = f"of {len(heard)} scenarios" if job.vectors else f"that came out of {len(heard)} scenarios"
    return Verdict.PASS, f"all {beats} beats {which} equal the golden model ({beats * job.output_bits} output bits)"


def is_whole(answer: AxisAnswer, job: AxisJob) -> bool:
    """Return True if all scenarios ran without a problem, and each due beat was compared, or dropped by a reset."""
    due = [_due(job, scenario) for scenario in job.scenarios]
    return (
        answer.port_error is None
        and [one.scenario for one in answer.heard] == [one.name for one in job.scenarios]
        and all(
            one.total_problems == 0
            and (one.sent, one.compared + one.dropped) == its
            and (one.compared > 0 or job.vectors is None)
            for one, its in zip(answer.heard, due, strict=True)
        )
    )


def _due(job: AxisJob, scenario: Scenario) -> tuple[int, int]:
    """Return how many beats go in, and how many come out."""
    if job.machine is not None:
        return len(job.machine.inputs), sum(len(stretch.expected) for stretch in job.machine.of(scenario))
    assert job.vectors is not None
    return job.vectors.rows, job.vectors.rows
