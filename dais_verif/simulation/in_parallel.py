"""Run all simulators in parallel, fed in chunks, while the oracle checks some of the vectors.

Icarus is a hundred times slower than Verilator. Together with Verilator, Icarus gets the first vectors, and stops when
Verilator has run all of them. This costs no extra time, and the benefit of Icarus, X and Z and a second opinion, shows
in the first thousand vectors if at all.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from pathlib import Path

import numpy as np

from dais_verif.base.errors import ToolError, ViolationError
from dais_verif.base.text import counted
from dais_verif.base.toolchain import process, sandbox
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import Blame
from dais_verif.simulation.diagnosis.blame import Judged, blame_engines, blame_expectation, judge_rows
from dais_verif.simulation.feed import Feed, Outlet
from dais_verif.simulation.simulate import PendingRun, SimulatorOutcome, UnfinishedBuild
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.task import Task
from dais_verif.simulation.testbench.job import LEAST_IN_ICARUS, Job
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch

__all__ = ["EarlyVerdict", "few_rows", "on_common_chunks", "plan_of", "self_check", "simulate_all"]

#: The maximum number of ops times rows in the self-check of the golden model, which takes a tenth of a second, while
#: simulators run.
_SELF_CHECK_BUDGET = 10_000
_MOST_CHECKED = 16

#: Beyond this many ops, the numpy engine is checked only if it computed the expected bits, since it takes seconds to
#: compile the program for it.
_LARGE = 2_000

#: The number of ops times rows that run again with other values for what nothing drives: some 50 ms.
_FILLED_BUDGET = 50_000_000

_LOOK_SECONDS = 0.1


class EarlyVerdict(Exception):
    """The verdict is known before the simulators have ended."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        self.verdict, self.message = verdict, message


def simulate_all(task: Task, feed: Feed, begun: Mapping[str, PendingRun]) -> dict[str, SimulatorOutcome | ToolError]:
    """Return the outcome of every running simulator for the feed; a failure does not stop the others.

    Raises ``EarlyVerdict`` if the feed shows that the program breaks a promise, or that the golden model is wrong.
    """
    options, watcher, watch = task.options, task.watcher, task.watch
    plans = {name: plan_of(task, feed, name) for name in options.simulators}
    unhurried = {name: outlet for name, (_, outlet) in plans.items() if outlet.least is not None}
    rows = few_rows(task.program, feed.rows)

    def one(name: str) -> SimulatorOutcome | ToolError:
        jobs, outlet = plans[name]
        try:
            outcome = begun[name].simulate(jobs)
        except ToolError as error:
            watcher.notice(f"{name}: {'not run' if isinstance(error, UnfinishedBuild) else 'failed'}")
            return error
        finally:
            outlet.closed = True
        built = "taken from the cache" if outcome.cached else f"built in {outcome.build_seconds:.1f} s"
        watcher.notice(f"{name}: {built}, ran in {outcome.run_seconds:.1f} s")
        return outcome

    outlets = [outlet for name, (_, outlet) in plans.items() if name not in unhurried]
    watcher.notice(f"simulating {counted(feed.rows, 'vector')} in {' and '.join(options.simulators)}")
    for name, outlet in unhurried.items():
        first = feed.starts[_chunks_known(outlet)]
        least, until = ("", "") if outlet.chunks == outlet.least else ("at least ", ", more until verilator has ended")
        watcher.notice(f"{name} compares {least}the first {first}{until} (--icarus-vectors all: all of them)")
    with process.workers(len(plans) + 2 + len(unhurried)) as pool:
        running = {name: pool.submit(one, name) for name in plans}
        made = pool.submit(feed.run, outlets, task.folder / "vectors", watch, wanted=rows, keep=options.keep)
        judged = pool.submit(self_check, task, feed, rows)
        # Each of these simulations generates its vectors again, at its own pace, which is cheap compared with the
        # simulation.
        again = [
            pool.submit(feed.run, [outlet], task.folder / name / "vectors", watch, wanted=(), keep=False)
            for name, outlet in unhurried.items()
        ]
        pending: set[Future[object]] = {made, judged, *again, *running.values()}  # type: ignore[arg-type]
        while pending:
            finished, pending = wait(pending, _LOOK_SECONDS, FIRST_COMPLETED)
            for future in (made, *again):
                if future in finished:
                    raise_if_unusable(future)
            if all(running[name].done() for name in plans if name not in unhurried):
                for outlet in unhurried.values():
                    outlet.enough = True
            for name, (jobs, outlet) in plans.items():
                done = sum(map(_progress, jobs))
                watcher.vectors(name, done, max(done, feed.starts[_chunks_known(outlet)]))
        verdicts, suspect = judged.result()
        if suspect is None and feed.rows:
            expected = {row: feed.noted[row].expected for row in rows}
            suspect = blame_expectation(task.program, task.dut, verdicts, expected, options.check)
        if suspect is not None:
            raise EarlyVerdict(Verdict.UNKNOWN, suspect.text)
        return on_common_chunks({name: future.result() for name, future in running.items()}, plans)


