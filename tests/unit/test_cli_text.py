"""``asm`` and ``show`` on the command line, and programs as text for other verbs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, ProgramError
from dais_verif.doors.cli import main
from dais_verif.golden import run
from dais_verif.spec.program import assemble, load, write_binary
from dais_verif.spec.program.listing import listing

EXAMPLES = Path(__file__).parents[2] / "examples"

TEXT = "layout headerless\ninput x, y\na = s4.0 input x\nb = s4.0 input y\nsum = s5.0 a + b\noutput z = -sum\n"
TABLE = "input x\ntable t = [4, 5, 6, 7]\na = u2.0 input x\nb = u3.0 t[a]\noutput y = b\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.dais").write_text(TEXT)
    (tmp_path / "t.dais").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize("name", ["quantised_mac", "sort_two", "lookup_square"])
def test_show_then_asm_gives_the_file_back(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    original = EXAMPLES / f"{name}.bin"
    assert main._run(["show", str(original), "-o", "shown.dais"]) == 0
    assert main._run(["convert", "shown.dais", "-o", "back.bin"]) == 0
    assert (folder / "back.bin").read_bytes() == original.read_bytes()
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("wrote shown.dais: ") and "\nwrote back.bin: " in err
    assert main._run(["show", "shown.dais"]) == 0
    assert capfd.readouterr() == ((folder / "shown.dais").read_text(), "")
    assert listing(load(original)) == (folder / "shown.dais").read_text()


@pytest.mark.parametrize("layout", ["published", "headerless", "v1"])
def test_asm_writes_the_layout_asked_for(layout: str, folder: Path) -> None:
    assert main._run(["convert", "p.dais", "-o", "p.bin", "--to", layout]) == 0
    assert (folder / "p.bin").read_bytes() == write_binary(assemble(TEXT), layout)


def test_asm_reads_a_text_of_any_name(folder: Path) -> None:
    (folder / "p.txt").write_text(TEXT)
    assert main._run(["convert", "p.txt", "-o", "p.bin"]) == 0
    assert (folder / "p.bin").read_bytes() == write_binary(assemble(TEXT), "headerless")


def test_asm_as_json(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main._run(["convert", "--json", "p.dais", "-o", "p.bin", "--to", "v1"]) == 0
    out, err = capfd.readouterr()
    tree = json.loads(out)
    assert (tree["verdict"], tree["exit_code"], tree["output"], err) == ("PASS", 0, "p.bin", "")
    program = tree["program"]
    assert (program["path"], tree["target"], program["n_ops"]) == ("p.dais", "v1", 3)
    assert program["hash"] == load(folder / "p.bin").hash


@pytest.mark.parametrize(
    ("arguments", "text", "line"),
    [
        (["convert", "bad.dais", "-o", "old.bin"], TEXT + "c = s5.0 a + sun\n", "bad.dais:7:14: unknown value 'sun'"),
        (["check", "bad.dais"], TEXT + "c = s5.0 a + sun\n", "bad.dais:7:14: unknown value 'sun'"),
        (
            ["convert", "bad.dais", "-o", "old.bin"],
            TEXT + "c = s5000.0 a + a\n",
            "bad.dais:7:5: op 3 (add): i (integer bits)",
        ),
        (["convert", "bad.dais", "-o", "old.bin"], "layout v1 spec 1\n\0", "bad.dais:2:1:"),
        (
            ["convert", "absent.dais", "-o", "old.bin"],
            "",
            "cannot read 'absent.dais': No such file or directory",
        ),
        (["convert", ".", "-o", "old.bin"], "", "'.'"),
        (["convert", "p.dais", "-o", "."], "", "'.':"),
        (["convert", "t.dais", "-o", "old.bin", "--to", "headerless"], "", "1 (lookup)"),
        (["convert", "p.dais", "-o", "old.bin", "--to", "v2"], "", "Invalid value for '--to': 'v2' is not one of"),
        (["convert", "p.dais"], "", "See: dais-verif convert --help"),
        (["check", "p.dais", "--layout", "v1"], "", "p.dais: a text"),
    ],
)
def test_one_line_and_exit_code_2(
    arguments: list[str], text: str, line: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.dais").write_text(text)
    (folder / "old.bin").write_bytes(b"old")
    assert main._run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("dais-verif: INVALID_INPUT: ") and line in err
    as_recorded(err)
    assert (folder / "old.bin").read_bytes() == b"old"
    if arguments[0] == "convert":
        assert main._run([*arguments, "--json"]) == 2
        tree = json.loads(capfd.readouterr().out)
        assert (tree["verdict"], tree["exit_code"]) == ("INVALID_INPUT", 2)


def test_a_text_is_a_program_for_every_verb(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "x.csv").write_text("1,2\n-8,-8\n")
    assert main._run(["check", "p.dais", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["program"]["layout"] == "headerless"
    assert main._run(["run", "p.dais", "--inputs", "x.csv"]) == 0
    assert capfd.readouterr() == ("out_0\n-3.0\n16.0\n", "")
    main._run(["convert", "p.dais", "-o", "p.bin"])
    capfd.readouterr()
    shown = []
    for name in ("p.dais", "p.bin"):
        assert main._run(["emit", name]) == 0
        shown.append(capfd.readouterr().out)
    assert shown[0] == shown[1]


def test_load_takes_a_text(folder: Path) -> None:
    program = dais_verif.load("t.dais")
    assert run(program, [[0], [3]]).tolist() == [[4], [7]]
    assert (program.origin.path, program.origin.layout, program.origin.assumed) == ("t.dais", "v1", False)
    with raises(InputError):
        load("t.dais", layout="headerless")
    (folder / "bad.dais").write_text("input x\n oops")
    with pytest.raises(ProgramError, match=r"^bad\.dais:2:2: expected"):
        load("bad.dais")


def test_a_binary_or_json_is_read_as_such_whatever_its_name(folder: Path, corpus: Path) -> None:
    for name in ("prog.v1.bin", "prog.headerless.bin", "da4ml.json"):
        path = corpus / "p01_addsub_tiny" / name
        (folder / "renamed.dais").write_bytes(path.read_bytes())
        assert load("renamed.dais").hash == load(path).hash
    with raises(ProgramError):
        (folder / "renamed.dais").write_bytes(b"\1\0\0\0")
        load("renamed.dais")


def test_a_text_by_another_name_is_known_by_its_first_statement(folder: Path) -> None:
    (folder / "p.txt").write_text(f"\n; a program\n{TEXT}")
    assert load("p.txt").hash == load("p.dais").hash
    (folder / "p.txt").write_text("inputs are described elsewhere\n")
    with raises(ProgramError):
        load("p.txt")
