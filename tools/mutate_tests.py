"""Mutate the whole package, one change at a time, and record which tests notice; write docs/developers/mutants.md.

PYTHONPATH=tests python tools/mutate_tests.py --mutants 300 --seed 0

First, the fast tests run once, to find which of them call which functions (``calls``). The mutants are chosen by
package and by size of modules, with the operators of cosmic-ray. For each, the tests that call its function run, cheap
ones first, until three have failed or its CPU time is over; then the tests that import or call its module. What no fast
test notices is tried again with all cases and campaigns of the same tests. Everything is kept in a folder in
build/mutate-tests for each commit, so that a second call goes on where the first ended.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from calls import MODULE, PLACES, Calls, importers, owner, put
from prove.mutation.campaign import explanations
from prove.mutation.forks import preload, scratch_of, started
from prove.mutation.mutants import Mutant, Spans, mutant_in, span

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "developers" / "mutants.md"
#: Why some mutants alter no behaviour.
EXPLAINED = Path(__file__).with_name("equal_mutants.toml")
#: The first tests: so many, from so many files, so many of a function, with so many CPU seconds.
FIRST, FILES, FEW, CHEAP = 40, 5, 3, 6.0
#: A mutant is noticed by many if so many tests have failed.
MANY = 3


def main() -> int:
    """Try mutants until their number or the time is reached, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--each", type=float, default=60, help="CPU seconds of fast tests for each mutant")
    parser.add_argument("--full", type=float, default=60, help="CPU seconds of the full run for each; 0: none")
    parser.add_argument("--commit", default="HEAD", help="the sources, HEAD by default")
    parser.add_argument("--longest", type=float, default=1e9, help="leave out test files that take more CPU seconds")
    parser.add_argument("--again", action="store_true", help="ask those that were not noticed again, other tests")
    parser.add_argument("--tests", nargs="*", default=[], help="test files as they are now, for those not noticed")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--note", default="", help="what the page says of this run")
    options = parser.parse_args()
    commit = _git("rev-parse", "--short=10", options.commit)
    folder = ROOT / "build" / "mutate-tests" / commit
    campaign = Campaign(folder, options.each, options.full, options.longest, options.tests)
    if not options.page:
        end = time.monotonic() + 60 * options.minutes
        campaign.prepare(commit)
        for mutant in campaign.sample(options.mutants, options.seed):
            if time.monotonic() > end:
                break
            campaign.ask(mutant, options.again or bool(options.tests))
    PAGE.write_text(page(campaign, commit, options.mutants, options.note and f" {options.note}"), encoding="utf-8")
    return 0


def sample(tree: Path, count: int, seed: int) -> Iterator[Mutant]:
    """Yield ``count`` mutants: packages in turn as often as their size asks, modules in them by their sizes."""
    rng = random.Random(seed)
    texts = {
        path.relative_to(tree).as_posix(): path.read_text() for path in sorted((tree / "dais_verif").rglob("*.py"))
    }
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    for name, text in texts.items():
        lines[_package(name)][name] = text.count("\n")
    packages, found = list(lines), set[str]()
    weights = [max(sum(modules.values()), 1500) for modules in lines.values()]
    while len(found) < count:
        (package,) = rng.choices(packages, weights)
        (module,) = rng.choices(list(lines[package]), list(lines[package].values()))
        mutant = mutant_in(module, texts[module], rng, _no_behaviour)
        if mutant is not None and mutant.key not in found:
            found.add(mutant.key)
            yield mutant


