"""Fuzz: run random cases through implementations that must agree, or through another tool; keep shrunk failures."""

from __future__ import annotations

import time as clock
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from dais_verif.counts import counted
from dais_verif.errors import ClusterFailure, DaisError, FuzzingError
from dais_verif.files import make_folder, write_atomically
from dais_verif.flows.fuzzing.keeping import Keeper, smallest_machine, smallest_program
from dais_verif.flows.fuzzing.replay import replayed
from dais_verif.flows.fuzzing.requests import FuzzRequest
from dais_verif.flows.fuzzing.tools import tool_of
from dais_verif.flows.fuzzing.versions import versions
from dais_verif.flows.no_loss import earlier_record
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.fuzzing.fuzzer import Finding, Judged, Stretch, judge_stretch
from dais_verif.fuzzing.generate.cases import made_case
from dais_verif.fuzzing.machines.fuzzer import MACHINE_KINDS, judge_machines
from dais_verif.fuzzing.machines.pairs import MachinePair
from dais_verif.fuzzing.pairs.disagreement import NotJudged, Pair
from dais_verif.fuzzing.pairs.needs import require_tool
from dais_verif.fuzzing.pairs.table import PAIRS, PairSpec
from dais_verif.golden.fast import threads
from dais_verif.own_command import own_command
from dais_verif.record.fuzzing import FuzzRecord
from dais_verif.regression.cluster import connect
from dais_verif.temporary import temporary_folder
from dais_verif.toolchain.process import workers
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION
from dais_verif.worker_processes import worker_processes

__all__ = ["RECORD_NAME", "fuzz"]

#: The record of the last run, in the folder of kept cases.
RECORD_NAME = "fuzz.json"

#: The number of cases that a worker judges together: about a second's worth, or one build; for external tools: one.
_STRETCH, _BUILD = 25, 40
_ALL = 1 << 60


def fuzz(request: FuzzRequest, *, progress: Progress = SILENT) -> FuzzRecord:
    """Judge cases until time is up or all are done; keep one small case per cause in the folder ``request.output``.

    Verdicts: PASS if all agreed, DISAGREEMENT if a case was kept, NOT_RUN if nothing was compared; with ``replay``
    also UNKNOWN, if a case could not be judged. If interrupted, the run writes a record of the cases judged so far,
    with verdict INTERRUPTED, and raises ``KeyboardInterrupt`` again. Raises ``RequestError`` if a tool cannot be run,
    ``InputError`` for a folder without cases to replay, ``ToolError`` if a tool that a pair needs is missing.
    """
    if request.replay is not None:
        return replayed(request, request.replay, progress)
    begun = clock.monotonic()
    tool = tool_of(request) if request.foreign else None
    for name in request.pairs:
        for needed in _pairs_of(request)[name].needs:
            require_tool(needed)
    before = earlier_record(request.output / RECORD_NAME, FuzzRecord)
    make_folder(request.output)
    first = _resumed(request, before) if request.resume else 0
    total: Judged = Judged(0, [], Counter(), Counter(), Counter())
    interrupt = None
    with temporary_folder() as scratch, progress.working("fuzzing ...") as tell:
        if request.kind == "program":
            judge = None if tool is None else tool(_made(scratch.path / "shrinking"))
            keeper = Keeper(request, partial(smallest_program, request, judge))
        else:
            keeper = Keeper(request, partial(smallest_machine, request))
        try:
            with _judgements(request, tool, first, begun, scratch.path) as stretches:
                for judged in stretches:
                    for finding in judged.findings:
                        keeper.keep(finding)
                    total = _added(total, judged)
                    rate = f"{total.cases / (clock.monotonic() - begun) * 60:.0f} per minute"
                    tell(f"fuzzing: {total.cases} cases, {rate}; kept {len(keeper.found)}")
        except KeyboardInterrupt as error:
            interrupt = error
    record = _record(request, first, total, keeper, clock.monotonic() - begun, interrupted=interrupt is not None)
    write_atomically(request.output / RECORD_NAME, record.to_json().encode())
    if interrupt is not None:
        raise interrupt
    return record


def _pairs_of(request: FuzzRequest) -> Mapping[str, PairSpec | MachinePair]:
    """Return the pairs that judge cases of the requested kind."""
    return PAIRS if request.kind == "program" else MACHINE_KINDS[request.kind].pairs


def _judge(stretch: Stretch) -> Judged:
    return judge_stretch(stretch) if stretch.kind == "program" else judge_machines(stretch)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _added(total: Judged, more: Judged) -> Judged:
    undecided = total.undecided + more.undecided
    return Judged(total.cases + more.cases, [], total.pairs + more.pairs, total.shapes + more.shapes, undecided)


def _resumed(request: FuzzRequest, before: FuzzRecord | None) -> int:
    """Return the number of the first case after the run ``before``."""
    if before is None:
        return 0
    if before.kind != request.kind:
        raise FuzzingError.of(
            "{resume}: the run in {folder!r} had {kind} {before}; give that, or another folder",
            folder=str(request.output),
            before=before.kind,
        )
    if before.seed != request.seed:
        raise FuzzingError.of(
            "{resume}: the run in {folder!r} had {seed} {before}; give that, or another folder",
            folder=str(request.output),
            before=before.seed,
        )
    return before.first + before.cases


