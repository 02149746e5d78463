"""Fuzzing runs: reproducible cases, replay and resumption of kept cases, and third-party tools."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.planting import plant
from support.said import as_recorded, raises
from support.tier import examples

import dais_verif
from dais_verif.base.errors import FuzzingError, InputError, RequestError, ToolError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.crashers import cases_in
from dais_verif.campaigns.fuzzing.fuzzer import Stretch, judge_stretch
from dais_verif.campaigns.fuzzing.generate.cases import case_seed, chosen, drawn_shape, made_case
from dais_verif.campaigns.fuzzing.generate.shapes import SHAPES
from dais_verif.campaigns.fuzzing.pairs import disagreement as needs
from dais_verif.campaigns.fuzzing.pairs import hardware as simulators
from dais_verif.campaigns.fuzzing.pairs.disagreement import NotJudged, judged
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS, USUAL
from dais_verif.doors.cli import main
from dais_verif.golden.vm import machine as vm_machine
from dais_verif.spec.program.graph import depths
from dais_verif.spec.program.opcodes import OPCODES

# cases


def test_a_case_depends_on_seed_and_number_alone() -> None:
    one = [made_case(5, number).case.key for number in (3, 1, 2)]
    two = [made_case(5, number).case.key for number in (1, 2, 3)]
    assert sorted(map(str, one)) == sorted(map(str, two)) and len(set(map(str, one))) == 3
    assert case_seed(5, 3) != case_seed(3, 5) and made_case(6, 3).case.key != made_case(5, 3).case.key


def test_cases_hold_every_opcode_and_every_shape() -> None:
    made = [made_case(0, number) for number in range(300)]
    assert {one.shape for one in made} == {*SHAPES} - {"large convolution"}
    assert {op.code for one in made for op in one.case.program.ops} == set(OPCODES)
    deep = max(max(depths(one.case.program)) for one in made if one.shape == "deep")
    assert deep >= 20 and max(one.case.program.n_in for one in made) > 60
    assert all(len(one.case.rows) == 8 for one in made)


def test_now_and_then_a_case_has_thousands_of_inputs_that_are_read_again_and_again() -> None:
    numbers = [n for n in range(9000) if drawn_shape(random.Random(case_seed(0, n))) == "large convolution"]
    assert 3 <= len(numbers) <= 20
    program = made_case(0, numbers[0]).case.program
    assert program.n_in >= 1000 and program.n_ops == 6000
    distances = [op.index - operand for op in program.ops for operand in op.operands]
    assert sum(distance > 1000 for distance in distances) > 1000 < sum(distance < 10 for distance in distances)


def test_cases_for_tools_of_others_keep_their_promises_and_are_doubles() -> None:
    for number in range(60):
        case = made_case(1, number, plain=True).case
        assert not any(op.spec.alir for op in case.program.ops)
        assert judged("ranges", PAIRS["ranges"].judge, case) is None
        assert all(float(value) == value for row in case.rows for value in row)
        assert dais_verif.run(case.program, np.array([[*map(float, row)] for row in case.rows])) is not None


def test_one_case_in_so_many_is_chosen() -> None:
    assert all(chosen(number, "x", 1) for number in range(20))
    assert 150 < sum(chosen(case_seed(0, number), "x", 4) for number in range(1000)) < 350


def test_all_pairs_are_asked() -> None:
    judged_cases = judge_stretch(Stretch(0, 0, 40, USUAL))
    assert judged_cases.cases == 40 and not judged_cases.findings
    assert set(judged_cases.pairs) == set(USUAL) and judged_cases.pairs["numpy"] == 40


@pytest.mark.slow
def test_all_simulators_are_asked_where_they_are_named() -> None:
    named = tuple(name for name in PAIRS if name not in USUAL)
    judged_cases = judge_stretch(Stretch(0, 0, 12, named))
    assert not judged_cases.findings
    assert set(judged_cases.pairs) == set(named) == {"icarus", "verilator", "pipelines", "netlist", "wrappers"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["icarus", "verilator"])
def test_a_bug_of_the_emitter_is_found_among_cases_that_share_a_build(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A faulty emitter that writes sums as differences is found among cases that share a build.

    Cases that share a build are judged as each would be alone: only the few cases without sums agree.
    """
    emit = simulators.emit_verilog
    monkeypatch.setattr(simulators, "emit_verilog", lambda program: re.sub(r"(op_\d+) \+ ", r"\1 - ", emit(program)))
    spec = PAIRS[name]
    cases = [made_case(3, number).case for number in range(6)]
    assert spec.passing is not None
    together = spec.passing(cases)
    alone = []
    for case in cases:
        try:
            alone.append(spec.judge(case) is None)
        except NotJudged:
            alone.append(False)
    assert together == alone and any(together) and not all(together)
    record = dais_verif.fuzz(count=6, seed=3, pairs=[name], jobs=1, output=tmp_path / "crashers")
    assert record.verdict is Verdict.DISAGREEMENT
    assert {one.kind for one in record.found} == {"RTL_MISMATCH"} and min(one.ops for one in record.found) <= 5


