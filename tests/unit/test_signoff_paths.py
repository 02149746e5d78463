"""The paths that a sign-off gets: of programs, and of the RTL in its policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.signoff import certificate
from dais_verif.signoff.context import plain_path
from dais_verif.signoff.policy import read_policy
from dais_verif.signoff.signed_design import subject_of
from dais_verif.spec.program import Program, load, write_binary


def test_no_path_is_taken_for_an_option() -> None:
    assert plain_path(Path("--json")) == "./--json"
    assert plain_path(Path("-x/a.bin")) == "./-x/a.bin"
    assert plain_path(Path("a-b.bin")) == "a-b.bin"
    assert plain_path(Path("/-x.bin")) == "/-x.bin"


@pytest.mark.parametrize(("name", "problem"), [(".", "is a folder"), ("none.v", "is not there")])
def test_rtl_of_a_policy_that_is_no_file(
    name: str, problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])
    Path("prog.bin").write_bytes(write_binary(program, "v1"))
    Path("policy.toml").write_text(f'[rtl]\nfiles = ["{name}"]\ntop = "m"\n')
    with raises(InputError):
        subject_of(load("prog.bin"), Path("prog.bin"), None, read_policy(Path("policy.toml")).policy, Path("model.v"))


def test_a_folder_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(certificate, "_MOST_FILES", 2)
    for number in range(3):
        assert len(certificate.files_in(tmp_path)) == number
        (tmp_path / f"{number}.txt").touch()
    with raises(InputError, match=r"2 files"):
        certificate.files_in(tmp_path)
