"""Records as test cases, the form that JUnit and GitHub expect.

The cases must not look like a pass if the record is not a pass: if no case shows the reason, a case is added.
"""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.record.proof import ProofRecord
from dais_verif.record.read import AnyRecord
from dais_verif.record.regression import JobResult, RegressionRecord
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import Failed, SimulationRecord
from dais_verif.verdict import Verdict

__all__ = ["Case", "cases_of", "title_of"]


@dataclass(frozen=True)
class Case:
    """One tested item.

    ``passed`` and ``skipped`` exclude each other; if neither is set, the case failed and ``verdict`` says how.
    ``details``: lines below the message. ``file``: the file to look at first.
    """

    group: str
    name: str
    verdict: Verdict
    message: str
    details: tuple[str, ...] = ()
    seconds: float = 0.0
    passed: bool = False
    skipped: bool = False
    flaky: bool = False
    file: str | None = None


def cases_of(record: AnyRecord) -> list[Case]:
    """Return all cases of ``record``."""
    match record:
        case RegressionRecord():
            cases = [_of_job(result) for result in record.jobs]
        case SignOffRecord():
            cases = [_of_stage(stage, record) for stage in record.stages]
        case ProofRecord():
            cases = [_of_proof(record)]
        case SimulationRecord() | Failed():
            cases = [_of_run(record)]
    missing = record.planned - len(record.jobs) if isinstance(record, RegressionRecord) else 0
    if missing > 0:
        cases.append(Case("regress", "jobs that did not end", Verdict.NOT_RUN, f"{missing} jobs did not end"))
    if record.verdict is not Verdict.PASS and all(case.passed or case.skipped for case in cases):
        cases.append(Case(title_of(record), "verdict", record.verdict, record.message))
    return cases


def title_of(record: AnyRecord) -> str:
    """Return the kind of run that made the record."""
    names = {
        RegressionRecord: "regress",
        SignOffRecord: "signoff",
        ProofRecord: "prove",
        SimulationRecord: "run",
        Failed: "run",
    }
    return f"dais-verif {names[type(record)]}"


def _of_job(result: JobResult) -> Case:
    program = result.job.id.rsplit("/", 3)[0]
    return Case(
        f"{result.job.variant}.{result.job.simulator}",
        f"{program}, seed {result.job.seed}",
        result.verdict,
        result.message,
        _lines(result.blame, f"reproduce: {result.reproduce}"),
        result.seconds,
        result.verdict is Verdict.PASS,
        result.verdict is not Verdict.PASS and not result.attempts,
        result.flaky,
        result.job.program,
    )


def _of_stage(stage: StageResult, record: SignOffRecord) -> Case:
    return Case(
        "signoff",
        stage.name,
        stage.verdict,
        f"{stage.message}{' (waived)' if stage.waived else ''}",
        _lines(f"reproduce: {stage.reproduce}" if stage.reproduce else ""),
        stage.seconds,
        stage.passed or stage.waived,
        stage.optional and not stage.passed and not stage.waived,
        file=record.program.path,
    )


def _of_proof(record: ProofRecord) -> Case:
    found = record.counterexample
    blame = ""
    if found is not None:
        blame = f"output {found.output} is wrong on the inputs {', '.join(found.inputs)}"
        blame += f"; op {found.op} ({found.mnemonic}) is the first that is" if found.op is not None else ""
    return Case(
        "prove",
        record.program.path or record.program.hash,
        record.verdict,
        record.message,
        _lines(blame, f"reproduce: {record.reproduce}"),
        sum(record.seconds.values()),
        record.verdict is Verdict.PASS,
        file=record.program.path,
    )


def _of_run(record: SimulationRecord | Failed) -> Case:
    if isinstance(record, Failed):
        return Case("run", "run", record.verdict, record.message)
    found = record.first_mismatch
    blame = ""
    if found is not None:
        blame = f"vector {found.row}, output {found.output}, in {found.simulator}"
        blame += "".join(f"; {text}" for text in [found.blame.text, *found.blame.wrong()]) if found.blame else ""
    return Case(
        ".".join(simulator.name for simulator in record.simulators) or "run",
        f"{record.program.path or record.program.hash}, seed {record.seed}",
        record.verdict,
        record.message,
        _lines(blame, f"reproduce: {record.reproduce}"),
        record.times.seconds if record.times is not None else 0.0,
        record.verdict is Verdict.PASS,
        file=record.program.path,
    )


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
