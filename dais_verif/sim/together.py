"""All simulators at once, fed in chunks, while the oracle judges what they are fed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path

import numpy as np

from dais_verif.errors import ToolError, ViolationError
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.report.record import Blame
from dais_verif.sim import process
from dais_verif.sim.blame import Judged, blame_engines, blame_expectation, judge_rows
from dais_verif.sim.feed import Feed, Outlet
from dais_verif.sim.job import Job
from dais_verif.sim.simulate import Begun, Outcome
from dais_verif.sim.task import Task
from dais_verif.verdict import Verdict

__all__ = ["Settled", "simulate_all"]

#: Ops times rows that the self-check of the golden model may cost: a tenth of a second, while simulators run.
_SELF_CHECK_BUDGET = 10_000
_MOST_CHECKED = 16

#: Beyond so many ops the numpy engine is checked only if it is the one that gave the expected bits: to compile the
#: program for it takes seconds.
_LARGE = 2_000

#: Ops times rows of a simulation that are worth a process: some seconds.
_SHARE_BUDGET = {"icarus": 4_000_000, "verilator": 4_000_000, "ghdl": 100_000}

_LOOK_SECONDS = 0.1


class Settled(Exception):
    """The verdict is known before the simulators have ended."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        self.verdict, self.message = verdict, message


def simulate_all(task: Task, feed: Feed, begun: Mapping[str, Begun]) -> dict[str, Outcome | ToolError]:
    """What every simulator that has begun makes of the feed; one that fails does not stop the others.

    Raises ``Settled`` if the feed shows that the program breaks a promise, or that the golden model is wrong.
    """
    options, watcher, watch = task.options, task.watcher, task.watch
    plans = {name: _plan(task, feed, name) for name in options.simulators}
    rows = _few_rows(task.program, feed.rows)

    def one(name: str) -> Outcome | ToolError:
        jobs, outlet = plans[name]
        try:
            outcome = begun[name].simulate(jobs)
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
        made = pool.submit(feed.run, outlets, task.folder / "vectors", watch, wanted=rows, keep=options.keep)
        judged = pool.submit(_self_check, task, feed, rows)
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
            suspect = blame_expectation(task.program, task.dut, verdicts, expected, options.check)
        if suspect is not None:
            raise Settled(Verdict.UNKNOWN, suspect.text)
        return {name: future.result() for name, future in running.items()}


def _plan(task: Task, feed: Feed, name: str) -> tuple[list[Job], Outlet]:
    """What simulator ``name`` has to do, in shares that run at once, and where it finds its chunks."""
    options, folder = task.options, task.folder / name
    in_bulk = name == "verilator" and options.bulk and not options.waves
    chunks = len(feed.starts) - 1
    # Of two simulators the faster one runs the sweeps, by whatever path.
    shared = chunks if len(options.simulators) == 1 else feed.first_chunks
    if name != "verilator":
        chunks = shared
    starts = feed.starts[: chunks + 1]
    outlet = Outlet(folder / "chunks", chunks)
    outlet.folder.mkdir(parents=True, exist_ok=True)
    for left_over in outlet.folder.iterdir():
        left_over.unlink()
    shares = 1 if in_bulk or options.waves else 1 + starts[-1] * task.program.n_ops // _SHARE_BUDGET[name]
    shares = max(min(shares, options.jobs, chunks), 1)
    jobs = [
        Job(
            chunks=str(outlet.folder),
            starts=starts,
            answer="",
            progress=str(folder / f"progress_{share}"),
            face=task.dut.face,
            share=share,
            shares=shares,
            threads=options.jobs if in_bulk else 0,
            digested=shared,
            maker=os.getpid(),
            seed=options.seed,
        )
        for share in range(shares)
    ]
    for job in jobs:
        Path(job.progress).unlink(missing_ok=True)
    return jobs, outlet


def _progress(job: Job) -> int:
    try:
        return int(Path(job.progress).read_text())
    except (OSError, ValueError):  # not begun, or being written
        return 0


def _few_rows(program: Program, total: int) -> list[int]:
    """Rows on which the golden engines are compared with the oracle: the last, the first corners, some between."""
    count = max(1, min(_MOST_CHECKED, _SELF_CHECK_BUDGET // max(program.n_ops, 1)))
    last = total - 1
    spread = [last, 1, 2, *np.linspace(0, last, count).astype(int).tolist()]
    rows = list(dict.fromkeys(row for row in spread if 0 <= row <= last))[:count]
    return sorted(rows)


def _self_check(task: Task, feed: Feed, rows: Sequence[int]) -> tuple[Mapping[int, Judged], Blame | None]:
    """What the oracle says of the vectors ``rows``, and where the numpy engine says something else."""
    batch = Batch.concatenate([feed.batch(row, row + 1) for row in rows]) if rows else Batch(0, ())
    with task.watch.stage("oracle"):
        judged = judge_rows(task.program, batch, rows)
        if task.golden.engine == "fast" and task.program.n_ops > _LARGE:
            return judged, None
        return judged, blame_engines(task.program, task.golden.compiled, batch, judged)


def _raise_if_unusable(made: Future[None]) -> None:
    """End the run if the feed broke off."""
    try:
        made.result()
    except ViolationError as error:
        message = f"{error}; --unchecked carries on with the quantised value"
        raise Settled(Verdict.PROGRAM_INVALID, message) from None
    except AssertionError as error:  # the engine broke off: the oracle does not see what it saw
        message = f"{error}; this is a bug of dais-verif, please report it"
        raise Settled(Verdict.UNKNOWN, message) from None
