"""The text of pipelines contains what is reported, has every signal where it is reported, and is accepted by tools."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode
from support.said import raises
from support.strategies import programs

from dais_verif.base.errors import InputError
from dais_verif.base.toolchain import tools
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.hardware.emitter import DelayModel, Pipeline, PipelineOptions, emit_pipeline
from dais_verif.spec.program import Program

EVERY = every_opcode()
PROGRAMS = {
    "every opcode": EVERY,
    "dense network": dense_network(),
    **ODD_PROGRAMS,
    "random": random_program(random.Random(1), 200),
}
OPTIONS = {
    "1 stage": PipelineOptions(stages=1),
    "4 stages with everything": PipelineOptions(stages=4, reset=True, enable=True, valid=True),
}

over_programs = pytest.mark.parametrize("program", PROGRAMS.values(), ids=[name.replace(" ", "-") for name in PROGRAMS])
over_options = pytest.mark.parametrize("options", OPTIONS.values(), ids=[name.replace(" ", "-") for name in OPTIONS])


def pipeline(program: Program, stages: int, **options: object) -> Pipeline:
    return emit_pipeline(program, "model", PipelineOptions(stages=stages, **options))  # type: ignore[arg-type]


def clocked(text: str) -> list[tuple[str, str]]:
    """Return the targets and sources of all assignments at a clock edge, without resets."""
    return re.findall(r"^ *(\w+) <= (\w+);$", text, re.MULTILINE)


def widths(text: str) -> dict[str, int]:
    declared = re.findall(r"^ *(?:reg|wire)(?: signed)?(?: \[(\d+):0\])? (\w+)(?:;| =)", text, re.MULTILINE)
    return {name: int(msb or 0) + 1 for msb, name in declared}


@given(programs(), st.integers(1, 9), st.booleans(), st.booleans())
def test_what_is_reported_is_what_the_text_holds(
    case: tuple[Program, random.Random], stages: int, valid: bool, enable: bool
) -> None:
    program, _ = case
    made = pipeline(program, stages, valid=valid, enable=enable)
    moves, bits = clocked(made.text), widths(made.text)
    assert len({target for target, _ in moves}) == len(moves) == made.registers
    total = 0
    for target, _ in moves:
        index = re.fullmatch(r"op_(\d+)_s\d+", target)
        kind = program.ops[int(index[1])].type if index else None
        total += bits[target] - (kind is not None and not kind.k)  # the headroom bit of an unsigned value is always 0
    assert total == made.register_bits
    assert (made.stages, made.latency, len(made.depths)) == (stages, stages, stages)


@given(programs(), st.integers(1, 9))
def test_registers_pass_a_value_on_by_one_stage(case: tuple[Program, random.Random], stages: int) -> None:
    made = pipeline(case[0], stages, valid=True)
    produced = {place.path: place.stage for place in made.places} | {"in_valid": 1}
    for target, source in clocked(made.text):
        name, stage = re.fullmatch(r"(\w+)_s(\d+)", target).groups()  # type: ignore[union-attr]
        chained = re.fullmatch(rf"{name}_s(\d+)", source)
        if chained:
            assert int(chained[1]) == int(stage) - 1
        elif not name.startswith("neg_"):
            assert produced[source] == int(stage) - 1


@over_programs
@over_options
def test_every_op_has_its_signal_where_it_is_said_to_be(program: Program, options: PipelineOptions) -> None:
    made = emit_pipeline(program, "model", options)
    scope, found = "", set()
    for line in made.text.splitlines():
        begin = re.search(r"generate if \(1\) begin : (\w+)", line)
        scope = f"{begin[1]}." if begin else "" if "endgenerate" in line else scope
        declared = re.match(r" *(?:reg|wire) signed \[\d+:0\] (op_\d+)(?:;| =)", line)
        if declared:
            found.add(scope + declared[1])
    assert found == {made.path_of(index) for index in range(program.n_ops)}
    assert len(found) == program.n_ops


def test_a_large_stage_is_cut_into_scopes() -> None:
    made = pipeline(ODD_PROGRAMS["large"], 1)
    paths = [made.path_of(op.index).rpartition(".")[0] for op in ODD_PROGRAMS["large"].ops]
    assert set(paths) == {"", "stage_1_0", "stage_1_1"}  # constants are wires of the module
    assert max(map(paths.count, ("stage_1_0", "stage_1_1"))) <= 5000
    assert {place.stage for place in made.places} == {None, 1}


def test_several_stages_of_a_large_program_are_a_scope_each() -> None:
    made = pipeline(ODD_PROGRAMS["large"], 2)
    assert {made.path_of(op.index).partition(".")[0] for op in ODD_PROGRAMS["large"].ops} == {
        "op_1",
        "stage_1",
        "stage_2",
    }


def test_constants_pass_no_register() -> None:
    made = pipeline(ODD_PROGRAMS["every opcode on constants"], 5)
    assert (made.registers, made.register_bits, made.depths) == (0, 0, (0.0,) * 5)
    assert "<=" not in made.text.partition("module")[2]


def test_ports_are_there_only_if_asked_for() -> None:
    def ports(**options: object) -> list[str]:
        head = pipeline(EVERY, 2, **options).text.partition("module model (")[2].partition(");")[0]
        return re.findall(r"(\w+),?$", head, re.MULTILINE)

    assert ports() == ["clk", "model_inp", "model_out"]
    assert ports(enable=True) == ["clk", "en", "model_inp", "model_out"]
    assert ports(valid=True) == ["clk", "in_valid", "out_valid", "model_inp", "model_out"]
    assert ports(valid=True, reset=True, enable=True)[:5] == ["clk", "rst", "en", "in_valid", "out_valid"]


def test_the_same_text_every_time() -> None:
    assert len({pipeline(dense_network(), 3).text for _ in range(3)}) == 1


class TestDepth:
    def test_the_fewest_stages_within_it(self) -> None:
        made = emit_pipeline(EVERY, "model", PipelineOptions(max_depth=4))
        assert max(made.depths) <= 4
        assert max(pipeline(EVERY, made.stages - 1).depths) > 4

    def test_just_what_the_slowest_op_takes(self) -> None:
        with pytest.raises(InputError) as caught:
            emit_pipeline(EVERY, "model", PipelineOptions(max_depth=1))
        least = float(str(caught.value).rpartition(" ")[2])
        assert max(emit_pipeline(EVERY, "model", PipelineOptions(max_depth=least)).depths) == least
        with pytest.raises(InputError):
            emit_pipeline(EVERY, "model", PipelineOptions(max_depth=least - 0.001))

    def test_the_op_is_named(self) -> None:
        rows = [(-1, 0, -1, 0, (1, 7, 0)), (7, 0, 0, 0, (1, 15, 0)), (3, 1, -1, 0, (1, 7, 0))]
        program = Program.build(rows, [(2, 0, 0)], inp_shift=[0])
        with raises(InputError):
            emit_pipeline(program, "model", PipelineOptions(max_depth=3.5))

    def test_so_is_the_negation_of_an_output(self) -> None:
        program = Program.build([(-1, 0, -1, 0, (1, 7, 0))], [(0, 0, 1)], inp_shift=[0])
        with raises(InputError):
            emit_pipeline(program, "model", PipelineOptions(max_depth=0))

    def test_an_op_that_nothing_reads_does_not_count(self) -> None:
        rows = [(-1, 0, -1, 0, (1, 7, 0)), (7, 0, 0, 0, (1, 15, 0))]
        program = Program.build(rows, [(0, 0, 0)], inp_shift=[0])
        assert emit_pipeline(program, "model", PipelineOptions(max_depth=0)).stages == 1

    def test_more_stages_than_there_may_be(self) -> None:
        rows = [(-1, 0, -1, 0, (1, 7, 0)), *((4, n, -1, 1, (1, 7, 0)) for n in range(1200))]
        program = Program.build(rows, [(1200, 0, 0)], inp_shift=[0])
        with raises(InputError):
            emit_pipeline(program, "model", PipelineOptions(max_depth=1.6))

    def test_another_model_another_schedule(self) -> None:
        free = DelayModel("ns", lut=0, add=0, carry=0, mul_level=0, mul_bit=0, table=0)
        assert emit_pipeline(EVERY, "model", PipelineOptions(max_depth=0, delays=free)).stages == 1
        assert "estimated depth 0 ns" in emit_pipeline(EVERY, "model", PipelineOptions(stages=1, delays=free)).text


# Checks by other tools


@pytest.fixture
def model(program: Program, options: PipelineOptions, tmp_path: Path) -> Path:
    path = tmp_path / "model.v"
    path.write_text(emit_pipeline(program, "model", options).text)
    return path


def run(command: Sequence[str], folder: Path, env: dict[str, str] | None = None) -> str:
    """Return the whole output of ``command``, which must succeed."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


