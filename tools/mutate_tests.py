"""Mutate the whole package, one change at a time, and record which tests notice; write docs/mutants.md.

PYTHONPATH=tests python tools/mutate_tests.py --mutants 300 --seed 0 --minutes 60

The mutants are chosen by package and by size of modules, with the operators of cosmic-ray. Each is put into a copy of
the tree, and the tests that reach its module run, the near and cheap ones first, until three have failed or the
mutant's time is over. What no fast test notices is tried again with all cases and campaigns. Results go into
build/mutate-tests.jsonl; a second call goes on where the first ended.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from prove.mutation.mutants import Mutant, mutant_in
from reach import distances

ROOT = Path(__file__).resolve().parents[1]
TREE = ROOT / "build" / "mutate-tests"
RESULTS = ROOT / "build" / "mutate-tests.jsonl"
PAGE = ROOT / "docs" / "mutants.md"
#: Test files that run in one process.
TOGETHER = 6


def main() -> int:
    """Try mutants until their number or the time is reached, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--fast", action="store_true", help="do not try the full run")
    parser.add_argument("--each", type=float, default=180, help="CPU seconds of tests for each mutant and tier")
    options = parser.parse_args()
    _copy_tree()
    done = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    tried = {one["key"] for one in done}
    end = time.monotonic() + 60 * options.minutes
    for mutant in _sample(options.mutants, options.seed):
        if time.monotonic() > end:
            break
        if mutant.key in tried:
            continue
        result = _try(mutant, options.each, ("fast",) if options.fast else ("fast", "all"))
        done.append(result)
        with RESULTS.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"{result['answer']:9} {mutant.key}", *result["killers"][:1], sep="  ", flush=True)
    PAGE.write_text(_page(done, options.each), encoding="utf-8")
    return 0


