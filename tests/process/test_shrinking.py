"""A failing case becomes a small one that fails alike, deterministically: in the process, and by a command."""

from __future__ import annotations

import dataclasses
import json
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import FuzzingError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.command import Command
from dais_verif.campaigns.fuzzing.files import read_case
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.campaigns.fuzzing.pairs.disagreement import judged
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS
from dais_verif.campaigns.fuzzing.shrinking.edits import rebuilt
from dais_verif.campaigns.fuzzing.shrinking.search import as_disagreed
from dais_verif.campaigns.fuzzing.shrinking.steps import shrunk, size
from dais_verif.doors.cli import main
from dais_verif.golden import batch, oracle
from dais_verif.spec.program import Program, write_binary
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import INPUT, Code


def case_of(seed: int, n_ops: int, vectors: int = 8, *, whole: bool = True, alir: bool = True) -> Case:
    """Return a random case; with ``whole``, every op is an output."""
    rng = random.Random(seed)
    program = random_program(rng, n_ops, alir=alir, widest=16)
    case = Case.of(program, Batch.of(random_rows(rng, program, vectors), program.n_in))
    made = rebuilt(case, outputs=[(index, 0, False) for index in range(n_ops)]) if whole else case
    assert made is not None
    return made


def planted(monkeypatch: pytest.MonkeyPatch, code: Code, wrong: Callable[[batch.Step], bool]) -> None:
    """Make the numpy engine wrong by one unit for ops of ``code`` where ``wrong`` is true."""
    right = batch.RULES[int(code)]

    def rule(step: batch.Step) -> batch.Exact:
        exact = right(step)
        return dataclasses.replace(exact, raw=exact.raw + 1) if wrong(step) else exact

    monkeypatch.setitem(batch.RULES, int(code), rule)


@pytest.mark.parametrize("n_ops", [500, pytest.param(5000, marks=pytest.mark.slow)])
def test_one_bad_op_of_an_engine(n_ops: int, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, Code.MUX, lambda step: step.op.type.width > 6)
    case = case_of(3, n_ops, 3)
    found = judged("numpy", PAIRS["numpy"].judge, case)
    assert found is not None and found.cause == "numpy: output"
    outcome = shrunk(case, as_disagreed(found), 600)
    assert outcome.complete and outcome.asked < 400
    computing, ops, rows = size(outcome.case)
    assert (computing, rows) == (1, 1) and ops <= 5
    assert [op.code for op in outcome.case.program.ops if op.code != INPUT] == [Code.MUX]
    assert all(value == 0 for row in outcome.case.rows for value in row)


def test_the_same_case_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, Code.ADD, lambda step: step.op.data > 0)
    found = judged("numpy", PAIRS["numpy"].judge, case_of(5, 80))
    assert found is not None
    one, two = (shrunk(case_of(5, 80), as_disagreed(found), 600) for _ in range(2))
    assert one.case.key == two.case.key and one.asked == two.asked


@pytest.mark.parametrize("seed", range(12))
def test_what_is_asked_for_stays_and_all_that_is_asked_is_valid(seed: int) -> None:
    """Failures depend on values, on the number of vectors, or on structure; every tried case is valid."""
    rng = random.Random(seed)
    case = case_of(seed, rng.choice((1, 5, 30)), rng.choice((1, 4)), whole=bool(seed % 2))
    code = rng.choice([op.code for op in case.program.ops])
    many = rng.choice((0, 1, min(2, len(case.rows))))

    def fails(one: Case) -> bool:
        assert all(len(row) == one.program.n_in for row in one.rows)
        assert len(one.values) == len(one.rows)  # the oracle accepts it
        return any(op.code == code for op in one.program.ops) and len(one.rows) >= many

    outcome = shrunk(case, fails, 600)
    assert fails(outcome.case) and outcome.complete
    assert size(outcome.case)[2] == max(many, 1)
    others = [op for op in outcome.case.program.ops if op.code != code and op.code not in (INPUT, Code.CONST)]
    assert not others


def test_an_op_that_becomes_an_input_leaves_all_other_values() -> None:
    case = case_of(2, 40)
    cut = [op.index for op in case.program.ops[10:20]]
    last = (39, 0, False)
    one, other = rebuilt(case, outputs=[last]), rebuilt(case, cut=cut, outputs=[last])
    assert one is not None and other is not None
    for row in range(len(case.rows)):
        assert oracle.outputs_of(one.program, one.values[row]) == oracle.outputs_of(other.program, other.values[row])
    assert (
        all(op.index not in cut or op.code == INPUT for op in case.program.ops)
        or other.program.hash != one.program.hash
    )


