"""Run tests and linters side by side, a job more than there are CPUs, the longest first, and a summary of what ran.

python tools/run_tests.py               the fast tests, lint and types
python tools/run_tests.py --all         also the slow tests and whole campaigns; a second call resumes
python tools/run_tests.py --changed B   the fast tests of files whose imports reach what changed since commit B
python tools/run_tests.py --lint        lint and types alone
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from reach import reached

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
#: CPU seconds of each test file in a recent run. They decide how files are put into batches, nothing else.
SECONDS = TESTS / "seconds.json"
#: No job of fast tests is shorter than this, since each starts an interpreter and loads the package, in 2 to 4 s.
SHORTEST = 24.0
PROSE = ["README.md", "CONTRIBUTING.md", "docs", "examples", "dais_verif"]
LINT = {
    "types": ["mypy"],
    "ruff": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "spelling": ["codespell", "-D", "-", "-D", "tools/vocabulary.txt", *PROSE],
}


@dataclass
class Job:
    """A command, and what became of it."""

    name: str
    command: list[str]
    files: tuple[Path, ...] = ()
    started: float = 0.0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)


def main() -> int:
    """Run what the arguments ask for, and return 0 if all passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all tests, with whole campaigns")
    parser.add_argument("--changed", metavar="BASE", help="only files whose imports reach the change since BASE")
    # One more than there are CPUs, since tests also wait: for clocks, sockets and each other's locks.
    jobs = len(os.sched_getaffinity(0)) + 1
    parser.add_argument("--jobs", type=int, default=jobs, help=f"processes at once, {jobs} by default")
    parser.add_argument("--seed", type=int, help="seed of the campaigns of --all; a new one by default")
    parser.add_argument("--write-seconds", action="store_true", help=f"write {SECONDS.name} from this run")
    parser.add_argument("--lint", action="store_true", help="lint and types alone")
    parser.add_argument("--no-lint", action="store_true", help="tests alone")
    options = parser.parse_args()

    files = [] if options.lint else sorted(TESTS.rglob("test_*.py"))
    if options.changed:
        files = reached(ROOT, files, options.changed)
        print(f"{len(files)} test files reach what changed since {options.changed}", flush=True)
    folder = ROOT / "build" / ("tests-all" if options.all else "lint" if options.lint else "tests")
    lint = [] if options.no_lint else [Job(name, [str(ROOT / ".venv/bin" / c[0]), *c[1:]]) for name, c in LINT.items()]
    environment = {**os.environ, "DAIS_TESTS": "all" if options.all else "fast"}
    # Tests start hundreds of processes, each of which would compile the modules of the package that it loads.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.all:
        tests, passed = _resumed(folder, files, options.seed)
        if passed:
            print(f"{passed} of {len(files)} files passed before on the same state; they are not run again", flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        tests = [
            Job(f"tests {n}", [*_pytest(folder / f"{n}.xml"), "-m", "not slow", *map(str, batch)], batch)
            for n, batch in enumerate(_batches(files, options.jobs), 1)
        ]
    began = time.monotonic()
    failed = _run([*lint, *tests], options.jobs, environment, folder)
    return _summary(folder, tests, failed, time.monotonic() - began, options)


def _pytest(xml: Path) -> list[str]:
    plain = ["-q", "--no-header", "-p", "no:cacheprovider", "--color=no", "-r", "fEs"]
    return [sys.executable, "-m", "pytest", "-n", "0", *plain, f"--junitxml={xml}"]


def _batches(files: list[Path], jobs: int) -> Iterator[tuple[Path, ...]]:
    """Yield ``files`` in batches that become shorter, so that all jobs end at about the same time.

    Neighbours stay together, because files of a folder share what their process loads and builds.
    """
    seconds = _seconds()
    left = sum(seconds[_name(file)] for file in files)
    batch: list[Path] = []
    length, goal = 0.0, max(SHORTEST, left / (2 * jobs))
    for file in files:
        batch.append(file)
        length += seconds[_name(file)]
        if length >= goal:
            yield tuple(batch)
            left -= length
            batch, length, goal = [], 0.0, max(SHORTEST, left / (2 * jobs))
    if batch:
        yield tuple(batch)


def _seconds() -> defaultdict[str, float]:
    return defaultdict(lambda: 1.0, json.loads(SECONDS.read_text()) if SECONDS.exists() else {})


def _name(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def _resumed(folder: Path, files: list[Path], seed: int | None) -> tuple[list[Job], int]:
    """Return a job for each file that has not passed yet on this state of the tree, and the number of those that have.

    The seed is that of the interrupted run, which ends with the answer that it would have had.
    """
    state = {"tree": _tree_state(), "seed": seed if seed is not None else random.SystemRandom().randrange(1 << 32)}
    note = folder / "state.json"
    if note.exists():
        before = json.loads(note.read_text())
        if before["tree"] == state["tree"] and seed in (None, before["seed"]):
            state = before
        else:
            for old in folder.glob("*.*"):
                old.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(state))
    print(f"seed of the campaigns: {state['seed']} (--seed {state['seed']} repeats them)", flush=True)
    seconds = _seconds()
    jobs = []
    for file in sorted(files, key=lambda file: -seconds[_name(file)]):
        xml = folder / f"{_name(file).replace('/', '.')}.xml"
        if not (folder / f"{_slug(_name(file))}.passed").exists():
            jobs.append(Job(_name(file), [*_pytest(xml), f"--hypothesis-seed={state['seed']}", str(file)], (file,)))
    return jobs, len(files) - len(jobs)


def _tree_state() -> str:
    """Return a hash of the commit and of all changes to it."""
    digest = hashlib.sha256()
    for command in (["rev-parse", "HEAD"], ["diff", "HEAD"], ["ls-files", "-o", "--exclude-standard"]):
        digest.update(subprocess.run(["git", *command], cwd=ROOT, capture_output=True, check=True).stdout)
    return digest.hexdigest()


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _run(jobs: list[Job], at_once: int, environment: dict[str, str], folder: Path) -> list[Job]:
    """Run ``jobs`` in their order, and return those that failed. The output of a job is shown if it failed."""
    waiting, running, failed = list(reversed(jobs)), list[Job](), list[Job]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(job := waiting.pop())
                job.started = time.monotonic()
                with (folder / f"{_slug(job.name)}.log").open("wb") as log:
                    job.process = subprocess.Popen(
                        job.command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
                    )
            time.sleep(0.05)
            for job in [job for job in running if job.process is not None and job.process.poll() is not None]:
                running.remove(job)
                # pytest returns 5 if it has selected no test, for example in a file of slow tests.
                good = job.process is not None and job.process.returncode in ((0, 5) if job.files else (0,))
                text = (folder / f"{_slug(job.name)}.log").read_text(errors="replace").rstrip()
                lines = text.splitlines() or [""]
                if not good:
                    failed.append(job)
                    print(f"\n{text}\n", flush=True)
                elif job.files:
                    (folder / f"{_slug(job.name)}.passed").touch()
                took = time.monotonic() - job.started
                print(f"{'ok' if good else 'FAILED':6} {took:6.1f} s  {job.name}: {lines[-1].strip('= ')}", flush=True)
    finally:
        for job in running:
            if job.process is not None:
                job.process.terminate()
    return failed


def _summary(folder: Path, jobs: list[Job], failed: list[Job], took: float, options: argparse.Namespace) -> int:
    """Print how many tests ran, passed, failed and were skipped, and why; return the exit code."""
    counts, reasons, seconds = Counter[str](), Counter[str](), defaultdict[str, float](float)
    for xml in folder.glob("*.xml"):
        for case in ET.parse(xml).iter("testcase"):
            kinds = {child.tag: child for child in case}
            kind = next((k for k in ("error", "failure", "skipped") if k in kinds), "passed")
            counts[kind] += 1
            if kind == "skipped":
                reasons[kinds[kind].get("message", "")] += 1
            spent = [float(one.get("value", 0)) for one in case.iter("property") if one.get("name") == "cpu"]
            seconds[_file_of(case.get("classname", ""))] += sum(spent)
    for reason, number in reasons.most_common():
        print(f"skipped {number}: {reason}")
    times = os.times()
    cpu = times.children_user + times.children_system
    print(f"{took / 60:.1f} minutes, {cpu / 60:.1f} CPU minutes")
    wrong = counts["failure"] + counts["error"]
    print(f"{counts['passed']} passed, {wrong} failed, {counts['skipped']} skipped")
    if failed:
        print(f"failed: {', '.join(job.name for job in failed)}")
    if options.write_seconds:
        table = {name: round(value, 1) for name, value in sorted(seconds.items()) if name}
        SECONDS.write_text(json.dumps(table, indent=0) + "\n")
    return 1 if failed or not (counts or options.changed or options.lint) else 0


def _file_of(classname: str) -> str:
    """Return the test file of a class name of JUnit, such as ``tests.unit.test_pins.Test``."""
    match = re.match(r"(?:tests\.)?(.*?\btest_\w+)", classname)
    return f"{match[1].replace('.', '/')}.py" if match else ""


if __name__ == "__main__":
    sys.exit(main())
