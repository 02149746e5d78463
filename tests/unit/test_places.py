"""The files of a certificate where they are now: a folder holds all certified RTL, and no other HDL."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dais_verif.signoff.certificate import CertifiedFile
from dais_verif.signoff.places import Places, find_files

_CONTENT = {"top.v": "top", "core.v": "core", "k.vh": "k", "t.mem": "00"}
_ROLES = {"top.v": "rtl", "core.v": "rtl", "k.vh": "include", "t.mem": "data"}


@pytest.fixture
def certified(tmp_path: Path) -> list[CertifiedFile]:
    (tmp_path / "src").mkdir()
    found = []
    for name, content in {"q.bin": "q", **_CONTENT}.items():
        path = tmp_path / ("" if name == "q.bin" else "src") / name
        path.write_text(content)
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        found.append(CertifiedFile(_ROLES.get(name, "program"), str(path), "nowhere", sha256, ""))
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "deployed"
    (folder / "sub").mkdir(parents=True)
    for name, content in _CONTENT.items():
        (folder / ("sub" if name == "core.v" else "") / name).write_text(content)
    (folder / "notes.txt").write_text("of no use to tools")
    return folder


def _found(certified: list[CertifiedFile], *rtl: Path) -> list[str]:
    _, findings = find_files(certified, Path("/nowhere"), Places(None, rtl))
    return [f"{Path(finding.what.split(' ')[-1]).name}" for finding in findings]


def test_a_folder_with_all_of_it_and_nothing_else_holds(certified: list[CertifiedFile], copy: Path) -> None:
    files, findings = find_files(certified, Path("/nowhere"), Places(None, (copy,)))
    assert findings == []
    assert all(path.is_relative_to(copy) for path in files[1:])
    assert _found(certified) == []


@pytest.mark.parametrize("name", [*_CONTENT])
def test_a_missing_file_is_found(name: str, certified: list[CertifiedFile], copy: Path) -> None:
    next(copy.rglob(name)).unlink()
    assert _found(certified, copy) == [name]


@pytest.mark.parametrize("name", ["core_v2.v", "sub/aaa.sv", ".hidden.v", "x.VHD", "sub/t.mem"])
def test_other_hdl_is_found(name: str, certified: list[CertifiedFile], copy: Path) -> None:
    (copy / name).write_text("another")
    assert _found(certified, copy) == [Path(name).name]


def test_hdl_behind_links_is_found(certified: list[CertifiedFile], copy: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "z.v").write_text("another")
    (copy / "link").symlink_to(tmp_path / "elsewhere")
    (copy / "loop").symlink_to(copy)
    (copy / "gone.v").symlink_to("nowhere")
    assert sorted(_found(certified, copy)) == ["gone.v", "z.v"]


def test_renamed_and_replaced(certified: list[CertifiedFile], copy: Path) -> None:
    """The content decides: a renamed file is certified, the old one beside another content of its name is not."""
    (copy / "sub" / "core.v").rename(copy / "renamed.v")
    assert _found(certified, copy) == []
    (copy / "sub" / "core.v").write_text("another")
    assert _found(certified, copy) == ["core.v"]
    (copy / "renamed.v").unlink()
    assert _found(certified, copy) == ["core.v"]


def test_files_that_rtl_reads_keep_their_names(certified: list[CertifiedFile], copy: Path) -> None:
    """Two tables with each other's content are another design, although all contents are certified."""
    (copy / "t.mem").write_text("k")
    (copy / "k.vh").write_text("00")
    assert sorted(_found(certified, copy)) == ["k.vh", "t.mem"]
    (copy / "t.mem").write_text("00")
    (copy / "k.vh").write_text("k")
    (copy / "sub" / "t.mem").write_text("k")  # a tool may find this one first
    assert _found(certified, copy) == ["t.mem"]
    (copy / "sub" / "t.mem").write_text("00")
    assert _found(certified, copy) == []
    (copy / "sub" / "t.mem").unlink()
    (copy / "t.mem").rename(copy / "u.mem")
    assert _found(certified, copy) == ["t.mem"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    certified, copy = [], tmp_path / "deployed"
    for place, content in (("x/tables/t.mem", "00"), ("y/tables/t.mem", "01")):
        for base in ("src", "deployed"):
            (tmp_path / base / place).parent.mkdir(parents=True)
            (tmp_path / base / place).write_text(content)
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        certified.append(CertifiedFile("data", str(tmp_path / "src" / place), "nowhere", sha256, ""))
    assert _found(certified, copy) == []
    (copy / "x/tables/t.mem").write_text("01")
    (copy / "y/tables/t.mem").write_text("00")
    assert _found(certified, copy) == ["t.mem", "t.mem"]
