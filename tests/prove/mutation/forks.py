"""Run tests in forked processes, each in its own tree, with third-party packages already loaded.

A process ends at the first test that fails or that takes far longer than it should.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

__all__ = ["Ended", "Running", "preload", "scratch_of", "started"]

#: Third-party packages that tests of the prover import; missing ones are skipped.
_HEAVY = (
    *("numpy", "click", "pyslang", "bitwuzla", "pysat.solvers", "hypothesis", "hypothesis.strategies", "rich.console"),
    *("rich.table", "jinja2", "msgspec", "filelock", "platformdirs", "psutil", "sqlite3", "multiprocessing.pool"),
    *("concurrent.futures.process", "xml.etree.ElementTree", "junitparser", "cocotb"),
)
#: A test may take this many times its measured duration, plus some seconds.
_TIMES = 8
#: The seconds that a process may take to reach its first test, and to end after the last.
_BETWEEN = 120
#: Where others use the machine, too, a process may take so many seconds for each second that it computes.
_WAITS = 20
_MEMORY = 8 << 30
#: The parts of the cache that no mutant of the prover can corrupt.
_BUILT = ("builds", "runtime")


class Ended(NamedTuple):
    """The result of a process. ``failed``: the first failed test, if any; ``late``: True if a test took too long."""

    failed: str | None
    late: bool
    seconds: float


class Running:
    """A process that runs tests in ``tree``."""

    def __init__(self, tree: Path, pid: int, said: Path) -> None:
        self.tree = tree
        self._pid, self._said, self._start = pid, said, time.monotonic()

    def wait(self, often: float) -> Ended:
        """Return the result; look for it after every ``often`` seconds. An interrupt also ends the process."""
        try:
            while (ended := self.ended()) is None:
                time.sleep(often)
        except KeyboardInterrupt:
            os.killpg(self._pid, signal.SIGKILL)
            raise
        return ended

    def ended(self) -> Ended | None:
        """Return the result, or None while the process runs."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if not pid:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)  # end the processes that it started
        seconds = time.monotonic() - self._start
        lines = self._said.read_text().splitlines() if self._said.exists() else []
        begun = [line.removeprefix("begins ") for line in lines if line.startswith("begins ")]
        failed = [line.removeprefix("failed ") for line in lines if line.startswith("failed ")]
        if os.WIFSIGNALED(status):
            late = os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF)
            return Ended(begun[-1] if begun else "importing", late, seconds)
        code = os.WEXITSTATUS(status)
        if code == pytest.ExitCode.OK:
            return Ended(None, False, seconds)
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"no test was found; see {self._said.with_suffix('.log')}")
        return Ended(failed[0] if failed else "importing", False, seconds)


class _Watch:
    """A pytest plugin that records which tests begin and fail; a test that takes too long ends the process."""

    def __init__(self, seconds: Mapping[str, float], patience: float, said: Path, of_cpu: bool) -> None:
        self._seconds, self._patience, self._said, self._of_cpu = seconds, patience, said, of_cpu

    def limit(self, seconds: float) -> None:
        """End the process after ``seconds``, unless this is called again before."""
        signal.setitimer(signal.ITIMER_REAL, seconds * (_WAITS if self._of_cpu else 1))
        if self._of_cpu:
            signal.setitimer(signal.ITIMER_PROF, seconds)

    def _say(self, text: str) -> None:
        with self._said.open("a") as file:
            file.write(text + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.limit(_TIMES * self._seconds.get(nodeid, 5.0) + self._patience)
        self._say(f"begins {nodeid}")

    def pytest_runtest_logfinish(self) -> None:
        self.limit(_BETWEEN)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._say(f"failed {report.nodeid}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(f"failed {report.nodeid or 'the tests'}, while imported")


def preload() -> None:
    """Load packages once, so that they need not be loaded again for each mutant."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in _HEAVY:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def scratch_of(tree: Path) -> Path:
    """Return the folder for temporary files of the tests in ``tree``."""
    scratch = tree.with_name(f"{tree.name}-scratch")
    for folder in ("cache", "tmp"):
        (scratch / folder).mkdir(parents=True, exist_ok=True)
    return scratch


def _clean(scratch: Path) -> None:
    """Delete all temporary files except those that simulators have built, so that no mutant's proof remains."""
    shutil.rmtree(scratch / "tmp", ignore_errors=True)
    (scratch / "tmp").mkdir(exist_ok=True)
    for entry in (scratch / "cache").iterdir():
        if entry.name not in _BUILT:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def started(
    tree: Path,
    tests: Sequence[str],
    seconds: Mapping[str, float],
    patience: float,
    plugins: Sequence[object] = (),
    options: Sequence[str] = ("-x",),
    environment: Mapping[str, str] | None = None,
    of_cpu: bool = False,
) -> Running:
    """Run ``tests`` in ``tree``.

    ``seconds``: their measured durations. ``patience``: the least additional time that each may take. ``plugins``,
    ``options``: more of them for pytest. ``environment``: more variables. ``of_cpu``: a test may take that much
    CPU time instead, which counts where others use the machine, too.
    """
    scratch = scratch_of(tree)
    said = scratch / "said"
    said.unlink(missing_ok=True)
    _clean(scratch)
    pid = os.fork()
    if pid:
        return Running(tree, pid, said)
    code = 70
    try:
        os.setsid()
        watch = _Watch(seconds, patience, said, of_cpu)
        code = _run(tree, tests, watch, plugins, options, environment or {})
    except BaseException:  # including SystemExit: any exception is a failure
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(
    tree: Path,
    tests: Sequence[str],
    watch: _Watch,
    plugins: Sequence[object],
    more: Sequence[str],
    environment: Mapping[str, str],
) -> int:
    said = scratch_of(tree) / "said"
    log = os.open(said.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(tree)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    watch.limit(_BETWEEN)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.RLIM_INFINITY))
    os.environ |= {
        "DAIS_VERIF_CACHE": str(said.parent / "cache"),
        "TMPDIR": str(said.parent / "tmp"),
        "PYTHONPATH": str(tree),
        **environment,
    }
    # What pytest makes of tests is kept. Modules that change leave no file that differs from them.
    sys.dont_write_bytecode = not environment
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in _own_paths())]
    for name in [name for name in sys.modules if name.split(".")[0] in ("prove", "dais_verif")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    options = [*more, "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={tree}"]
    if "hypothesis" in sys.modules:
        options.append("--hypothesis-seed=0")
    return int(pytest.main([*options, *tests], plugins=[watch, *plugins]))


def _own_paths() -> set[str]:
    """Return the paths to this package, from which the tests must not import."""
    own = str(Path(__file__).parents[2])
    return {own, os.path.relpath(own), ""}
