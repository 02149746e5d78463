"""The main job: golden outputs, both simulators, one verdict.

stimulus -> golden model -> chunks ──────┐
program -> Verilog -> build -> bench <───┴-> compare -> verdict (-> blame)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dais_verif.errors import DaisError, ToolError, ViolationError
from dais_verif.golden import Golden, oracle
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import Ports, ports_of
from dais_verif.report.record import Blame, Evidence, InputValue, Mismatch, SimulatorResult
from dais_verif.sim import process, tools
from dais_verif.sim.blame import Judged, blame_engines, blame_expectation, judge_rows, replay_mismatch, value_of_bits
from dais_verif.sim.build import Design
from dais_verif.sim.feed import Feed, Outlet, chunk_size
from dais_verif.sim.job import Difference, Job
from dais_verif.sim.packing import bits_of_row, pack_inputs, unpack_element
from dais_verif.sim.simulate import Outcome, simulate
from dais_verif.stimulus import Swept, Vectors
from dais_verif.stimulus.exhaustive import Plan
from dais_verif.stimulus.exhaustive import plan as exhaustive_plan
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["Finding", "Options", "Watcher", "verify"]

#: Ops times rows that the self-check of the golden model may cost: about half a second, while simulators run.
_SELF_CHECK_BUDGET = 50_000

#: Ops times rows of an Icarus simulation that are worth a process: some seconds.
_SHARE_BUDGET = 4_000_000

_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Options:
    """How to verify. ``timeout``: seconds for each build and each run. ``jobs``: processes or threads at once.

    ``bulk``: let simulators that can run vectors outside cocotb do so; the first go through the ports all the same.
    ``keep``: leave all vectors in the folder. ``exhaustive_rows``: how many vectors more may be run to check outputs
    on all inputs that they depend on, where those are at most ``exhaustive_bits`` bits.
    """

    simulators: tuple[str, ...] = ("icarus", "verilator")
    check: bool = True
    waves: bool = False
    seed: int = 0
    timeout: float | None = None
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    bulk: bool = True
    keep: bool = False
    exhaustive_rows: int = 0
    exhaustive_bits: int = 24


@dataclass(frozen=True)
class Finding:
    """What ``verify`` found."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult]
    first_mismatch: Mismatch | None = None
    evidence: Evidence | None = None
    exhaustive_vectors: int = 0


class Watcher:
    """Told of what goes on; this one does nothing."""

    def notice(self, text: str) -> None:
        """A step, in words."""

    def vectors(self, simulator: str, done: int, total: int) -> None:
        """Vectors that ``simulator`` has run."""


