"""Run one job, once or until it is known to be flaky, and return its result."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dais_verif.base.errors import InputError
from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.verdict import Verdict, worst
from dais_verif.campaigns.regression.launcher import LOCK, STDERR, STDOUT, Ending, Launcher, Request
from dais_verif.record.campaigns import Job, JobResult
from dais_verif.record.read import parse_record
from dais_verif.record.simulation import Failed, SimulationRecord
from dais_verif.subject.run_inputs import digests_of_job

__all__ = ["Stopped", "Task", "reproduce", "run_job", "run_jointly"]

_RECORD = "result.json"
#: Verdicts after which a job does not run again, since another attempt would give the same result.
_SETTLED = (Verdict.PASS, Verdict.INVALID_INPUT, Verdict.NOT_RUN)
_LONGEST_EXCERPT = 300
#: Seconds for jobs that share a build, independent of the time limits of single jobs.
_LONGEST_TOGETHER = 1800.0


class Stopped(Exception):
    """The job was ended because its result is not needed any more."""


@dataclass(frozen=True)
class Task:
    """A job with all data that a machine needs to run it.

    ``home``: the folder of the regression; ``folder``: the folder of the job, relative to ``home``.
    ``threads``: the number of threads that the job may use. ``options``: those of ``sim``, as Python gives them.
    """

    job: Job
    home: Path
    folder: str
    cwd: Path
    timeout: float
    retries: int = 0
    allow_flaky: bool = False
    threads: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Files that determine its result, besides those among the job's arguments.
    files: tuple[Path, ...] = ()

    def digests(self) -> list[tuple[str, str]]:
        """Return the path and the hash of each input, as this machine has them."""
        return digests_of_job(Path(self.job.program), self.job.arguments, self.files, self.cwd)


@dataclass(frozen=True)
class _Attempt:
    verdict: Verdict
    message: str
    seconds: float
    folder: str
    blame: str = ""
    bits_compared: int = 0


def run_job(task: Task, launcher: Launcher, worker: str, stopped: Callable[[], bool] = lambda: False) -> JobResult:
    """Run ``task``; a failed job runs again, at most ``retries`` times, until one attempt passes.

    When this returns, all files of the job are written. Raises ``Stopped`` if ``stopped`` returns True, or if the
    launcher is closed.
    """
    attempts = [_attempt(task, launcher, task.folder, stopped)]
    while attempts[-1].verdict not in _SETTLED and len(attempts) <= task.retries:
        attempts.append(_attempt(task, launcher, f"{task.folder}/rerun-{len(attempts)}", stopped))
    verdicts = [attempt.verdict for attempt in attempts]
    flaky = len(set(verdicts)) > 1
    shown = next(attempt for attempt in attempts if attempt.verdict is worst(verdicts))
    message = shown.message
    if flaky:
        said = ", then ".join(verdict.value for verdict in verdicts)
        message = f"flaky, {said} from the same files, seed and options: {message}"
        if task.allow_flaky and verdicts[-1] is Verdict.PASS:
            shown = attempts[-1]
    return JobResult(
        task.job,
        shown.verdict,
        message,
        round(sum(attempt.seconds for attempt in attempts), 3),
        verdicts,
        flaky,
        f"{shown.folder}/{_RECORD}",
        reproduce(task.job),
        worker,
        blame=shown.blame,
        bits_compared=shown.bits_compared,
    )


def run_jointly(
    tasks: Sequence[Task], launcher: Launcher, worker: str, stopped: Callable[[], bool] = lambda: False
) -> list[JobResult | None]:
    """Run ``tasks`` in one process with a shared build; return None for those that did not pass and must run alone.

    A result is the same as that of ``run_job``, and its files are written. Raises the errors of ``run_job``.
    """
    first = tasks[0]
    folder = first.home / f"{first.folder}-joint"
    for task in tasks:  # a record of an earlier run must not be taken for one of this run
        (task.home / task.folder / _RECORD).unlink(missing_ok=True)
    words = _words((task, task.home / task.folder) for task in tasks)
    timeout = min(sum(task.timeout for task in tasks), _LONGEST_TOGETHER)
    ending = launcher.run(Request(words, folder, first.cwd, timeout, dict(first.env)), stopped)
    if ending.ended == "stopped":
        raise Stopped
    shutil.rmtree(folder, ignore_errors=True)
    if (ending.ended, ending.code) != ("itself", 0):
        return [None] * len(tasks)
    return [_passed(task, ending, ending.seconds / len(tasks), worker) for task in tasks]


def _passed(task: Task, ending: Ending, seconds: float, worker: str) -> JobResult | None:
    folder = task.home / task.folder
    if not (folder / _RECORD).is_file():
        return None
    record = _record(folder, ending, task.timeout)
    if isinstance(record, Failed) or record.verdict is not Verdict.PASS:
        return None
    _keep_only_record(folder)
    return JobResult(
        task.job,
        record.verdict,
        record.message,
        round(seconds, 3),
        [record.verdict],
        False,
        f"{task.folder}/{_RECORD}",
        reproduce(task.job),
        worker,
        blame="",
        bits_compared=_bits(record),
    )


def _words(tasks: Iterable[tuple[Task, Path]]) -> list[str]:
    """Return the words that run tasks in one process, each in its folder."""
    jobs = [
        {**task.options, "program": task.job.program, "jobs": task.threads, "output": str(folder)}
        for task, folder in tasks
    ]
    return ["jobs", json.dumps(jobs), "--json"]


def reproduce(job: Job) -> str:
    """Return the command that runs ``job`` alone."""
    return own_command(["sim", job.program, *job.arguments])


def _attempt(task: Task, launcher: Launcher, place: str, stopped: Callable[[], bool]) -> _Attempt:
    folder = task.home / place
    ending = launcher.run(Request(_words([(task, folder)]), folder, task.cwd, task.timeout, dict(task.env)), stopped)
    if ending.ended == "stopped":
        raise Stopped
    record = _record(folder, ending, task.timeout)
    if isinstance(record, Failed):
        with contextlib.suppress(InputError):  # such as a full disk: the verdict is valid without a written record
            write_atomically(folder / _RECORD, record.to_json().encode())
        return _Attempt(record.verdict, record.message, ending.seconds, place)
    if record.verdict is Verdict.PASS:
        _keep_only_record(folder)
    return _Attempt(record.verdict, record.message, ending.seconds, place, _blame(record), _bits(record))


def _record(folder: Path, ending: Ending, timeout: float) -> SimulationRecord | Failed:
    """Return the record of the run if the job ended by itself and its exit code fits; otherwise the failure."""
    if ending.ended == "late":
        return Failed(Verdict.TOOL_FAILURE, f"stopped: the job's time limit of {timeout:g} s has passed")
    if ending.ended == "busy":
        return Failed(Verdict.TOOL_FAILURE, f"another run works in {str(folder)!r}")
    if ending.ended == "lost" or ending.code is None:
        return Failed(Verdict.TOOL_FAILURE, "the process that supervised the job was killed, together with the job")
    if ending.code < 0:
        with contextlib.suppress(ValueError):
            return Failed(Verdict.TOOL_FAILURE, f"the job was killed by {signal.Signals(-ending.code).name}")
    for name in (_RECORD, STDOUT):
        with contextlib.suppress(OSError, InputError):
            record = parse_record((folder / name).read_bytes(), name)
            if isinstance(record, SimulationRecord | Failed) and record.verdict.exit_code == ending.code:
                if record.verdict is Verdict.PASS and (isinstance(record, Failed) or not _bits(record)):
                    return Failed(Verdict.NOT_RUN, "nothing was compared")
                if isinstance(record, Failed) or record.state == "complete":
                    return record
    return Failed(Verdict.TOOL_FAILURE, f"the job ended with code {ending.code} and left no record: {_excerpt(folder)}")


def _excerpt(folder: Path) -> str:
    """Return the last line that the job wrote to standard error."""
    try:
        lines: Sequence[str] = (folder / STDERR).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "no output"
    line = next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "no output")
    return line if len(line) <= _LONGEST_EXCERPT else line[:_LONGEST_EXCERPT] + "…"


def _blame(record: SimulationRecord) -> str:
    """Return the place of a mismatch, and the op that diverges first."""
    found = record.first_mismatch
    if found is None:
        return ""
    at = f"vector {found.row}, output {found.output}"
    if found.place is not None:  # in a machine; the blame may only repeat the place
        at = str(found.place)
    where = f"{at}, in {found.simulator}"
    if found.place is not None and found.blame is not None and found.blame.text == at:
        return where
    return where if found.blame is None else "; ".join([f"{where}: {found.blame.text}", *found.blame.wrong()[:1]])


def _bits(record: SimulationRecord) -> int:
    return sum(simulator.bits_compared for simulator in record.simulators)


def _keep_only_record(folder: Path) -> None:
    """Remove all files of a passed run except its record, whose command quickly creates the others again."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name not in (_RECORD, LOCK):
            entry.unlink(missing_ok=True)
