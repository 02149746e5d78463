"""The Verilog of a program: the text is deterministic, has one named signal per op, and is clean in every tool."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode, sum_of_many

from dais_verif.base.toolchain import tools
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import LAYOUTS, Program, read_binary, write_binary
from dais_verif.spec.program.ports import ports_of

PROGRAMS = {
    "every opcode": every_opcode(),
    "dense network": dense_network(),
    **ODD_PROGRAMS,
    **{f"random {seed}": random_program(random.Random(seed), 200) for seed in range(6)},
    **{f"random ALIR {seed}": random_program(random.Random(seed), 200, alir=True) for seed in range(2)},
    "sum of 200 terms": sum_of_many(200),
}


def over(names: Sequence[str]) -> pytest.MarkDecorator:
    ids = [name.replace(" ", "-") for name in names]
    return pytest.mark.parametrize("program", [PROGRAMS[name] for name in names], ids=ids)


ALL, SMALL = over(list(PROGRAMS)), over([name for name in PROGRAMS if name != "large"])


@ALL
def test_the_same_text_every_time(program: Program) -> None:
    assert emit_verilog(program) == emit_verilog(replace(program))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_text_for_every_layout(seed: int) -> None:
    program = random_program(random.Random(seed), 50, tables=False)
    texts = {emit_verilog(read_binary(write_binary(program, layout), layout)) for layout in LAYOUTS}
    assert texts == {emit_verilog(program)}


def test_another_program_is_another_text() -> None:
    """The hash in the header covers the program: a constant changes it, data without meaning does not."""

    def text(meaningless: int, constant: int) -> str:
        rows = [(-1, 0, -1, meaningless, (1, 7, 0)), (4, 0, -1, constant, (1, 8, 0))]
        return emit_verilog(Program.build(rows, [(1, 0, 0)], inp_shift=[0]))

    assert text(0, 1) == text(99, 1)
    assert text(0, 1).splitlines()[0] != text(0, 2).splitlines()[0]


@ALL
def test_one_named_signal_an_op(program: Program) -> None:
    text = emit_verilog(program)
    declared = re.findall(r"^ *(?:reg|wire) signed \[(\d+):0\] op_(\d+)\b(?!_)", text, re.MULTILINE)
    assert sorted(int(index) for _, index in declared) == list(range(program.n_ops))
    for msb, index in declared:
        op = program.ops[int(index)]
        headroom = op.type.width == 0 or not op.type.k
        assert int(msb) + 1 == op.type.width + headroom
    assigned = re.findall(r"^ *op_(\d+) =\s|^ *wire signed \S+ op_(\d+) = ", text, re.MULTILINE)
    assert sorted(int(a or b) for a, b in assigned) == list(range(program.n_ops))


def test_a_long_sum_is_wrapped_and_its_comment_cut_short() -> None:
    """A long sum is wrapped and its comment cut short, as Icarus cannot read lines of 30,000 columns."""
    text = emit_verilog(sum_of_many(3000))
    assert max(map(len, text.splitlines())) < 1200
    assert " ... of 3000 terms\n" in text and "(op_2999 <<< 4)" in text


@pytest.mark.parametrize(
    ("terms", "data", "kind", "expected"),
    [
        ([(0, 0, 1)], 0, (1, 4, 0), "-op_0;  // s5.0 neg: "),
        ([(0, 0, 0), (1, -2, 1), (0, 3, 0)], 0, (1, 9, 2), "(op_0 <<< 2) - op_1 + (op_0 <<< 5);  // s12.2 sum: "),
        ([(0, 0, 0), (-1, -3, 0)], -5, (1, 4, 3), "(op_0 <<< 3) - 4'sd5;  // s8.3 add_term: "),
        ([(-1, 1, 0), (1, 0, 1), (1, 0, 1)], 3, (1, 5, 0), "(3'sd3 <<< 1) - op_1 - op_1;  // s6.0 sum: "),
        ([(0, 2, 0)], 0, (1, 5, -2), "op_0;  // s4.-2 sum: "),
        ([(0, -2, 0)], 0, (1, 3, 0), "op_0 >>> 2;  // s4.0 sum: "),
        ([(0, 0, 0), (0, -1, 0)], 0, (1, 4, 0), "op_2_exact >>> 1;  // s5.0 sum: "),
    ],
    ids=["negation", "three-terms", "constant", "constant-first", "one-term", "one-floored", "floored"],
)
def test_a_sum_is_one_expression(
    terms: list[tuple[int, int, int]], data: int, kind: tuple[int, int, int], expected: str
) -> None:
    rows = [(-1, j, -1, 0, (1, 3, 0)) for j in range(2)]
    program = Program.build([*rows, (11, 0, len(terms), data, kind)], [(2, 0, 0)], inp_shift=[0, 0], terms=terms)
    assert f" op_2 = {expected}" in emit_verilog(program)


def test_the_header_says_which_language_the_program_is_of() -> None:
    assert emit_verilog(sum_of_many(3)).startswith("// ALIR program ")
    assert emit_verilog(every_opcode()).startswith("// DAIS program ")


@ALL
def test_ports_are_those_of_the_program(program: Program) -> None:
    ports, text = ports_of(program), emit_verilog(program, "my_top")
    assert "module my_top (" in text
    assert f"input  wire [{max(ports.input_bits, 1) - 1}:0] model_inp," in text
    assert f"output wire [{max(ports.output_bits, 1) - 1}:0] model_out\n" in text


# What other tools report.


@pytest.fixture
def model(program: Program, tmp_path: Path) -> Path:
    path = tmp_path / "model.v"
    path.write_text(emit_verilog(program))
    return path


def run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> str:
    """Return the whole output of ``command``, which must succeed."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


@pytest.mark.few(3)
@ALL
def test_verilator_finds_nothing_to_say(model: Path) -> None:
    found = tools.verilator()
    command = [*found.driver, "--lint-only", "-Wall", "--max-num-width", str(1 << 20), "model.v"]
    assert "%" not in run(command, model.parent, dict(found.env))


@ALL
def test_icarus_takes_it_as_verilog_2005_without_a_warning(model: Path) -> None:
    command = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", "model", "-o", "model.vvp", "model.v"]
    assert run(command, model.parent) == ""


@ALL
def test_slang_finds_no_error(model: Path) -> None:
    pyslang = pytest.importorskip("pyslang")
    tree = pyslang.syntax.SyntaxTree.fromFile(str(model))
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(tree)
    diagnostics = compilation.getAllDiagnostics()
    assert [definition.name for definition in compilation.getRoot().topInstances] == ["model"]
    assert not any(found.isError() for found in diagnostics), pyslang.DiagnosticEngine.reportAll(
        tree.sourceManager, diagnostics
    )


@pytest.mark.few(6)
@SMALL
def test_yosys_synthesises_it_and_finds_no_problem(model: Path) -> None:
    yosys = shutil.which("yosys")
    if yosys is None:
        if os.environ.get("CI"):
            pytest.fail("no yosys on PATH")
        pytest.skip("no yosys on PATH")
    output = run([yosys, "-p", "read_verilog model.v; prep -top model; check -assert"], model.parent)
    assert not re.search(r"warning|error|(?<!no )latch inferred", output, re.IGNORECASE)
