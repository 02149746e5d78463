"""The example machines compute their programs, frame by frame; if their control is faulty, a sequence refutes them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import Program, write_binary

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
    as_recorded(record.message)
    assert record.verdict is Verdict.PASS
    assert record.frame is not None and record.frame.stalled and not record.frame.free


@MACHINES
def test_a_fault_in_control_is_refuted(
    name: str, right: Machine, wrong: Machine, program: Program, tmp_path: Path
) -> None:
    """A fault in control is refuted by a sequence for which the machine without the fault gives other outputs."""
    (tmp_path / "frame.toml").write_text(module.FRAMES[name])
    record = dais_verif.diff(wrong, program, frame=tmp_path / "frame.toml", prove=True, output=tmp_path / "w.npz")
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and record.frame.output is not None
    sequence = dict(np.load(tmp_path / "w.npz"))
    shown = record.frame.output
    if shown.signal.startswith("y["):
        outputs = [dais_verif.run_machine(one, sequence).outputs["y"][0, shown.cycle] for one in (right, wrong)]
        assert outputs[1][int(shown.signal[2:-1])] == float(shown.value)
        assert not np.array_equal(*outputs)
    else:  # a register that ignores the stall
        as_recorded(record.message)
        assert sequence["en"][8, 0] == 0


@MACHINES
def test_shipped_files_are_what_the_script_makes(name: str, right: Machine, wrong: Machine, program: Program) -> None:
    folder = SCRIPT.parent
    assert (folder / f"{name}.mach").read_text() == machine_text(right)
    assert (folder / f"{name}_wrong.mach").read_text() == machine_text(wrong)
    assert (folder / f"{name}.bin").read_bytes() == write_binary(program, "v1")
    assert (folder / f"{name}.toml").read_text() == module.FRAMES[name]


def test_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of the page run as written, and each gives the verdict that the page states."""
    (tmp_path / "examples").symlink_to(SCRIPT.parent)
    monkeypatch.chdir(tmp_path)
    page = SCRIPT.with_name("README.md").read_text()
    lines = re.findall(r"^    dais-verif (.*?)(?: +# (.*))?$", page, re.M)
    assert len(lines) >= 6
    for line, verdict in lines:
        code = main._run(line.split())
        assert code == (Verdict[verdict].exit_code if verdict else 0), line
        assert (verdict or "") in capsys.readouterr().out, line


def test_every_machine_is_listed() -> None:
    page = SCRIPT.with_name("README.md").read_text()
    shipped = sorted(path.stem for path in SCRIPT.parent.glob("*.mach"))
    assert shipped == sorted(f"{name}{wrong}" for name, *_ in module.MACHINES for wrong in ("", "_wrong"))
    assert all(f"`{name}.mach`" in page for name in shipped)
