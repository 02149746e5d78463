"""Defaults of options from a file become options of the command line; what is wrong names the file and the key."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dais_verif.base.errors import DaisError
from dais_verif.doors.cli import main
from dais_verif.doors.cli.defaults import read_defaults

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "sort_two.bin")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    return tmp_path


def record(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main._run([*words, "--json"]) == 0
    tree: dict[str, Any] = json.loads(capfd.readouterr().out)
    return tree


@pytest.mark.parametrize(
    ("name", "head"), [("dais-verif.toml", ""), ("pyproject.toml", "tool.dais-verif.")], ids=["own", "project"]
)
def test_a_default_is_an_option_of_the_line(
    name: str, head: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    common = f"[{head.rstrip('.')}]\n" if head else ""
    (folder / name).write_text(f"{common}seed = 3\n[{head}diff]\nvectors = 50\nprove = true\nengine = 'exact'\n")
    found = record(capfd, "diff", EXAMPLE, EXAMPLE)
    assert (found["vectors"], found["seed"], found["engine"]) == (50, 3, "exact") and found["proof"]
    line = found["reproduce"].split(" diff ")[1].split()
    assert {"--vectors", "--seed", "--prove", "--engine"} <= set(line)
    over = record(capfd, "diff", EXAMPLE, EXAMPLE, "--vectors=20", "--seed", "4")
    assert (over["vectors"], over["seed"]) == (20, 4) and over["reproduce"].count("--vectors") == 1


def test_the_nearest_file_counts_and_the_environment_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "dais-verif.toml").write_text("[diff]\nvectors = 50\n")
    Path("pyproject.toml").write_text("[project]\nname = 'no dais-verif'\n")
    assert record(capfd, "diff", EXAMPLE, EXAMPLE)["vectors"] == 50
    Path("pyproject.toml").write_text("[tool.dais-verif.diff]\nvectors = 60\n")
    assert record(capfd, "diff", EXAMPLE, EXAMPLE)["vectors"] == 60
    monkeypatch.setenv("DAIS_VERIF_DEFAULTS", str(folder / "dais-verif.toml"))
    assert record(capfd, "diff", EXAMPLE, EXAMPLE)["vectors"] == 50
    monkeypatch.setenv("DAIS_VERIF_DEFAULTS", "none")
    assert record(capfd, "diff", EXAMPLE, EXAMPLE)["vectors"] == 1000


def test_paths_begin_where_the_file_is(folder: Path) -> None:
    (folder / "dais-verif.toml").write_text("[show]\noutput = 'made.dais'\n")
    assert main._run(["show", EXAMPLE]) == 0
    assert (folder / "made.dais").is_file()


def test_a_file_of_others_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "dais-verif.toml").write_text("nonsense = 1\n")
    assert read_defaults().table == {"nonsense": 1}
    real = os.stat(folder / "dais-verif.toml")
    other = os.stat_result((*real[:4], 12345, *real[5:]))
    monkeypatch.setattr(Path, "stat", lambda path, **_: other)
    assert not read_defaults().table


@pytest.mark.parametrize(
    ("text", "words", "place", "near"),
    [
        ("vectrs = 3", ["check", EXAMPLE], "vectrs", "vectors"),
        ("[simm]\nvectors = 3", ["check", EXAMPLE], "simm", "sim"),
        ("top = 'm'", ["check", EXAMPLE], "top", ""),
        ("[sim]\nvektors = 3", ["sim", EXAMPLE], "[sim] vektors", "vectors"),
        ("[sim]\nvectors = 'many'", ["sim", EXAMPLE], "[sim] vectors", "many"),
        ("[sim]\nvectors = [1, 2]", ["sim", EXAMPLE], "[sim] vectors", ""),
        ("[sim]\nvectors = true", ["sim", EXAMPLE], "[sim] vectors", ""),
        ("[sim]\nbulk = 1", ["sim", EXAMPLE], "[sim] bulk", "true"),
        ("[sim]\nicarus_vectors = 'few'", ["sim", EXAMPLE], "[sim] icarus-vectors", "few"),
        ("[sim]\nsim = 'x'", ["sim", EXAMPLE], "[sim] sim", "icarus"),
        ("sim = 3", ["sim", EXAMPLE], "sim", ""),
        ("[signoff]\npolicy = 'p.toml'", ["signoff", EXAMPLE], "[signoff] policy", "jobs"),
        ("[signoff]\nseed = 1", ["signoff", EXAMPLE], "[signoff] seed", "jobs"),
        ("[signoff]\nrerun = false", ["signoff", "--verify", EXAMPLE], "[signoff] rerun", "jobs"),
        ("[approx.tune]\nbudgets = 1", ["approx", "tune", EXAMPLE], "[approx.tune] budgets", "budget"),
        ("[sim", ["check", EXAMPLE], "dais-verif.toml", "TOML"),
    ],
)
def test_a_wrong_key_or_value_is_one_line(
    text: str, words: list[str], place: str, near: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "dais-verif.toml").write_text(text)
    assert main._run(words) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    assert "dais-verif.toml" in err and place in err and near in err
    assert main._run([*words[:1], *(["tune"] if "tune" in words else []), "--help"]) == 0


def test_two_files_in_a_folder_are_refused(folder: Path) -> None:
    (folder / "dais-verif.toml").write_text("jobs = 1\n")
    (folder / "pyproject.toml").write_text("[tool.dais-verif]\njobs = 2\n")
    with pytest.raises(DaisError):
        read_defaults()


def test_the_help_shows_where_a_default_comes_from(folder: Path) -> None:
    (folder / "dais-verif.toml").write_text("seed = 5\n[sim]\nvectors = 77\n")
    text = " ".join(CliRunner().invoke(main.cli, ["sim", "--help"], obj=["sim", "--help"]).output.split()).replace(
        "- ", "-"
    )
    assert "dais-verif.toml: 77]" in text and "dais-verif.toml: 5]" in text


def test_common_defaults_are_no_part_of_a_sign_off(folder: Path) -> None:
    (folder / "dais-verif.toml").write_text("seed = 5\njobs = 1\n")
    words = ["signoff", "absent.bin"]
    assert main._run(words) == 2
    assert words == ["signoff", "--jobs", "1", "absent.bin"]


def test_quiet_verbose_and_color(capfd: pytest.CaptureFixture[str]) -> None:
    said = {}
    for words in ((), ("-q",), ("-v",)):
        assert main._run(["show", EXAMPLE, "-o", "p.dais", *words]) == 0
        assert main._run(["diff", EXAMPLE, EXAMPLE, *words]) == 0
        said[words] = capfd.readouterr()
    assert said["-q",].err == "" and said["-q",].out == said[()].out
    assert "wrote p.dais" in said[()].err and len(said["-v",].err) > len(said[()].err)
    for color in ("auto", "always", "never"):
        assert main._run(["diff", EXAMPLE, EXAMPLE, "--color", color]) == 0
        assert ("\x1b[" in capfd.readouterr().out) == (color == "always")
