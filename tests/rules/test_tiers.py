"""What the fast tests leave out: it depends on names alone, and the full run leaves nothing out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
from hypothesis import given, settings, strategies
from support.tier import ALL, examples, some

TRIED = []
COUNT = 100 if ALL else 25

@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize("case", range(40))
def test_simulators(simulator, case): ...

@pytest.mark.few(6)
@pytest.mark.parametrize("case", range(40))
def test_few(case): ...

@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_slow(simulator): ...

@given(strategies.integers())
@settings(max_examples=examples(100))
def test_examples(number):
    TRIED.append(number)

def test_count():
    assert len(some(range(100))) == (100 if ALL else 6)
    assert COUNT <= len(TRIED) <= COUNT + 5
"""


def run(folder: Path, tier: str, *words: str) -> list[str]:
    """Return the names of the tests that ran; all must pass."""
    (folder / "test_tiers_of.py").write_text(TESTS)
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    environment = {**os.environ, "DAIS_TESTS": tier, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"}
    options = ["-p", "hypothesispytest", "--strict-markers", "-o", "markers=slow\nfew(count)", "-v", "-rN"]
    command = [sys.executable, "-m", "pytest", "--disable-plugin-autoload", *options, *words, "test_tiers_of.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    return [line.partition("::")[2].split(" ")[0] for line in done.stdout.splitlines() if "::" in line]


def test_a_part_of_the_cases_runs_fast_and_all_in_the_full_run(tmp_path: Path) -> None:
    fast = run(tmp_path, "fast", "-m", "not slow")
    again = run(tmp_path, "fast", "-m", "not slow")
    full = run(tmp_path, "all")
    assert fast == again, "the choice is fixed"
    simulators = [name for name in fast if name.startswith("test_simulators")]
    assert len(simulators) == 40 and 10 < sum("icarus" in name for name in simulators) < 30
    assert len({name.split("[")[1].rpartition("-")[0] for name in simulators}) == 40, "each case runs in one simulator"
    assert sum(name.startswith("test_few") for name in fast) == 6
    assert sum(name.startswith("test_slow") for name in fast) == 1
    assert [sum(name.startswith(f"test_{kind}") for name in full) for kind in ("simulators", "few", "slow")] == [
        80,
        40,
        2,
    ]