def _no_behaviour(tree: ast.Module) -> Spans:
    """Yield what alters no behaviour: imports for types, lists of public names, and the texts of errors."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")]):
                yield span(node)
            case ast.Raise() | ast.Call() if isinstance(node, ast.Raise) or _is_error(node):
                yield from (span(one) for one in ast.walk(node) if isinstance(one, ast.JoinedStr))


def _is_error(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith(("Error", "Warning"))


def _package(module: str) -> str:
    return module.split("/")[1] if module.count("/") > 1 else "base"


class Campaign:
    """The results of all mutants so far, by their keys, and the tree in which they are tried."""

    def __init__(self, folder: Path, fast: float, full: float, longest: float, tests: Sequence[str]) -> None:
        self.tree, self._folder = folder / "tree", folder
        self._record, self._fast, self._full, self._tests = folder / "results.jsonl", fast, full, tests
        self._longest = longest
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        self.results: dict[str, dict[str, Any]] = {one["key"]: one for one in map(json.loads, lines)}
        self._explained = explanations(EXPLAINED)

    def prepare(self, commit: str) -> None:
        """Extract the tree of ``commit``, with the compiled kernel, and find which tests call what."""
        preload()
        if not self.tree.exists():
            part = self.tree.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x"], cwd=part, input=archive, check=True)
            for path in (ROOT / "dais_verif" / "golden").glob("*.so"):
                shutil.copy2(path, part / path.relative_to(ROOT))
            part.rename(self.tree)
        self.calls = Calls.of(self.tree, self._folder, self._longest)
        for name in self._tests:
            shutil.copy2(ROOT / name, self.tree / name)

    def sample(self, count: int, seed: int) -> list[Mutant]:
        """Return ``count`` mutants of the tree, which are made once, since that takes a minute."""
        known = self._folder / f"sample-{seed}.json"
        found = json.loads(known.read_text()) if known.exists() else []
        if len(found) < count:
            found = list(sample(self.tree, count, seed))
            known.write_text(json.dumps(found))
        return [Mutant(*one) for one in found[:count]]

    def ask(self, mutant: Mutant, again: bool) -> None:
        """Run tests on ``mutant``, unless its answer is known, and keep what they say."""
        before = self.results.get(mutant.key)
        if not before and mutant.key in self._explained:
            self._keep(mutant, {"tier": "", "killers": [], "callers": 1, "seconds": {"fast": 0, "all": 0}, "asked": []})
            return
        if before and (before["tier"] or not again or mutant.key in self._explained):
            return
        result = self._asked(mutant, before or {})
        self._keep(mutant, result)
        print(f"{result['tier'] or 'SURVIVED':8} {result['cpu']:6.1f} s  {mutant.key}", *result["killers"], flush=True)

    def _keep(self, mutant: Mutant, result: dict[str, Any]) -> None:
        self.results[mutant.key] = {"key": mutant.key, "module": mutant.module, **result}
        with self._record.open("a") as file:
            file.write(json.dumps(self.results[mutant.key]) + "\n")

    def answer(self, one: dict[str, Any]) -> str:
        """Return who noticed a mutant: ``fast`` or ``full``; ``equal`` if nobody can; or nothing."""
        return str(one["tier"]) or ("equal" if one["key"] in self._explained else "")

    def remark(self, one: dict[str, Any]) -> str:
        """Return what there is to say of the answer to a mutant."""
        if self.answer(one) == "full":
            return f", by `{one['killers'][0]}`"
        if self.answer(one) == "equal":
            return f": {self._explained[one['key']]}"
        callers = "" if one["callers"] else "; no test that was recorded calls it"
        return f": {one['seconds']['fast']:.0f} s, {one['seconds']['all']:.0f} s{callers}"

    def files(self) -> int:
        """Return the number of test files whose calls are recorded."""
        record = self._folder / "calls.jsonl"
        return len({json.loads(line)["file"] for line in record.open()} - {""}) if record.exists() else 0

    def _asked(self, mutant: Mutant, before: dict[str, Any]) -> dict[str, Any]:
        original = (self.tree / mutant.module).read_text(encoding="utf-8")
        function = f"{mutant.module}:{owner(original, mutant.lines[0])}"
        spent, asked = _cpu(), set(before.get("asked", ()))
        run = _Runs(self, mutant, original, asked)
        tier = ""
        if self._tests:
            run.files(self._tests, "fast", 1e9)
            tier = "fast"
        else:
            callers, near = self._order(function, asked)
            first = self._first(callers)
            run.tests(first, self._fast)
            if len(run.killers) < 2:
                run.tests([one for one in callers if one not in first], self._fast if not run.killers else CHEAP)
            for cost, file in importers(self.tree, mutant.module):
                if not run.killers and cost < self._fast - run.cpu:
                    run.files([file], "fast", self._fast - run.cpu)
            if not run.killers:
                run.tests(near, self._fast - run.cpu)
            tier = "fast"
            if not run.killers and self._full:
                names = [_function(one) for one in (*self._order(function, set())[0], *near[:FIRST])]
                run.files(list(dict.fromkeys(one.partition("::")[0] for one in names)), "all", self._full, names)
                tier = "full"
        return {
            "function": function,
            "tier": tier if run.killers else "",
            "killers": sorted(run.killers),
            "callers": len(self.calls.tests.get(function, ())),
            "seconds": {
                name: round(run.seconds[name] + before.get("seconds", {}).get(name, 0), 1) for name in run.seconds
            },
            "cpu": round(_cpu() - spent, 1),
            "asked": sorted(run.asked) if not run.killers else [],
        }

    def _order(self, function: str, asked: set[str]) -> tuple[list[str], list[str]]:
        """Return the tests that call ``function``, and those that call another of its module, the cheapest first."""
        module = function.partition(":")[0] + ":"
        callers = set(self.calls.tests.get(function, ())) if not function.endswith(f":{MODULE}") else set()
        others = {one for name, found in self.calls.tests.items() if name.startswith(module) for one in found}
        tests = [sorted(found - asked, key=self._rank) for found in (callers, others - callers)]
        return (tests[0], tests[1]) if callers else (tests[1], [])

    def _rank(self, test: str) -> tuple[float, str]:
        return self.calls.seconds[test] + self.calls.breadth[test] / 500, test

    def _first(self, tests: Iterable[str]) -> list[str]:
        files, functions, seconds, found = set[str](), Counter[str](), 0.0, list[str]()
        for test in tests:
            file, function = test.partition("::")[0], _function(test)
            if (file in files or len(files) < FILES) and functions[function] < FEW and len(found) < FIRST:
                seconds += self.calls.seconds[test]
                if seconds > CHEAP and found:
                    break
                files.add(file)
                functions[function] += 1
                found.append(test)
        return found


class _Runs:
    """Runs of tests on one mutant, and the tests that noticed it."""

    def __init__(self, campaign: Campaign, mutant: Mutant, original: str, asked: set[str]) -> None:
        self._campaign, self._mutant, self._original = campaign, mutant, original
        self.asked, self.killers, self.seconds, self.cpu = asked, set[str](), {"fast": 0.0, "all": 0.0}, 0.0

    def tests(self, tests: Sequence[str], seconds: float) -> None:
        """Run ``tests``, which are fast ones, as many as fit into ``seconds``."""
        chosen, left = [], seconds
        for test in tests:
            if self._campaign.calls.seconds[test] <= left:
                left -= self._campaign.calls.seconds[test]
                chosen.append(test)
        if chosen:
            self.files(list(dict.fromkeys(one.partition("::")[0] for one in chosen)), "fast", seconds, chosen)

    def files(self, files: Sequence[str], tier: str, seconds: float, order: Sequence[str] = ()) -> None:
        """Run the tests of ``files`` in ``order``: in the fast run these alone, in the full run these and slow ones."""
        found = self._run(files, tier, seconds, order, self._mutant.text)
        alone = [one for one in order or sorted(self.asked) if _named(one) in found]
        if len(found | self.killers) == 1 and alone:
            # A test that fails now and then, or without the change, notices nothing.
            found -= self._run(files, tier, seconds, alone, self._original)
        broken = [f"tests/{one}" for one in found if one.endswith(".py")]
        if broken:  # files that cannot be imported, perhaps not without the change either
            found -= self._run(broken, tier, 0, (), self._original)
        self.killers |= found

    def _run(self, files: Sequence[str], tier: str, seconds: float, order: Sequence[str], text: str) -> set[str]:
        campaign = self._campaign
        plugin = _Order(order, tier, seconds, said := scratch_of(campaign.tree) / "said")
        options = [f"--maxfail={MANY}", "--tb=no", *([] if tier == "all" else ["-m", "not slow"])]
        spent = _cpu()
        put(campaign.tree, self._mutant.module, text)
        try:
            environment = {"DAIS_TESTS": tier, **PLACES}
            process = started(
                campaign.tree, files, campaign.calls.seconds, 5, [plugin], options, environment, of_cpu=True
            )
            ended = process.wait(0.02)
        except RuntimeError:  # no test was found
            return set()
        finally:
            put(campaign.tree, self._mutant.module, self._original)
        self.cpu += _cpu() - spent
        self.seconds[tier] += _cpu() - spent
        late = ended.late and ended.failed == "importing"
        lines = said.read_text().splitlines() if said.exists() else []
        self.asked |= {line.removeprefix("begins ") for line in lines if line.startswith("begins ")}
        failed, differ = (
            {
                _named(line.removeprefix(word).removesuffix(", while imported"))
                for line in lines
                if line.startswith(word)
            }
            for word in ("failed ", "differs ")
        )
        return failed or set(sorted(differ)[:1]) or ({_named(ended.failed)} if ended.failed and not late else set())


class _Order:
    """A pytest plugin that runs chosen tests in an order, until some CPU time is over."""

    def __init__(self, order: Sequence[str], tier: str, seconds: float, said: Path) -> None:
        self._rank: dict[str, int] = {}
        for n, one in enumerate(order):
            self._rank.setdefault(one, n)
        self._all, self._end, self._said = tier == "all", sum(os.times()[:4]) + seconds, said

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not self._rank:
            return
        if self._all:
            last = len(self._rank)
            slow = [item for item in items if item.get_closest_marker("slow") is not None]
            kept = [item for item in items if _function(item.nodeid) in self._rank]
            items[:] = sorted({*kept, *slow}, key=lambda one: (self._rank.get(_function(one.nodeid), last), one.nodeid))
            return
        kept = [item for item in items if item.nodeid in self._rank]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in self._rank])
        items[:] = sorted(kept, key=lambda one: self._rank[one.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        result = yield
        if sum(os.times()[:4]) > self._end:
            item.session.shouldstop = "the time is over"
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say which recorded messages differ."""
        from support import said  # of the tree, in the process that runs its tests

        passed = sys.modules["conftest"]._PASSED
        for line in said.differences(said.collected(), passed):
            if "::" in line and not line.startswith("  "):
                with self._said.open("a") as file:
                    file.write(f"differs {line}\n")


