"""pytest plugin: programs as tests.

``pytest --dais prog.bin folder/`` creates a test for every program, and for every folder that is one design, whose own
RTL is judged. A function marked
``@pytest.mark.dais_program("prog.bin", vectors=5000)`` runs once for every program, with its record as ``dais_result``.
Each test runs ``dais-verif`` in a separate process, and passes only if the record says that bits were compared and all
were equal.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from dais_verif.base.own_command import NO_DEFAULTS
from dais_verif.base.verdict import Verdict

__all__ = ["ProgramFailed", "ProgramFile", "ProgramItem", "ProgramResult", "dais_result"]

_VERDICTS = {verdict.value for verdict in Verdict}

#: Options of a marker that say which design is judged.
_DESIGNS = frozenset(("rtl", "stages", "max_depth", "netlist", "bitstream", "wrapped"))
#: The programs and design folders to test, by the file that stands for each: the program, or the folder's model.
_GIVEN = pytest.StashKey[Mapping[Path, tuple[Path, ...]]]()


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
        help="Programs, folders of programs, or project folders. Each is a test: its RTL is simulated against the"
        " golden model. Test files go before this option.",
    )
    group.addoption("--dais-sim", choices=("icarus", "verilator", "both"), help="Simulator. Default: both.")
    group.addoption("--dais-vectors", type=int, metavar="N", help="Vectors for each program. Default: 1000.")
    group.addoption("--dais-seed", type=int, metavar="S", help="Seed of the generated vectors. Default: 0.")
    group.addoption(
        "--dais-stages", type=int, metavar="N", help="Test an emitted pipeline of N stages; 0: combinational."
    )
    group.addoption("--dais-prove", action="store_true", help="Add a second test for each program: a proof of its RTL.")
    group.addoption("--dais-out", type=Path, metavar="DIR", help="Folder for output, one subfolder per test.")


def pytest_configure(config: pytest.Config) -> None:
    """Add the given programs to the test files of the session; without test files, run only the programs."""
    config.addinivalue_line(
        "markers",
        "dais_program(*programs, **options): run `dais-verif sim` with these options on each program; the test takes"
        " the record as dais_result.",
    )
    emitted = config.getoption("--dais-stages") is not None
    given = dict.fromkeys(_programs([Path(text) for text in config.getoption("--dais")], emitted=emitted))
    marks: dict[Path, tuple[Path, ...]] = {}
    for path in given:
        mark = _mark(path)
        marks[mark] = (*marks.get(mark, ()), path)
    config.stash[_GIVEN] = marks
    if marks:
        own = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.args = list(dict.fromkeys([*own, *map(str, marks)]))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Announce a delay of the first test, since the output of a run is only shown if it fails."""
    return _first_build() if config.stash[_GIVEN] and config.getoption("--dais-sim") != "icarus" else None


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str | None:
    """Announce a delay of the first test for marked functions."""
    marked = any("dais_result" in getattr(item, "fixturenames", ()) for item in items)
    return _first_build() if marked and not config.stash[_GIVEN] else None


def _first_build() -> str | None:
    from dais_verif.base.errors import DaisError
    from dais_verif.base.toolchain import verilator_runtime

    try:
        ready = verilator_runtime.find() is not None
    except (DaisError, OSError):  # the test itself reports a missing simulator
        return None
    return None if ready else "dais-verif: the first test compiles Verilator's runtime, which is kept: 10 to 40 s"


def _programs(paths: Iterable[Path], *, emitted: bool) -> Iterator[Path]:
    """Yield the programs and design folders. ``emitted``: emitted RTL is asked for, whatever RTL is there."""
    for path in paths:
        from dais_verif.campaigns.regression.programs import SUFFIXES, find, unjudged

        if path.suffix == ".py":
            raise pytest.UsageError(f"--dais: {str(path)!r} is not a program; test files go before --dais")
        if not path.exists():
            raise pytest.UsageError(f"--dais: program {str(path)!r} does not exist")
        if not path.is_dir() and not path.is_file():
            raise pytest.UsageError(f"--dais: {str(path)!r} is neither a file nor a folder")
        search = find(str(path))
        if not search.found and not search.left_out:
            raise pytest.UsageError(f"--dais: no program ({', '.join(SUFFIXES)}) in the folder {str(path)!r}")
        problems = [*search.left_out, *([] if emitted else unjudged(search))]
        if problems:
            raise pytest.UsageError("--dais: " + "; ".join(problems).replace("--stages", "--dais-stages"))
        yield from (each.path.resolve() for each in search.found)


def _mark(path: Path) -> Path:
    """Return the file that pytest collects for ``path``: itself, or a file in a folder that is one design."""
    from dais_verif.subject.design_folders import design_mark

    return (design_mark(path) or path) if path.is_dir() else path


# programs as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ProgramFile | None:
    """Return a collector for a given program, or for the design folder in which the file is."""
    if file_path.resolve() not in parent.config.stash[_GIVEN]:
        return None
    return ProgramFile.from_parent(parent, path=file_path)


class ProgramFile(pytest.File):
    """The tests of one program, or of the folder with a design for which the file stands."""

    def collect(self) -> Iterator[ProgramItem]:
        """Yield a ``sim`` test, and a ``prove`` test if requested."""
        option = self.config.getoption
        stages = {"stages": option("--dais-stages")} if option("--dais-stages") else {}
        asked = {"sim": option("--dais-sim"), "vectors": option("--dais-vectors"), "seed": option("--dais-seed")}
        options = {name: value for name, value in asked.items() if value is not None}
        variant = f"[stages={stages['stages']}]" if stages else ""
        for path in self.config.stash[_GIVEN][self.path.resolve()]:
            of = "[folder]" if path.is_dir() else variant
            asks = {"sim": {**options, **stages}, **({"prove": stages} if option("--dais-prove") else {})}
            for verb, said in asks.items():
                yield ProgramItem.from_parent(self, name=f"{verb}{of}", ask=Ask(path, verb, said))


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
        return self.path, None, f"{self.ask.program.name}: {self.name}"


# programs of a test function


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a marked function with its programs, whose paths are relative to the file of the function."""
    marker = metafunc.definition.get_closest_marker("dais_program")
    if marker is None:
        return
    where = metafunc.definition.nodeid
    if sum(one.name == "dais_program" for one in metafunc.definition.own_markers) > 1:
        pytest.fail(f"{where} is marked dais_program twice: give all programs to one marker", pytrace=False)
    if "dais_result" not in metafunc.fixturenames:
        pytest.fail(f"{where} is marked dais_program but runs no program: it must take dais_result", pytrace=False)
    beside = metafunc.definition.path.parent
    found = {str(text): _matching(beside, str(text)) for text in marker.args}
    missing = [text for text, those in found.items() if not those]
    if missing or not found:
        pytest.fail(f"{where}: dais_program names no program that exists: {missing}", pytrace=False)
    if empty := [name for name, value in marker.kwargs.items() if isinstance(value, list | tuple) and not value]:
        pytest.fail(f"{where}: {empty[0]} is empty, as a pattern is that matches no file", pytrace=False)
    paths = list(dict.fromkeys(path for those in found.values() for path in those))
    if not _DESIGNS & marker.kwargs.keys() and (whole := next(filter(None, map(_folder_of, paths)), None)):
        why = f"{where}: its model is in the project folder {str(whole)!r}, whose RTL no test verifies: name the folder"
        pytest.fail(f"{why}, or ask for emitted RTL with stages=0", pytrace=False)
    given = {name: value for name, value in marker.kwargs.items() if (name, value) != ("stages", 0)}
    asks = [Ask(path, "sim", given) for path in paths]
    metafunc.parametrize("dais_result", asks, ids=_names(paths), indirect=True)


def _matching(beside: Path, text: str) -> list[Path]:
    """Return the files and design folders that ``text`` names; a broken link is one of them, and its run will fail."""
    from dais_verif.subject.design_folders import design_mark

    found = [Path(text)] if Path(text).is_absolute() else sorted(beside.glob(text))
    there = (path for path in found if path.exists() or path.is_symlink())
    return [path for path in there if not path.is_dir() or design_mark(path) is not None]


def _folder_of(path: Path) -> Path | None:
    from dais_verif.subject.design_folders import folder_of_model

    return folder_of_model(path)


def _names(paths: Sequence[Path]) -> list[str]:
    """Return stems, or file names if two stems are equal, or as much of the path as tells them apart."""
    for names in ([path.stem for path in paths], [path.name for path in paths]):
        if len(set(names)) == len(names):
            return names
    return [path.as_posix() for path in paths]


class ProgramResult(Mapping[str, Any]):
    """The record of a run (docs/report.md), which is started on first access, at the latest when the test begins."""

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
    elif item.get_closest_marker("dais_program") is not None:  # a method of unittest, or another fixture of that name
        why = "a method of unittest.TestCase cannot take dais_result, nor may a fixture of yours have that name"
        pytest.fail(f"{item.nodeid} is marked dais_program but ran no program: {why}", pytrace=False)


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
    simple = re.sub(r"[^\w.=-]+", "_", name)[-150:]
    if simple != name.replace("::", "_"):  # other tests may be written in the same way
        simple += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    simple += f"_run{attempt}" if attempt > 1 else ""
    return factory.mktemp(simple) if kept is None else kept / simple


def _run(ask: Ask, folder: Path, attempt: int) -> dict[str, Any]:
    """Return the record of a run that passed. Raises ``ProgramFailed``."""
    environment = {**os.environ, **NO_DEFAULTS}
    done = subprocess.run(
        ask.words(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment
    )
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
        from dais_verif.base.own_command import own_command

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
