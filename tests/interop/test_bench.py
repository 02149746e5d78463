"""The benchmark of the fast engine: its arithmetic, goals and tables are right, and wrong answers are not timed."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import rounds
from bench.goals import lines, times
from bench.networks import network
from bench.report import markdown
from bench.rounds import Spread, interleaved, ratio
from bench.subjects import Subject, narrowest, peer_outputs, random_raw, verified
from dais_verif.golden import fast, run
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.graph import dead_ops
from dais_verif.spec.program.ranges import PromiseStatus, analyse

pytestmark = pytest.mark.slow  # about benchmarks, which users of the package do not run

ROOT = Path(__file__).parents[2]


def test_a_ratio_is_of_times_of_one_round() -> None:
    assert ratio([10, 20, 60], [1, 4, 3]) == Spread(10, 5, 20)
    assert ratio([3], [2]) == Spread(1.5, 1.5, 1.5)
    with pytest.raises(ValueError):
        ratio([1, 2], [1])


def test_sides_take_turns_and_the_order_alternates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_SHORTEST_SECONDS", 0)
    calls: list[str] = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls[4:] == ["a", "b", "b", "a", "a", "b"]  # each was called twice before, as a warm-up
    assert {name: len(values) for name, values in seconds.items()} == {"a": 3, "b": 3}
    assert all(second >= 0 for values in seconds.values() for second in values)


def test_what_is_short_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_seconds", lambda function, repeats, clock=None: float(repeats))
    monkeypatch.setattr(rounds, "_SHORTEST_SECONDS", 5)
    assert interleaved({"a": lambda: None}, 2) == {"a": [5.0, 5.0]}


@pytest.mark.parametrize(
    ("spread", "text"),
    [
        (Spread(120.4, 99.6, 130), "120x (100..130)"),
        (Spread(5.55, 5, 6), "5.5x (5.0..6.0)"),
        (Spread(1.7, 1.68, 1.712), "1.70x (1.68..1.71)"),
    ],
)
def test_how_a_ratio_is_shown(spread: Spread, text: str) -> None:
    assert times(spread) == text


def program_results(name: str, ops: int) -> dict[str, Any]:
    """Return the results of a program that barely meets every goal."""
    speedup = 100 if ops >= 2000 else 40
    seconds = {"peer": [100.0] * 3, "checked": [1.0] * 3, "copy": [0.7] * 3}
    seconds |= {kind: [100 / speedup] * 3 for kind in ("integers", "doubles", "plain")}
    seconds["alkaid"] = [65.0] * 3
    found = {"seconds": seconds, "rows": 1000, "verified": {"integers": "all 5 outputs equal da4ml's"}}
    halves = {
        f"{kind} {jobs}": [1.7 / (1 if jobs == 1 else 1.7)] * 3 for kind in ("integers", "doubles") for jobs in (1, 2)
    }
    return {
        "name": name,
        "ops": ops,
        "throughput": {"auto": found, "avx2": copy.deepcopy(found)},
        "threads": {"seconds": halves},
        "single": {
            "seconds": {"peer": [1.0], "doubles": [1.0]},
            "verified": {"doubles": "all 5 outputs equal da4ml's"},
        },
    }


@pytest.fixture
def results() -> dict[str, Any]:
    """Return results that barely meet every goal."""
    memory = {"ops": 50, "rows": 7, "kind": "integers", "peak": 1200_000_000, "arrays": 1000_000_000}
    return {
        "machine": {
            "isa": "avx512",
            "cpu": "C",
            "cores": 2,
            "python": "3",
            "numpy": "2",
            "da4ml": "0",
            "alkaid": "0",
            "load": 0.5,
            "dais-verif": "0",
        },
        "engine": "fast",
        "samples": 100_000,
        "rounds": 3,
        "isas": ["auto", "avx2"],
        "quick": False,
        "programs": [program_results("big", 2000), program_results("small", 1999)],
        "formats": {
            "seconds": {"int8 by rows": [2.0], "copying for int8 by rows": [1.0]},
            "bytes": {"int8 by rows": 9_000_000_000},
            "rows": 1_000_000_000,
            "ops": 2048,
            "inputs": 128,
        },
        "preparation": [{"ops": 500_000, "seconds": {"load and compile": [1.0]}}],
        "first_samples": 1000,
        "first": [{"name": "big", "peer": [2.0], "ours": [2.0]}],
        "memory": [memory],
        "level_runs": 100,
        "levels": [{"name": "big", "seconds": {"level 1": [2.0], "level 2": [1.05], "level 3": [1.0]}}],
    }


#: For each goal, the place of a time that breaks it when it is a little longer.
SLOWER = {
    "2,000 ops or more, integers: 100x": ("programs", 0, "throughput", "auto", "seconds", "integers"),
    "2,000 ops or more, doubles: 100x": ("programs", 0, "throughput", "auto", "seconds", "doubles"),
    "fewer ops, integers: 40x": ("programs", 1, "throughput", "auto", "seconds", "integers"),
    "two threads over one, 2,000 ops or more, integers": ("programs", 0, "threads", "seconds", "integers 2"),
    "two threads over one, 2,000 ops or more, doubles": ("programs", 0, "threads", "seconds", "doubles 2"),
    "one sample": ("programs", 0, "single", "seconds", "doubles"),
    "decoded, checked and compiled": ("preparation", 0, "seconds", "load and compile"),
    "fresh process": ("first", 0, "ours"),
    "level 1 over level 3": ("levels", 0, "seconds", "level 1"),
    "level 2 over level 3": ("levels", 0, "seconds", "level 2"),
}


def unmet(results: dict[str, Any]) -> list[str]:
    return [line.goal for line in lines(results) if not line.met]


def test_goals_that_are_met_just_so(results: dict[str, Any]) -> None:
    assert unmet(results) == []
    assert len(lines(results)) == len(SLOWER) + 10


@pytest.mark.parametrize(
    ("place", "seconds", "missed"),
    [
        (0, 59.9, ["2,000 ops or more, integers: 60x"]),
        (0, 29.9, [f"2,000 ops or more, {goal}x" for goal in ("integers: 60", "doubles: 30", "plain: 30")]),
        (1, 62.4, ["400 to 1,999 ops, integers: 25x"]),
        (1, 29.9, [f"400 to 1,999 ops, {goal}x" for goal in ("integers: 25", "doubles: 12", "plain: 12")]),
        (2, 12.4, ["0 to 399 ops, doubles: 5x"]),
    ],
)
def test_goals_against_alkaid(place: int, seconds: float, missed: list[str], results: dict[str, Any]) -> None:
    """The goals of programs of each size are missed if alkaid is a little too fast."""
    results["programs"].append(program_results("tiny", 6))
    results["programs"][place]["throughput"]["auto"]["seconds"]["alkaid"] = [seconds] * 3
    assert unmet(results) == [f"alkaid, {goal}" for goal in missed]


def test_bytes_a_second_are_shown_beside_those_of_copying(results: dict[str, Any]) -> None:
    assert "| int8 by rows | 2 | 9 | 4.5 | 9.0 | 50% |" in markdown(results)


@pytest.mark.parametrize("goal", SLOWER)
def test_a_goal_that_is_missed_by_little(goal: str, results: dict[str, Any]) -> None:
    *path, last = SLOWER[goal]
    place = results
    for key in path:
        place = place[key]
    place[last] = [value * 1.01 for value in place[last]]
    (line,) = unmet(results)
    assert goal in line
    assert f"{line} |" in markdown(results) and markdown(results).count("NOT MET") == 1


def test_memory_is_what_the_arrays_do_not_explain(results: dict[str, Any]) -> None:
    results["memory"][0]["peak"] += 1
    assert ["50 ops x 7 samples" in goal for goal in unmet(results)] == [True]


def test_doubles_need_no_more_than_the_share_of_copying(results: dict[str, Any]) -> None:
    found = results["programs"][1]["throughput"]["auto"]["seconds"]
    found["doubles"] = [3.0] * 3
    found["copy"] = [2.1] * 3
    assert unmet(results) == []
    found["copy"] = [2.0] * 3
    assert ["or 70% of the copy bandwidth" in goal for goal in unmet(results)] == [True]


def test_small_programs_may_stay_on_one_thread(results: dict[str, Any]) -> None:
    results["programs"][1]["threads"]["seconds"]["integers 2"] = [9.0] * 3
    assert unmet(results) == []


def test_without_avx512_less_is_asked(results: dict[str, Any]) -> None:
    results["machine"]["isa"] = "avx2"
    results["programs"][0]["throughput"]["auto"]["seconds"]["integers"] = [2.5] * 3
    assert unmet(results) == []


def test_a_peer_that_is_wrong_is_named(results: dict[str, Any]) -> None:
    assert "wrong" not in markdown(results)
    results["programs"][0]["single"]["verified"]["doubles"] = "da4ml's outputs are wrong in 3 rows"
    assert "big: da4ml's outputs are wrong in 3 rows." in markdown(results)


@pytest.mark.parametrize("n_ops", [64, 200, 3000])
def test_networks_keep_their_promises_and_use_what_they_compute(n_ops: int) -> None:
    program = network(n_ops)
    assert program.n_ops == n_ops
    assert analyse(program).worst is PromiseStatus.SAFE
    assert len(dead_ops(program)) <= 3
    assert network(n_ops).hash == program.hash != network(n_ops, seed=1).hash or n_ops == 64


MIXED = Program.build(
    [(-1, 0, -1, 0, (1, 3, 2)), (-1, 1, -1, 0, (0, 2, -1)), (-1, 0, -1, 0, (1, 1, 0)), (0, 0, 1, 0, (1, 4, 2))],
    [(3, 0, 0), (2, 1, 1)],
    inp_shift=[1, -2],
)


def test_both_forms_of_the_vectors_are_the_same_numbers() -> None:
    raw = random_raw(MIXED, 50, np.random.default_rng(1))
    subject = Subject(MIXED, raw)
    assert raw.dtype == np.int8 and raw.min() < 0
    # input 0: units of 2**-3 by its first reader; input 1: units of 2**3
    assert np.array_equal(subject.doubles, raw.T * [0.125, 8.0])
    assert subject.bytes_of_doubles == 50 * 4 * 8


def test_vectors_of_a_file_are_wrapped_without_changing_an_output(tmp_path: Path) -> None:
    path, vectors = tmp_path / "p.bin", tmp_path / "x.npy"
    path.write_bytes(Subject(MIXED, np.zeros((2, 0), dtype=np.int8)).words.tobytes())
    x = np.array([[1.0625, 100.0], [-77.3, -9.0], [1e6, 3.0], [-0.01, 2.0**40]])
    np.save(vectors, x)
    subject = Subject.of(path, vectors, 40)
    found = {tuple(row) for row in run(MIXED, subject.doubles, check=False).tolist()}
    assert found == {tuple(row) for row in run(MIXED, x, check=False).tolist()}


@pytest.mark.parametrize(
    ("values", "kind"),
    [([-128, 127], np.int8), ([128], np.int16), ([-(2**15) - 1], np.int32), ([2**31], np.int64), ([], np.int8)],
)
def test_narrowest(values: list[int], kind: type) -> None:
    found = narrowest(np.array(values, dtype=np.int64))
    assert found.dtype == kind and found.tolist() == values


def test_a_wrong_answer_is_not_timed() -> None:
    subject = Subject(MIXED, random_raw(MIXED, 20, np.random.default_rng(1)))
    right = run(MIXED, subject.doubles, check=False)
    wrong = right.copy()
    wrong[7, 1] += 0.5
    assert verified(subject, right, right) == "all 40 outputs equal da4ml's"
    assert "wrong in 1 rows" in verified(subject, right, wrong)
    with pytest.raises(AssertionError, match="row 7"):
        verified(subject, wrong, right)


def test_the_peer_runs_a_network(da4ml: None) -> None:
    program = network(700)
    subject = Subject(program, random_raw(program, 64, np.random.default_rng(0)))
    assert verified(subject, run(program, subject.doubles), peer_outputs(subject)) == "all 4096 outputs equal da4ml's"


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path, da4ml: None) -> None:
    if fast.why_not():
        pytest.skip(fast.why_not())
    table, program = tmp_path / "table.md", ROOT / "examples" / "quantised_mac.bin"
    options = ["--quick", "--rounds", "1", "--programs", str(program), "--json", "-o", str(table)]
    command = [sys.executable, "-m", "bench.golden", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["name"], one["ops"]) for one in found["programs"]] == [("quantised_mac", load(program).n_ops)]
    assert found["quick"] and all(len(times) == 1 for times in found["first"][0].values() if isinstance(times, list))
    assert table.read_text() == markdown(found)
