"""Fuzz: run random cases through implementations that must agree, or through another tool; keep shrunk failures."""

from __future__ import annotations

import sys
import time as clock
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from dais_verif.base.errors import ClusterFailure, DaisError, FuzzingError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.text import counted
from dais_verif.base.toolchain.process import workers
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION
from dais_verif.base.worker_processes import worker_processes
from dais_verif.campaigns.fuzzing.case import Case, opcodes_of
from dais_verif.campaigns.fuzzing.crashers import cases_in, folder_name
from dais_verif.campaigns.fuzzing.files import (
    KeptCase,
    case_names,
    case_of,
    form_of,
    read_tree,
    require_place,
    spelled,
    write_case,
)
from dais_verif.campaigns.fuzzing.fuzzer import Finding, Judged, Stretch, judge_stretch
from dais_verif.campaigns.fuzzing.generate.cases import made_case
from dais_verif.campaigns.fuzzing.machines.case import (
    MACHINE_NAMES,
    MachineCase,
    machine_case_of,
    parts_of,
    write_machine_case,
)
from dais_verif.campaigns.fuzzing.machines.fuzzer import MACHINE_KINDS, judge_machine, judge_machines, shrunk_machine
from dais_verif.campaigns.fuzzing.machines.pairs import MachinePair
from dais_verif.campaigns.fuzzing.pairs.disagreement import (
    Disagreement,
    NotJudged,
    Pair,
    found_by,
    judged,
    require_tool,
)
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS, PairSpec
from dais_verif.campaigns.fuzzing.shrinking.search import first_violation
from dais_verif.campaigns.fuzzing.shrinking.steps import shrunk
from dais_verif.campaigns.regression.cluster import connect
from dais_verif.golden.fast import threads
from dais_verif.record.campaigns import FoundCase, FuzzRecord
from dais_verif.verbs.fuzzing.requests import FuzzRequest, versions
from dais_verif.verbs.fuzzing.tools import FOREIGN, tool_of
from dais_verif.verbs.overwrite_guard import earlier_record
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["Keeper", "RECORD_NAME", "fuzz", "replayed", "smallest_machine", "smallest_program"]


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
        reproduce=request.reproduce(),
    )


# Store cases that disagree: shrunk, one folder per cause.


#: The largest number of cases of one pair and kind that are shrunk; run the fuzzer again after these are fixed.
_MOST_ALIKE = 6
#: Seconds of CPU time to shrink a case: normally, and if each step runs external tools.
_SECONDS, _TOOL_SECONDS = 10.0, 60.0


class Smallest(NamedTuple):
    """A shrunk case: its disagreement, its opcodes, ops and vectors, and the function that writes its files.

    ``complete``: all smaller cases were tried; otherwise the opcodes say little about the cause.
    """

    text: str
    opcodes: tuple[str, ...]
    ops: int
    vectors: int
    rows: tuple[tuple[str, ...], ...]
    complete: bool
    write: Callable[[KeptCase, Path], None]


class Keeper:
    """A store for the cases of ``request`` that disagree. ``smallest``: a function that shrinks a case."""

    def __init__(self, request: FuzzRequest, smallest: Callable[[Finding], Smallest]) -> None:
        self._request, self._smallest = request, smallest
        self._alike: Counter[str] = Counter()
        self._places: dict[str, int] = {}
        self.found: list[FoundCase] = []
        #: The number of cases that disagreed and were not shrunk.
        self.left_out = 0

    def keep(self, finding: Finding) -> None:
        """Shrink the case of ``finding`` and keep it, unless a case of the same cause is kept."""
        cause = finding.found.cause
        self._alike[cause] += 1
        if self._alike[cause] > _MOST_ALIKE:
            self.left_out += 1
            return
        small = self._smallest(finding)
        against = self._request.against or self._request.rtl_from
        pair, kind = finding.found.pair, finding.found.kind
        kept = KeptCase(pair, kind, small.text, small.opcodes, finding.seed, against, versions(), "", small.rows)
        name = folder_name(kept)
        place = self._places.get(name)
        if place is None and not small.complete:  # what is left of it is no cause of its own beside others
            place = next((at for at, one in enumerate(self.found) if (one.pair, one.kind) == (pair, kind)), None)
        if place is not None:
            self.found[place] = replace(self.found[place], times=self.found[place].times + 1)
            return
        folder = self._request.output / name
        require_place(folder, (*case_names(), *MACHINE_NAMES), "fuzz")
        words = ["fuzz", "--replay", str(folder)]
        if against is not None:
            words += ["--rtl-from" if self._request.rtl_from else "--against", against]
            words += ["--form", self._request.program_form]
        small.write(replace(kept, replay=own_command(words)), folder)
        self._places[name] = len(self.found)
        self.found.append(
            FoundCase(
                pair,
                kind,
                small.text,
                list(small.opcodes),
                small.ops,
                small.vectors,
                str(folder),
                finding.number,
                finding.seed,
                complete=small.complete,
            )
        )