def _function(test: str) -> str:
    return re.split(r"\[", test, maxsplit=1)[0]


def _named(test: str) -> str:
    return _function(test).removeprefix("tests/")


def _cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


_HEAD = """\
# Mutants of the package

{}, commit {}: {} mutants of `dais_verif`, of a sample of {}, made with the operators of cosmic-ray and chosen
by package and size (`make mutate-tests`, which resumes and writes this page). A mutant meets the fast tests that call
its function, cheap ones first, until three have failed, then those that import or call its module, and then the same
tests with all cases and the slow ones. Behind those that stay unnoticed are the CPU seconds that they had of fast tests
and of the full run. Left out is what alters no behaviour by its form: annotations, type aliases, `__all__`, imports for
types alone, numbers in texts of errors.

The calls of {} test files were recorded.{}
"""


def page(campaign: Campaign, commit: str, count: int, note: str) -> str:
    """Return docs/developers/mutants.md."""
    results = list(campaign.results.values())
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        rows[_package(one["module"])][campaign.answer(one)] += 1
    total = sum(rows.values(), Counter[str]())
    lines = [
        _HEAD.format(date.today(), commit, len(results), count, campaign.files(), note),
        "| package | mutants | noticed by fast tests | by the full run alone | alters no behaviour | not noticed |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in [*sorted(rows.items()), ("all", total)]:
        numbers = (sum(row.values()), *(row[answer] for answer in ("fast", "full", "equal", "")))
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    for title, answer in (
        ("Noticed by the full run alone", "full"),
        ("Alters no behaviour", "equal"),
        ("Not noticed", ""),
    ):
        lines.append(f"\n## {title}\n")
        found = [one for one in results if campaign.answer(one) == answer]
        lines += [f"- {_shown(one['key'])}{campaign.remark(one)}" for one in found] or ["None."]
    lines.append("\n## Noticed by a single fast test\n")
    lines.append("Of the tests that these mutants met, no other failed: they must stay in the fast tests.\n")
    single = [one for one in results if one["tier"] == "fast" and len(one["killers"]) == 1]
    lines += [f"- `{one['killers'][0]}`: {_shown(one['key'])}" for one in single] or ["None."]
    return "\n".join(lines) + "\n"


def _shown(key: str) -> str:
    return f"`{key.replace('`', '')}`"


if __name__ == "__main__":
    sys.exit(main())