@pytest.mark.slow
def test_a_cluster_judges_the_same_cases(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="a cluster needs dask.distributed")
    here = dais_verif.fuzz(count=60, jobs=1, output=tmp_path / "here")
    there = dais_verif.fuzz(count=60, cluster="local:2", output=tmp_path / "there")
    for name in ("verdict", "cases", "pairs", "shapes", "found"):
        assert getattr(here, name) == getattr(there, name)


def test_a_cluster_has_a_name_and_no_tool_of_others(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        dais_verif.fuzz(count=1, cluster="nowhere", output=tmp_path / "crashers")
    with raises(RequestError):
        dais_verif.fuzz(count=1, cluster="local", against="da4ml", output=tmp_path / "crashers")


def test_a_simulator_that_is_not_there_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs.tools, "icarus", _missing)
    with pytest.raises(ToolError, match="no iverilog"):
        dais_verif.fuzz(count=1, pairs=["icarus"], output=tmp_path / "crashers")
    with pytest.raises(NotJudged, match="no iverilog"):
        PAIRS["icarus"].judge(made_case(0, 0).case)


def _missing() -> None:
    raise ToolError("no iverilog")


def test_what_a_pair_raises_is_a_finding() -> None:
    def pair(case: object) -> None:
        raise KeyError("x")

    found = judged("mine", pair, made_case(0, 0).case)
    assert found is not None and found.cause == "mine: raises KeyError"


def test_a_run_that_compares_nothing_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is NOT_RUN if it compares nothing, since the kernel is missing or the tool's RTL was not simulated."""
    monkeypatch.setattr("dais_verif.golden.fast.why_not", lambda: "not built")
    record = dais_verif.fuzz(pairs="fast", count=5, jobs=1, output=tmp_path / "fast")
    assert (record.verdict, record.cases, record.pairs) == (Verdict.NOT_RUN, 5, {})
    as_recorded(record.message)

    class Run:
        record = type("Record", (), {"verdict": Verdict.NOT_RUN, "message": "no vector was compared"})

    monkeypatch.setattr("dais_verif.verbs.fuzzing.tools.simulate", lambda *_: Run)
    writes = f"{sys.executable} -c \"open(r'{{folder}}/model.v', 'w').close()\" {{program}}"
    record = dais_verif.fuzz(rtl_from=writes, count=4, jobs=1, output=tmp_path / "rtl")
    assert (record.verdict, record.pairs) == (Verdict.NOT_RUN, {}), record.message


# runs


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, vm_machine, "program.outputs[port][2]", "False")


@pytest.mark.usefixtures("planted")
def test_a_run_keeps_a_small_case_a_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crashers"
    assert main._run(["fuzz", "--pair", "vm", "--count", "12", "--jobs", "1", "-o", str(folder), "--json"]) == 1
    tree = json.loads(capsys.readouterr().out)
    assert (tree["verdict"], tree["exit_code"], tree["cases"]) == ("DISAGREEMENT", 1, 12)
    assert len({case["folder"] for case in tree["found"]}) == len(tree["found"]) > 0
    kept = json.loads((Path(tree["found"][0]["folder"]) / "case.json").read_text())
    assert kept["pair"] == "vm" and kept["versions"]["dais-verif"] and "--replay" in kept["replay"]
    assert main._run(["fuzz", "--replay", str(folder)]) == 1
    as_recorded(capsys.readouterr().out)
    assert dais_verif.FuzzRecord.from_json((folder / "fuzz.json").read_text()).to_dict() == tree


