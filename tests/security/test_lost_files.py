"""No verb overwrites its inputs or files of users in a folder, and no numeric option accepts NaN."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.said import as_recorded

from dais_verif.base.errors import SimulatorError
from dais_verif.base.toolchain.private_files import copied
from dais_verif.doors.cli import main
from dais_verif.doors.cli.verb import FiniteRange, OutputPath, Verb
from dais_verif.signoff.session import require_ours
from dais_verif.verbs.proof.confirm import _remove

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.bin").write_bytes(EXAMPLE.read_bytes())
    assert main._run(["show", "p.bin", "-o", "p.dais"]) == 0
    Path("x.csv").write_text("1,2,3\n")
    Path("good.v").write_text("module model; endmodule\n")
    Path("cells.v").write_text("module model; endmodule\n")
    os.link("cells.v", "sums.v")
    os.link("p.bin", "same.bin")
    Path("sub").mkdir()
    Path("sub/c.dais").write_text("input x\na = s4.0 input x\nb = s5.0 a + 1\noutput 0 = b\n")
    os.link("sub/c.dais", "block.dais")
    Path("m.mach").write_text('machine\ninput x: s4.0\noutput y: s5.0\nblock c = "sub/c.dais"\nc.in <- x\ny <- c.out\n')
    Path("m.toml").write_text('programs = ["m.mach", "\\u0001", "%s"]\n' % ("x" * 5000))
    Path("conv").mkdir()
    Path("conv/instance.json").write_text('{"files": {"core.bin": ""}}')
    Path("conv/core.bin").write_bytes(EXAMPLE.read_bytes())
    Path("link.csv").symlink_to("x.csv")
    return tmp_path


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "convert p.dais p.dais",
        "show p.bin -o p.bin",
        "show p.bin -o same.bin",
        "emit p.dais -o ./p.dais",
        "run p.bin --inputs x.csv -o link.csv",
        "diff p.bin same.bin --inputs x.csv -o x.csv",
        "explain p.bin --inputs x.csv -o x.csv",
        "run --profile p.bin -o p.bin",
        "sensitivity p.bin -o p.bin",
        "sim p.bin --rtl good.v --html good.v",
        "sim p.bin --html x.csv",
        "prove p.bin --rtl good.v --html good.v",
        "prove p.bin --netlist cells.v --target ice40 -o .",
        "sim p.bin --netlist cells.v --target ice40 -o .",
        "synth p.bin --target generic --rtl sums.v -o .",
        "signoff p.bin --html p.bin",
        "regress p.bin --junit p.bin",
        "regress . --junit good.v",
        "report p.bin -o good.v",
        "convert m.mach sub/c.dais --to mach",
        "convert m.mach sub/c.dais --to alirfsm",
        "show m.mach -o sub/c.dais",
        "emit m.mach -o ./sub/c.dais",
        "run m.mach --inputs x.csv -o sub/c.dais",
        "explain m.mach --inputs x.csv -o block.dais",
        "show conv -o conv/core.bin",
        "run conv --inputs x.csv -o conv/instance.json",
        "run p.bin --inputs m.toml -o m.mach",
        "run p.bin --inputs m.toml -o block.dais",
    ],
)
def test_an_output_is_no_input_and_a_page_replaces_pages_only(words: str, capfd: pytest.CaptureFixture[str]) -> None:
    before = files()
    capfd.readouterr()
    assert main._run(words.split()) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    as_recorded(told.rstrip())
    assert files() == before


def test_an_earlier_page_is_replaced(capfd: pytest.CaptureFixture[str]) -> None:
    Path("page.html").write_text("<!DOCTYPE html><p>earlier</p>")
    assert main._run(["report", "p.bin", "-o", "page.html"]) == 2
    assert "is not an earlier report" not in capfd.readouterr().err
    assert main._run(["show", "p.bin", "-o", "p.dais"]) == 0  # unlike a page, a listing may replace any file


def commands() -> Iterator[click.Command]:
    group = main.cli
    assert isinstance(group, click.Group)
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command


def test_every_verb_that_writes_a_file_looks_first_and_every_number_is_finite() -> None:
    writing = [command for command in commands() if any(isinstance(p.type, OutputPath) for p in command.params)]
    assert len(writing) >= 15
    assert all(isinstance(command, Verb) for command in writing)
    ranges = [(c.name, p) for c in commands() for p in c.params if isinstance(p.type, click.FloatRange)]
    assert len(ranges) >= 9
    assert [(verb, p.name) for verb, p in ranges if not isinstance(p.type, FiniteRange)] == []
    # The requests check these numbers.
    plain = {p.name for c in commands() for p in c.params if p.type is click.FLOAT}
    assert plain == {"clock", "period", "max_depth"}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e300"])
@pytest.mark.parametrize("verb", ["prove", "sim", "check", "sensitivity", "coverage", "hil", "synth", "regress"])
def test_seconds_are_a_number(verb: str, value: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main._run([verb, "p.bin", "--timeout", value]) == 2
    assert "--timeout" in capfd.readouterr().err


def test_a_floor_is_a_number(capfd: pytest.CaptureFixture[str]) -> None:
    assert main._run(["coverage", "p.bin", "--floor", "nan"]) == 2
    as_recorded(capfd.readouterr().err)


@pytest.mark.parametrize("name", ["certificate.json", "signoff.json", "policy.toml", None])
@pytest.mark.parametrize("options", [(), ("--no-such-option",), ("--rtl", "nothere.v")])
def test_a_folder_with_the_names_of_a_sign_off_is_not_one(
    name: str | None, options: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("pd/evidence").mkdir(parents=True)
    Path("pd/evidence/notes.txt").write_text("years of work")
    if name:
        Path("pd", name).write_text('{"schema": "mine/1"}')
    before = files()
    capfd.readouterr()
    assert main._run(["signoff", "p.bin", "-o", "pd", *options]) == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert files() == before


def test_a_sign_off_that_could_not_begin_left_a_folder_of_ours(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["signoff", "p.bin", "-o", "out", "--rtl", "nothere.v"]
    for _ in range(2):
        assert main._run(words) == 2
        assert "nothere.v" in capfd.readouterr().err
        require_ours(Path("out"))


def test_copies_of_rtl_take_no_folder_of_the_user(tmp_path: Path) -> None:
    work, source = tmp_path / "work", tmp_path / "good.v"
    copied([source], work)
    copied([source], work)  # its own copies are replaced
    assert [path.name for path in (work / "rtl").iterdir()] == ["0"]
    kept = work / "beside" / "notes.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(SimulatorError, match=r"beside'.*'notes.txt'"):
        copied([source], work)
    assert kept.read_text() == "mine"


def test_a_confirmed_proof_removes_only_what_simulations_left(tmp_path: Path) -> None:
    folder = tmp_path / "confirmation"
    for name in ("icarus", "verilator", "with_pins"):
        (folder / name / "build").mkdir(parents=True)
    _remove(folder)
    assert not folder.exists()
    (folder / "icarus").mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    _remove(folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