def test_inputs_that_nobody_reads_stay_if_they_matter() -> None:
    program = Program.build([(-1, 1, -1, 0, (0, 4, 0)), (3, 0, -1, 0, (0, 2, 0))], [(1, 0, 0)], inp_shift=[0, 0, 0])
    case = Case(program, ((Fraction(1), Fraction(2), Fraction(3)),))
    outcome = shrunk(case, lambda one: one.program.n_in == 3, 600)
    assert outcome.case.program.n_in == 3 and outcome.case.program.n_ops < 3


def test_time_ends_the_search_with_a_case_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU time ends the search, however long it has waited for a busy machine."""
    now = [0.0]
    monkeypatch.setattr("dais_verif.campaigns.fuzzing.shrinking.search.cpu_seconds", lambda: now[0])
    monkeypatch.setattr("dais_verif.campaigns.fuzzing.shrinking.search.time.monotonic", lambda: 10 * now[0])

    def fails(case: Case) -> bool:
        now[0] += 1.0
        return any(op.code == Code.MUX for op in case.program.ops)

    case = case_of(3, 60)
    outcome = shrunk(case, fails, 5.5)
    assert not outcome.complete and outcome.asked == 6 and fails(outcome.case)


# the verb

#: A tool that reads a headerless binary, and fails with exit code 3 if the program has a product.
TOOL = """
import struct, sys
data = open(sys.argv[1], "rb").read()
words = struct.unpack(f"<{len(data) // 4}i", data)
n_in, n_out, n_ops = words[:3]
codes = words[3 + n_in + 3 * n_out :: 8]
assert len(codes) == n_ops and open(sys.argv[2], "rb").read(6) == b"\\x93NUMPY"
if 7 in codes:
    print("tool: error: cannot multiply")
    sys.exit(3)