@pytest.mark.few(6)
@over_programs
@pytest.mark.parametrize("options", [OPTIONS["4 stages with everything"]])
def test_simulators_and_slang_find_nothing_to_say(model: Path) -> None:
    found = tools.verilator()
    command = [*found.driver, "--lint-only", "-Wall", "--max-num-width", str(1 << 20), "model.v"]
    assert "%" not in run(command, model.parent, dict(found.env))
    command = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", "model", "-o", "model.vvp", "model.v"]
    assert run(command, model.parent) == ""
    pyslang = pytest.importorskip("pyslang")
    tree = pyslang.syntax.SyntaxTree.fromFile(str(model))
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(tree)
    wrong = [found for found in compilation.getAllDiagnostics() if found.isError()]
    assert [definition.name for definition in compilation.getRoot().topInstances] == ["model"]
    assert not wrong, pyslang.DiagnosticEngine.reportAll(tree.sourceManager, wrong)


def yosys(folder: Path, script: str) -> str:
    found = shutil.which("yosys")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no yosys on PATH")
        pytest.skip("no yosys on PATH")
    return run([found, "-p", script], folder)


@pytest.mark.parametrize("program", [PROGRAMS[name] for name in ("every opcode", "no bits", "tables", "random")])
@over_options
def test_yosys_finds_no_problem(model: Path) -> None:
    output = yosys(model.parent, "read_verilog model.v; proc; check -assert")
    assert not re.search(r"warning|error|(?<!no )latch inferred", output, re.IGNORECASE)


def bits_in_yosys(made: Pipeline, folder: Path, script: str) -> int:
    (folder / "model.v").write_text(made.text)
    constants = "opt_expr; opt_dff; " * 12  # constants of one stage make those of the next
    output = yosys(folder, f"read_verilog model.v; proc; simplemap; {constants}{script}; opt_clean; stat")
    return sum(map(int, re.findall(r"^ +\$_\w*DFF\w*_ +(\d+)$", output, re.MULTILINE)))


@pytest.mark.parametrize("stages", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_yosys_finds_as_many_register_bits_as_reported(stages: int, tmp_path: Path) -> None:
    """Counts agree once Yosys knows that headroom bits are constant; ``opt -full`` may share bits of two values."""
    made = pipeline(dense_network(), stages, valid=True, enable=True, reset=True)
    assert bits_in_yosys(made, tmp_path, "") == made.register_bits
    assert 0 < bits_in_yosys(made, tmp_path, "opt -full") <= made.register_bits
