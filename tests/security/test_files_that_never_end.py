"""FIFOs, devices, huge sparse files and texts that parsers take for ever end every verb in one line, at once."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from support.signing import DESIGN

from dais_verif.base.errors import FileError, InputError
from dais_verif.base.files import read_plain, read_toml
from dais_verif.doors.cli import main
from dais_verif.spec.program import write_binary

#: The time limit in seconds for a verb that ends at once, with a margin for slow machines.
PATIENCE = 30

Trap = Callable[[Path], object]


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 43)


TRAPS: dict[str, Trap] = {
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "sparse": sparse,
}

#: Command lines with every option that takes a file, after a program where the verb needs one.
PLACES: dict[str, tuple[str, ...]] = {
    "a program": ("check", "TRAP"),
    "a program in JSON": ("check", "TRAP.json"),
    "a text": ("convert", "TRAP", "-o", "out.bin"),
    "vectors": ("run", "prog.bin", "--inputs", "TRAP"),
    "vectors of sim": ("sim", "prog.bin", "--inputs", "TRAP"),
    "RTL of sim": ("sim", "prog.bin", "--rtl", "TRAP"),
    "RTL of prove": ("prove", "prog.bin", "--rtl", "TRAP"),
    "RTL of signoff": ("signoff", "prog.bin", "--rtl", "TRAP"),
    "a data file": ("sim", "prog.bin", "--rtl", "design.v", "--data", "TRAP"),
    "a ports file": ("sim", "prog.bin", "--rtl", "design.v", "--ports", "TRAP"),
    "a policy": ("signoff", "prog.bin", "--policy", "TRAP"),
    "a key": ("signoff", "prog.bin", "--sign", "TRAP"),
    "a manifest": ("regress", "TRAP.toml"),
    "a delay model": ("emit", "prog.bin", "--stages", "2", "--delay-model", "TRAP"),
    "a record": ("report", "TRAP"),
    "a certificate": ("signoff", "--verify", "TRAP"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "prog.bin").write_bytes(write_binary(DESIGN, "v1"))
    (tmp_path / "design.v").write_text("module model; endmodule\n")
    monkeypatch.chdir(tmp_path)

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"still waiting after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def ending(*arguments: str) -> tuple[int, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main._run(list(arguments))
    return code, stdout.getvalue() + stderr.getvalue()


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("place", PLACES)
def test_every_file_that_a_user_names(place: str, trap: str, folder: Path) -> None:
    name = next(word for word in PLACES[place] if word.startswith("TRAP"))
    TRAPS[trap](folder / name)
    code, said = ending(*PLACES[place])
    assert code == (7 if "NOT SIGNED OFF" in said else 2), said
    assert len(said.splitlines()) <= 2, said
    assert "TRAP" in said
    assert "Traceback" not in said


def test_a_policy_that_takes_its_parser_the_square_of_its_length(folder: Path) -> None:
    (folder / "policy.toml").write_text("a." * 120_000 + "a = 1\n")
    begin = time.process_time()
    code, said = ending("signoff", "prog.bin", "--policy", "policy.toml")
    assert (code, "64 parts" in said) == (2, True), said
    assert time.process_time() - begin < 10


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("a.b.c = 1", True),
        ('files = ["a.b.c.d.v", "../../x.v"]', True),
        ("x" * 200_000 + " = 1", True),
        ("a . " * 64 + "a = 1", False),
        ('"a"."b".' * 40 + "c = 1", False),
        ("[" + "a." * 70 + "a]", False),
        ("x = {" + "a." * 70 + "a = 1}", False),
    ],
)
def test_keys_of_many_parts(text: str, fine: bool, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text)
    if fine:
        assert read_toml(tmp_path / "x.toml", 1 << 20, "file") == text
    else:
        with pytest.raises(InputError, match="parts"):
            read_toml(tmp_path / "x.toml", 1 << 20, "file")


def test_limits_are_exact(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1234")
    assert read_plain(tmp_path / "x", 4) == b"1234"
    with pytest.raises(FileError, match=r"4 bytes.*3"):
        read_plain(tmp_path / "x", 3)
    with pytest.raises(InputError, match="No such file"):
        read_plain(tmp_path / "y", 3)
    with pytest.raises(InputError, match="Is a directory"):
        read_plain(tmp_path, 3)