def smallest_program(request: FuzzRequest, tool: Pair | None, finding: Finding) -> Smallest:
    """Return the smallest program with the same kind of disagreement. ``tool``: the pair of an external tool."""
    made, pair = made_case(request.seed, finding.number, plain=tool is not None), finding.found.pair
    judge = tool if tool is not None else PAIRS[pair].judge

    def fails(one: Case) -> bool:
        again = found_by(pair, judge, one)
        return again is not None and again.cause == finding.found.cause

    seconds = _TOOL_SECONDS if tool is None and PAIRS[pair].needs else _SECONDS
    outcome = shrunk(made.case, fails, seconds)
    case = outcome.case
    again = found_by(pair, judge, case)
    text = finding.found.text if again is None else again.text
    form = request.program_form if tool is not None else form_of(case.program)
    rows = spelled(case.rows)
    return Smallest(
        text,
        opcodes_of(case),
        case.program.n_ops,
        len(case.rows),
        rows,
        outcome.complete,
        lambda kept, folder: write_case(case, kept, folder, form),
    )


def smallest_machine(request: FuzzRequest, finding: Finding) -> Smallest:
    """Return the smallest machine with the same kind of disagreement; its vectors are cycles."""
    kind, pair = MACHINE_KINDS[request.kind], finding.found.pair

    def found(one: MachineCase) -> Disagreement | None:
        with suppress(NotJudged):
            return judge_machine(pair, kind.pairs[pair], one)
        return None

    def fails(one: MachineCase) -> bool:
        again = found(one)
        return again is not None and again.cause == finding.found.cause

    case, complete = shrunk_machine(kind.made(request.seed, finding.number)[2], fails, _SECONDS)
    again = found(case)
    text = finding.found.text if again is None else again.text
    return Smallest(
        text,
        parts_of(case),
        case.ops,
        case.cycles * len(case.sequences),
        (),
        complete,
        lambda kept, folder: write_machine_case(case, kept, folder),
    )


# Judge kept cases again, as a regression test.


_DEPTH = 20_000


def replayed(request: FuzzRequest, folder: Path, progress: Progress) -> FuzzRecord:
    """Judge every case in ``folder`` by its own pair. External tools come from ``request``, never from the file.

    A case that no longer fails passes; a case whose tool is not given does not. Raises ``InputError`` without cases.
    """
    begun = clock.monotonic()
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    found: list[FoundCase] = []
    with temporary_folder() as scratch, progress.working("judging kept cases ...") as tell:
        tool = tool_of(request)(scratch.path) if request.foreign else None
        for path in cases_in(folder):
            tell(f"judging {path.name}")
            tree, kept = read_tree(path)
            if "machine" in tree:
                found.append(_judged_machine(machine_case_of(path, tree), kept, path))
            else:
                found.append(_judged(case_of(path, tree, kept), kept, path, tool))
    failing = [one for one in found if one.fails]
    unknown = [one for one in found if one.fails is None]
    verdict, message = Verdict.PASS, f"none of {len(found)} kept cases fails any more"
    if failing:
        verdict, message = Verdict.DISAGREEMENT, f"{len(failing)} of {len(found)} kept cases still fail"
    elif unknown:
        verdict, message = (
            Verdict.UNKNOWN,
            f"{len(unknown)} of {len(found)} kept cases were not judged: {unknown[0].text}",
        )
    return FuzzRecord(
        verdict=verdict,
        message=message,
        seed=request.seed,
        first=0,
        cases=len(found),
        pairs=dict(Counter(one.pair for one in found)),
        shapes={},
        found=[*failing, *unknown],
        left_out=0,
        seconds=round(clock.monotonic() - begun, 3),
        versions=versions(),
        warnings=[],
        reproduce=request.reproduce(),
    )


def _judged_machine(case: MachineCase, kept: KeptCase, folder: Path) -> FoundCase:
    """Return the case of a machine with its current result, judged by the pair that the case names."""
    pairs = MACHINE_KINDS["machine" if case.kernel is None else "kernel"].pairs
    fails, text = None, f"{folder.name} belongs to an unknown pair: {kept.pair}"
    if kept.pair in pairs:
        try:
            again = judge_machine(kept.pair, pairs[kept.pair], case)
            fails, text = again is not None, "" if again is None else again.text
        except NotJudged as reason:
            text = f"{folder.name} was not compared: {reason}"
    cycles = case.cycles * len(case.sequences)
    return FoundCase(
        kept.pair, kept.kind, text, list(kept.opcodes), case.ops, cycles, str(folder), None, kept.seed, fails=fails
    )


def _judged(case: Case, kept: KeptCase, folder: Path, tool: Pair | None) -> FoundCase:
    """Return the case with its current result."""
    try:
        fails, text = _outcome(case, kept, folder, tool)
    except NotJudged as reason:
        fails, text = None, f"{folder.name} was not compared: {reason}"
    return FoundCase(
        kept.pair,
        kept.kind,
        text,
        list(kept.opcodes),
        case.program.n_ops,
        len(case.rows),
        str(folder),
        None,
        kept.seed,
        fails=fails,
    )


def _outcome(case: Case, kept: KeptCase, folder: Path, tool: Pair | None) -> tuple[bool | None, str]:
    """Return whether a case fails now (None: undecided), and why. Raises ``NotJudged`` if nothing was compared."""
    if kept.pair in FOREIGN and tool is not None:
        again = judged(kept.pair, tool, case)
        return again is not None, "" if again is None else again.text
    if kept.pair in PAIRS:
        again = judged(kept.pair, PAIRS[kept.pair].judge, case)
        return again is not None, "" if again is None else again.text
    if kept.pair == "golden":
        violation = first_violation(case)
        return violation is not None, "" if violation is None else f"PROGRAM_INVALID: {violation}"
    return None, f"{folder.name} belongs to another tool ({kept.pair}); give that tool"
