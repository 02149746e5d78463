"""Fixtures that all tests share, and a report header that states the tools of the session."""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from support.places import CORPUS

from dais_verif.errors import ToolError
from dais_verif.golden import fast
from dais_verif.toolchain import tools

# A shell starts background processes with SIGINT ignored, and all processes that we start would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
