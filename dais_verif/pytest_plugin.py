"""pytest plugin: programs as tests.

``pytest --dais prog.bin folder/`` creates a test for every program. A function marked
``@pytest.mark.dais_program("prog.bin", vectors=5000)`` runs once for every program, with its record as ``dais_result``.
Each test runs ``dais-verif`` in a separate process, and passes only if the record says that bits were compared and all
were equal.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from dais_verif.verdict import Verdict

__all__ = ["ProgramFailed", "ProgramFile", "ProgramItem", "ProgramResult", "dais_result"]

_VERDICTS = {verdict.value for verdict in Verdict}

_GIVEN = pytest.StashKey[frozenset[Path]]()


@dataclass(frozen=True)
class Ask:
    """One run of the command ``verb``. ``options``: their values by name, without dashes; ``True`` for a flag."""

    program: Path
    verb: str = "sim"
    options: Mapping[str, Any] = field(default_factory=dict)

    def words(self, folder: Path) -> list[str]:
        """Return the command."""
        words = [sys.executable, "-m", "dais_verif", self.verb, str(self.program)]
        for name, value in self.options.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            for one in values:
                words += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
        return [*words, "-o", str(folder)]


class ProgramFailed(Exception):
    """A run that did not pass. The text has the verdict in one line, the run's output, and the command to reproduce it.

    ``record``: the record of the run; None if there is none.
    """

    def __init__(self, text: str, record: Mapping[str, Any] | None) -> None:
        super().__init__(text)
        self.record = record


# command line


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with ``--dais``."""
    group = parser.getgroup("dais", "DAIS programs (dais-verif)")
    group.addoption(
        "--dais",
        nargs="+",
        action="extend",
        default=[],
        metavar="PROGRAM",
        help="Programs or folders of programs. Each program is a test: its RTL is simulated against the golden"
        " model. Test files go before this option.",
    )
    group.addoption("--dais-sim", choices=("icarus", "verilator", "both"), help="Simulator. Default: both.")
    group.addoption("--dais-vectors", type=int, metavar="N", help="Vectors for each program. Default: 1000.")
    group.addoption("--dais-seed", type=int, metavar="S", help="Seed of the generated vectors. Default: 0.")
    group.addoption("--dais-stages", type=int, metavar="N", help="Test a pipeline of N stages instead of one module.")
    group.addoption("--dais-prove", action="store_true", help="Add a second test for each program: a proof of its RTL.")
    group.addoption("--dais-out", type=Path, metavar="DIR", help="Folder for output, one subfolder per test.")


