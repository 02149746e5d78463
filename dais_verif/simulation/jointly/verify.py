"""Verify many designs in one build and one run of each simulator; only a pass counts as a result.

Vectors, expected outputs, comparisons and verdicts are those of ``verify``. A design that does not pass is left to
``verify``, which also diagnoses it; if the build or the run fails, this applies to all designs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.errors import DaisError, SimulatorFailure, ToolError
from dais_verif.simulation import launch
from dais_verif.simulation.diagnosis.blame import blame_expectation
from dais_verif.simulation.feed import Feed, Outlet
from dais_verif.simulation.jointly.join import Joined, Part, joined, part_of
from dais_verif.simulation.judge import judge
from dais_verif.simulation.simulate import SimulatorOutcome, is_clean
from dais_verif.simulation.simulators.build import build
from dais_verif.simulation.task import Task
from dais_verif.simulation.testbench.job import JOB_VARIABLE, Answer, Job
from dais_verif.simulation.testbench.joint_job import JointJob, Member
from dais_verif.simulation.together import few_rows, on_common_chunks, plan_of, self_check
from dais_verif.simulation.verify import Finding, feed_of, finding_of
from dais_verif.stimulus import Vectors
from dais_verif.stimulus.pseudo_exhaustive.plan import Plan
from dais_verif.toolchain import process
from dais_verif.verdict import Verdict

__all__ = ["MOST_OPS", "verify_jointly"]

#: The maximum number of ops of a design that shares a build: larger designs justify a separate build.
MOST_OPS = 1000
#: The maximum number of vectors of one design, and of ops times vectors of all that share a build, unless they have
#: equally many: each step evaluates all designs, even those without vectors left.
_MOST_ROWS, _MOST_WORK = 1 << 21, 1 << 28

#: Time limit of the build and of the run, plus an allowance per design: a hanging design delays all.
_SECONDS, _SECONDS_EACH = 60.0, 2.0


@dataclass(frozen=True)
class _Ready:
    """A design with all its vectors."""

    number: int
    task: Task
    part: Part
    sampled: int
    plan: Plan
    feed: Feed
    plans: dict[str, tuple[list[Job], Outlet]]


def verify_jointly(tasks: Sequence[tuple[Task, Vectors]], folder: Path, *, cached: bool = True) -> list[Finding | None]:
    """Return the findings of ``verify`` for the ``tasks`` that pass; None for the others, to be verified alone.

    All tasks have the same simulators. ``folder`` receives the shared build and run. ``cached``: keep the build for a
    later run of the same designs.
    """
    found: list[Finding | None] = [None] * len(tasks)
    ready = [made for number, (task, vectors) in enumerate(tasks) if (made := _ready(number, task, vectors))]
    for number, group in enumerate(_groups(ready)):
        for one, finding in zip(group, _findings(group, folder / str(number), cached=cached), strict=True):
            found[one.number] = finding
    return found


def _groups(ready: Sequence[_Ready]) -> list[list[_Ready]]:
    """Split designs into groups that share a build, so that designs with few vectors do not run as long as others."""
    groups: list[list[_Ready]] = []
    ops = 0
    for one in sorted(ready, key=lambda one: -one.feed.rows):  # a group's first design has the most vectors
        ops += one.task.program.n_ops
        if groups and (one.feed.rows == groups[-1][0].feed.rows or ops * groups[-1][0].feed.rows <= _MOST_WORK):
            groups[-1].append(one)
        else:
            groups.append([one])
            ops = one.task.program.n_ops
    return groups


def _findings(ready: Sequence[_Ready], folder: Path, *, cached: bool) -> list[Finding | None]:
    """Return the findings of designs that share a build; None for those that do not pass."""
    if len(ready) < 2:
        return [None] * len(ready)
    shared = folder / "design"
    shared.mkdir(parents=True, exist_ok=True)
    design = joined([one.part for one in ready], shared)
    simulators = ready[0].task.options.simulators
    try:
        with process.workers(len(simulators)) as pool:
            asked = [pool.submit(_simulated, name, ready, design, folder / name, cached) for name in simulators]
            outcomes = dict(zip(simulators, [each.result() for each in asked], strict=True))
    except ToolError:
        return [None] * len(ready)
    return [_finding(one, {name: its[at] for name, its in outcomes.items()}) for at, one in enumerate(ready)]


def _ready(number: int, task: Task, vectors: Vectors) -> _Ready | None:
    """Return the design with all its vectors, or None if it must run alone."""
    options = task.options
    if (
        options.waves
        or not options.bulk
        or task.program.n_ops > MOST_OPS
        or not set(options.simulators) <= {"icarus", "verilator"}
    ):
        return None
    try:
        part = part_of(task.design, task.dut.interface)
        if part is None:
            return None
        plan, feed = feed_of(task, vectors)
        if not 0 < feed.rows <= _MOST_ROWS:
            return None
        one = replace(task, options=replace(options, jobs=1))
        plans = {name: plan_of(one, feed, name) for name in options.simulators}
        return _Ready(number, task, part, vectors.rows, plan, feed, plans) if _fed(one, feed, plans) else None
    except (DaisError, AssertionError):  # such as a broken promise; a run of this design alone reports it
        return None


def _fed(task: Task, feed: Feed, plans: dict[str, tuple[list[Job], Outlet]]) -> bool:
    """Make all vectors; return True if golden model and oracle agree on some of them, as ``verify`` requires."""
    outlets = [outlet for _, outlet in plans.values()]
    for outlet in outlets:
        outlet.ahead = len(feed.starts)
        if outlet.least is not None:
            outlet.enough = True
    rows = few_rows(task.program, feed.rows)
    feed.run(outlets, task.folder / "vectors", task.watch, wanted=rows, keep=task.options.keep)
    judged, suspect = self_check(task, feed, rows)
    expected = {row: feed.noted[row].expected for row in rows}
    return not (suspect or blame_expectation(task.program, task.dut, judged, expected, task.options.check))


def _simulated(
    name: str, ready: Sequence[_Ready], design: Joined, folder: Path, cached: bool
) -> list[SimulatorOutcome]:
    """Return the outcome of each design in simulator ``name``, with its share of the time. Raises ``ToolError``."""
    options = ready[0].task.options
    most = _SECONDS + _SECONDS_EACH * len(ready)
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    simulation = build(name, design.design, folder / "build", timeout=most, cached=cached)
    built = time.monotonic()
    jobs = []
    for one in ready:
        (job,), _ = one.plans[name]
        answer = one.task.folder / name / "answer.json"
        answer.unlink(missing_ok=True)
        jobs.append(replace(job.closed(), answer=str(answer), maker=None))
    members = map(Member, jobs, design.instances, design.interfaces)
    joint = folder / "job.json"
    JointJob(tuple(members), bool(jobs[0].threads)).save(joint)
    results = launch.run(
        simulation,
        "dais_verif.simulation.testbench.joint_bench",
        folder,
        env={JOB_VARIABLE: str(joint.absolute())},
        seed=options.seed,
        timeout=most,
        writable=tuple(one.task.folder for one in ready),
    )
    if not all(Path(job.answer).is_file() for job in jobs):
        raise SimulatorFailure(
            f"the {name} bench gave no result: {launch.cause(simulation, folder / 'simulation.log')}"
        )
    answers = [Answer.load(Path(job.answer)) for job in jobs]
    clean = all(is_clean(answer, job) for answer, job in zip(answers, jobs, strict=True))
    if clean == bool(launch.failed_tests(results)):
        raise SimulatorFailure(f"the verdict and the results of the {name} bench contradict each other")
    ended, share = time.monotonic(), len(ready)
    return [
        SimulatorOutcome(
            answer, simulation.version, (built - begun) / share, (ended - built) / share, simulation.cached
        )
        for answer in answers
    ]


def _finding(one: _Ready, outcomes: dict[str, SimulatorOutcome]) -> Finding | None:
    """Return the finding of a design from its outcomes, if it passes."""
    all_of = on_common_chunks(dict(outcomes), one.plans)
    if judge(all_of, one.task.ports.output_bits)[0] is not Verdict.PASS:
        return None
    finding = finding_of(one.task, one.sampled, one.plan, one.feed, all_of)
    return finding if finding.verdict is Verdict.PASS else None