def _sample(count: int, seed: int) -> Iterator[Mutant]:
    """Yield ``count`` mutants: packages in turn as often as their size asks, modules in them by their sizes."""
    rng = random.Random(seed)
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted((ROOT / "dais_verif").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        package = name.split("/")[1].removesuffix(".py") if name.count("/") > 1 else "base"
        lines[package][name] = path.read_text(encoding="utf-8").count("\n")
    packages, found = list(lines), 0
    weights = [max(sum(modules.values()), 1500) for modules in lines.values()]
    while found < count:
        (package,) = rng.choices(packages, weights)
        (module,) = rng.choices(list(lines[package]), list(lines[package].values()))
        mutant = mutant_in(module, (ROOT / module).read_text(encoding="utf-8"), rng)
        if mutant is not None:
            found += 1
            yield mutant


def _copy_tree() -> None:
    """Copy all files of the repository, as they are, and the compiled kernel."""
    shutil.rmtree(TREE, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names += [path.relative_to(ROOT).as_posix() for path in (ROOT / "dais_verif" / "golden").glob("*.so")]
    for name in names:
        if (ROOT / name).exists():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, TREE / name)


def _try(mutant: Mutant, seconds: float, tiers: tuple[str, ...]) -> dict[str, Any]:
    """Return what the tests of ``tiers`` say about ``mutant``, ``fast``, ``full`` or ``survived``, and who failed."""
    place = TREE / mutant.module
    before = place.read_text(encoding="utf-8")
    files = _near(mutant.module)
    place.write_text(mutant.text, encoding="utf-8")
    killers: list[str] = []
    answer = "survived"
    for tier in tiers:
        place.write_text(mutant.text, encoding="utf-8")
        try:
            found = _killers(files, tier, seconds)
        finally:
            place.write_text(before, encoding="utf-8")
        # A test that fails in the copy without any change notices nothing.
        names = sorted({name.partition("[")[0] for name in found})
        lost = {name.partition("[")[0] for name in _killers(names, tier, 1e9)} if names and "::" in names[0] else set()
        killers = [name for name in names if name not in lost]
        if killers:
            answer = "fast" if tier == "fast" else "full"
            break
    return {"key": mutant.key, "module": mutant.module, "answer": answer, "killers": killers}


def _near(module: str) -> list[str]:
    """Return the test files that reach ``module``, those with the shortest chains of imports and the cheapest first."""
    table = ROOT / "tests" / "seconds.json"
    cost = json.loads(table.read_text()) if table.exists() else {}
    found = distances(ROOT, module)
    stem = Path(module).stem
    order = sorted((stem not in name, hops + cost.get(name, 1.0) / 5, name) for name, hops in found.items())
    return [name for _, _, name in order]


def _killers(files: list[str], tier: str, seconds: float) -> list[str]:
    """Return up to three tests that fail; an answer that takes too long is a failure, too."""
    killers: list[str] = []
    environment = {**os.environ, "DAIS_TESTS": tier, "PYTHONPATH": f"{TREE}", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-n", "0", "--maxfail=3", "-p", "no:cacheprovider", "--no-header", "-rfE", "--tb=no"]
    options += [] if tier == "all" else ["-m", "not slow"]
    while files and seconds > 0 and not killers:
        batch, files = files[:TOGETHER], files[TOGETHER:]
        command = [sys.executable, "-m", "pytest", *options, *(f"tests/{name}" for name in batch)]
        spent = _cpu()
        try:
            done = subprocess.run(
                command,
                cwd=TREE,
                env=environment,
                capture_output=True,
                text=True,
                timeout=min(3600.0, max(600, 20 * seconds)),
            )
        except subprocess.TimeoutExpired:
            # A fast test that does not end has noticed the change; slow tests may just be slow.
            return [f"time: {' '.join(batch)}"] if tier == "fast" else []
        seconds -= _cpu() - spent
        killers = re.findall(r"^(?:FAILED|ERROR) tests/(\S+)", done.stdout, re.MULTILINE)
        if not killers and done.returncode not in (0, 5):
            killers = ["recorded messages" if "differ from tests/recorded" in done.stdout else "the session"]
    return killers


def _cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _page(results: list[dict[str, Any]], seconds: float) -> str:
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        package = one["module"].split("/")[1] if one["module"].count("/") > 1 else "base"
        rows[package][one["answer"]] += 1
    total = sum(rows.values(), Counter[str]())
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    lines = [
        "# Mutants of the package\n",
        f"{date.today()}, commit {head.strip()}: {len(results)} mutants of `dais_verif`, made with the operators of",
        "cosmic-ray and chosen by package and size (`make mutate-tests`, which resumes and writes this page). Each had",
        f"{seconds:.0f} CPU seconds of the tests that reach its module, in the fast tests and then in the full run;",
        "so what is listed as not noticed may be noticed by a test that had no turn. A change that alters no behaviour",
        "is never noticed.\n",
        "| package | mutants | noticed by fast tests | by the full run alone | not noticed |",
        "|---|---|---|---|---|",
    ]
    for name, row in [*sorted(rows.items()), ("all", total)]:
        lines.append(f"| {name} | {sum(row.values())} | {row['fast']} | {row['full']} | {row['survived']} |")
    for title, answer in (("Noticed by the full run alone", "full"), ("Not noticed", "survived")):
        lines.append(f"\n## {title}\n")
        found = [one for one in results if one["answer"] == answer]
        lines += [f"- `{one['key'].replace('`', '')}`" + _by(one) for one in found] or ["None."]
    lines.append("\n## Noticed by a single fast test\n\nThese tests must stay in the fast tests.\n")
    single = [one for one in results if one["answer"] == "fast" and len(one["killers"]) == 1]
    lines += [f"- `{one['killers'][0]}`: `{one['key'].replace('`', '')}`" for one in single] or ["None."]
    return "\n".join(lines) + "\n"


def _by(one: dict[str, Any]) -> str:
    return f", by `{one['killers'][0]}`" if one["killers"] else ""


if __name__ == "__main__":
    sys.exit(main())
