"""Find which fast tests call which functions of the package: run them once, with functions that say that they run.

The modules of a copy of the tree are compiled so that each function writes its number into a file when it is first
called in a process. Processes that tests start do so, too: simulators, workers, command lines. The sources stay as
they are, since some tests read them: only the compiled files differ, and Python does not compare them with the sources.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import json
import marshal
import os
import py_compile
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prove.mutation.forks import started

__all__ = ["MODULE", "PLACES", "Calls", "importers", "owner", "put"]

#: Recorded messages of tests have other places of temporary files than these.
PLACES = {"TMPDIR": "/tmp"}

#: The name of the code of a module or class, which runs when the module is imported.
MODULE = "module"
#: CPU seconds of test files that run in one process.
_TOGETHER = 15.0

_RECORDS = "_calls.pyc"
_RECORDER = """
import builtins, fcntl, os
seen = builtins.dais_seen_ = bytearray({count})
def _open():
    file = os.open({log!r}, os.O_WRONLY | os.O_APPEND)
    high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 900)
    os.close(file)
    return high
def saw(number):
    seen[number] = 1
    global file
    for _ in range(2):
        try:
            os.write(file, b"%d\\n" % number)
            return
        except OSError:
            try:
                file = _open()
            except OSError:
                return
builtins.dais_saw_ = saw
file = -1
"""


@dataclass(frozen=True)
class Calls:
    """The tests that call each function, such as ``dais_verif/base/files.py:read``, and each test's CPU seconds."""

    tests: dict[str, list[str]]
    seconds: dict[str, float]
    #: How many functions each test calls: a test that calls few says more about each.
    breadth: dict[str, int]

    @staticmethod
    def of(tree: Path, folder: Path, longest: float) -> Calls:
        """Return the calls of the fast tests in ``tree``, which are recorded in ``folder``; go on where it ended.

        Files that take more than ``longest`` CPU seconds have no turn.
        """
        record, names = folder / "calls.jsonl", folder / "functions.json"
        cost = _cost(tree)
        files = sorted(path.relative_to(tree / "tests").as_posix() for path in (tree / "tests").rglob("test_*.py"))
        done = {json.loads(line)["file"] for line in record.open()} if record.exists() else set()
        left = sorted((cost[file], f"tests/{file}") for file in files if cost[file] <= longest)
        left = [(seconds, file) for seconds, file in left if file not in done]
        if left:
            log = folder / "calls.log"
            log.touch()
            names.write_text(json.dumps(_instrument(tree, log)))
            while left:
                batch, seconds = [], 0.0
                while left and (not batch or seconds + left[0][0] < _TOGETHER):
                    seconds += left[0][0]
                    batch.append(left.pop(0)[1])
                _record(tree, batch, log, record)
                print(f"{len(left)} test files are left", flush=True)
        package = tree / "dais_verif"
        if (package / _RECORDS).exists() or not (package / "__pycache__").exists():
            compile_all(tree)
        if not record.exists():
            return Calls({}, {}, {})
        known: list[str] = json.loads(names.read_text())
        tests: dict[str, list[str]] = defaultdict(list)
        seconds, breadth = {}, {}
        lines = map(json.loads, record.open())
        for test, one in {one["test"]: one for one in lines if one.get("passed")}.items():
            seconds[test], breadth[test] = one["seconds"], len(one["calls"])
            for number in one["calls"]:
                tests[known[number]].append(test)
        return Calls(dict(tests), seconds, breadth)


def importers(tree: Path, module: str) -> list[tuple[float, str]]:
    """Return the test files that import ``module`` by its name, with their CPU seconds, the cheapest first."""
    package, _, name = module.removesuffix(".py").replace("/", ".").removesuffix(".__init__").rpartition(".")
    wanted = re.compile(
        rf"from {re.escape(package)}\.{name} import|import {re.escape(package)}\.{name}\b"
        rf"|from {re.escape(package)} import (?:\([^)]*|[^\n(]*)\b{name}\b"
    )
    cost, tests = _cost(tree), tree / "tests"
    found = [path for path in tests.rglob("test_*.py") if wanted.search(path.read_text(encoding="utf-8"))]
    names = [path.relative_to(tests).as_posix() for path in found]
    return sorted((cost[name], f"tests/{name}") for name in names)


