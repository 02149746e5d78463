"""``examples/cocotb`` passes in each of its runners, two at a time, and a fault fails each of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "cocotb"
RUNNERS = ["test_by_cocotbs_runner", "test_by_cocotb_test", "test_by_dais_verif"]


def example(folder: Path, rtl: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-rA", *map(str, arguments)]
    environment = {**os.environ, "MAC_RTL": str(rtl), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "mac.v"
    path.write_text((EXAMPLE / "mac.v").read_text().replace("10'sd10", "10'sd9"))
    return path


def test_it_is_collected_with_our_plugin() -> None:
    """Collection shows that pytest loads the plugin in this folder, although the settings of the checkout do not."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", str(EXAMPLE)]
    ending = subprocess.run(words, cwd=EXAMPLE.parents[1], capture_output=True, text=True, timeout=200)
    assert "3 tests collected" in ending.stdout, ending.stdout + ending.stderr


@pytest.mark.slow
def test_every_runner_runs_it(tmp_path: Path, faulty: Path) -> None:
    right, wrong = example(tmp_path, EXAMPLE / "mac.v", EXAMPLE), example(tmp_path, faulty, EXAMPLE)
    assert "3 passed" in right.stdout, right.stdout
    assert "3 failed" in wrong.stdout, wrong.stdout
    for runner in RUNNERS:
        assert f"::{runner}" in wrong.stdout
    # Our plugin prints the output of `sim`; the other two print that of the bench.
    assert wrong.stdout.count("op 6 (add_const) is the first op whose value diverges") >= 2


@pytest.mark.slow
def test_cocotbs_plugin_runs_it(tmp_path: Path, faulty: Path) -> None:
    words = ["-p", "cocotb_tools._pytest.plugin", "--cocotb-simulator", "icarus", "--cocotb-build-dir", tmp_path]
    right = example(tmp_path, EXAMPLE / "mac.v", *words, EXAMPLE / "by_cocotbs_plugin.py")
    assert "2 passed, 1 passed cocotb runner" in right.stdout, right.stdout
    wrong = example(tmp_path, faulty, *words, EXAMPLE / "by_cocotbs_plugin.py")
    assert "1 failed, 1 passed, 1 failed cocotb runner" in wrong.stdout, wrong.stdout
    assert "op 6 (add_const) is the first op whose value diverges" in wrong.stdout
