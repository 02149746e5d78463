"""Prove programs and let several solvers decide every obligation, as a part of ``make evidence``.

Each program is proved with ``--dump-smt``, which writes every statement on which its proof depends, without the rules
of the normal form. bitwuzla, and z3 and cvc5 if they are installed, then decide every statement from its file. Users
who trust one of them need to trust neither the normal form nor the decisions of dais-verif, but only that the
statements are the right ones.

Answers are stored, so that an interrupted run continues where it stopped. Evidence of other code or of another program
is made again. Exit codes: 0 every solver confirms every statement, 1 a solver refutes one or a proof failed, 6 some
were not decided in time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
#: The package of each solver; the first one is always installed, since proofs need it.
PACKAGES = {"bitwuzla": "bitwuzla", "z3": "z3-solver", "cvc5": "cvc5"}


class Question(NamedTuple):
    """A statement for one solver. ``sha256``: the hash of the file."""

    solver: str
    file: Path
    sha256: str
    expected: str


def bitwuzla_says(file: Path, seconds: float) -> str:
    """Return bitwuzla's answer to ``file``: ``sat``, ``unsat`` or ``unknown``."""
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(seconds * 1000))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(str(file), True)
    return str(parser.bitwuzla().check_sat())


def z3_says(file: Path, seconds: float) -> str:
    """Return z3's answer to ``file``."""
    import z3

    solver = z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    solver.add(z3.parse_smt2_file(str(file)))
    return str(solver.check())


def cvc5_says(file: Path, seconds: float) -> str:
    """Return cvc5's answer to ``file``."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, str(file))
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = command.invoke(solver, parser.getSymbolManager()).strip() or said
    return said if said in ("sat", "unsat") else "unknown"


SOLVERS: dict[str, Callable[[Path, float], str]] = {"bitwuzla": bitwuzla_says, "z3": z3_says, "cvc5": cvc5_says}


def solvers() -> dict[str, str]:
    """Return the solvers that are installed, with their versions."""
    found = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            print(f"{name} is not installed (pip install {package}): it is not used")
    return found


def answer(question: Question, seconds: float) -> dict[str, Any]:
    """Return the answer of a solver, in the form in which it is stored."""
    start = time.perf_counter()
    said = SOLVERS[question.solver](question.file, seconds)
    return {
        "solver": question.solver,
        "file": question.file.name,
        "sha256": question.sha256,
        "answer": said,
        "expected": question.expected,
        "seconds": round(time.perf_counter() - start, 4),
    }


def stamp_of(program: Path) -> str:
    """Return the hash of a program and of all code that proves it."""
    digest = hashlib.sha256(program.read_bytes())
    for file in sorted((ROOT / "dais_verif").rglob("*.py")):
        digest.update(f"{file.relative_to(ROOT)} ".encode() + file.read_bytes())
    return digest.hexdigest()


def proved(program: Path, folder: Path) -> dict[str, Any]:
    """Return the record of a proof of ``program``, whose statements are in ``folder / "obligations"``."""
    record, stamp = folder / "proof.json", folder / "stamp"
    if stamp.is_file() and stamp.read_text() == stamp_of(program):
        known: dict[str, Any] = json.loads(record.read_text())
        return known
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "dais_verif", "prove", str(program), "--no-cache", "--json"]
    done = subprocess.run(
        [*command, "--dump-smt", str(folder / "obligations")], capture_output=True, text=True, cwd=ROOT, check=False
    )
    tree: dict[str, Any] = json.loads(done.stdout)
    if tree["verdict"] == "PASS":  # only a proof that passed has statements to decide
        record.write_text(json.dumps(tree, indent=1))
        stamp.write_text(stamp_of(program))
    return tree


def asked(folder: Path, names: Sequence[str]) -> list[Question]:
    """Return all statements of a proof, for all solvers."""
    index = json.loads((folder / "obligations" / "index.json").read_text())
    found = []
    for statement in index["statements"]:
        file = folder / "obligations" / statement["file"]
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        found += [Question(name, file, sha256, statement["answer"]) for name in names]
    return found


def answered(folder: Path, versions: dict[str, str]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return stored answers of these versions, by solver, file and its hash; partial lines are ignored."""
    found = {}
    path = folder / "answers.jsonl"
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        if versions.get(one["solver"]) == one["version"] and one["answer"] != "unknown":
            found[one["solver"], one["file"], one["sha256"]] = one
    return found