def pytest_configure(config: pytest.Config) -> None:
    """Add the given programs to the test files of the session; without test files, run only the programs."""
    config.addinivalue_line(
        "markers",
        "dais_program(*programs, **options): run `dais-verif sim` with these options on each program; the test takes"
        " the record as dais_result.",
    )
    given = list(_programs([Path(text) for text in config.getoption("--dais")]))
    config.stash[_GIVEN] = frozenset(given)
    if given:
        own = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.args = list(dict.fromkeys([*own, *map(str, given)]))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Announce a delay of the first test, since the output of a run is only shown if it fails."""
    return _first_build() if config.stash[_GIVEN] and config.getoption("--dais-sim") != "icarus" else None


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str | None:
    """Announce a delay of the first test for marked functions."""
    marked = any("dais_result" in getattr(item, "fixturenames", ()) for item in items)
    return _first_build() if marked and not config.stash[_GIVEN] else None


def _first_build() -> str | None:
    from dais_verif.errors import DaisError
    from dais_verif.toolchain import verilator_runtime

    try:
        ready = verilator_runtime.find() is not None
    except (DaisError, OSError):  # the test itself reports a missing simulator
        return None
    return None if ready else "dais-verif: the first test compiles Verilator's runtime, which is kept: 10 to 40 s"


def _programs(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            from dais_verif.regression.programs import SUFFIXES, find  # imported late: most sessions have no programs

            found = find(str(path))
            if not found:
                raise pytest.UsageError(f"--dais: no program ({', '.join(SUFFIXES)}) in the folder {str(path)!r}")
            yield from (each.path.resolve() for each in found)
        elif not path.is_file():
            raise pytest.UsageError(f"--dais: program {str(path)!r} does not exist")
        elif path.suffix == ".py":
            raise pytest.UsageError(f"--dais: {str(path)!r} is not a program; test files go before --dais")
        else:
            yield path.resolve()


# programs as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ProgramFile | None:
    """Return a collector for a given program."""
    if file_path.resolve() not in parent.config.stash[_GIVEN]:
        return None
    return ProgramFile.from_parent(parent, path=file_path)


class ProgramFile(pytest.File):
    """The tests of one program."""

    def collect(self) -> Iterator[ProgramItem]:
        """Yield a ``sim`` test, and a ``prove`` test if requested."""
        option = self.config.getoption
        stages = {} if option("--dais-stages") is None else {"stages": option("--dais-stages")}
        asked = {"sim": option("--dais-sim"), "vectors": option("--dais-vectors"), "seed": option("--dais-seed")}
        options = {name: value for name, value in asked.items() if value is not None}
        variant = f"[stages={stages['stages']}]" if stages else ""
        yield ProgramItem.from_parent(self, name=f"sim{variant}", ask=Ask(self.path, "sim", {**options, **stages}))
        if option("--dais-prove"):
            yield ProgramItem.from_parent(self, name=f"prove{variant}", ask=Ask(self.path, "prove", stages))


class ProgramItem(pytest.Item):
    """One run of one program."""

    def __init__(self, *, ask: Ask, **given: Any) -> None:
        super().__init__(**given)
        self.ask = ask

    def runtest(self) -> None:
        """Run the command; raises ``ProgramFailed``."""
        factory: pytest.TempPathFactory = self.config._tmp_path_factory  # type: ignore[attr-defined]
        attempt = _attempt(self)
        folder = _folder(self.config, factory, self.nodeid, attempt)
        try:
            _tell(self, _run(self.ask, folder, attempt), attempt)
        except ProgramFailed as failure:
            _tell(self, failure.record, attempt)
            raise

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the output of the run instead of a Python traceback."""
        if isinstance(excinfo.value, ProgramFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the path of the program, which has no line numbers."""
        return self.path, None, f"{self.path.name}: {self.name}"


# programs of a test function


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a marked function with its programs, whose paths are relative to the file of the function."""
    marker = metafunc.definition.get_closest_marker("dais_program")
    if marker is None:
        return
    where = metafunc.definition.nodeid
    if "dais_result" not in metafunc.fixturenames:
        pytest.fail(f"{where} is marked dais_program but runs no program: it must take dais_result", pytrace=False)
    beside = metafunc.definition.path.parent
    paths = [path for text in marker.args for path in _matching(beside, str(text))]
    if not paths:
        pytest.fail(f"{where}: dais_program names no program that exists: {list(marker.args)}", pytrace=False)
    asks = [Ask(path, "sim", marker.kwargs) for path in paths]
    metafunc.parametrize("dais_result", asks, ids=_names(paths), indirect=True)


def _matching(beside: Path, text: str) -> list[Path]:
    if Path(text).is_absolute():
        return [Path(text)] if Path(text).is_file() else []
    return sorted(path for path in beside.glob(text) if path.is_file())


def _names(paths: Sequence[Path]) -> list[str]:
    """Return stems, or file names if two stems are equal."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [path.name for path in paths]


class ProgramResult(Mapping[str, Any]):
    """The record of a run (docs/result.md), which is started on first access, at the latest when the test begins."""

    def __init__(self, ask: Ask, folder: Path, attempt: int = 1) -> None:
        self._ask, self._folder, self._attempt = ask, folder, attempt

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The record. Raises ``ProgramFailed``."""
        return _run(self._ask, self._folder, self._attempt)

    def __getitem__(self, name: str) -> Any:
        return self.record[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.record)

    def __len__(self) -> int:
        return len(self.record)


@pytest.fixture
def dais_result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ProgramResult:
    """Return the record of a run of the test's program; if the run did not pass, the test fails with its output."""
    ask: Ask | None = getattr(request, "param", None)
    if ask is None:
        pytest.fail("dais_result needs a program: mark the test with @pytest.mark.dais_program(...)", pytrace=False)
    attempt = _attempt(request.node)
    return ProgramResult(ask, _folder(request.config, tmp_path_factory, request.node.nodeid, attempt), attempt)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Run the command in the call phase of the test, not in set-up, so that a mismatch is a failure, not an error."""
    result = getattr(item, "funcargs", {}).get("dais_result")
    if isinstance(result, ProgramResult):
        problem = None
        try:
            record: Mapping[str, Any] | None = result.record
        except ProgramFailed as failure:
            problem, record = str(failure), failure.record
        _tell(item, record, _attempt(item))
        if problem is not None:
            pytest.fail(problem, pytrace=False)


# reruns


def _attempt(item: pytest.Item) -> int:
    """Return the number of this run of the test, as pytest-rerunfailures counts them."""
    return int(getattr(item, "execution_count", 1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List tests that only passed when rerun; since the vectors were the same, the cause is elsewhere."""
    for report in terminalreporter.stats.get("passed", []):
        attempt = dict(getattr(report, "user_properties", ())).get("dais_attempt", 1)
        if attempt != 1:
            terminalreporter.write_line(f"dais-verif: passed only in run {attempt}: {report.nodeid}", yellow=True)


# runs


def _folder(config: pytest.Config, factory: pytest.TempPathFactory, name: str, attempt: int) -> Path:
    kept: Path | None = config.getoption("--dais-out")
    simple = re.sub(r"[^\w.=-]+", "_", name)[-150:] + (f"_run{attempt}" if attempt > 1 else "")
    return factory.mktemp(simple) if kept is None else kept / simple


def _run(ask: Ask, folder: Path, attempt: int) -> dict[str, Any]:
    """Return the record of a run that passed. Raises ``ProgramFailed``."""
    done = subprocess.run(ask.words(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    said = f"{done.stdout}{done.stderr if done.returncode else ''}".strip()
    record = _record_in(folder)
    if done.returncode:
        problem = _headline(said) or f"dais-verif {ask.verb} ended with exit code {done.returncode}"
    elif record is None:
        problem = f"dais-verif {ask.verb} left no result.json"
    else:
        vacuous = _vacuous(ask.verb, record)
        if not vacuous:
            return record
        problem = f"{record['verdict']}, and {vacuous}"
    if not re.search("^reproduce  ", said, re.MULTILINE):
        from dais_verif.own_command import own_command

        said += f"\nreproduce  {own_command(ask.words(folder)[3:])}"
    if attempt > 1:
        said += f"\nrun {attempt} of this test, on the same vectors as the runs before"
    raise ProgramFailed(f"{problem}\n\n{said.strip()}", record)


def _record_in(folder: Path) -> dict[str, Any] | None:
    """Return the record that a run wrote; None if there is none, or it is truncated."""
    try:
        record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _headline(said: str) -> str | None:
    """Return the verdict and the reason that a run printed, in one line, since summaries only show the first line."""
    for line in reversed(said.splitlines()):
        found = re.fullmatch(r"(?:dais-verif: )?([A-Z_]+)(?::|  ) *(.*)", line)
        if found and found[1] in _VERDICTS:
            return f"{found[1]}: {found[2]}"
    return None


def _vacuous(verb: str, record: Mapping[str, Any]) -> str | None:
    """Return the reason why a record does not show a pass, in spite of exit code 0; None if it does."""
    if record["verdict"] != "PASS":
        return f"the verdict in result.json is {record['verdict']}"
    if verb == "sim" and not (record["simulators"] and all(one["bits_compared"] for one in record["simulators"])):
        return "a simulator compared no bit"
    if verb == "prove" and not (record["outputs"] and all(one["status"] == "PROVED" for one in record["outputs"])):
        return "an output was not proved"
    return None


def _tell(item: pytest.Item, record: Mapping[str, Any] | None, attempt: int) -> None:
    """Set the properties that JUnit XML shows for a run, replacing those of an earlier attempt."""
    found = [] if record is None else _properties(record)
    if attempt > 1:
        found.append(("dais_attempt", attempt))
    item.user_properties[:] = [*(one for one in item.user_properties if not one[0].startswith("dais_")), *found]


def _properties(record: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return the run's hash, verdict, seed, vectors, and the number of bits that each simulator compared."""
    known = {
        "dais_hash": (record.get("program") or {}).get("hash"),
        "dais_verdict": record.get("verdict"),
        "dais_seed": record.get("seed"),
        "dais_vectors": record.get("vectors"),
    }
    found: list[tuple[str, object]] = [(name, value) for name, value in known.items() if value is not None]
    for one in record.get("simulators") or []:
        if "vectors_compared" in one:
            found.append((f"dais_{one['name']}", f"{one['vectors_compared']} vectors, {one['bits_compared']} bits"))
    return found
