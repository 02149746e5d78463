"""The benchmark of ``prove``: its goals, tables and plot are right, and it counts only runs that proved every op."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.networks import network, ternary_network
from bench.prove import _proved, goals, markdown, svg
from bench.sim.sides import DONE, LATE
from dais_verif.spec.program import write_binary
from dais_verif.spec.program.json_writers import alir_json

pytestmark = pytest.mark.slow  # about benchmarks, which users of the package do not run

ROOT = Path(__file__).parents[2]
SIZES = (500, 5_000, 50_000, 95_000)


def results(seconds: float = 2e-4, power: float = 1.0, peak: float = 7e3, second: float = 0.25) -> dict[str, Any]:
    """Return the results of runs whose time grows with ``power`` and whose memory is ``peak`` bytes per op."""
    designs = []
    for ops in SIZES:
        wall = seconds * float(ops) ** power
        run = {"size": ops, "wall": wall, "cpu": wall, "peak": peak * ops, "ending": DONE, "obligations": 7}
        designs.append({"name": "network", "ops": ops, "first": [run] * 3, "second": [{**run, "wall": wall * second}]})
    return {"machine": {"cpu": "some", "cores": 2, "load": 0.1}, "rounds": 3, "quick": False, "designs": designs}


def unmet(found: dict[str, Any]) -> list[str]:
    return [goal for goal, _, met in goals(found) if not met]


def test_all_goals_can_be_met() -> None:
    assert len(goals(results())) == 6 and not unmet(results())


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (results(seconds=8e-4), "first run: under"),
        (results(power=1.4, seconds=1e-6), "exponent"),
        (results(peak=3e4), "under 2 GB"),
        (results(second=0.4), "second run"),
    ],
)
def test_each_goal_can_be_missed(found: dict[str, Any], words: str) -> None:
    missed = unmet(found)
    assert missed and all(words in goal for goal in missed)
    assert "NOT MET" in markdown(found)


@pytest.mark.parametrize(("seconds", "missed"), [(19, 0), (21, 1)])
def test_a_convolution_has_a_goal_of_its_own(seconds: float, missed: int) -> None:
    found = results()
    run = {**found["designs"][0]["first"][0], "wall": seconds, "size": 81_552}
    found["designs"].append({"name": "convolution", "ops": 81_552, "first": [run], "second": [run]})
    assert len(goals(found)) == 7
    assert [goal.partition(",")[0] for goal in unmet(found)] == ["convolution"] * missed


def test_a_network_of_ternary_adders_is_proved(tmp_path: Path) -> None:
    program = ternary_network(1_300)
    assert 600 < program.n_ops <= 1_300
    assert {len(op.terms) for op in program.ops if op.terms} == {2, 3}
    path = tmp_path / "program.json"
    path.write_bytes(alir_json(program))
    assert _proved(path, program.n_ops, tmp_path / "cache", 100)["ending"] == DONE


@pytest.mark.parametrize("ending", [LATE, "proved 3 of 5 ops"])
def test_a_run_that_was_not_done_meets_nothing(ending: str) -> None:
    found = results()
    for design in found["designs"]:
        design["first"] = [{**run, "ending": ending} for run in design["first"]]
    assert len(unmet(found)) == len(goals(found)) == 4, "nothing is said of growth, and of the rest only the worst"
    assert ending in markdown(found)


def test_the_plot_is_the_same_for_the_same_numbers() -> None:
    pytest.importorskip("matplotlib")
    assert svg(results()) == svg(results()) != svg(results(power=1.2))


def test_a_run_counts_only_if_every_op_was_proved(tmp_path: Path) -> None:
    path = tmp_path / "network.bin"
    path.write_bytes(write_binary(network(100), "v1"))
    runs = [_proved(path, ops, tmp_path / "cache", 100) for ops in (100, 101)]
    assert [run["ending"] for run in runs] == [DONE, "proved 100 of 101 ops"]
    assert "recall" in runs[1]["stages"] and "prove" not in runs[1]["stages"], (
        "the second one has the cache of the first"
    )
    assert _proved(tmp_path / "nothing.bin", 1, tmp_path / "cache", 100)["ending"] != DONE


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.prove", "--quick", "--json", "-o", str(tmp_path / "b.md")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    designs = json.loads(done.stdout)["designs"]
    assert [run["ending"] for design in designs for run in design["first"] + design["second"]] == [DONE] * 6
    assert "its numbers are not results" in (tmp_path / "b.md").read_text()