def decided(folder: Path, versions: dict[str, str], seconds: float, jobs: int) -> list[dict[str, Any]]:
    """Return the answers of all solvers to all statements in ``folder``; the solvers decide those not stored yet."""
    known = answered(folder, versions)
    questions = asked(folder, list(versions))
    new = [q for q in questions if (q.solver, q.file.name, q.sha256) not in known]
    with (folder / "answers.jsonl").open("a") as kept, ProcessPoolExecutor(jobs) as pool:
        kept.write("\n")  # an interrupted run may have left a partial line
        for one in pool.map(answer, new, [seconds] * len(new), chunksize=16):
            one["version"] = versions[one["solver"]]
            kept.write(json.dumps(one) + "\n")
            kept.flush()
            known[one["solver"], one["file"], one["sha256"]] = one
    return [known[q.solver, q.file.name, q.sha256] for q in questions]


def summary(name: str, record: dict[str, Any], answers: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return the summary of one program; wrong answers are in ``wrong``."""
    index = json.loads((folder / "obligations" / "index.json").read_text()) if answers else {}
    wrong = [one for one in answers if one["answer"] not in (one["expected"], "unknown") or one["expected"] != "unsat"]
    counts = Counter((one["solver"], one["answer"]) for one in answers)
    solver_seconds: Counter[str] = Counter()
    for one in answers:
        solver_seconds[one["solver"]] += one["seconds"]
    return {
        "program": name,
        "verdict": record["verdict"],
        "message": record["message"],
        "claims": sum(kinds["ops"] + kinds["outputs"] for kinds in record.get("claims", {}).values()),
        "statements": len(index.get("statements", ())),
        "not_stated": len(index.get("not_stated", ())),
        "terms": index.get("terms"),
        "answers": {f"{solver} {said}": count for (solver, said), count in sorted(counts.items())},
        "seconds": {solver: round(total, 2) for solver, total in solver_seconds.items()},
        "undecided": [f"{one['solver']}: {one['file']}" for one in answers if one["answer"] == "unknown"],
        "wrong": [f"{one['solver']} says {one['answer']}: {one['file']}" for one in wrong],
    }


def code_of(results: list[dict[str, Any]]) -> int:
    """Return the exit code of a run."""
    if not results or any(r["wrong"] or r["verdict"] != "PASS" or not r["statements"] for r in results):
        return 1
    return 6 if any(r["undecided"] or r["not_stated"] or r["terms"] != "as written" for r in results) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from a command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("programs", nargs="*", type=Path, help="programs; default: those of tests/corpus")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "evidence", help="folder (%(default)s)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each statement and solver")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at once")
    given = parser.parse_args(arguments)
    programs = given.programs or sorted(CORPUS.glob("*/prog.v1.bin"))
    versions, results = solvers(), []
    for program in programs:
        name = program.parent.name if program.name.startswith("prog.") else program.stem
        folder = given.output.absolute() / name
        record = proved(program.absolute(), folder)
        answers = decided(folder, versions, given.timeout, given.jobs) if record["verdict"] == "PASS" else []
        results.append(summary(name, record, answers, folder))
        one = results[-1]
        counts = ", ".join(f"{what} {count}" for what, count in one["answers"].items())
        print(f"{name:<20} {one['verdict']:<8} {one['statements']:>6} statements {one['terms']}: {counts}", flush=True)
        for line in (*one["wrong"], *one["undecided"]):
            print(f"{'':<20} {line}")
        text = json.dumps({"schema": "dais-verif/evidence/1", "solvers": versions, "programs": results}, indent=1)
        (given.output / "summary.json").write_text(text + "\n")
    return code_of(results)


if __name__ == "__main__":
    sys.exit(main())
