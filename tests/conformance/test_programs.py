"""Programs that cannot be composed: with constants only, without inputs, without outputs, or without anything.

The expected outputs are literals here, too; outputs of ``None`` mean that no bit can be compared.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.files import write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.golden import oracle, run
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation.simulators.build import SIMULATORS, RtlDesign
from dais_verif.simulation.verify import Finding, SimulationOptions, verify
from dais_verif.spec.program import Program, write_binary
from dais_verif.spec.program.numbers import Batch

from .rtl import simulate

S4, U3 = (1, 3, 0), (0, 3, 0)
X = (-1, 0, -1, 0, S4)


class Whole(NamedTuple):
    """A program, one vector, its outputs, and all bits of model_out, most significant first."""

    program: Program
    inputs: Sequence[int]
    gives: Sequence[int]
    model_out: str
    verdict: Verdict


CONSTANTS = [(5, -1, -1, -5, S4), (5, -1, -1, 3, U3), (7, 0, 1, 0, (1, 4, 0)), (2, 2, -1, 0, S4)]

PROGRAMS = {
    # -5, 3, -15 and max(-15, 0): 1011, 011, 10001, 0000; the first output is in the lowest bits
    "constants_only": Whole(
        Program.build(CONSTANTS, [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)]),
        [],
        [-5, 3, -15, 0],
        "0000100010111011",
        Verdict.PASS,
    ),
    "constants_beside_inputs_not_read": Whole(
        Program.build(CONSTANTS, [(0, 0, 1)], inp_shift=[0, 3]), [7, -9], [5], "00101", Verdict.PASS
    ),
    "constants_beside_an_output_of_an_input": Whole(
        Program.build([X, *CONSTANTS[:1]], [(1, 0, 0), (0, 0, 0)], inp_shift=[0]),
        [-8],
        [-5, -8],
        "10001011",
        Verdict.PASS,
    ),
    "all_outputs_constant_zero": Whole(
        Program.build([X], [(-1, 0, 0), (-1, 5, 1)], inp_shift=[0]), [-8], [0, 0], "0", Verdict.NOT_RUN
    ),
    "all_outputs_without_bits": Whole(
        Program.build([(-1, 0, -1, 0, (1, -1, 0))], [(0, 0, 0), (0, 3, 1)], inp_shift=[0]),
        [-8],
        [0, 0],
        "0",
        Verdict.NOT_RUN,
    ),
    "no_outputs": Whole(Program.build([X], [], inp_shift=[0]), [-8], [], "0", Verdict.NOT_RUN),
    "no_ops": Whole(Program.build([], [(-1, 0, 0)], inp_shift=[0, 0]), [-8, 5], [0], "0", Verdict.NOT_RUN),
    "nothing": Whole(Program.build([], []), [], [], "0", Verdict.NOT_RUN),
}


def verified(program: Program, batch: Batch, folder: Path, options: SimulationOptions) -> Finding:
    source = folder / "model.v"
    source.write_text(emit_verilog(program))
    return verify(program, batch, RtlDesign((source,), "model"), folder, options)


@pytest.mark.parametrize("whole", PROGRAMS.values(), ids=PROGRAMS)
def test_golden(whole: Whole) -> None:
    assert oracle.evaluate(whole.program, [Fraction(value) for value in whole.inputs]) == list(whole.gives)
    for engine in ("auto", "numpy", "exact"):
        found = run(whole.program, np.array([whole.inputs] * 3, dtype=float).reshape(3, -1), engine=engine)
        assert found.tolist() == [list(whole.gives)] * 3


#: Programs whose RTL differs in form; each of the others differs from one of these only by the size of a port.
IN_VERILATOR = ("constants_only", "constants_beside_an_output_of_an_input", "all_outputs_without_bits", "nothing")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("simulator", "name"), [("icarus", name) for name in PROGRAMS] + [("verilator", name) for name in IN_VERILATOR]
)
def test_rtl(simulator: str, name: str, tmp_path: Path) -> None:
    """The padding bit of a port without bits is 0, too, whatever the value of the other port."""
    whole = PROGRAMS[name]
    batch = Batch.of([list(whole.inputs)] * 2, whole.program.n_in)
    assert simulate(whole.program, batch, simulator, tmp_path / "run") == [whole.model_out] * 2


@pytest.mark.parametrize(
    ("name", "simulators"),
    [("constants_only", SIMULATORS), ("all_outputs_constant_zero", SIMULATORS), ("nothing", ("icarus",))],
)
def test_verdict(name: str, simulators: tuple[str, ...], tmp_path: Path) -> None:
    """A simulation that compares no output bit is never a PASS."""
    whole = PROGRAMS[name]
    batch = Batch.of([list(whole.inputs)] * 2, whole.program.n_in)
    finding = verified(whole.program, batch, tmp_path, SimulationOptions(simulators))
    assert finding.verdict is whole.verdict, finding.message
    assert [result.name for result in finding.simulators] == list(simulators)
    compared = 2 * len(whole.model_out) if whole.verdict is Verdict.PASS else 0
    assert {result.bits_compared for result in finding.simulators} == {compared}


def test_exit_code_where_nothing_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "program.bin"
    write_atomically(path, write_binary(PROGRAMS["no_outputs"].program, "v1"))
    options = ["--vectors", "3", "--sim", "icarus", "-o", str(tmp_path / "out")]
    command = [sys.executable, "-m", "dais_verif", "sim", str(path), *options]
    root = Path(dais_verif.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "NOT_RUN" in done.stdout


def test_violation_stops_a_checked_run_before_any_simulation(tmp_path: Path) -> None:
    program = Program.build([(-1, 0, -1, 0, U3), (-1, 1, -1, 0, U3), (0, 0, 1, 0, U3)], [(2, 0, 0)], inp_shift=[0, 0])
    batch = Batch.of([[3, 4], [7, 5], [7, 7]], 2)
    finding = verified(program, batch, tmp_path, SimulationOptions(check=True))
    assert (finding.verdict, finding.simulators) == (Verdict.PROGRAM_INVALID, [])
    as_recorded(finding.message)
    finding = verified(program, batch, tmp_path, SimulationOptions(("icarus",), check=False))
    assert finding.verdict is Verdict.PASS, finding.message


def test_an_output_that_no_double_holds_is_refused() -> None:
    """The value 2**53 + 1, which no double holds, is refused; the error names its row and its output."""
    kind = (0, 60, 0)
    program = Program.build([(-1, 0, -1, 0, kind), (4, 0, -1, 1, kind)], [(0, 0, 0), (1, 0, 0)], inp_shift=[0])
    assert run(program, [[2**53 - 1]]).tolist() == [[2**53 - 1, 2**53]]
    with pytest.raises(InputError, match="row 1, output 1"):
        run(program, [[5], [2**53]])