"""


@pytest.fixture
def tool(tmp_path: Path) -> str:
    """Return a command that fails on any product."""
    script = tmp_path / "tool of mine.py"
    script.write_text(TOOL)
    return f"{sys.executable} -I -S '{script}' {{program}} {{inputs}}"


@pytest.fixture
def product(tmp_path: Path) -> Path:
    rng = random.Random(4)
    program = random_program(rng, 8)
    while not any(op.code == Code.MUL for op in program.ops) or program.tables:
        program = random_program(rng, 8)
    path = tmp_path / "program of mine.bin"
    path.write_bytes(write_binary(program, "headerless"))
    return path


def test_a_command(tool: str, product: Path, tmp_path: Path) -> None:
    record = dais_verif.shrink(product, tmp_path / "small", command=tool, vectors=5, layout="headerless", time=30.0)
    assert record.verdict is Verdict.PASS and record.after.computing <= 1 and record.after.vectors == 1, record
    as_recorded(record.failure)
    case, kept = read_case(tmp_path / "small")
    assert case.program.ops[-1].code == Code.MUL and kept.opcodes == ("mul",)
    assert (tmp_path / "small/text.dais").read_text() == record.text
    assert str(tmp_path / "small/program.bin") in record.replay
    assert dais_verif.ShrinkRecord.from_json(record.to_json()) == record


def test_a_command_whose_results_vary_is_told(product: Path, tmp_path: Path) -> None:
    """The record says that a command failed only on its first run, with and without RTL."""
    rtl = tmp_path / "good.v"
    rtl.write_text("module good(input wire [3:0] a, output wire [3:0] b);\nassign b = a;\nendmodule\n")
    for files, design in (("{program}", {}), ("{program} {rtl}", {"rtl": rtl})):
        mark = tmp_path / f"mark{len(design)}"
        script = tmp_path / f"once{len(design)}.sh"
        script.write_text(f"#!/bin/sh\nif [ -e '{mark}' ]; then exit 0; fi\ntouch '{mark}'; exit 3\n")
        script.chmod(0o755)
        folder = tmp_path / f"small{len(design)}"
        record = dais_verif.shrink(
            product, folder, command=f"'{script}' {files}", vectors=2, layout="headerless", **design
        )
        as_recorded(record.message)
        assert record.verdict is Verdict.PASS, record
        (warning,) = record.warnings
        as_recorded(warning)


def test_nothing_fails(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    record = dais_verif.shrink(program, tmp_path / "small", vectors=5)
    assert (record.verdict, record.folder) == (Verdict.NOT_RUN, "")
    assert dais_verif.shrink(program, tmp_path / "small", command="true {program}").verdict is Verdict.NOT_RUN
    assert not (tmp_path / "small/case.json").exists()


def test_a_promise_that_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = [(-1, 0, -1, 0, (1, 7, 0)), (-1, 1, -1, 0, (1, 7, 0)), (3, 1, -1, 0, (1, 5, 0)), (0, 0, 2, 1, (1, 7, 0))]
    program = Program.build([*ops, (3, 3, -1, 0, (1, 3, 2))], [(4, 0, 0)], inp_shift=[0, 0])
    path = tmp_path / "prog.bin"
    path.write_bytes(write_binary(program, "v1"))
    assert main._run(["shrink", str(path), "-o", str(tmp_path / "small"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    as_recorded(record["failure"])
    assert (record["after"]["computing"], record["after"]["vectors"]) == (1, 1)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "--command '' "),
        ("cat", "--command 'cat' "),
        ("cat 'x {program}", "No closing quotation"),
        ("no-such-tool {program}", "'no-such-tool'"),
    ],
    ids=["empty", "no placeholder", "quotation", "no such tool"],
)
def test_no_command(command: str, said: str, product: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["shrink", str(product), "--layout", "headerless", "-o", str(tmp_path / "small"), "--command", command]
    assert main._run(arguments) == 2
    line = capsys.readouterr().err
    assert said in line and len(line.splitlines()) == 1
    as_recorded(line.rstrip())


@pytest.mark.parametrize("text", ["0", "-1", "m", "5x", "inf", "1e99", ""])
def test_no_duration(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main._run(["shrink", "prog.bin", "-o", str(tmp_path / "small"), "--time", text]) == 2
    as_recorded(capsys.readouterr().err)


def test_files_that_are_no_case_stay(product: Path, tmp_path: Path) -> None:
    mine = tmp_path / "small" / "inputs.npy"
    mine.parent.mkdir()
    mine.write_text("mine")
    with raises(FuzzingError, match="shrink"):
        dais_verif.shrink(product, mine.parent, command="false {program}")
    assert mine.read_text() == "mine"
    mine.unlink()
    for _ in range(2):  # a case may be written again to its own folder
        dais_verif.shrink(product, mine.parent, command="false {program}")
    assert read_case(mine.parent)


def test_names_of_files_are_data(tmp_path: Path) -> None:
    """A file name that looks like a placeholder or like shell syntax is passed unchanged."""
    command = Command.of("command", "echo --in={program} {inputs}", ("program",))
    odd = tmp_path / "a {inputs} $(touch x) `y` ; z"
    assert command.words({"program": odd, "inputs": tmp_path}) == ["echo", f"--in={odd}", str(tmp_path)]
    with raises(RequestError):
        Command.of("command", "echo {program}", ("program", "outputs"))


def test_a_command_that_never_ends_or_crashes_is_a_failure(tmp_path: Path) -> None:
    files = {"program": tmp_path / "p"}
    sleeps = Command.of("command", "sleep 100 {program}", ("program",))
    (tmp_path / "s").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (tmp_path / "s").chmod(0o755)
    crashes = Command.of("command", f"{tmp_path / 's'} {{program}}", ("program",))
    assert sleeps.run({"program": Path("1")}, tmp_path, 0.2).status in (None, 1)
    assert crashes.run(files, tmp_path, 20).status == -11


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "x"}, "schema"),
        ({"vectors": [["nan"]]}, ""),
        ({"vectors": [["1e999999999"]]}, ""),
        ({"vectors": [["1/3"]]}, "times"),
        ({"vectors": [["1", "2", "3", "4", "5", "6", "7"]]}, "vector"),
        ({"program": "../program.bin"}, "folder"),
        ({"seed": "x"}, "fuzz or shrink"),
    ],
    ids=["schema", "nan", "huge", "third", "length", "outside", "seed"],
)
def test_a_case_that_is_none(change: dict[str, object], said: str, tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, (1, 3, 0)), (0, 0, 0, 0, (1, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    assert dais_verif.shrink(program, tmp_path / "case").verdict is Verdict.PASS
    path = tmp_path / "case/case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with raises(FuzzingError, match=said):
        read_case(tmp_path / "case")
