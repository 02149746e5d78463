"""The benchmark of ``sim``: its clock, goals and tables are right, and both sides get the same work."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.networks import network
from bench.rounds import Spread
from bench.shapes import attention, convolution
from bench.sim import peer
from bench.sim.goals import exponent, lines, sooner
from bench.sim.plan import PATIENCE, Plan
from bench.sim.plot import write_plots
from bench.sim.report import markdown
from bench.sim.sides import DONE, LATE, Ours, Peer, Run
from bench.sim.subjects import LARGE, Subject, json_tree
from bench.sim.timing import timed
from dais_verif.golden import run as golden
from dais_verif.spec.program import load

pytestmark = pytest.mark.slow  # about benchmarks, which users of the package do not run

ROOT = Path(__file__).parents[2]

BUSY = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"


def python(text: str, tmp_path: Path, limit: float = 60) -> Any:
    return timed([sys.executable, "-c", text], env=dict(os.environ), cwd=tmp_path, limit=limit)


class TestClock:
    def test_counts_what_children_use(self, tmp_path: Path) -> None:
        (tmp_path / "busy.py").write_text(BUSY)
        done = python("import subprocess, sys; subprocess.run([sys.executable, 'busy.py'])", tmp_path)
        assert done.code == 0 and done.cpu >= 0.3 and done.wall >= 0.3 and done.peak > 1e6

    def test_keeps_what_is_printed(self, tmp_path: Path) -> None:
        done = python("import sys; print('out'); sys.exit('first\\nlast')", tmp_path)
        assert (done.code, done.stdout, done.last_words) == (1, "out\n", "last")

    def test_a_silent_end_has_words_too(self, tmp_path: Path) -> None:
        assert python("import os; os._exit(3)", tmp_path).last_words == "ended with 3"

    def test_the_limit_ends_children_too(self, tmp_path: Path) -> None:
        sleeper = (
            "import subprocess; p = subprocess.Popen(['sleep', '60']); open('pid', 'w').write(str(p.pid)); p.wait()"
        )
        done = python(sleeper, tmp_path, limit=1.5)
        assert done.code is None and 1.5 <= done.wall < 30
        pid = int((tmp_path / "pid").read_text())
        deadline = time.monotonic() + 10
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(pid)


def alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def run_of(wall: float, cpu: float | None = None, **more: Any) -> Run:
    return {"wall": wall, "cpu": wall if cpu is None else cpu, "peak": 1, "ending": DONE, "stages": {}, **more}


def late(wall: float) -> Run:
    return {**run_of(wall), "ending": LATE}


class TestExponent:
    @pytest.mark.parametrize("fixed", [0, 1, 50])
    @pytest.mark.parametrize("k", [0.5, 1, 1.25, 2])
    def test_of_a_power_beside_a_fixed_cost(self, k: float, fixed: float) -> None:
        runs = [run_of(fixed + 3.0 * size**k, size=size) for size in (10, 40, 100, 400, 1600)]
        assert exponent(runs, "cpu") == pytest.approx(k, abs=0.011)

    def test_a_fixed_cost_is_not_negative(self) -> None:
        runs = [run_of(3.0 * size - 25, size=size) for size in (10, 40, 160)]
        assert (exponent(runs, "cpu") or 0) > 1.1

    def test_times_that_tell_nothing(self) -> None:
        assert exponent([run_of(1, size=10), run_of(2, size=1000)], "cpu") is None
        assert exponent([run_of(1, size=10), run_of(2, size=20), {**late(3), "size": 30}], "cpu") is None
        assert exponent([run_of(1 + size / 100, size=size) for size in (1, 2, 10)], "cpu") is None
        assert exponent([], "cpu") is None


class TestSooner:
    def test_rounds_are_compared_with_each_other(self) -> None:
        found = sooner([run_of(10), run_of(20), run_of(60)], [run_of(1), run_of(4), run_of(3)])
        assert found == (Spread(10, 5, 20), False)

    def test_other_rounds_are_compared_with_the_median(self) -> None:
        assert sooner([run_of(20)], [run_of(1), run_of(2), run_of(4)]) == (Spread(10, 5, 20), False)

    def test_a_peer_that_did_not_finish_takes_at_least_so_long(self) -> None:
        assert sooner([late(20)], [run_of(2)]) == (Spread(10, 10, 10), True)

    def test_nothing_is_said_without_an_answer_of_either(self) -> None:
        assert sooner([run_of(20)], [late(2)]) is None
        assert sooner([{**run_of(20), "ending": "broke"}], [run_of(2)]) is None
        assert sooner([], [run_of(2)]) is None


def growth(sizes: tuple[int, ...], seconds: float) -> list[Run]:
    """Return runs whose time grows linearly, up to ``seconds`` for the largest size."""
    return [run_of(seconds * size / max(sizes), size=size, vectors=1, build=size) for size in sizes]


def both(wall: float, build: float) -> Run:
    """Return a run of a wide program in both simulators, each with ``build`` seconds for building and for running."""
    seconds = {f"{key} {name}": build for key in ("build", "run") for name in ("icarus", "verilator")}
    return run_of(wall, **seconds)


@pytest.fixture
def results() -> dict[str, Any]:
    """Return results that barely meet every goal."""
    runs = {
        "peer": [run_of(300, different=0)] * 3,
        "cold": [run_of(60)] * 3,
        "warm": [run_of(10)] * 3,
        "many": [run_of(2.5, vectors=1_000_000)] * 3,
        "icarus": [run_of(10)] * 3,
    }
    ops, vectors = (5_000, 20_000, 80_000), (10_000, 100_000, 1_000_000)
    machine = dict.fromkeys(("cpu", "icarus", "verilator", "compiler", "python", "numpy", "da4ml", "dais-verif"), "M")
    found = {
        "machine": {**machine, "cores": 2, "load": 0.0},
        "limit": 1800.0,
        "quick": False,
        "rounds": 3,
        "vectors": 10_000,
        "many": 1_000_000,
        "few": 1_000,
        "design": 5_000,
        "programs": [{"name": "p", "ops": 2_000, "runs": runs}],
        "shapes": [{"name": "wide", "ops": ops, "runs": [both(180, 20)]} for ops in (10_000, 80_000)]
        + [{"name": "wider", "ops": 200_000, "runs": [both(900, 90)]}],
        "growth": {
            "ops": {"verilator": growth(ops, 180), "icarus": growth(ops, 200)},
            "vectors": {"verilator": growth(vectors, 3), "icarus": growth(vectors, 3)},
        },
    }
    return copy.deepcopy(found)


def unmet(results: dict[str, Any]) -> list[str]:
    return [line.goal for line in lines(results) if line.met != "met"]


#: For each goal, the place of the runs that break it, and the factor by which they are made longer.
SLOWER: dict[str, tuple[tuple[Any, ...], float]] = {
    "new design, 10,000 vectors in Verilator: 5x": (("programs", 0, "runs", "cold"), 1.01),
    "design built before, 10,000 vectors in Verilator: 30x": (("programs", 0, "runs", "warm"), 1.01),
    "10,000 vectors in Icarus: under 10 s": (("programs", 0, "runs", "icarus"), 1.01),
    "1,000,000 vectors in Verilator: 400,000": (("programs", 0, "runs", "many"), 1.01),
    "85,000 ops, new design: under 3 minutes": (("shapes", 1, "runs"), 1.01),
    "under 3 CPU minutes": (("growth", "ops", "verilator"), 1.01),
    "CPU time of 5,000 to 80,000 ops in Icarus": (("growth", "ops", "icarus", slice(2, None)), 1.5),
    "CPU time of 10,000 to 1,000,000 vectors in Verilator": (("growth", "vectors", "verilator", slice(2, None)), 1.5),
    "CPU time of 10,000 to 1,000,000 vectors in Icarus": (("growth", "vectors", "icarus", slice(2, None)), 1.5),
}


class TestGoals:
    def test_that_are_met_just_so(self, results: dict[str, Any]) -> None:
        assert unmet(results) == []
        assert len(lines(results)) == len(SLOWER) + 5

    @pytest.mark.few(2)
    @pytest.mark.parametrize("goal", SLOWER)
    def test_that_are_missed(self, goal: str, results: dict[str, Any]) -> None:
        path, factor = SLOWER[goal]
        place: Any = results
        for key in path:
            place = place[key]
        for run in place:
            run["wall"], run["cpu"] = run["wall"] * factor, run["cpu"] * factor
        (line,) = unmet(results)
        assert goal in line
        assert f"{line} |" in markdown(results) and markdown(results).count("NOT MET") == 1

    def test_icarus_that_compiles_quadratically(self, results: dict[str, Any]) -> None:
        for run in results["growth"]["ops"]["icarus"]:
            run["build"] = run["size"] ** 2 / 1e6
        assert ["without growing quadratically" in goal for goal in unmet(results)] == [True]

    @pytest.mark.parametrize("simulator", ["verilator", "icarus"])
    def test_a_simulator_that_does_not_finish(self, simulator: str, results: dict[str, Any]) -> None:
        results["growth"]["ops"][simulator][-1]["ending"] = LATE
        assert "80,000 ops, 1,000 vectors: both simulators finish" in unmet(results)
        assert f"{simulator} not finished" in markdown(results)
        assert "not finished in 1,800 s" in markdown(results)

    def test_a_build_of_icarus_that_takes_long(self, results: dict[str, Any]) -> None:
        results["shapes"][0]["runs"][0]["build icarus"] = 20.1
        assert ["Icarus' build" in goal for goal in unmet(results)] == [True]

    def test_a_shape_of_any_size_must_pass(self, results: dict[str, Any]) -> None:
        results["shapes"][2]["runs"][0]["ending"] = "TOOL_FAILURE: verilator: too many words on a line"
        assert [goal for goal in unmet(results) if "up to 200,000 ops: pass" in goal] == unmet(results) != []
        assert "wider, both simulators: TOOL_FAILURE: verilator: too many words on a line." in markdown(results)
        assert "| wide | 10,000 | 180 | 180 | 0 | 20.0, 20.0 | 20.0, 20.0 |" in markdown(results)

    def test_a_verdict_that_is_no_pass_meets_nothing(self, results: dict[str, Any]) -> None:
        results["programs"][0]["runs"]["icarus"][1]["ending"] = "RTL_MISMATCH: a bit"
        assert ["in Icarus: under" in goal for goal in unmet(results)] == [True]
        assert "p, ours, Icarus, new design: RTL_MISMATCH: a bit." in markdown(results)

    def test_a_peer_that_does_not_finish_can_show_a_goal_met_but_not_missed(self, results: dict[str, Any]) -> None:
        results["programs"][0]["runs"]["peer"] = [late(300)]
        assert unmet(results) == [] and "> 5.00x" in markdown(results)
        results["programs"][0]["runs"]["peer"] = [late(299)]
        assert {line.met for line in lines(results) if "sooner" in line.goal} == {"undecided"}

    def test_a_peer_that_fails_leaves_them_undecided(self, results: dict[str, Any]) -> None:
        results["programs"][0]["runs"]["peer"][0]["ending"] = "Compilation failed!!"
        assert {line.met for line in lines(results) if "sooner" in line.goal} == {"undecided"}
        assert "p, da4ml, Verilator: Compilation failed!!." in markdown(results)

    def test_a_peer_that_is_wrong_is_named(self, results: dict[str, Any]) -> None:
        assert "disagree" not in markdown(results)
        results["programs"][0]["runs"]["peer"][2]["different"] = 7
        assert "p: da4ml's Verilog and its interpreter disagree in 7 vectors." in markdown(results)

    def test_what_was_not_measured_is_not_judged(self, results: dict[str, Any]) -> None:
        for name in ("peer", "many"):
            results["programs"][0]["runs"][name] = []
        results["growth"], results["shapes"] = {}, []
        assert len(lines(results)) == 1
        assert "a second" not in markdown(results)


def test_stages_show_when_there_are_some(results: dict[str, Any]) -> None:
    assert "they overlap" not in markdown(results)
    results["programs"][0]["runs"]["warm"][-1]["stages"] = {"emit": 0.25, "verilator run": 1}
    assert "| p | ours, Verilator, built before | emit 0.25, verilator run 1.00 |" in markdown(results)


@dataclass
class Stub:
    """A stub for both sides; ``calls`` are the requests that it got, in order."""

    calls: list[str] = field(default_factory=list)

    def forget(self) -> None:
        self.calls.append("forget")

    def run(self, subject: Subject, *what: Any) -> Run:
        self.calls.append(" ".join(map(str, what)))
        return run_of(1, build=0.5)


def plan(stub: Any, tmp_path: Path) -> Plan:
    sizes: dict[str, Any] = {"growth_ops": (100, 200), "growth_vectors": (10, 40, 160), "growth_design": 200}
    return Plan(ours=stub, peer=stub, folder=tmp_path, rounds=2, vectors=40, many=500, few=5, **sizes)


class TestPlan:
    def test_sides_take_turns_and_a_new_design_comes_before_the_same_again(self, tmp_path: Path) -> None:
        stub = Stub()
        found, steps = plan(stub, tmp_path).program(Subject.of_network(100, tmp_path))
        for step in steps:
            step.take()
        ours = ["forget", "verilator 40", "verilator 40", "verilator 500", "forget", "icarus 40"]
        assert stub.calls == ["40", *ours, *ours, "40"]
        assert {name: len(runs) for name, runs in found["runs"].items()} == dict.fromkeys(found["runs"], 2)

    def test_a_peer_that_takes_long_is_not_asked_again(self, tmp_path: Path) -> None:
        stub = Stub()
        found, steps = plan(stub, tmp_path).program(Subject.of_network(100, tmp_path))
        found["runs"]["peer"].append(run_of(PATIENCE + 1))
        assert [step.label for step in steps if step.take() is None] == ["network100 da4ml"] * 2

    def test_large_programs_have_one_round(self, tmp_path: Path) -> None:
        stub = Stub()
        _, steps = plan(stub, tmp_path).program(Subject("large", 80_000, tmp_path, tmp_path))
        for step in steps:
            step.take()
        assert stub.calls == ["40", "forget", "verilator 40", "verilator 40"]

    def test_a_shape_is_a_new_design_in_both_simulators(self, tmp_path: Path) -> None:
        stub = Stub()
        found, step = plan(stub, tmp_path).shape(Subject("wide", 80_000, tmp_path, None))
        step.take()
        assert stub.calls == ["forget", "both 5"] and len(found["runs"]) == 1

    def test_growth(self, tmp_path: Path) -> None:
        stub = Stub()
        found, steps = plan(stub, tmp_path).growth()
        for step in steps:
            step.take()
        with_ops = ["forget", "verilator 5", "forget", "icarus 5"]
        with_vectors = ["forget", "verilator 10", "verilator 10", "verilator 40", "verilator 160"]
        with_vectors += ["forget", "icarus 10", "icarus 10", "icarus 40"]
        assert stub.calls == [*with_ops, *with_ops, *with_vectors]
        sizes = {(what, name): [r["size"] for r in runs] for what, both in found.items() for name, runs in both.items()}
        assert sizes["ops", "icarus"] == [100, 200] and sizes["vectors", "verilator"] == [10, 40, 160]


class TestSubjects:
    def test_both_sides_get_the_same_vectors(self, tmp_path: Path) -> None:
        from dais_verif.stimulus import generate

        subject = Subject.of_network(100, tmp_path)
        batch = generate(load(subject.binary), 30, 0)
        assert subject.name == "network100" and subject.ops == 100
        assert subject.vectors(30)[17].tolist() == [float(value) for value in batch.row(17)]

    def test_tables_are_refused(self) -> None:
        from dais_verif.spec.program import Program

        with pytest.raises(ValueError, match="tables"):
            json_tree(Program.build([(-1, 0, -1, 0, (0, 1, 0))], [(0, 0, 0)], inp_shift=[0], tables=[[1, 2]]))

    def test_da4ml_reads_what_is_written_for_it(self, tmp_path: Path, da4ml: None) -> None:
        from da4ml.types import CombLogic

        subject = Subject.of_program("small", network(300), tmp_path)
        vectors = subject.vectors(50)
        theirs = CombLogic.load(subject.json).predict(vectors, n_threads=1)
        assert np.array_equal(theirs, golden(load(subject.binary), vectors))

    def test_corpus(self, corpus: Path, tmp_path: Path) -> None:
        subject = Subject.of_corpus(corpus / "p13_hgq_jet", tmp_path)
        assert subject.ops == 4353 and len(json.loads(subject.json.read_text())[5]) == 4353


class TestShapes:
    def test_that_are_shipped(self, tmp_path: Path) -> None:
        subject = Subject.of_shape("convolution9k", tmp_path)
        program = load(subject.binary)
        assert (subject.ops, program.n_in, program.n_out) == (9_232, 216, 64) and subject.json is None

    def test_real_ones(self, tmp_path: Path) -> None:
        if not (LARGE / "p15_conv_58k").is_dir():
            pytest.skip("no large programs here")
        assert Subject.of_shape("p15_conv_58k", tmp_path).ops == 57_908

    def test_the_convolution_of_the_goal(self) -> None:
        program = convolution()
        assert (program.n_ops, program.n_in, program.n_out) == (81_552, 1_176, 576)
        reach = [op.index - i for op in program.ops for i in op.operands]
        assert np.median(reach) > 10_000

    @pytest.mark.slow
    def test_a_pass_is_a_pass_in_both_simulators(self, tmp_path: Path) -> None:
        subject = Subject("mac", 8, ROOT / "examples" / "quantised_mac.bin", None)
        run = Ours(tmp_path / "cache", 300).run(subject, "both", 300)
        assert run["ending"] == DONE and {"build icarus", "build verilator", "run icarus"} <= set(run)

    @pytest.mark.parametrize("name", ["attention", "convolution"])
    def test_promises_are_kept(self, name: str) -> None:
        """Every op's type holds its values."""
        program = {"attention": attention(8, 8), "convolution": convolution(6)}[name]
        found = golden(program, np.random.default_rng(0).uniform(-8, 8, (200, program.n_in)), check=True)
        assert len({tuple(row) for row in found.tolist()}) == 200


