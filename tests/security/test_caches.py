"""Caches may have hostile contents: damage is detected, and a sign-off takes nothing from them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.said import as_recorded
from support.signing import QUICK, project, sign

from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.base.toolchain.tool_files import sha256_of
from dais_verif.signoff.verbs import PRINTED, call, own_cache


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
    monkeypatch.setattr(verilator_runtime, "installed_home", lambda: tmp_path / "installed")
    return folders


DAMAGE: dict[str, Callable[[Path], object]] = {
    "edited": lambda folder: (folder / "main.o").write_bytes(b"evil"),
    "cut short": lambda folder: (folder / "headers.h.gch").write_bytes(b""),
    "removed": lambda folder: (folder / "main.o").unlink(),
    "added": lambda folder: (folder / "verilated.h").write_bytes(b"#error"),
    "another kind": lambda folder: (folder / "main.o").unlink() or (folder / "main.o").mkdir(),
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


def _linked(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def _linked_file(folder: Path) -> None:
    (folder / "main.o").rename(folder.parent / "main.o")
    (folder / "main.o").symlink_to("../main.o")


#: What others may do who can write one place of the installation, or what a careless administrator does.
EXPOSED: dict[str, Callable[[Path], object]] = {
    "a link to the folder": _linked,
    "a link to a file": _linked_file,
    "others can write a file": lambda folder: (folder / "main.o").chmod(0o646),
    "the group can write a file": lambda folder: (folder / "headers.h.gch").chmod(0o664),
    "others can write the folder": lambda folder: folder.chmod(0o757),
    "others can write its parent": lambda folder: folder.parent.chmod(0o777),
}


@pytest.mark.parametrize("change", [*DAMAGE, *EXPOSED])
def test_an_installed_runtime_that_others_could_change_or_that_was_changed_is_not_used(
    change: str, compiled: list[Path], capfd: pytest.CaptureFixture[str]
) -> None:
    verilator_runtime.install()
    folder = verilator_runtime.installed_home() / verilator_runtime.key_of()
    assert verilator_runtime.ensure() == folder and len(compiled) == 3 and verilator_runtime.why_unsafe(folder) is None
    capfd.readouterr()
    (DAMAGE | EXPOSED)[change](folder)
    if change in EXPOSED:  # the seal alone does not show it: whoever can write can also seal
        assert verilator_runtime.intact(folder)
    assert verilator_runtime.ensure() == verilator_runtime.home() / folder.name and len(compiled) == 4
    assert "python -m dais_verif.base.toolchain.verilator_runtime" in capfd.readouterr().err


def test_an_installed_runtime_of_another_user_is_not_used(
    compiled: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    verilator_runtime.install()
    folder = verilator_runtime.ensure()
    assert folder.parent == verilator_runtime.installed_home()
    monkeypatch.setattr(verilator_runtime, "_owners", lambda: {folder.stat().st_uid + 1})
    as_recorded(verilator_runtime.why_unsafe(folder) or "")
    assert verilator_runtime.ensure().parent == verilator_runtime.home()


def test_the_paranoid_do_not_use_the_installed_runtime(compiled: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    verilator_runtime.install()
    assert verilator_runtime.ensure().parent == verilator_runtime.installed_home()
    monkeypatch.setenv(verilator_runtime.PARANOID, "1")
    assert verilator_runtime.find() is None
    assert verilator_runtime.ensure().parent == verilator_runtime.home()


def test_what_is_installed_is_replaced_where_it_is_outdated_or_damaged(compiled: list[Path]) -> None:
    verilator_runtime.install()
    place = verilator_runtime.installed_home()
    folders = sorted(path for path in place.iterdir() if path.is_dir())
    assert len(folders) == len(compiled) == 3
    (folders[0] / "main.o").write_bytes(b"evil")
    (place / "outdated").mkdir()
    verilator_runtime.install()
    assert sorted(path for path in place.iterdir() if path.is_dir()) == folders and len(compiled) == 4
    assert all(map(verilator_runtime.intact, folders))


@pytest.mark.parametrize("trusted", [True, False])
def test_an_object_of_another_variant_is_copied_only_if_nobody_else_could_write_it(
    trusted: bool, tmp_path: Path
) -> None:
    other, folder = tmp_path / "other", tmp_path / "folder"
    other.mkdir()
    folder.mkdir()
    (other / "verilated.o").write_bytes(b"object")
    (other / "texts.json").write_text(json.dumps({"verilated.o": "hash"}))
    verilator_runtime._seal(other)
    tmp_path.chmod(0o755 if trusted else 0o777)
    wanted = {"verilated.o": "hash", "verilated_vpi.o": "hash"}
    assert verilator_runtime._copy_others(wanted, folder) == ({"verilated.o"} if trusted else set())
    assert verilator_runtime._copy_others({"verilated.o": "other hash"}, folder) == set()


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
def test_a_paranoid_sign_off_compiles_the_same_objects_as_the_installed_ones(tmp_path: Path) -> None:
    """The certificate has the hash of the runtime's objects, so that a rebuild shows whether they were changed."""
    given = QUICK.replace('"icarus"', '"verilator"')
    runtimes = []
    for paranoid in (False, True):
        folder = project(tmp_path / str(paranoid), given)
        ending = sign(folder, *["--paranoid"] * paranoid)
        assert ending.verdict == "PASS", ending.tree["message"]
        tree = json.loads((folder / "out" / "certificate.json").read_bytes())
        runtimes.append(tree["tools"]["verilator-runtime"])
        assert paranoid == ("compiling" in (folder / "out/logs/simulation-0/messages.txt").read_text())
    assert runtimes[0] == runtimes[1]


@pytest.mark.slow
def test_hostile_objects_do_not_run_in_a_sign_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile object does not run in a sign-off, even with a valid seal, which an attacker can make as we can."""
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(verilator_runtime.PARANOID, "1")  # the installed runtime must not be written
    folder = verilator_runtime.ensure()
    monkeypatch.delenv(verilator_runtime.PARANOID)
    assert folder.is_relative_to(tmp_path)
    source = tmp_path / "main.cpp"
    source.write_text(
        f'#include <cstdio>\nint main() {{ std::fclose(std::fopen("{tmp_path / "PWNED"}", "w")); return 0; }}\n'
    )
    import subprocess

    subprocess.run(["g++", "-c", source, "-o", folder / "main.o"], check=True)
    verilator_runtime._seal(folder)
    assert verilator_runtime.intact(folder)
    for paranoid in (False, True):
        ending = sign(
            project(tmp_path / str(paranoid), QUICK.replace('"icarus"', '"verilator"')), *["--paranoid"] * paranoid
        )
        assert ending.verdict == "PASS", ending.tree["message"]
        assert not (tmp_path / "PWNED").exists() and not (tmp_path / str(paranoid) / "out" / ".cache").exists()


@pytest.mark.parametrize("aged", [True, False])
def test_a_file_is_read_again_if_it_may_have_changed(tmp_path: Path, aged: bool) -> None:
    file = tmp_path / "object.o"
    file.write_bytes(b"good")
    if aged:  # older than what is always read
        time.sleep(1.1)
    facts = file.stat()
    assert sha256_of(file) == sha256_of(file) == hashlib.sha256(b"good").hexdigest()
    file.write_bytes(b"evil")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert sha256_of(file) == hashlib.sha256(b"evil").hexdigest()


def test_a_file_that_did_not_change_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sha256_of(__file__)
    monkeypatch.setattr("builtins.open", None)
    assert sha256_of(__file__) == first
