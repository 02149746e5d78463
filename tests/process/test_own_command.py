"""Every printed command runs in the user's environment; a missing package is named, and is not reported as a bug."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.said import as_recorded

from dais_verif.base.own_command import own_command
from dais_verif.base.packages import BASE, missing_packages
from dais_verif.campaigns.regression.job import reproduce as reproduce_job
from dais_verif.doors.cli.common import reproduce
from dais_verif.doors.cli.main import _run, cli
from dais_verif.record.campaigns import Job
from dais_verif.verbs import check as check_flow

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "quantised_mac.bin"


def in_a_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``line`` in a shell in another folder, with only the system directories on its path."""
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )


def test_the_line_runs_in_any_shell(tmp_path: Path) -> None:
    found = in_a_shell(own_command(["check", str(EXAMPLE)]), tmp_path)
    assert found.returncode == 0 and "PASS" in found.stdout, found.stderr


def test_without_a_script_beside_python_it_names_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "my python"))
    assert own_command(["sim", "a b.bin"]) == f"'{tmp_path}/my python' -m dais_verif sim 'a b.bin'"
    (tmp_path / "dais-verif").touch()
    assert own_command(["sim", "p.bin"]) == f"{tmp_path}/dais-verif sim p.bin"


@pytest.mark.parametrize("called", ["dais-verif", "/elsewhere/__main__.py", "-c"])
def test_it_does_not_depend_on_how_we_were_called(called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [called])
    with click.Context(cli, obj=["sim", "p.bin", "--", "-x"]):
        assert reproduce(more=["--seed", "3"]) == own_command(["sim", "p.bin", "--seed", "3", "--", "-x"])
    first = shlex.split(own_command([]))[0]
    assert Path(first).is_absolute() and Path(first).is_file()


def test_jobs_of_a_regression_have_it_too() -> None:
    job = Job("p", "my p.bin", "", "both", 0, ["--seed", "0"])
    assert reproduce_job(job) == own_command(["sim", "my p.bin", "--seed", "0"])


def test_nowhere_is_a_line_made_of_a_bare_name() -> None:
    """No source file prints a labelled command that relies on ``dais-verif`` or ``python`` being on the path."""
    for path in (ROOT / "dais_verif").rglob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"command_line\(\[[\"'](dais-verif|python)", text), path
        assert not re.search(r"[\"'](reproduce|check it|simulate|replay|in sim) +(dais-verif|python)", text), path


def test_a_missing_package_is_no_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def load(*_: object) -> None:
        import no_such_package_at_all  # type: ignore[import-not-found]  # noqa: F401

    monkeypatch.setattr(check_flow, "read_program", load)
    assert _run(["check", str(EXAMPLE)]) == 3
    err = capsys.readouterr().err
    as_recorded(err)
    assert err.count("\n") == 1
    assert sys.executable in err and ": no_such_package_at_all; " in err


def test_a_module_of_ours_that_is_missing_is_one() -> None:
    assert missing_packages(ModuleNotFoundError("x", name="dais_verif.simulation.gone")) is None
    assert (
        missing_packages(
            ImportError("cannot import name 'x' from 'dais_verif.simulation'", name="dais_verif.simulation")
        )
        is None
    )


def test_without_any_package_all_are_named(tmp_path: Path) -> None:
    """``python -S`` sees no installed package: the exit code is 3, not Python's own 1, which would mean wrong RTL."""
    words = [sys.executable, "-S", "-m", "dais_verif", "check", str(EXAMPLE)]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 3 and found.stderr.count("\n") == 1, found.stderr
    wanted = ", ".join(name for name, modules in BASE.items() if modules)
    assert f": {wanted}; " in found.stderr


def test_the_packages_are_those_that_are_installed() -> None:
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text("utf-8"), re.M | re.S)
    assert listed is not None
    assert re.findall(r'^  "([\w-]+)', listed[1], re.M) == list(BASE)
