"""A pytest plugin (``-p prove.mutation.lines``) that records the lines of the prover that each test executes.

It also records the durations. ``MUTATION_MAP`` is the file to write, ``MUTATION_SOURCES`` the folder of the sources.
Only tests that pass count. Lines that another process executes are not recorded, nor those that a shared fixture
executes for later tests; so a mutant that the recorded tests do not notice must be run against all others.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import coverage
import pytest

__all__ = ["IMPORTED"]

#: The name under which lines that are executed during import are recorded.
IMPORTED = ""

_sources = Path(os.environ["MUTATION_SOURCES"])
_recorder = coverage.Coverage(data_file=None, config_file=False, source=[str(_sources)])
_seconds: dict[str, float] = {}
_failed: set[str] = set()

_recorder.start()  # before any module of ours is imported


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Record the lines that a test file executes during import, such as tables of terms, under the file's name."""
    _recorder.switch_context(collector.nodeid if isinstance(collector, pytest.Module) else IMPORTED)
    try:
        return (yield)
    finally:
        _recorder.switch_context(IMPORTED)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    _recorder.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _recorder.switch_context(IMPORTED)


def pytest_runtest_logreport(report):
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_sessionfinish():
    _recorder.stop()
    data = _recorder.get_data()
    lines: dict[str, dict[str, list[int]]] = {}
    for file in data.measured_files():
        executed: dict[str, list[int]] = {}
        for line, tests in data.contexts_by_lineno(file).items():
            for test in tests:
                executed.setdefault(test, []).append(line)
        module = Path(file).relative_to(_sources).as_posix()
        lines[module] = {test: found for test, found in executed.items() if test not in _failed}
    tests = {test: seconds for test, seconds in _seconds.items() if test not in _failed}
    Path(os.environ["MUTATION_MAP"]).write_text(json.dumps({"seconds": tests, "lines": lines}))