def test_the_peer_finds_verilator() -> None:
    environment = peer.environment()
    folder = Path(environment["PATH"].split(os.pathsep)[0])
    assert (folder / "verilator").is_file() and "VERILATOR_ROOT" not in environment


@pytest.mark.slow
def test_plots_of_the_same_results_are_the_same(results: dict[str, Any], tmp_path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        if os.environ.get("CI"):
            pytest.fail("matplotlib is needed")
        pytest.skip("matplotlib is not installed")
    texts = []
    for _ in range(2):
        paths = write_plots(results, tmp_path)
        texts.append([path.read_text() for path in paths])
    assert [path.name for path in paths] == ["speed-ops.svg", "speed-vectors.svg"]
    assert texts[0] == texts[1] and "ops^1.00" in texts[0][0]


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path) -> None:
    table, program = tmp_path / "table.md", ROOT / "examples" / "quantised_mac.bin"
    options = ["--quick", "--skip-peer", "--only", str(program), "--json", "-o", str(table)]
    command = [sys.executable, "-m", "bench.sim", *options, "--cache", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (one,) = found["programs"]
    assert found["shapes"] == [] and (one["name"], one["ops"]) == ("quantised_mac", load(program).n_ops)
    assert {name: [run["ending"] for run in runs] for name, runs in one["runs"].items()} == {
        "peer": [],
        **{name: [DONE] for name in ("cold", "warm", "many", "icarus")},
    }
    assert found["quick"] and table.read_text() == markdown(found)


@pytest.mark.slow
def test_the_peer_comes_to_a_verdict(tmp_path: Path, da4ml: None) -> None:
    run = Peer(600).run(Subject.of(str(ROOT / "examples" / "quantised_mac.bin"), tmp_path), 200)
    assert (run["ending"], run["different"], run["rows"]) == (DONE, 0, 200)
    assert run["stages"]["compile"] > 1 and run["cpu"] > 1


@pytest.mark.slow
def test_a_run_that_is_late(tmp_path: Path) -> None:
    subject = Subject.of_network(100, tmp_path)
    assert Ours(tmp_path / "cache", 0.1).run(subject, "verilator", 10)["ending"] == LATE
