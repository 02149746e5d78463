"""``verify-cert`` takes RTL as ``sim`` does: files after one ``--rtl``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dais_verif.cli.main import _run
from dais_verif.signoff import places


@pytest.mark.parametrize("words", [("--rtl", "a.v", "b.v"), ("--rtl", "a.v", "--rtl", "b.v")])
def test_files_follow_one_rtl(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    class Seen(Exception):
        pass

    def noted(program: Path | None, rtl: tuple[Path, ...]) -> None:
        seen.append(rtl)
        raise Seen

    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))  # for the traceback of what is raised
    monkeypatch.setattr(places, "Places", noted)
    monkeypatch.setattr("dais_verif.signoff.recheck.read_certificate", lambda path: (object(), path, b""))
    _run(["verify-cert", str(tmp_path), *words])
    assert seen == [(Path("a.v"), Path("b.v"))]


def test_a_file_without_rtl_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["verify-cert", str(tmp_path), "b.v"]) == 2
    assert "unexpected extra argument (b.v); RTL files follow --rtl" in capsys.readouterr().err
