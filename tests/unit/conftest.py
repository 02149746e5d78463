"""Unit tests start no simulator and no process; what takes one is in ``tests/process``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

_STARTS = {"subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "os.fork", "os.forkpty"}
#: Python's own ``platform`` asks it for the name of the processor.
_HARMLESS = "uname"
_RUNNING: list[str] = []


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if _RUNNING and event in _STARTS and _HARMLESS not in map(str, arguments):
        raise RuntimeError(f"{_RUNNING[-1]} starts a process, so it belongs into tests/process: {arguments!r}")


sys.addaudithook(_refuse)


@pytest.fixture(autouse=True)
def no_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse processes while the test runs."""
    _RUNNING.append(request.node.nodeid)
    yield
    _RUNNING.pop()
