"""Calls are recorded in all processes, and mutants are made where behaviour can differ."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import calls
import mutate_tests

SOURCE = '''"""Some text."""
from __future__ import annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import path

__all__ = ["of" "f"]


class Table:
    """A table."""

    size = 3

    def of(self, number=4):
        """Return a function."""

        async def inner():
            return number + 1

        if number > 7:
            raise ValueError(f"{number + 1} is too many")
        return inner


def empty(): """Do nothing."""
'''


def test_functions_say_their_numbers_in_every_process(tmp_path: Path) -> None:
    package, log = tmp_path / "dais_verif", tmp_path / "log"
    package.mkdir()
    log.touch()
    (package / "__init__.py").write_text("")
    (package / "table.py").write_text(SOURCE)
    names = calls._instrument(tmp_path, log)
    code = (
        "import asyncio, os; from dais_verif import table; of = table.Table().of; "
        "asyncio.run(of(1)()); of(1); os.fork() or table.empty()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    said = [names[int(number)] for number in log.read_text().split()]
    inside = "dais_verif/table.py"
    assert said == [
        "dais_verif/__init__.py:module",
        f"{inside}:module",
        f"{inside}:Table.of",
        f"{inside}:Table.of.inner",
        f"{inside}:empty",
    ]
    assert (package / "table.py").read_text() == SOURCE

    calls.compile_all(tmp_path)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert len(log.read_text().split()) == len(said)


def test_the_code_of_a_line_belongs_to_the_function_that_runs_it() -> None:
    lines = SOURCE.splitlines()
    owners = {line.strip(): calls.owner(SOURCE, n) for n, line in enumerate(lines, 1)}
    assert owners["size = 3"] == owners["def of(self, number=4):"] == "module"
    assert owners["return number + 1"] == "Table.of.inner"
    assert owners["return inner"] == "Table.of"


def test_mutants_are_made_only_where_behaviour_can_differ() -> None:
    tree = ast.parse(SOURCE)
    spans = {
        SOURCE.splitlines()[start[0] - 1][start[1] : start[1] + 12] for start, _ in mutate_tests._no_behaviour(tree)
    }
    assert spans == {"if TYPE_CHEC", '__all__ = ["', 'f"{number + '}
    rng = random.Random(0)
    made = [mutate_tests.mutant_in("m", SOURCE, rng, mutate_tests._no_behaviour) for _ in range(100)]
    changed = {one.old for one in made if one is not None}
    assert "return number + 1" in changed and "if number > 7:" in changed
    assert not any(word in old for old in changed for word in ("TYPE_CHECKING", "__all__", "too many"))


def test_the_calls_of_a_test_are_those_of_its_last_run(tmp_path: Path) -> None:
    (tmp_path / "functions.json").write_text(json.dumps(["m.py:f", "m.py:g"]))
    lines = [
        {"file": "", "test": "t", "seconds": 1, "passed": True, "calls": [0]},
        {"file": "", "test": "t", "seconds": 2, "passed": True, "calls": [0, 1]},
        {"file": "", "test": "fails", "seconds": 2, "passed": False, "calls": [0, 1]},
    ]
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "tests").mkdir()
    found = calls.Calls.of(tmp_path, tmp_path, 1.0)
    assert (found.tests, found.seconds, found.breadth) == ({"m.py:f": ["t"], "m.py:g": ["t"]}, {"t": 2}, {"t": 2})
