"""Large programs are split into groups of connected ops, and no list or line of the text grows with the program."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from bench.networks import network
from bench.shapes import attention, convolution
from dais_verif.base.toolchain import tools
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.emitter import module as cut
from dais_verif.hardware.emitter.module import by_cone, parts_of
from dais_verif.spec.program import Op, Program

#: Longer lines are hard to read, and Verilator refuses a line of 40,000 words.
LONGEST_LINE = 2000

SHAPES = {"convolution": convolution(8), "attention": attention(12, 12), "network": network(12_000)}


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "MOST_SIGNALS", 60)
    monkeypatch.setattr(cut, "MOST_NAMES", 20)


def lists(text: str) -> list[list[str]]:
    """Return the sensitivity list of each block that is not clocked."""
    found = re.findall(r"always @\(([^)]*)\) begin", text)
    return [words.split(" or ") for words in (" ".join(one.split()) for one in found) if "posedge" not in words]


def imports(program: Program, groups: list[list[int]]) -> int:
    """Return how many signals of other groups the groups read, summed over all groups."""
    group_of = {value: number for number, values in enumerate(groups) for value in values}
    read = {(group_of[op.index], i) for op in program.ops if op.index in group_of for i in op.operands}
    return sum(group_of.get(i, own) != own for own, i in read)


def test_operands_come_first_and_roots_in_their_order() -> None:
    #       5   6     dead: 7
    #      / \ /
    #     3   4
    operands = [(), (), (), (0, 1), (1, 2), (3, 4), (4,), (0,)]
    order = by_cone(range(8), operands, [6, 5, 6])
    assert sorted(order) == list(range(8))
    assert all(order.index(operand) < order.index(value) for value in range(8) for operand in operands[value])
    assert set(order[:4]) == {1, 2, 4, 6} and set(order[4:7]) == {0, 3, 5} and order[7] == 7


def test_a_path_may_be_as_long_as_the_program() -> None:
    count = 100_000
    assert by_cone(range(count), [(max(i - 1, 0),) for i in range(count)], [count - 1]) == list(range(count))


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(20))
def test_groups_keep_their_limits_and_read_no_later_one(seed: int, small_groups: None) -> None:
    program = random_program(random.Random(seed), 400)
    parts = parts_of(program)
    assert len(parts.members) > 3
    for part, members in enumerate(parts.members):
        assert list(members) == sorted(members) and 0 < len(members) <= 60
        assert all(parts.of[index] == part for index in members)
        assert all((parts.of[i] or 0) <= part for index in members for i in program.ops[index].operands)
    assert sum(map(len, parts.members)) == sum(part is not None for part in parts.of)
    assert max(map(len, lists(emit_verilog(program)))) <= 21  # 20 names, and the input port, which is always listed
    pipeline = emit_pipeline(program, options=PipelineOptions(stages=3)).text
    assert max(map(len, lists(pipeline))) <= 21


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SHAPES)
def test_no_list_and_no_line_is_long(name: str) -> None:
    program = SHAPES[name]
    for text in (emit_verilog(program), emit_pipeline(program, options=PipelineOptions(stages=2)).text):
        assert max(map(len, text.splitlines())) <= LONGEST_LINE
        assert max(map(len, lists(text))) <= cut.MOST_NAMES + 1
        assert len(lists(text)) > 1


def test_a_wide_pipeline_of_few_ops_has_no_long_list_either() -> None:
    """No list is too long, although a stage whose signals fit one scope reads more registers than a list may have."""
    rows = [(-1, j, -1, 0, (1, 7, 0)) for j in range(1000)]
    rows += [(0, j, j + 1, 0, (1, 8, 0)) for j in range(0, 1000, 2)]
    rows += [(0, 1000 + j, 1001 + j, 0, (1, 9, 0)) for j in range(0, 500, 2)]
    program = Program.build(rows, [(1500 + j, 0, 0) for j in range(250)], inp_shift=[0] * 1000)
    text = emit_pipeline(program, options=PipelineOptions(stages=2)).text
    assert "stage_2_0" in text and max(map(len, lists(text))) <= cut.MOST_NAMES + 1


def test_many_tables_count_as_names() -> None:
    rows = [(-1, 0, -1, 0, (0, 1, 0)), *((8, 0, -1, t, (0, 4, 0)) for t in range(600))]
    outputs = [(1 + t, 0, 0) for t in range(600)]
    text = emit_verilog(Program.build(rows, outputs, inp_shift=[0], tables=[[t % 9, 1] for t in range(600)]))
    assert max(map(len, lists(text))) <= cut.MOST_NAMES + 1 and sum(map(len, lists(text))) >= 600


def test_what_belongs_together_is_in_one_part() -> None:
    """A position of a convolution is in one group.

    If ops were split by number, every second op would be read by another group.
    """
    program = SHAPES["convolution"]
    groups = [list(members) for members in parts_of(program).members]
    ops = [index for members in groups for index in members]
    by_number = [sorted(ops)[start : start + cut.MOST_SIGNALS] for start in range(0, len(ops), cut.MOST_SIGNALS)]
    assert len(groups) == len(by_number) == 5
    assert imports(program, groups) < imports(program, by_number) / 10


def test_every_op_is_looked_at_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch, small_groups: None) -> None:
    """However many groups there are, each op is inspected about the same number of times."""
    looks = 0
    operands = Op.operands.fget  # type: ignore[attr-defined]

    def counted(op: Op) -> tuple[int, ...]:
        nonlocal looks
        looks += 1
        return operands(op)

    monkeypatch.setattr(Op, "operands", property(counted))
    each = []
    for n_ops in (1_000, 8_000):
        program, looks = network(n_ops), 0
        emit_verilog(program)
        each.append(looks / n_ops)
    assert each[1] < 1.1 * each[0]


def test_a_vector_runs_each_part_once_in_icarus(tmp_path: Path, small_groups: None) -> None:
    program = convolution(5, ops=250)
    text = emit_verilog(program)
    scopes = re.findall(r"begin : (\w+)", text)
    assert len(scopes) > 20
    text = re.sub(r"(begin : \w+\n)", r"\1integer runs = 0;\n", text)
    text = re.sub(r"(always @\([^)]*\) begin\n)", r"\1runs = runs + 1;\n", text)
    bits = int(re.search(r"input  wire \[(\d+):0\] model_inp", text)[1]) + 1  # type: ignore[index]
    shown = "".join(f'$display("%0d", dut.{scope}.runs);\n' for scope in scopes)
    bench = f"module bench; reg [{bits - 1}:0] x; model dut(.model_inp(x), .model_out());\n"
    bench += f"initial begin repeat (10) begin x = {{{-(-bits // 32)}{{$random}}}}; #1; end\n{shown}end endmodule\n"
    (tmp_path / "bench.v").write_text(text + bench)
    icarus = tools.icarus()
    subprocess.run([str(icarus.iverilog), "-s", "bench", "-o", "bench.vvp", "bench.v"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [str(icarus.vvp), "-n", "bench.vvp"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["10"] * len(scopes)