def _chunks_known(outlet: Outlet) -> int:
    """Return the number of chunks that the simulation will certainly run."""
    return outlet.chunks if outlet.least is None else outlet.least


def on_common_chunks(
    outcomes: dict[str, SimulatorOutcome | ToolError], plans: Mapping[str, tuple[list[Job], Outlet]]
) -> dict[str, SimulatorOutcome | ToolError]:
    """Return ``outcomes`` with digests of only those chunks that every simulator has run."""
    if all(outlet.least is None for _, outlet in plans.values()):
        return outcomes
    chunks = min(outlet.chunks for _, outlet in plans.values())

    def common(outcome: SimulatorOutcome | ToolError) -> SimulatorOutcome | ToolError:
        if isinstance(outcome, ToolError) or outcome.answer.port_error or outcome.answer.protocol_error:
            return outcome
        return replace(outcome, answer=outcome.answer.of_chunks(chunks))

    return {name: common(outcome) for name, outcome in outcomes.items()}


def plan_of(task: Task, feed: Feed, name: str) -> tuple[list[Job], Outlet]:
    """Return the jobs of simulator ``name``, in parallel shares, and the source of its chunks."""
    options, folder = task.options, task.folder / name
    simulator = KNOWN[name]
    in_bulk = simulator.FASTEST and options.bulk and not options.waves
    chunks = len(feed.starts) - 1
    # Of two simulators, only the faster one runs the exhaustive passes, through any path.
    shared = chunks if len(options.simulators) == 1 else feed.first_chunks
    least = None
    if not simulator.FASTEST:
        chunks = shared
        if task.paired:
            rows = LEAST_IN_ICARUS if options.icarus_rows is None else options.icarus_rows
            least = bisect_left(feed.starts, rows, hi=chunks)
            least = None if least == chunks else least
    if least is not None and options.icarus_rows is not None:
        chunks = least
    starts = feed.starts[: chunks + 1]
    outlet = Outlet(folder / "chunks", chunks, least)
    outlet.folder.mkdir(parents=True, exist_ok=True)
    for left_over in outlet.folder.iterdir():
        left_over.unlink()
    needed = _chunks_known(outlet)
    shares = 1 if in_bulk or options.waves else 1 + starts[needed] * task.program.n_ops // simulator.SHARE_BUDGET
    shares = max(min(shares, options.jobs, needed), 1)
    if least is not None:
        outlet.ahead = shares
    jobs = [
        Job(
            chunks=str(outlet.folder),
            starts=starts,
            progress=str(folder / f"progress_{share}"),
            interface=task.dut.interface,
            share=share,
            shares=shares,
            threads=options.jobs if in_bulk else 0,
            digested=shared,
            maker=None if sandbox.wanted() else os.getpid(),
            seed=options.seed,
            open=least is not None,
            filled=max([*starts[1:2], _FILLED_BUDGET // max(task.program.n_ops, 1)]) if simulator.FASTEST else 0,
        )
        for share in range(shares)
    ]
    for job in jobs:
        Path(job.progress).unlink(missing_ok=True)
    return jobs, outlet


def _progress(job: Job) -> int:
    try:
        return int(Path(job.progress).read_text())
    except (OSError, ValueError):  # the simulation has not started, or the file is being written
        return 0


def few_rows(program: Program, total: int) -> list[int]:
    """Return the rows on which to compare golden engines with the oracle: the last, the first, and some in between."""
    count = max(1, min(_MOST_CHECKED, _SELF_CHECK_BUDGET // max(program.n_ops, 1)))
    last = total - 1
    spread = [last, 1, 2, *np.linspace(0, last, count).astype(int).tolist()]
    rows = list(dict.fromkeys(row for row in spread if 0 <= row <= last))[:count]
    return sorted(rows)


def self_check(task: Task, feed: Feed, rows: Sequence[int]) -> tuple[Mapping[int, Judged], Blame | None]:
    """Return the oracle's results for the vectors ``rows``, and the first difference of the numpy engine, if any."""
    batch = Batch.concatenate([feed.batch(row, row + 1) for row in rows]) if rows else Batch(0, ())
    with task.watch.stage("oracle"):
        judged = judge_rows(task.program, batch, rows)
        if task.golden.engine == "fast" and task.program.n_ops > _LARGE:
            return judged, None
        return judged, blame_engines(task.program, task.golden.compiled, batch, judged)


def raise_if_unusable(made: Future[None]) -> None:
    """Raise ``EarlyVerdict`` if the feed broke off."""
    try:
        made.result()
    except ViolationError as error:
        message = f"{error}; --unchecked continues with the quantised value"
        raise EarlyVerdict(Verdict.PROGRAM_INVALID, message) from None
    except AssertionError as error:  # the engine stopped on a case that the oracle does not confirm
        message = f"{error}; this is a bug of dais-verif, please report it"
        raise EarlyVerdict(Verdict.UNKNOWN, message) from None