def _cost(tree: Path) -> defaultdict[str, float]:
    table = tree / "tests" / "seconds.json"
    return defaultdict(lambda: 1.0, json.loads(table.read_text()) if table.exists() else {})


def put(tree: Path, module: str, text: str) -> None:
    """Write ``text`` as ``module`` into ``tree``, and its compiled file, which no process compares or replaces."""
    (tree / module).write_text(text, encoding="utf-8")
    _compile(tree / module)


def compile_all(tree: Path) -> None:
    """Compile all modules of the package in ``tree`` as they are."""
    (tree / "dais_verif" / _RECORDS).unlink(missing_ok=True)
    for path in (tree / "dais_verif").rglob("*.py"):
        _compile(path)


def _compile(path: Path) -> None:
    py_compile.compile(str(path), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def owner(source: str, line: int) -> str:
    """Return the path of the innermost function whose body has ``line``, or ``MODULE``."""
    found = MODULE
    for path, node in _functions(ast.parse(source)):
        if node.body[0].lineno <= line <= (node.end_lineno or 0):
            found = path  # outer functions come before inner ones
    return found


def _functions(tree: ast.AST, path: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{path}{node.name}", node
        inner = (
            f"{path}{node.name}." if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else path
        )
        yield from _functions(node, inner)


def _instrument(tree: Path, log: Path) -> list[str]:
    """Compile the package so that each function says its number, and return the functions."""
    names: list[str] = []
    for path in sorted((tree / "dais_verif").rglob("*.py")):
        module = path.relative_to(tree).as_posix()
        parsed = ast.parse(path.read_bytes())
        for name, node in _functions(parsed):
            _say(node, len(names))
            names.append(f"{module}:{name}")
        _say(parsed, len(names))
        at = next(n for n, one in enumerate(parsed.body) if isinstance(one, ast.Expr) and "dais_saw_" in ast.dump(one))
        parsed.body.insert(at, ast.parse("__import__('dais_verif._calls')").body[0])
        names.append(f"{module}:{MODULE}")
        _write(Path(importlib.util.cache_from_source(str(path))), compile(parsed, str(path), "exec", dont_inherit=True))
    recorder = _RECORDER.format(count=len(names), log=str(log))
    _write(tree / "dais_verif" / _RECORDS, compile(recorder, "_calls", "exec", dont_inherit=True))
    return names


def _say(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, number: int) -> None:
    first = 0
    for one in node.body:
        text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not text and not (isinstance(one, ast.ImportFrom) and one.module == "__future__"):
            break
        first += 1
    first = min(first, len(node.body))
    line = ast.parse(f"dais_seen_[{number}] or dais_saw_({number})").body[0]
    for part in ast.walk(line):
        if hasattr(part, "lineno"):
            part.lineno = part.end_lineno = node.body[min(first, len(node.body) - 1)].lineno if node.body else 1
    node.body.insert(first, line)


def _write(place: Path, code: Any) -> None:
    place.parent.mkdir(exist_ok=True)
    unchecked = (1).to_bytes(4, "little") + bytes(8)
    place.write_bytes(importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code))


def _record(tree: Path, files: list[str], log: Path, record: Path) -> None:
    """Run the fast tests of ``files``; add a line for each test and, at the end, for each file to ``record``."""
    options = ["-m", "not slow", "--continue-on-collection-errors"]
    process = started(tree, files, {}, 600, [_Recorder(log, record)], options, PLACES, of_cpu=True)
    process.wait(0.2)
    with record.open("a") as out:
        out.writelines(json.dumps({"file": file}) + "\n" for file in files)


class _Recorder:
    """A pytest plugin that notes what is written into ``log`` during each test."""

    def __init__(self, log: Path, record: Path) -> None:
        self._log, self._record = log, record
        self._passed = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        seen = getattr(builtins, "dais_seen_", bytearray())
        seen[:] = bytes(len(seen))
        self._from, self._spent, self._passed = self._log.stat().st_size, sum(os.times()[:4]), True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed &= report.passed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        seconds = sum(os.times()[:4]) - self._spent
        with self._log.open("rb") as file:
            file.seek(self._from)
            calls = sorted({int(one) for one in file.read().split()})
        line = {"file": "", "test": nodeid, "seconds": round(seconds, 3), "passed": self._passed, "calls": calls}
        with self._record.open("a") as out:
            out.write(json.dumps(line) + "\n")
