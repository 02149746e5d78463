"""In a sandbox, tools write nothing outside their folder and reach no network; without one they are not run."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest
from support.door import command, run_sim, save
from support.said import as_recorded, raises
from support.signing import DESIGN

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain.process import Session
from dais_verif.base.toolchain.sandbox import SANDBOX, confined, wanted
from dais_verif.hardware.emitter import emit_verilog

BUBBLEWRAP = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.mark.parametrize("verb", ["sim", "prove", "signoff"])
def test_without_bubblewrap_it_is_a_refusal(verb: str, tmp_path: Path) -> None:
    program = save(DESIGN, tmp_path)
    ending = command(verb, program, "--sandbox", "-o", tmp_path / "out", PATH=str(tmp_path))
    assert ending.returncode == 3 and not (tmp_path / "out").exists()
    as_recorded(ending.stderr)
    assert len(ending.stderr.splitlines()) == 1


def test_what_a_sandbox_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = confined(["vvp", "-n"], tmp_path / "-run", [tmp_path / "work"])
    assert words[-3:] == ["--", "vvp", "-n"] and "--unshare-net" in words and "--unshare-pid" in words
    bound = [words[k + 1] for k, word in enumerate(words) if word == "--bind"]
    assert bound == [str(tmp_path / "work"), str(tmp_path / "-run")]
    for value, want in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv(SANDBOX, value)
        assert wanted() is want


@BUBBLEWRAP
def test_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANDBOX, "1")
    work, other = tmp_path / "work", tmp_path / "other"
    other.mkdir()

    def runs(script: str) -> bool:
        return Session(work / "log", cwd=work).run("sh", ["sh", "-c", script]) == 0

    assert runs("echo x > here") and (work / "here").read_text() == "x\n"
    assert not runs(f"echo x > {other}/there") and not any(other.iterdir())
    assert not runs(f"kill -0 {os.getpid()}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f'import socket; socket.create_connection(("127.0.0.1", {port}), 2)'
        monkeypatch.delenv(SANDBOX)
        assert runs(f"python3 -c '{connect}'")
        monkeypatch.setenv(SANDBOX, "1")
        assert not runs(f"python3 -c '{connect}'")


@BUBBLEWRAP
def test_simulations_pass_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANDBOX, "1")
    outside = tmp_path / "outside"
    outside.mkdir()
    line = f'  integer f; initial begin f = $fopen("{outside}/PWNED"); if (f != 0) $fclose(f); end\nendmodule'
    run = run_sim(DESIGN, tmp_path / "p", "--vectors", 50, rtl=emit_verilog(DESIGN).replace("endmodule", line))
    assert run.ending == ("PASS", 0), run.stderr
    assert not any(outside.iterdir())


def test_nobody_runs_without_what_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SANDBOX, "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(ToolError):
        Session(tmp_path / "log", cwd=tmp_path).run("sh", ["/bin/sh", "-c", "touch PWNED"])
    assert not (tmp_path / "PWNED").exists()
