"""Fixtures that all tests share, and a report header that states the tools of the session."""

from __future__ import annotations

import atexit
import gc
import os
import platform
import signal
import sys
from collections.abc import Generator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from support import reword

if reword.ASKED:
    reword.install()  # before anything imports the package

from support import said
from support.places import CORPUS
from support.tier import ALL, fast_tests

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.golden import fast

# A shell starts background processes with SIGINT ignored, and all processes that we start would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The fast tests try the same examples each time, whatever ran before them. By default, hypothesis also tries constants
# of the sources of all modules that are loaded, and reading them takes 8 s.
settings.register_profile("fast", derandomize=True, database=None)
if not ALL:
    settings.load_profile("fast")
    providers._get_local_constants = lambda: providers._local_constants


# What is loaded and collected stays: no search for cyclic garbage goes through it. As in the command line, a search
# comes after many new objects, since there is little such garbage.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)
    gc.enable()


def pytest_unconfigure() -> None:
    gc.freeze()  # at its end, pytest searches for garbage five times
    atexit.register(gc.unfreeze)


_SPENT = pytest.StashKey[float]()
#: The tests that have passed, messages that workers of xdist sent, and what is different from the recorded messages.
_PASSED: set[tuple[str, str]] = set()
_OF_WORKERS: dict[str, dict[str, list[str]]] = {}
_DIFFERENT = pytest.StashKey[list[str]]()


def pytest_report_header() -> list[str]:
    lines = [f"python {platform.python_version()} ({sys.executable}), " + ", ".join(map(_package, ("numpy", "cocotb")))]
    for name, version_of in (
        ("icarus", lambda: tools.icarus().version),
        ("verilator", lambda: tools.verilator().version),
        ("ghdl", lambda: tools.ghdl().version),
        ("yosys", lambda: tools.yosys().version),
        ("fast engine", lambda: fast.why_not() or fast.isa()),
    ):
        try:
            lines.append(f"{name} {version_of()}")
        except ToolError as error:
            lines.append(f"{name}: none ({error})")
    lines.append(f"corpus: {CORPUS if CORPUS.is_dir() else 'none'}")
    return lines


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write tests/recorded/messages instead of comparing with it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the fast tests, keep one simulator of each case, and of a test with the marker ``few`` some cases."""
    config.stash[_SPENT] = sum(os.times()[:4])
    kept = set(items) if ALL else fast_tests(items)
    if config.getoption("--record"):
        kept = set(filter(said.says, kept))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def pytest_runtest_setup(item: pytest.Item) -> None:
    said.begin(item)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        file, _, name = report.nodeid.removeprefix("tests/").partition("::")
        (_PASSED.add if report.passed else _PASSED.discard)((file, name))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the messages of a worker of xdist."""
    for file, tests in node.workeroutput.get("said", {}).items():
        _OF_WORKERS.setdefault(file, {}).update(tests)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Record the messages of the tests, or compare them with the recorded ones."""
    config, found = session.config, {**said.collected(), **_OF_WORKERS}
    if hasattr(config, "workeroutput"):
        config.workeroutput["said"] = found
    elif config.getoption("--record"):
        said.record(found, _PASSED)
    elif not reword.ASKED and (lines := said.differences(found, _PASSED)):
        config.stash[_DIFFERENT] = lines
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if lines := config.stash.get(_DIFFERENT, []):
        terminalreporter.section("messages differ from tests/recorded; if that is meant: make recorded")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Note the CPU seconds of the test and of the processes that it waited for, for ``tests/seconds.json``."""
    result = yield
    now = sum(os.times()[:4])
    item.user_properties.append(("cpu", round(now - item.config.stash.get(_SPENT, 0.0), 2)))
    item.config.stash[_SPENT] = now
    return result


def _package(name: str) -> str:
    return f"{name} {version(name)}"


@pytest.fixture(scope="session")
def kernel() -> None:
    """Require the compiled kernel of the fast engine: where it was not built, the test is skipped, but fails in CI."""
    if fast.why_not():
        if os.environ.get("CI"):
            pytest.fail(fast.why_not())
        pytest.skip(fast.why_not())


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of real programs; fail if it does not exist (``DAIS_CORPUS`` can name another one)."""
    if not CORPUS.is_dir():
        pytest.fail(f"no corpus at {CORPUS}; DAIS_CORPUS names it")
    return CORPUS


@pytest.fixture
def yosys() -> None:
    """Require Yosys: where it is absent, the test is skipped, but fails in CI."""
    try:
        tools.yosys()
    except ToolError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def recursion_limit() -> Iterator[None]:
    """Restore the recursion limit after each test, so that every test begins with the default, as users do."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)