def test_a_run_in_two_parts_is_one_run(tmp_path: Path) -> None:
    part = [dais_verif.fuzz(pairs="text", count=7, output=tmp_path, resume=resume) for resume in (False, True)]
    assert [(one.first, one.cases, one.verdict) for one in part] == [(0, 7, Verdict.PASS), (7, 7, Verdict.PASS)]
    with pytest.raises(FuzzingError, match="seed 0"):
        dais_verif.fuzz(pairs="text", count=7, seed=1, output=tmp_path, resume=True)


@pytest.mark.parametrize("stretches", [0, 2])
def test_an_interrupt_leaves_a_record_of_what_was_judged(
    stretches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(range(stretches))

    def interrupted(stretch: Stretch) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return judge_stretch(stretch)

    monkeypatch.setattr("dais_verif.verbs.fuzzing.fuzz._judge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dais_verif.fuzz(pairs="text", count=100, jobs=1, output=tmp_path)
    record = dais_verif.FuzzRecord.from_json((tmp_path / "fuzz.json").read_text())
    assert (record.verdict, record.cases) == (Verdict.INTERRUPTED, 25 * stretches)
    as_recorded(record.message)
    again = ["fuzz", "--pair", "text", "--count", "5", "--jobs", "1", "--resume", "-o", str(tmp_path)]
    assert main._run(again) == 130
    monkeypatch.undo()
    resumed = dais_verif.fuzz(pairs="text", count=5, resume=True, output=tmp_path)
    assert (resumed.first, resumed.verdict) == (25 * stretches, Verdict.PASS)


def test_processes_find_what_one_finds(tmp_path: Path) -> None:
    one, two = (
        dais_verif.fuzz(pairs=("text", "ranges"), count=examples(60), jobs=n, output=tmp_path / str(n)) for n in (1, 2)
    )
    assert (one.cases, one.pairs, one.shapes) == (two.cases, two.pairs, two.shapes)


def test_time_ends_a_run(tmp_path: Path) -> None:
    record = dais_verif.fuzz(pairs="text", time=0.05, output=tmp_path)
    assert record.verdict is Verdict.PASS and 25 <= record.cases < 10_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": "gold"}, "pairs "),
        ({"count": 0}, "count "),
        ({"time": 0.0}, "time "),
        ({"against": "x {program} {inputs} {outputs}", "rtl_from": "x {program} {folder}"}, "against"),
        ({"against": "cat {program} {inputs}"}, "{outputs}"),
        ({"rtl_from": "cat {program}"}, "{folder}"),
        ({"against": "no-such {program} {inputs} {outputs}"}, "'no-such'"),
        ({"against": "da4ml", "pairs": "vm"}, "pairs "),
        ({"form": "v1"}, "form "),
        ({"against": "da4ml", "form": "v9"}, "form "),
        ({"replay": Path("x"), "count": 5}, "replay "),
        ({"top": "a b"}, "a b"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for(options: dict[str, object], said: str, tmp_path: Path) -> None:
    with raises(RequestError, re.escape(said)):
        dais_verif.fuzz(output=tmp_path, **{"count": 1, **options} if "replay" not in options else options)  # type: ignore[arg-type]


def test_a_folder_without_cases(tmp_path: Path) -> None:
    with raises(InputError):
        cases_in(tmp_path)


# third-party tools

TOOL = """
import sys
import numpy as np
sys.path.insert(0, {root!r})
from dais_verif import load, run
from dais_verif.spec.program.opcodes import Code
program, x = load(sys.argv[1]), np.load(sys.argv[2])
y = run(program, x)
bad = {bad}
np.save(sys.argv[3], y)
"""

#: The kind of disagreement, and the expression that the tool evaluates last.
WRONG = {
    "output": "y.__setitem__(slice(None), y + any(op.code == Code.ADD for op in program.ops))",
    "exit code 1, ZeroDivisionError": "1 // (not any(op.code == Code.ADD for op in program.ops))",
    "exit code 9": "any(op.code == Code.ADD for op in program.ops) and sys.exit(9)",
    "crash": "any(op.code == Code.ADD for op in program.ops) and __import__('os').kill(__import__('os').getpid(), 11)",
    "no outputs": "any(op.code == Code.ADD for op in program.ops) and sys.exit(0)",
    "shape": "globals().__setitem__('y', y[:1] if any(op.code == Code.ADD for op in program.ops) else y)",
}


def tool(folder: Path, bad: str) -> str:
    script = folder / "tool.py"
    script.write_text(TOOL.format(root=str(Path(dais_verif.__file__).parents[1]), bad=bad))
    return f"{sys.executable} {script} {{program}} {{inputs}} {{outputs}}"


def first_with(code: int) -> int:
    """Return the number of the first small case for third-party tools that has an op of ``code``."""
    for number in range(1000):
        program = made_case(0, number, plain=True).case.program
        if program.n_ops < 12 and any(op.code == code for op in program.ops):
            return number
    raise AssertionError(code)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRONG)
def test_a_tool_that_is_wrong(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.verbs.fuzzing.fuzz._SECONDS", 60.0)
    monkeypatch.setattr("dais_verif.verbs.fuzzing.fuzz._resumed", lambda *_: first_with(0))
    command = tool(tmp_path, WRONG[kind])
    record = dais_verif.fuzz(against=command, count=1, resume=True, output=tmp_path / "crashers")
    assert record.verdict is Verdict.DISAGREEMENT
    vectors = 2 if kind == "shape" else 1  # with a single vector, one row of outputs is right
    assert [(case.kind, case.ops <= 5, case.vectors) for case in record.found] == [(kind, True, vectors)], record.found
    again = dais_verif.fuzz(replay=tmp_path / "crashers")
    assert again.verdict is Verdict.UNKNOWN and "give that tool" in again.message  # files never name a command to run
    assert dais_verif.fuzz(replay=tmp_path / "crashers", against=command).verdict is Verdict.DISAGREEMENT
    right = tool(tmp_path, "0")
    assert dais_verif.fuzz(replay=tmp_path / "crashers", against=right).verdict is Verdict.PASS


def test_a_tool_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that exits with an error is found, and the case is reduced; to save time, it only inspects opcodes."""
    monkeypatch.setattr("dais_verif.verbs.fuzzing.fuzz._resumed", lambda *_: first_with(0))
    (tmp_path / "tool.py").write_text(
        "import struct, sys\ndata = open(sys.argv[1], 'rb').read()\n"
        "words = struct.unpack(f'<{len(data) // 4}i', data)\nbegin = 6 + words[2] + 3 * words[3]\n"
        "sys.exit(9 * (0 in words[begin : begin + 8 * words[4] : 8]))\n"
    )
    command = f"{sys.executable} -I -S {tmp_path / 'tool.py'} {{program}} {{inputs}} {{outputs}}"
    record = dais_verif.fuzz(against=command, count=1, resume=True, output=tmp_path / "crashers")
    assert [(case.kind, case.opcodes, case.ops <= 5) for case in record.found] == [("exit code 9", ["add"], True)]
    again = dais_verif.fuzz(replay=tmp_path / "crashers")
    as_recorded(again.message)
    assert again.verdict is Verdict.UNKNOWN  # files never name a command to run
    assert dais_verif.fuzz(replay=tmp_path / "crashers", against=command).verdict is Verdict.DISAGREEMENT


def test_a_tool_that_is_right(tmp_path: Path) -> None:
    record = dais_verif.fuzz(against=tool(tmp_path, "0"), count=2, output=tmp_path / "crashers")
    assert record.verdict is Verdict.PASS and record.pairs == {"tool": 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["da4ml", "alkaid"])
def test_shipped_adapters_of_generators(name: str, tmp_path: Path) -> None:
    """The RTL of generators is built, simulated and compared.

    Some of eight cases agree, and a disagreement is a fault of the generator.
    """
    pytest.importorskip(name)
    record = dais_verif.fuzz(rtl_from=name, count=8, jobs=1, output=tmp_path)
    assert record.pairs["tool"] >= 4
    assert sum(one.times for one in record.found) < record.pairs["tool"]
    assert not [one for one in record.found if "ModuleNotFoundError" in one.kind or "no RTL" in one.kind]


def test_a_case_that_no_simulator_takes_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def require(case: Any, name: str) -> None:
        if case.batch is None:
            raise ViolationError("nothing to compare")

    monkeypatch.setattr(simulators, "require_comparable", require)
    monkeypatch.setattr(simulators, "_emitted", lambda case, folder: None)
    monkeypatch.setattr(simulators, "_task", lambda *_: None)
    monkeypatch.setattr(simulators, "verify_jointly", lambda tasks, folder, cached: [batch for _, batch in tasks])
    cases: Any = [SimpleNamespace(batch=one) for one in (1, None, 2)]
    assert simulators.passing_in("icarus", cases) == [True, False, True]
