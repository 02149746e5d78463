"""``signoff --verify`` takes RTL as ``sim`` does: several files after one ``--rtl``."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.doors.cli.main import _run
from dais_verif.verbs.verify_certificate import CertificateRequest

verify_cert = importlib.import_module("dais_verif.doors.cli.signoff")


@pytest.mark.parametrize("words", [("--rtl", "a.v", "b.v"), ("--rtl", "a.v", "--rtl", "b.v")])
def test_files_follow_one_rtl(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[CertificateRequest] = []

    class Seen(Exception):
        pass

    def noted(request: CertificateRequest, progress: object) -> None:
        seen.append(request)
        raise Seen

    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))  # where the traceback of ``Seen`` is written
    monkeypatch.setattr(verify_cert, "verify_certificate", noted)
    _run(["signoff", "--verify", str(tmp_path), *words])
    assert [request.rtl for request in seen] == [(Path("a.v"), Path("b.v"))]


def test_a_file_without_rtl_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["signoff", "--verify", str(tmp_path), "b.v"]) == 2
    as_recorded(capsys.readouterr().err)