@contextmanager
def _judgements(
    request: FuzzRequest, tool: Callable[[Path], Pair] | None, first: int, begun: float, scratch: Path
) -> Iterator[Iterator[Judged]]:
    """Yield judged stretches in the order of their numbers."""
    jobs = threads(request.jobs)
    known = _pairs_of(request)
    names = request.pairs or tuple(name for name, pair in known.items() if not pair.needs)
    together = any(isinstance(spec := known[name], PairSpec) and spec.passing for name in names)
    size = 1 if tool is not None else _BUILD if together else _STRETCH
    stretches = _stretches(request, first, begun, size, names)
    with ExitStack() as stack:
        if tool is not None:
            pool: Executor = stack.enter_context(workers(jobs))
            free: SimpleQueue[Pair] = SimpleQueue()
            for number in range(jobs):
                free.put(tool(_made(scratch / str(number))))
            yield _in_order(pool, stretches, jobs, lambda stretch: _foreign(stretch, free))
        elif request.cluster is not None:
            client, many = stack.enter_context(_connected(request.cluster, jobs))
            yield _in_order(client, stretches, many, partial(_on_worker, version=VERSION))
        elif jobs == 1:
            yield map(_judge, stretches)
        else:
            yield _in_order(stack.enter_context(worker_processes(jobs)), stretches, jobs, _judge)


@contextmanager
def _connected(name: str, jobs: int) -> Iterator[tuple[Executor, int]]:
    """Yield an executor on cluster ``name``, and its number of workers. Raises ``ToolError`` if the cluster is lost."""
    cluster, client = connect(name, jobs)
    try:
        yield client.get_executor(pure=False), max(sum(client.nthreads().values()), jobs)
    except DaisError:
        raise
    except Exception as error:  # any exception of Dask for lost workers
        raise ClusterFailure.of("{cluster} {name}: {error}", name=name, error=error) from None
    finally:
        for each in (client, cluster):
            if each is not None:
                each.close()


def _on_worker(stretch: Stretch, version: str) -> Judged:
    if version != VERSION:
        raise ClusterFailure(f"the worker has dais-verif {VERSION}, the client {version}: install the same version")
    return _judge(stretch)


def _stretches(request: FuzzRequest, first: int, begun: float, size: int, names: tuple[str, ...]) -> Iterator[Stretch]:
    """Yield stretches of cases to judge, at least one, until the time is up."""
    left, number = request.count or _ALL, first
    while left:
        count = min(size, left)
        yield Stretch(request.seed, number, count, names, request.kind)
        number, left = number + count, left - count
        if request.seconds is not None and clock.monotonic() - begun >= request.seconds:
            return


def _in_order(
    pool: Executor, stretches: Iterator[Stretch], jobs: int, judge: Callable[[Stretch], Judged]
) -> Iterator[Judged]:
    waiting: deque[Future[Judged]] = deque()
    for stretch in stretches:
        waiting.append(pool.submit(judge, stretch))
        if len(waiting) > 2 * jobs:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _foreign(stretch: Stretch, free: SimpleQueue[Pair]) -> Judged:
    """Judge one case by the other tool, in a free folder."""
    made = made_case(stretch.seed, stretch.first, plain=True)
    judge = free.get()
    try:
        found = judge(made.case)
    except NotJudged:
        return Judged(1, [], Counter(), Counter({made.shape: 1}), Counter(tool=1))
    finally:
        free.put(judge)
    findings = [] if found is None else [Finding(made.number, made.seed, found)]
    return Judged(1, findings, Counter(tool=1), Counter({made.shape: 1}), Counter())


def _record(
    request: FuzzRequest, first: int, total: Judged, keeper: Keeper, seconds: float, *, interrupted: bool
) -> FuzzRecord:
    compared = sum(total.pairs.values())
    verdict, message = Verdict.PASS, f"all agree on {counted(total.cases, 'case')}, in {compared} comparisons"
    if keeper.found:
        causes = counted(len(keeper.found), "cause")
        times = sum(case.times for case in keeper.found) + keeper.left_out
        verdict, message = Verdict.DISAGREEMENT, f"{times} of {total.cases} cases disagree, with {causes}"
    elif not compared:
        verdict, message = Verdict.NOT_RUN, f"nothing was compared on {counted(total.cases, 'case')}"
    if request.count is not None and total.cases < request.count and not interrupted:
        message += f"; the time limit ended the run before {counted(request.count, 'case')}"
    if interrupted:
        verdict, message = (
            Verdict.INTERRUPTED,
            f"interrupted when {counted(total.cases, 'case')} had been judged: {message}",
        )
    return FuzzRecord(
        verdict=verdict,
        message=message,
        kind=request.kind,
        seed=request.seed,
        first=first,
        cases=total.cases,
        pairs=dict(sorted(total.pairs.items())),
        shapes=dict(sorted(total.shapes.items())),
        undecided=dict(sorted(total.undecided.items())),
        found=keeper.found,
        left_out=keeper.left_out,
        seconds=round(seconds, 3),
        versions=versions(),
        warnings=[],
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )
