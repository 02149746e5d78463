"""Check for many random changes to the prover's own code whether a test notices them.

Run it as ``python -m prove.mutation.campaign``. First, the lines that each fast test of the prover executes are
recorded, once. Then each mutant is put into a copy of the sources, and the tests that execute its statement are run,
quick ones first, until one fails. If none of them notices the mutant, all other fast tests of the prover are run; if
they do not notice it either, the mutant has *survived*. It needs a test, or an entry in ``equal.toml`` that says why
nothing can distinguish it from the original.

Results are written as they are found. An interrupted campaign resumes on the sources of the commit on which it began;
survivors are run against the tests that have been written or changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from prove.mutation.forks import Ended, Running, preload, scratch_of, started
from prove.mutation.mutants import Mutant, modules_of, sample

__all__ = ["main"]

KILLED, TIMEOUT, SURVIVED = "killed", "timeout", "survived"
EXPLAINED = Path(__file__).with_name("equal.toml")

#: The first run: the quickest tests, and few of each file. Then this many tests at a time.
_FIRST, _FEW, _TOGETHER = 3, 15, 400


class Tests:
    """The tests in one tree, by file, with the lines that they execute and the time that they take."""

    def __init__(self, tree: Path, sources: str, files: Iterable[str], known: Path) -> None:
        self._tree, self._sources, self._known = tree, sources, known
        self.hashes = {file: hashlib.sha256((tree / file).read_bytes()).hexdigest()[:16] for file in files}
        found = json.loads(known.read_text()) if known.is_file() else {}
        self._maps = {file: entry for file, entry in found.items() if entry["hash"] == self.hashes.get(file)}
        new = [file for file in self.hashes if file not in self._maps]
        if new:
            self._measure(new)
        self.seconds = {test: s for entry in self._maps.values() for test, s in entry["seconds"].items()}

    def _measure(self, files: list[str]) -> None:
        """Run all tests of ``files`` on the unchanged sources."""
        click.echo(f"which lines do the tests of {len(files)} files execute? This takes minutes.")
        out = self._known.with_suffix(".part")
        environment = os.environ | {
            "MUTATION_MAP": str(out),
            "MUTATION_SOURCES": str(self._tree / self._sources),
            "PYTHONPATH": os.pathsep.join(map(str, (self._tree, self._tree / "tests", Path(__file__).parents[2]))),
            "DAIS_VERIF_CACHE": str(scratch_of(self._tree) / "cache"),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "prove.mutation.lines"]
        command += ["--continue-on-collection-errors"]  # a test may need code that these sources lack
        command += ["-p", "no:cacheprovider", f"--rootdir={self._tree}", *files]
        run = subprocess.run(command, cwd=self._tree, env=environment, capture_output=True, text=True)
        if not out.is_file():  # tests that fail here are ignored
            raise click.ClickException(f"the tests do not run on the unchanged sources:\n{run.stdout}{run.stderr}")
        click.echo(run.stdout.splitlines()[-1])
        found = json.loads(out.read_text())
        for file in files:
            entry: dict[str, Any] = {"hash": self.hashes[file], "seconds": {}, "lines": {}}
            for test, seconds in found["seconds"].items():
                if test.startswith(file + "::"):
                    entry["seconds"][test] = seconds
            for module, executed in found["lines"].items():
                entry["lines"][module] = {
                    test: lines for test, lines in executed.items() if test in entry["seconds"] or test == file
                }
            self._maps[file] = entry
        out.unlink()
        self._known.write_text(json.dumps(self._maps))

    def of(self, mutant: Mutant, tried: dict[str, str]) -> list[list[str]]:
        """Return the tests that may notice ``mutant``, in the order to run them, without those in ``tried``."""
        first, last = mutant.lines
        found: list[str] = []
        anyhow: list[str] = []
        for file, entry in self._maps.items():
            if tried.get(file) != entry["hash"]:
                executed = entry["lines"].get(mutant.module, {})
                some = [test for test, lines in executed.items() if any(first <= line <= last for line in lines)]
                found += entry["seconds"] if file in some else some
                anyhow += [test for test, lines in executed.items() if lines and test != file]
        found = found or anyhow  # the statement is executed during import, or never
        return self._in_order(found)

    def others(self, asked: Iterable[str], tried: dict[str, str]) -> list[list[str]]:
        """Return all other tests."""
        files = [file for file in self._maps if tried.get(file) != self.hashes[file]]
        new = {test for file in files for test in self._maps[file]["seconds"]}
        return self._in_order(new - set(asked))

    def _in_order(self, tests: Iterable[str]) -> list[list[str]]:
        quick = sorted(tests, key=lambda test: (self.seconds[test], test))
        count: Counter[str] = Counter()
        first: list[str] = []
        for test in quick:
            file = test.split("::")[0]
            count[file] += 1
            if count[file] <= _FIRST and self.seconds[test] < 0.5 and len(first) < _FEW:
                first.append(test)
        chosen = set(first)
        rest = [test for test in quick if test not in chosen]
        return [part for part in (first, *(rest[n : n + _TOGETHER] for n in range(0, len(rest), _TOGETHER))) if part]


class Campaign:
    """The results for all mutants so far, by their keys; ``path`` is the file that stores them."""

    def __init__(self, path: Path, question: dict[str, Any]) -> None:
        self._path = path
        self.question, self.records = question, {}
        if path.is_file():
            found = json.loads(path.read_text())
            if {**found["question"], "commit": None} == {**question, "commit": None}:
                self.question, self.records = found["question"], found["mutants"]

    def keep(self, explained: dict[str, str]) -> None:
        """Write all records."""
        tree = {"question": self.question, "table": table(self.records, explained), "mutants": self.records}
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(tree, indent=1))
        part.replace(self._path)


def table(records: dict[str, dict[str, Any]], explained: dict[str, str]) -> list[str]:
    """Return the numbers of each group of modules, as Markdown."""
    header = ["modules", "mutants", "killed", "by a time limit", "explained as equal", "survived"]
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    groups: dict[str, list[str]] = {}
    for key in sorted(records):
        module = records[key]["module"]
        groups.setdefault(f"{module.split('/')[0]}/" if "/" in module else module.removesuffix(".py"), []).append(key)
    for name, keys in [*groups.items(), ("all", list(records))]:
        status = Counter(_status(key, records[key], explained) for key in keys)
        numbers = (len(keys), *(status[kind] for kind in (KILLED, TIMEOUT, "equal", SURVIVED)))
        lines.append([name, *map(str, numbers)])
    return [f"| {' | '.join(line)} |" for line in lines]


def _status(key: str, record: dict[str, Any], explained: dict[str, str]) -> str:
    return "equal" if record["status"] == SURVIVED and key in explained else record["status"]


def explanations(path: Path = EXPLAINED) -> dict[str, str]:
    """Return the reason why nothing can distinguish a mutant from the original, by key; mutants may share a reason."""
    import tomllib

    tree = tomllib.loads(path.read_text()) if path.is_file() else {}
    return {key: entry["because"] for entry in tree.get("equal", ()) for key in entry["mutants"]}


def _job(mutant: Mutant, record: dict[str, Any], tests: Tests, rest: bool, budget: float) -> Iterator[list[str]]:
    """Yield the tests to run, one process at a time, as long as no test notices the mutant."""
    slowest = budget / 10
    for part in tests.of(mutant, record.get("met" if rest else "tried", {})):
        if rest:
            yield part
        elif within := [t for t in part if tests.seconds[t] < slowest and (budget := budget - tests.seconds[t]) > 0]:
            yield within
    if rest:
        asked = {test for part in tests.of(mutant, {}) for test in part}
        yield from tests.others(asked, record.get("met", {}))


class _Worker:
    """A copy of the sources, and the mutant in it."""

    def __init__(self, tree: Path, sources: str, patience: float) -> None:
        self._tree, self._sources, self._patience = tree, sources, patience
        self._running: Running | None = None

    def begin(self, mutant: Mutant, record: dict[str, Any], tests: Tests, rest: bool, budget: float) -> None:
        self.mutant, self.tests = mutant, tests
        self.record = {field: getattr(mutant, field) for field in ("module", "function", "operator", "old", "new")}
        self.record |= {"lines": list(mutant.lines), "seconds": record.get("seconds", 0.0)}
        self._parts = _job(mutant, record, tests, rest, budget)
        self._met = tests.hashes if rest else record.get("met", {})
        self._file = self._tree / self._sources / mutant.module
        self._before, self._times = self._file.read_bytes(), self._file.stat()
        self._file.write_text(mutant.text)
        self._next()

    def _next(self) -> bool:
        part = next(self._parts, None)
        if part is None:
            return False
        self._running = started(self._tree, part, self.tests.seconds, self._patience)
        return True

    def ended(self) -> dict[str, Any] | None:
        """Return the record, or None while the tests are running."""
        if self._running is not None:
            ended = self._running.ended()
            if ended is None:
                return None
            self.record["seconds"] = round(self.record["seconds"] + ended.seconds, 2)
            if ended.failed is None and self._next():
                return None
            self._running = None
            if ended.failed is not None:
                return self._result(ended)
        return self._result(Ended(None, False, 0.0))

    def _result(self, ended: Ended) -> dict[str, Any]:
        self._file.write_bytes(self._before)
        os.utime(self._file, ns=(self._times.st_atime_ns, self._times.st_mtime_ns))
        if ended.failed is None:
            # A run with --no-rest has tried some tests of each file, but not all.
            return {**self.record, "status": SURVIVED, "tried": self.tests.hashes, "met": self._met}
        return {**self.record, "status": TIMEOUT if ended.late else KILLED, "by": ended.failed}


def _grown(root: Path, commit: str, tree: Path, tests: str) -> None:
    """Extract the files of ``commit`` into ``tree``, with the current tests and the compiled modules."""
    shutil.rmtree(tree, ignore_errors=True)
    archive = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=True).stdout
    tree.mkdir(parents=True)
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)  # Python 3.11.2 has no filters to extract with
    shutil.rmtree(tree / tests)
    shutil.copytree(root / tests, tree / tests, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    for compiled in (root / "dais_verif").rglob("*.so"):
        shutil.copy2(compiled, tree / compiled.relative_to(root))


def _files(tree: Path, tests: str, sources: str) -> list[str]:
    """Return the test files on the prover: those in its folder or that name its package, but not this campaign's."""
    package = sources.replace("/", ".")
    found = []
    for path in sorted((tree / tests).rglob("test_*.py")):
        name = path.relative_to(tree).as_posix()
        about = path.parent.name == Path(sources).name or package in path.read_text()
        if about and path.name != "test_mutation.py":
            found.append(name)
    return found


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/mutate-prover.json"))
@click.option("--mutants", "count", default=300, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", default=2, show_default=True)
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The repository.")
@click.option("--sources", default="dais_verif/prover", show_default=True)
@click.option("--tests", "folder", default="tests", show_default=True)
@click.option("--preload/--no-preload", "heavy", default=True, help="Whether to load what tests of the prover import.")
@click.option("--rest/--no-rest", default=True, help="Whether survivors meet all other tests, too.")
@click.option("--budget", default=30.0, show_default=True, help="Seconds of tests for a mutant, with --no-rest.")
@click.option(
    "--patience", default=20.0, show_default=True, help="Seconds that a test may take beyond eight times its own."
)
@click.option("--explained", type=click.Path(path_type=Path), default=EXPLAINED)
def main(
    output: Path,
    count: int,
    seed: int,
    jobs: int,
    root: Path,
    sources: str,
    folder: str,
    heavy: bool,
    rest: bool,
    budget: float,
    patience: float,
    explained: Path,
) -> None:
    """Run the prover's fast tests against mutants of the prover's own code."""
    root, output = root.resolve(), output.resolve()
    work = output.with_suffix("")
    work.mkdir(parents=True, exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    campaign = Campaign(output, {"commit": head.stdout.strip(), "mutants": count, "seed": seed, "sources": sources})
    trees = [work / f"tree-{n}" for n in range(jobs)]
    for tree in trees:
        _grown(root, campaign.question["commit"], tree, folder)
    tests = Tests(
        trees[0], sources, _files(trees[0], folder, sources), work / f"lines-{campaign.question['commit'][:12]}.json"
    )
    reasons = explanations(explained)
    chosen = sample(trees[0] / sources, count, seed)
    waiting = [mutant for mutant in chosen if _open(mutant.key, campaign.records, tests, rest, reasons)]
    click.echo(f"{len(chosen)} mutants of {len(modules_of(trees[0] / sources))} modules, {len(waiting)} to ask")
    if heavy:
        preload()
    idle, busy = [_Worker(tree, sources, patience) for tree in trees], []
    while waiting or busy:
        while idle and waiting:
            worker, mutant = idle.pop(), waiting.pop(0)
            worker.begin(mutant, campaign.records.get(mutant.key, {}), tests, rest, budget)
            busy.append(worker)
        time.sleep(0.02)
        for worker in list(busy):
            record = worker.ended()
            if record is not None:
                busy.remove(worker)
                idle.append(worker)
                campaign.records[worker.mutant.key] = record
                campaign.keep(reasons)
                click.echo(f"{record['status']:8} {record['seconds']:7.1f} s  {worker.mutant.key}")
    campaign.keep(reasons)
    click.echo("\n".join(table(campaign.records, reasons)))
    left = [key for key, record in campaign.records.items() if _status(key, record, reasons) == SURVIVED]
    for key in left:
        click.echo(f"survived: {key}")
    sys.exit(bool(left))


def _open(key: str, records: dict[str, dict[str, Any]], tests: Tests, rest: bool, reasons: dict[str, str]) -> bool:
    """Return whether a mutant still needs tests to be run."""
    record = records.get(key)
    if record is None:
        return True
    if record["status"] != SURVIVED or key in reasons:
        return False
    return record["tried"] != tests.hashes or (rest and record["met"] != tests.hashes)


if __name__ == "__main__":
    main()
