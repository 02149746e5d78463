"""Files are written completely or not at all, and no data of the user is lost."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, ProgramError
from dais_verif.base.files import (
    make_folder,
    replace_folder,
    require_writable,
    require_writable_folder,
    write_atomically,
)
from dais_verif.spec.program import load


def test_a_file_is_written_and_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    for content in (b"first", b"second, longer", b""):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["out.npy"]


def test_what_was_there_stays_if_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with raises(InputError):
        write_atomically(path, b"new")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["kept"])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """A pipe is written to, not replaced; so is a device: as root, a rename would turn /dev/null into a plain file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "it is a folder; name a file"),
        ("..", "it is a folder; name a file"),
        ("folder", "it is a folder; name a file"),
        ("file/below", "Not a directory"),
        ("absent/below", "No such file or directory"),
        ("n" * 256, "File name too long"),
        ("loop", os.strerror(errno.ELOOP)),
    ],
)
def test_impossible_places_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError) as caught:
        write_atomically(tmp_path / name, b"data")
    as_recorded(str(caught.value))
    assert reason.lower() in str(caught.value).lower()
    assert "-o" in str(caught.value)
    with pytest.raises(InputError) as before:
        require_writable(tmp_path / name, "--html")
    assert str(before.value) == str(caught.value).removesuffix("-o") + "--html"


@pytest.mark.parametrize("name", ["new", "old", "link"])
def test_files_that_can_be_written_are_left_as_they_are(tmp_path: Path, name: str) -> None:
    (tmp_path / "old").write_bytes(b"x")
    (tmp_path / "link").symlink_to("old")
    require_writable(tmp_path / name, "--html")
    require_writable(Path("/dev/null"), "--html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old"]
    assert (tmp_path / "old").read_bytes() == b"x"


def test_folders_that_cannot_be_made_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for name in ("file", "file/below", "/proc/below/it"):
        with raises(InputError):
            require_writable_folder(tmp_path / name, "-o")
    require_writable_folder(tmp_path / "a" / "b", "-o")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_folders_are_made_with_their_parents(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(("name", "reason"), [("file", "File exists"), ("file/below", "Not a directory")])
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with raises(InputError):
        make_folder(tmp_path / name)


def folder_files(**content: str) -> dict[str, bytes]:
    files = {name.replace("__", "/"): text.encode() for name, text in content.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return {**files, "manifest.json": json.dumps({"files": hashes}).encode()}


def listing(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_written_and_replaced_as_a_whole(tmp_path: Path) -> None:
    first, second = folder_files(a="1", rtl__b="2"), folder_files(a="3", c="4")
    for files in (first, second, second):
        replace_folder(tmp_path / "new" / "out", files, "manifest.json")
        assert listing(tmp_path / "new" / "out") == files
        assert os.listdir(tmp_path / "new") == ["out"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    replace_folder(tmp_path / "out", folder_files(a="1"), "manifest.json")
    assert listing(tmp_path / "out") == folder_files(a="1")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda out: (out / "mine").write_text(""), "it contains 'mine', which dais-verif did not write"),
        (lambda out: (out / "rtl" / "mine").write_text(""), "it contains 'rtl/mine', which dais-verif did not write"),
        (lambda out: (out / "a").write_text("edited"), "'a' in it was edited"),
        (lambda out: (out / "link").symlink_to(out), "it contains 'link', which dais-verif did not write"),
        (lambda out: (out / "manifest.json").unlink(), "it contains 'a', but no manifest.json that dais-verif wrote"),
        (lambda out: (out / "manifest.json").write_text("[]"), "but no manifest.json that dais-verif wrote"),
        (lambda out: (out / "manifest.json").write_text('{"files": 3}'), "but no manifest.json that dais-verif wrote"),
    ],
)
def test_a_folder_that_somebody_works_in_is_not_replaced(change, problem: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "out"
    replace_folder(out, folder_files(a="1", rtl__b="2"), "manifest.json")
    change(out)
    before = sorted(out.rglob("*"))
    with raises(InputError):
        replace_folder(out, folder_files(a="3"), "manifest.json")
    assert sorted(out.rglob("*")) == before and os.listdir(tmp_path) == ["out"]


def test_a_file_and_the_current_folder_are_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("kept")
    with raises(InputError):
        replace_folder(tmp_path / "file", folder_files(a="1"), "manifest.json")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with raises(InputError):
        replace_folder(Path("."), folder_files(a="1"), "manifest.json")


def test_a_folder_that_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    replace_folder(out, folder_files(a="1"), "manifest.json")
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if self.name.endswith(".new"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with raises(InputError):
        replace_folder(out, folder_files(a="2"), "manifest.json")
    assert listing(out) == folder_files(a="1") and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [("a.dais", "", "empty"), ("a.dais", "\n ; nothing\n", "empty"), ("a.bin", "", "0 words")],
)
def test_an_empty_file_is_no_program(name: str, data: str, why: str, tmp_path: Path) -> None:
    """An empty file is refused; read as text, it would be a program without outputs, which ``check`` would pass."""
    (tmp_path / name).write_text(data)
    with raises(ProgramError, match=why):
        load(tmp_path / name)
