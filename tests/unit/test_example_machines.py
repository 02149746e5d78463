"""The example machines compute their programs, frame by frame; with a fault in control, a sequence refutes each."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import dais_verif
from dais_verif.machine import Machine
from dais_verif.program import Program
from dais_verif.verdict import Verdict

SCRIPT = Path(__file__).parents[2] / "examples" / "make_machines.py"

spec = importlib.util.spec_from_file_location("make_machines", SCRIPT)
assert spec is not None and spec.loader is not None
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

MACHINES = pytest.mark.parametrize(
    ("name", "right", "wrong", "program"), module.MACHINES, ids=lambda v: v if isinstance(v, str) else ""
)


@MACHINES
def test_every_frame_is_the_program(
    name: str, right: Machine, wrong: Machine, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "frame.toml").write_text(module.FRAMES[name])
    record = dais_verif.diff(right, program, frame=tmp_path / "frame.toml", prove=True)
    assert record.verdict is Verdict.PASS and record.message.startswith("every frame: equal for all inputs")
    assert record.frame is not None and record.frame.stalled and not record.frame.free


@MACHINES
def test_a_fault_in_control_is_refuted(
    name: str, right: Machine, wrong: Machine, program: Program, tmp_path: Path
) -> None:
    """And the machine without it computes something else on that very sequence."""
    (tmp_path / "frame.toml").write_text(module.FRAMES[name])
    record = dais_verif.diff(wrong, program, frame=tmp_path / "frame.toml", prove=True, output=tmp_path / "w.npz")
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and record.frame.output is not None
    sequence = dict(np.load(tmp_path / "w.npz"))
    shown = record.frame.output
    if shown.signal.startswith("y["):
        outputs = [dais_verif.run_machine(one, sequence).outputs["y"][0, shown.cycle] for one in (right, wrong)]
        assert outputs[1][int(shown.signal[2:-1])] == float(shown.value)
        assert not np.array_equal(*outputs)
    else:  # a register that does not wait
        assert "a stall in the place of cycle 8 changes higher[0]" in record.message and sequence["en"][8, 0] == 0
