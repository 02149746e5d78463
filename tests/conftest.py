"""What all tests share: the real programs, and a header that says with which tools the session ran."""

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

# A shell starts what it runs in the background with Ctrl-C ignored, and so would everything that we start.
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
    """The compiled kernel of the fast engine. Where it was not built the test is skipped, but never in CI."""
    if fast.why_not():
        if os.environ.get("CI"):
            pytest.fail(fast.why_not())
        pytest.skip(fast.why_not())


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of real programs. Fails where ``DAIS_CORPUS`` names a folder that does not exist."""
    if not CORPUS.is_dir():
        pytest.fail(f"no corpus at {CORPUS}; DAIS_CORPUS names it")
    return CORPUS


@pytest.fixture
def yosys() -> None:
    """Where Yosys is absent a test is skipped, but never in CI."""
    try:
        tools.yosys()
    except ToolError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def recursion_limit() -> Iterator[None]:
    """Whatever a test needs, the next one begins as users do."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)
