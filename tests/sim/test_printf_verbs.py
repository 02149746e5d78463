"""``kernel build``, ``run`` and ``sim`` with ``--printf`` show what members print in the golden model and in RTL."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import KernelError
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.report.html.kernels import picture_beside

RELU = """
kernel = "relu"
[input]
shape = [2]
type = "s5.2"
"""
PRINTF = """
[printf]
message = "is %f\\n"
output = 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a kernel whose two members print; beside it the same without outputs for messages, and without messages."""
    base = tmp_path_factory.mktemp("printf")
    for name, text, printf in (("shown", PRINTF, True), ("hidden", PRINTF, False), ("silent", "", False)):
        (base / f"{name}.toml").write_text(RELU + text)
        dais_verif.build_kernel("relu", base / f"{name}.toml", output=base / name, printf=printf)
    np.save(base / "x.npy", np.array([[0.75, -0.25], [1, 2]]))
    return base / "shown"


def asked(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main._run(list(map(str, words))) == code
    found = capsys.readouterr()
    return found.out, found.err


LINES = "is 0.750000\nis 0.000000\nis 1.000000\nis 2.000000\n"


def test_run_prints(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = folder.with_name("x.npy")
    assert asked(capsys, "run", folder, "--inputs", x, "--printf")[0] == LINES
    out, _ = asked(capsys, "run", folder, "--inputs", x, "--printf", "-o", tmp_path / "y.npy")
    assert out.startswith(LINES) and np.load(tmp_path / "y.npy").tolist() == [[0.75, 0], [1, 2]]
    out, _ = asked(capsys, "run", folder, "--inputs", x, "--printf", "--json")
    assert "".join(json.loads(out)["printed"]) == LINES


def test_sim_prints(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sim", folder, "--printf", "--inputs", folder.with_name("x.npy"), "--vectors", "0", "--sim", "icarus")
    out, _ = asked(capsys, *words, "--html", tmp_path / "s.html")
    first, second = LINES[:24], LINES[24:]
    assert f"by members of sample 0\n{first}printed    by members of sample 1\n{second}" in out
    assert "4 members print the same in icarus" in " ".join(out.split())
    page = (tmp_path / "s.html").read_text()
    assert "<pre>is 0.750000" in page and 'id="space"' in page


@pytest.mark.slow
def test_rtl_that_prints_something_else(folder: Path, tmp_path: Path) -> None:
    """RTL in which only an output for messages is wrong is a mismatch in both simulators."""
    text = (folder / "model.v").read_text()
    wrong = tmp_path / "wrong.v"
    assert text.count("tap <= INTERNAL") == 1
    wrong.write_text(text.replace("tap <= INTERNAL", "tap <= ~INTERNAL"))
    record = dais_verif.simulate(folder, rtl=wrong, printf=True, inputs=folder.with_name("x.npy"), vectors=0)
    assert record.verdict is Verdict.RTL_MISMATCH and record.kernel is not None
    assert [one.name for one in record.kernel.printed_by or []] == ["icarus", "verilator"]
    assert all("member [0] of sample 0 prints" in str(one.difference) for one in record.kernel.printed_by or [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("sim", "hidden", "--printf", "--sim", "icarus"),
            "--printf",
        ),
        (("sim", "silent", "--printf"), "relu: "),
        (("run", "silent", "--inputs", "x.npy", "--printf"), "relu: "),
        (("kernel", "build", "relu", "--params", "silent.toml", "--printf", "-o", "new"), "relu: "),
        (("sim", "shown", "--printf", "--vectors", "0"), "--printf"),
        (("sim", "shown/machine.fsm.json", "--printf"), "--printf"),
        (("run", "shown/machine.fsm.json", "--inputs", "x.npy", "--printf"), "--printf"),
    ],
    ids=["hidden", "silent", "run", "build", "nothing", "machine", "run-machine"],
)
def test_what_cannot_print_is_refused(
    words: tuple[str, ...],
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder.parent)
    _, err = asked(capsys, *words, code=2)
    assert said in err and err.count("\n") == 1
    as_recorded(err.rstrip())


def test_a_folder_is_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = asked(capsys, "kernel", "show", folder, "--member", "1")
    assert "shown       member 1" in out and "memory form" in out and "stream form" not in out
    machine = dais_verif.load_machine(folder / "machine.fsm.json")
    picture = picture_beside(machine)
    assert picture is not None and picture.charts == dais_verif.draw_kernel(folder).charts
    with pytest.raises(KernelError, match=r"folder of `kernel build`.*instance\.json"):
        dais_verif.draw_kernel(folder.parent)
