"""Caches may have hostile contents: damage is detected, and a sign-off takes nothing from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.signing import QUICK, project, sign

from dais_verif.signoff.verbs import PRINTED, call, own_cache
from dais_verif.toolchain import tools, verilator_runtime


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the list of folders in which runtimes were compiled, by a stand-in that takes no time."""
    folders: list[Path] = []

    def build(found: tools.VerilatorTools, folder: Path, options: object) -> None:
        folders.append(folder)
        (folder / "main.o").write_bytes(b"main")
        (folder / "headers.h.gch").write_bytes(b"headers")

    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(verilator_runtime, "_build", build)
    return folders


DAMAGE: dict[str, Callable[[Path], object]] = {
    "edited": lambda folder: (folder / "main.o").write_bytes(b"evil"),
    "cut short": lambda folder: (folder / "headers.h.gch").write_bytes(b""),
    "removed": lambda folder: (folder / "main.o").unlink(),
    "added": lambda folder: (folder / "verilated.h").write_bytes(b"#error"),
    "no seal": lambda folder: (folder / "seal.json").unlink(),
    "an empty seal": lambda folder: (folder / "seal.json").write_bytes(b"{}"),
    "no JSON": lambda folder: (folder / "seal.json").write_bytes(b"\xff"),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_runtime_that_is_not_what_was_put_there_is_compiled_anew(damage: str, compiled: list[Path]) -> None:
    folder = verilator_runtime.ensure()
    assert verilator_runtime.ensure() == folder and len(compiled) == 1
    DAMAGE[damage](folder)
    assert not verilator_runtime.intact(folder)
    assert verilator_runtime.ensure() == folder and len(compiled) == 2
    assert (folder / "main.o").read_bytes() == b"main" and verilator_runtime.intact(folder)
    assert [path for path in verilator_runtime.home().iterdir() if path.is_dir()] == [folder]


def test_clear_removes_the_runtime(compiled: list[Path]) -> None:
    folder = verilator_runtime.ensure()
    assert verilator_runtime.clear() > 0 and not folder.exists() and verilator_runtime.clear() == 0


def test_the_verbs_of_a_sign_off_have_a_cache_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, own = tmp_path / "shared", tmp_path / "out" / ".cache"
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(shared))
    own.mkdir(parents=True)
    (own / "left over").write_text("by a sign-off that was killed")
    with own_cache(own):
        assert not any(own.iterdir()) and own.stat().st_mode & 0o77 == 0
        assert call("cache", [], tmp_path / "call", keeps=False).exit_code == 0
        told = json.loads((tmp_path / "call" / PRINTED).read_bytes())
        assert (told["folder"], told["limit_bytes"]) == (str(own), 0)
    assert not own.exists() and not shared.exists()


@pytest.mark.slow
def test_hostile_objects_do_not_run_in_a_sign_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile object does not run in a sign-off, even with a valid seal, which an attacker can make as we can."""
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    folder = verilator_runtime.ensure()
    source = tmp_path / "main.cpp"
    source.write_text(
        f'#include <cstdio>\nint main() {{ std::fclose(std::fopen("{tmp_path / "PWNED"}", "w")); return 0; }}\n'
    )
    import subprocess

    subprocess.run(["g++", "-c", source, "-o", folder / "main.o"], check=True)
    verilator_runtime._seal(folder)
    assert verilator_runtime.intact(folder)
    ending = sign(project(tmp_path / "p", QUICK.replace('"icarus"', '"verilator"')))
    assert ending.verdict == "PASS", ending.tree["message"]
    assert not (tmp_path / "PWNED").exists() and not (tmp_path / "p" / "out" / ".cache").exists()