class _Settled(Exception):
    """The finding is known before the simulators have ended."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding


def verify(
    program: Program,
    vectors: Vectors,
    design: Design,
    folder: Path,
    options: Options,
    watcher: Watcher | None = None,
    watch: Stopwatch | None = None,
) -> Finding:
    """Simulate ``design`` on ``vectors`` and compare every output bit with the golden model of ``program``.

    ``folder`` receives builds, logs and waves. Tool failures and violations are findings, not exceptions.
    """
    watcher, watch = watcher or Watcher(), watch or Stopwatch()
    ports = ports_of(program)
    golden = Golden(program)
    with watch.stage("plan"):
        plan = exhaustive_plan(program, max_rows=options.exhaustive_rows, max_bits=options.exhaustive_bits)
        sweeps = [Swept(sweep, options.seed) for sweep in plan.sweeps] if options.exhaustive_rows else []
    size = chunk_size(vectors.rows + sum(sweep.rows for sweep in sweeps), ports, options.jobs)
    feed = Feed(golden, ports, [vectors, *sweeps], size, check=options.check)
    try:
        outcomes = _simulate_all(program, golden, feed, design, ports, folder, options, watcher, watch)
    except _Settled as settled:
        return settled.finding
    results = [_result(name, outcome) for name, outcome in outcomes.items()]
    verdict, message = judge(outcomes, ports.output_bits)
    first = _first_difference(outcomes, verdict)
    if first is None:
        evidence = _evidence(ports, plan, bool(sweeps)) if verdict is Verdict.PASS else None
        return Finding(verdict, message, results, None, evidence, feed.rows - vectors.rows)
    name, difference = first
    batch = feed.batch(difference.row, difference.row + 1)
    mismatch = _describe(program, batch, ports, name, difference)
    # Before the RTL is blamed: an expectation that was itself wrong says nothing of it.
    judged = judge_rows(program, batch, [difference.row])
    suspect = blame_engines(program, golden.compiled, batch, judged)
    expected = {difference.row: difference.expected}
    suspect = suspect or blame_expectation(program, ports, judged, expected, options.check)
    if suspect is not None:
        return Finding(Verdict.UNKNOWN, suspect.text, results, replace(mismatch, blame=suspect))
    before = feed.batch(difference.row - 1, difference.row) if difference.row else None
    mismatch = _replay(program, design, batch, before, difference, folder, mismatch, options, watcher)
    return Finding(verdict, message, results, mismatch)


def _few_rows(program: Program, total: int) -> list[int]:
    """Rows on which the golden engines are compared with the oracle: the last, the first corners, some between."""
    count = min(16, max(1, _SELF_CHECK_BUDGET // max(program.n_ops, 1)))
    last = total - 1
    spread = [last, 1, 2, *np.linspace(0, last, count).astype(int).tolist()]
    rows = list(dict.fromkeys(row for row in spread if 0 <= row <= last))[:count]
    return sorted(rows)


def _self_check(
    program: Program, golden: Golden, feed: Feed, rows: Sequence[int], watch: Stopwatch
) -> tuple[Mapping[int, Judged], Blame | None]:
    """What the oracle says of the vectors ``rows``, and where the numpy engine says something else."""
    batch = Batch.concatenate([feed.batch(row, row + 1) for row in rows]) if rows else Batch(0, ())
    with watch.stage("oracle"):
        judged = judge_rows(program, batch, rows)
        return judged, blame_engines(program, golden.compiled, batch, judged)


def _raise_if_unusable(made: Future[None]) -> None:
    """End the run if the feed broke off."""
    try:
        made.result()
    except ViolationError as error:
        message = f"{error}; --unchecked carries on with the quantised value"
        raise _Settled(Finding(Verdict.PROGRAM_INVALID, message, [])) from None
    except AssertionError as error:  # the engine broke off: the oracle does not see what it saw
        message = f"{error}; this is a bug of dais-verif, please report it"
        raise _Settled(Finding(Verdict.UNKNOWN, message, [])) from None


def _simulate_all(
    program: Program,
    golden: Golden,
    feed: Feed,
    design: Design,
    ports: Ports,
    folder: Path,
    options: Options,
    watcher: Watcher,
    watch: Stopwatch,
) -> dict[str, Outcome | ToolError]:
    """Feed every simulator at once; one that fails does not stop the others. Meanwhile the oracle judges the feed."""
    plans = {name: _plan(name, program, feed, ports, folder / name, options) for name in options.simulators}
    rows = _few_rows(program, feed.rows)

    def one(name: str) -> Outcome | ToolError:
        jobs, outlet = plans[name]
        try:
            outcome = simulate(
                name,
                design,
                jobs,
                folder / name,
                seed=options.seed,
                waves=options.waves,
                timeout=options.timeout,
                watch=watch,
            )
        except ToolError as error:
            watcher.notice(f"{name}: failed")
            return error
        finally:
            outlet.closed = True
        built = "taken from the cache" if outcome.cached else f"built in {outcome.build_seconds:.1f} s"
        watcher.notice(f"{name}: {built}, ran in {outcome.run_seconds:.1f} s")
        return outcome

    outlets = [outlet for _, outlet in plans.values()]
    watcher.notice(f"simulating {feed.rows} vectors in {' and '.join(options.simulators)}")
    with process.workers(len(plans) + 2) as pool:
        running = {name: pool.submit(one, name) for name in plans}
        made = pool.submit(feed.run, outlets, folder / "vectors", watch, wanted=rows, keep=options.keep)
        judged = pool.submit(_self_check, program, golden, feed, rows, watch)
        pending: set[Future[object]] = {made, judged, *running.values()}  # type: ignore[arg-type]
        while pending:
            finished, pending = wait(pending, _LOOK_SECONDS, FIRST_COMPLETED)
            if made in finished:
                _raise_if_unusable(made)
            for name, (jobs, _) in plans.items():
                watcher.vectors(name, sum(map(_progress, jobs)), sum(job.rows for job in jobs))
        verdicts, suspect = judged.result()
        if suspect is None and feed.rows:
            expected = {row: feed.noted[row].expected for row in rows}
            suspect = blame_expectation(program, ports, verdicts, expected, options.check)
        if suspect is not None:
            raise _Settled(Finding(Verdict.UNKNOWN, suspect.text, []))
        return {name: future.result() for name, future in running.items()}


def _plan(
    name: str, program: Program, feed: Feed, ports: Ports, folder: Path, options: Options
) -> tuple[list[Job], Outlet]:
    """What simulator ``name`` has to do, in shares that run at once, and where it finds its chunks."""
    in_bulk = name == "verilator" and options.bulk and not options.waves
    chunks = len(feed.starts) - 1
    # Sweeps are for the simulator that is fast enough for them.
    shared = chunks if len(options.simulators) == 1 else feed.first_chunks
    if not in_bulk and "verilator" in options.simulators:
        chunks = shared
    starts = feed.starts[: chunks + 1]
    outlet = Outlet(folder / "chunks", chunks)
    outlet.folder.mkdir(parents=True, exist_ok=True)
    for left_over in outlet.folder.iterdir():
        left_over.unlink()
    shares = 1 if in_bulk or options.waves else 1 + starts[-1] * program.n_ops // _SHARE_BUDGET
    shares = max(min(shares, options.jobs, chunks), 1)
    jobs = [
        Job(
            chunks=str(outlet.folder),
            starts=starts,
            answer="",
            progress=str(folder / f"progress_{share}"),
            input_bits=ports.input_bits,
            output_bits=ports.output_bits,
            share=share,
            shares=shares,
            threads=options.jobs if in_bulk else 0,
            digested=shared,
            maker=os.getpid(),
        )
        for share in range(shares)
    ]
    for job in jobs:
        Path(job.progress).unlink(missing_ok=True)
    return jobs, outlet


def _evidence(ports: Ports, plan: Plan, swept: bool) -> Evidence:
    """What a run that passed says of each output that has bits."""
    exhausted = [output for output in plan.exhausted if swept and ports.outputs[output].width]
    with_bits = [output for output, element in enumerate(ports.outputs) if element.width]
    could = {left.output: left.rows for left in plan.could if left.output not in exhausted}
    return Evidence(exhausted, [output for output in with_bits if output not in set(exhausted)], could)


def _progress(job: Job) -> int:
    try:
        return int(Path(job.progress).read_text())
    except (OSError, ValueError):  # not begun, or being written
        return 0


def judge(outcomes: dict[str, Outcome | ToolError], output_bits: int) -> tuple[Verdict, str]:
    """The verdict over all simulators and one line of why. The first that applies:

    a tool failed, ports do not fit, X in an output, simulators disagree, mismatch, nothing compared, pass.
    """
    for name, outcome in outcomes.items():
        if isinstance(outcome, ToolError):
            return Verdict.TOOL_FAILURE, f"{name}: {outcome}"
    answers = {name: o.answer for name, o in outcomes.items() if isinstance(o, Outcome)}
    for answer in answers.values():
        if answer.port_error:
            return Verdict.INVALID_INPUT, f"the design does not fit the program: {answer.port_error}"
    for name, answer in answers.items():
        if answer.unknown_rows:
            return (
                Verdict.X_IN_OUTPUT,
                f"{answer.unknown_rows} of {answer.rows} vectors have X or Z in the output ({name})",
            )
    if len({answer.digest for answer in answers.values()}) > 1:
        counts = ", ".join(f"{name} {answer.mismatching_rows}" for name, answer in answers.items())
        return (
            Verdict.SIMULATORS_DISAGREE,
            f"the simulators differ on the same RTL and vectors (mismatches: {counts})",
        )
    wrong = {name: answer for name, answer in answers.items() if answer.mismatching_rows}
    if wrong:
        answer = next(iter(wrong.values()))
        return (
            Verdict.RTL_MISMATCH,
            f"{answer.mismatching_rows} of {answer.rows} vectors differ from the golden model",
        )
    if not answers or not all(answer.bits for answer in answers.values()):
        reason = "the program has no output bits" if output_bits == 0 else "there was no vector"
        return Verdict.NOT_RUN, f"nothing was compared: {reason}"
    answer = max(answers.values(), key=lambda answer: answer.rows)
    return Verdict.PASS, f"all {answer.bits} output bits of {answer.rows} vectors equal the golden model"


def _result(name: str, outcome: Outcome | ToolError) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(name, failure=str(outcome))
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
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=answer.port_error,
    )


def _first_difference(outcomes: dict[str, Outcome | ToolError], verdict: Verdict) -> tuple[str, Difference] | None:
    """The simulator and row to show: what the verdict speaks of, Icarus first."""
    if verdict not in (Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE, Verdict.RTL_MISMATCH):
        return None
    for name, outcome in outcomes.items():
        if isinstance(outcome, Outcome):
            unknown, mismatch = outcome.answer.first_unknown, outcome.answer.first_mismatch
            difference = unknown if verdict is Verdict.X_IN_OUTPUT else mismatch
            if difference is not None:
                return name, difference
    return None


def _describe(program: Program, batch: Batch, ports: Ports, name: str, difference: Difference) -> Mismatch:
    """The first differing output of a row in words and bits; ``batch`` is that row."""
    output = 0
    for j, element in enumerate(ports.outputs):
        if unpack_element(difference.found, element) != unpack_element(difference.expected, element):
            output = j
            break
    kind, element = program.output_types[output], ports.outputs[output]
    inputs = [
        InputValue(j, oracle.show(value), unpack_element(difference.inputs, ports.inputs[j]))
        for j, value in enumerate(batch.row(0))
    ]
    return Mismatch(
        simulator=name,
        row=difference.row,
        output=output,
        expected=value_of_bits(unpack_element(difference.expected, element) or "0", kind),
        found=value_of_bits(unpack_element(difference.found, element) or "0", kind),
        inputs=inputs,
    )


def _replay(
    program: Program,
    design: Design,
    batch: Batch,
    before: Batch | None,
    difference: Difference,
    folder: Path,
    mismatch: Mismatch,
    options: Options,
    watcher: Watcher,
) -> Mismatch:
    """Replay the failing vector, to name the op and leave waves; a replay that fails says so instead.

    ``before``: the vector before it. Icarus is asked first, since it builds a design of which every signal can be
    read in a tenth of the time; but only what repeats the mismatch bit for bit counts.
    """
    ports = ports_of(program)
    earlier = bits_of_row(pack_inputs(before, ports), 0, ports.input_bits) if before is not None else None
    blame = None
    for name in dict.fromkeys((*(["icarus"] if tools.has_icarus() else []), mismatch.simulator)):
        watcher.notice(f"replaying vector {mismatch.row} in {name}")
        own = folder / f"replay_{name}"
        try:
            own.mkdir(parents=True, exist_ok=True)
            replay = replay_mismatch(
                program,
                design,
                name,
                batch,
                0,
                difference.inputs,
                mismatch.output,
                own,
                before=earlier,
                timeout=options.timeout,
            )
        except (DaisError, OSError) as error:
            blame = Blame("unknown", f"the replay failed: {error}", replayed_in=name)
            continue
        blame = replay.blame
        if replay.found == difference.found or name == mismatch.simulator:
            views = [str(view) for view in replay.views]
            waves = str(replay.waves) if replay.waves else None
            return replace(mismatch, blame=blame, waves=waves, views=views)
    return replace(mismatch, blame=blame)
