"""A folder that brings RTL is judged by its RTL in every verb: with a planted fault in it, no verb is green."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.door import command
from support.plugin import run_pytest
from support.project_folders import alkaid_folder, da4ml_folder

from dais_verif.doors.cli.main import _VERBS

_FEW = ("--vectors", 20, "--sim", "icarus")
_JUDGED, _REFUSED = "judged", "refused"
#: How each verb takes a project folder: it judges the RTL, refuses the folder, or says that it reads only the model.
#: None: the verb takes no program.
_WAYS: dict[str, tuple[str, tuple[object, ...]] | None] = {
    "check": ("model", ()),
    "show": ("model", ()),
    "convert": ("model", ("x.json",)),
    "run": ("model", ("--inputs", "x.csv")),
    "explain": ("model", ()),
    "emit": ("model", ("-o", "x.v")),
    "synth": ("netlist", ("--target", "ice40", "-o", "netlist")),
    "build": (_REFUSED, ("--device", "ice40-hx8k-ct256", "-o", "built")),
    "sim": (_JUDGED, _FEW),
    "regress": (_JUDGED, (*_FEW, "--retries", 0)),
    "prove": (_JUDGED, ()),
    "hil": (_REFUSED, ("--target", "sim://uart")),
    "report": (_REFUSED, ("--html", "x.html")),
    "coverage": ("model", ()),
    "signoff": (_JUDGED, ("-o", "signed")),
    "sensitivity": ("model", ()),
    "diff": ("model", ("DIR",)),
    "approx": None,
    "kernel": None,
    "mutate": (_JUDGED, ("-o", "mutants")),
    "fuzz": None,
    "shrink": ("shrunk", ("-o", "small", "--vectors", 20)),
    "schema": None,
    "cache": None,
}


def _faulty(folder: Path, kind: str = "da4ml") -> Path:
    made = da4ml_folder(folder) if kind == "da4ml" else alkaid_folder(folder)
    for path in made.rglob("*.v"):
        path.write_text(path.read_text().replace("? 4'd0 :", "? 4'd1 :"))
    return made


def test_every_verb_has_a_way() -> None:
    assert set(_WAYS) == set(_VERBS)


@pytest.mark.parametrize("verb", [verb for verb, way in _WAYS.items() if way is not None])
def test_no_verb_is_green_on_a_planted_fault(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs of the model alone say so; a netlist made of the RTL is as wrong, and ``shrink`` finds the fault."""
    monkeypatch.chdir(tmp_path)
    folder = _faulty(tmp_path / "project")
    (tmp_path / "x.csv").write_text("0,0\n")
    way, words = _WAYS[verb] or ("", ())
    done = command(verb, folder, *(folder if word == "DIR" else word for word in words))
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    if way == _JUDGED:
        assert done.returncode in (1, 7), said
    elif way == _REFUSED:
        assert done.returncode == 2, said
    elif way == "model":
        assert done.returncode == 0
        assert all(part in done.stderr for part in ("RTL", "sim"))
    elif way == "netlist":
        assert "4'h1" in (tmp_path / "netlist" / "netlist.v").read_text() or _sim_of_netlist(folder) == 1
    else:
        assert "RTL became" in said
        assert (tmp_path / "small" / "rtl" / "layer.v").is_file()


def _sim_of_netlist(folder: Path) -> int:
    return command("sim", folder, "--netlist", "netlist", "--top", "layer", *_FEW).returncode


@pytest.mark.parametrize("kind", ["da4ml", "alkaid"])
def test_regress_runs_one_job_for_a_folder_and_judges_its_rtl(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nets = tmp_path / "nets"
    right = (da4ml_folder if kind == "da4ml" else alkaid_folder)(nets / "right")
    _faulty(nets / "wrong", kind)
    good = command("regress", right, *_FEW, "-o", "r0")
    assert (good.returncode, "1 of 1 jobs passed" in good.stdout) == (0, True), good.stdout + good.stderr
    both = command("regress", nets, *_FEW, "--retries", 0, "-o", "r1")
    assert both.returncode == 1
    assert "1 of 2 jobs passed" in both.stdout
    assert "wrong/folder/icarus/0" in both.stdout


def test_pytest_judges_the_rtl_of_a_folder(tmp_path: Path) -> None:
    da4ml_folder(tmp_path / "right")
    _faulty(tmp_path / "wrong")
    done = run_pytest(tmp_path, "--dais", "right", "wrong", "--dais-sim", "icarus", "--dais-vectors", 20)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "RTL_MISMATCH" in done.stdout
