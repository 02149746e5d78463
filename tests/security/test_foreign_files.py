"""Files of users are not changed, and files of an earlier run are not taken for results of this one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.said import raises

import dais_verif
from dais_verif.base.errors import ApproximationError, BitstreamError, FileError, FuzzingError, InputError
from dais_verif.base.text import printable_lines
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.command import Command
from dais_verif.campaigns.fuzzing.files import KeptCase, case_names, require_place, write_case
from dais_verif.campaigns.fuzzing.generate.cases import made_case
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.signoff.session import require_ours
from dais_verif.verbs.approximation.tune import _resumed
from dais_verif.verbs.cache import clear_cache
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.proof.links import hints_of
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.read_back.bitstreams import BitstreamFile, read_bitstream
from dais_verif.verbs.work_folder import locked, work_folder

PROGRAM = Path(dais_verif.__file__).parents[1] / "examples" / "quantised_mac.bin"


@pytest.mark.parametrize("text", ['{"mine": 1}', "", '{"schema": "dais-verif/mutation/1"}'])
@pytest.mark.parametrize("verb", ["fuzz", "mutate"])
def test_a_record_that_is_not_ours_is_not_written_over(verb: str, text: str, tmp_path: Path) -> None:
    name = {"fuzz": "fuzz.json", "mutate": "mutation.json"}[verb]
    (tmp_path / name).write_text(text)
    with raises(FileError, match=r"record of.*run"):
        if verb == "fuzz":
            dais_verif.fuzz(pairs="text", count=1, output=tmp_path)
        else:
            dais_verif.mutate(PROGRAM, output=tmp_path)
    assert (tmp_path / name).read_text() == text


def test_a_record_of_ours_is_replaced(tmp_path: Path) -> None:
    for seed in (1, 2):
        dais_verif.fuzz(pairs="text", count=1, seed=seed, output=tmp_path)
    assert json.loads((tmp_path / "fuzz.json").read_text())["seed"] == 2


def kept_in(folder: Path) -> Case:
    case = made_case(0, 3, plain=True).case
    write_case(case, KeptCase("vm", "output", "", (), 0, None, {}, "", ()), folder, "v1")
    return case


def test_a_case_takes_the_place_of_a_case_alone(tmp_path: Path) -> None:
    require_place(tmp_path, case_names(), "fuzz")
    (tmp_path / "program.bin").write_bytes(b"mine")
    with pytest.raises(FuzzingError, match=r"'program.bin'.*fuzz"):
        require_place(tmp_path, case_names(), "fuzz")
    kept_in(tmp_path)
    require_place(tmp_path, case_names(), "fuzz")


@pytest.mark.parametrize("link", ["rtl", "rtl/a.v", "program.bin", "case.json"])
def test_a_case_is_written_through_no_link(link: str, tmp_path: Path) -> None:
    """An earlier case would be overwritten, but not if one of its files or folders is a link."""
    folder, outside = tmp_path / "case", tmp_path / "outside"
    kept_in(folder)
    outside.mkdir()
    (outside / "a.v").write_text("mine")
    if link == "rtl/a.v":
        (folder / "rtl").mkdir()
    elif link != "rtl":
        shutil.move(folder / link, outside / "a.v")
    (folder / link).symlink_to(outside if link == "rtl" else outside / "a.v")
    before = (outside / "a.v").read_bytes()
    with raises(FuzzingError, match=r"link.*shrink.*target"):
        dais_verif.shrink(PROGRAM, folder, rtl=tmp_path / "none.v")
    assert (outside / "a.v").read_bytes() == before


RECORDS = {
    "of a refuted proof": ('{"schema": "dais-verif/proof/1", "simulate": "dais-verif sim"}', False),
    "of a proof that passed": ('{"schema": "dais-verif/proof/1", "simulate": null}', True),
    "of another verb": ('{"schema": "dais-verif/result/1", "simulate": "x"}', True),
    "no record": ("[]", True),
    "none": (None, True),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_counterexample_is_removed_if_it_is_ours(name: str, tmp_path: Path) -> None:
    text, stays = RECORDS[name]
    (tmp_path / ".lock").touch()  # every run leaves it
    (tmp_path / "counterexample.csv").write_text("1,2,3\n")
    if text is not None:
        (tmp_path / "result.json").write_text(text)
    with work_folder(tmp_path, "counterexample.csv"):
        assert (tmp_path / "counterexample.csv").exists() is stays
    assert not (tmp_path / "result.json").exists()


@pytest.mark.slow
def test_a_proof_leaves_no_counterexample_of_another(tmp_path: Path) -> None:
    wrong, output = tmp_path / "model.v", tmp_path / "out"
    text = emit_verilog(dais_verif.load(PROGRAM))
    wrong.write_text(text.replace("5'sd10", "5'sd9"))
    assert wrong.read_text() != text
    found = dais_verif.prove(PROGRAM, rtl=wrong, output=output)
    assert found.verdict is Verdict.RTL_MISMATCH and (output / "counterexample.csv").exists()
    assert dais_verif.prove(PROGRAM, output=output).verdict is Verdict.PASS
    assert not (output / "counterexample.csv").exists()


def test_bad_hints_are_refused_before_all_else(tmp_path: Path) -> None:
    """The hints are refused first, although the bitstream and the pins are missing, too."""
    hints = tmp_path / "placed.json"
    hints.write_text("{}")
    bits = BitstreamFile(tmp_path / "model.bin", tmp_path / "pins.pcf", None, hints)
    for read in (
        lambda: read_bitstream(bits, tmp_path),
        lambda: hints_of(ProveRequest(program=PROGRAM, design=DesignRequest(bitstream=bits))),
    ):
        with pytest.raises(BitstreamError, match="`nextpnr-ice40 --write` writes"):
            read()


def test_the_cache_loses_only_entries_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``cache clear`` with a foreign folder as the cache: the folders in it stay."""
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    mine = [tmp_path / name for name in ("builds/release/app.o", "runtime/jre/java", f"builds/{'a' * 32}/notes.txt")]
    for path in mine:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    ours = tmp_path / "builds" / ("b" * 32)
    ours.mkdir()
    (ours / "entry.json").write_text("{}")
    clear_cache()
    assert all(path.read_text() == "mine" for path in mine)
    assert not ours.exists()


def test_a_search_does_not_replace_a_foreign_file(tmp_path: Path) -> None:
    (tmp_path / "confs.txt.tried.json").write_text('{"mine": 1}')
    request = SimpleNamespace(kept=tmp_path / "confs.txt.tried.json", resume=False)
    with raises(ApproximationError):
        _resumed(request, "about", 0)  # type: ignore[arg-type]


def test_a_sign_off_does_not_write_through_links(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".dais-verif-signoff").write_text("dais-verif signoff keeps this folder and empties it\n")
    (tmp_path / "out" / "evidence").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        require_ours(tmp_path / "out")


def test_two_runs_of_mutate_do_not_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), raises(FileError, match="run"):
        dais_verif.mutate(PROGRAM, output=tmp_path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error file=x::pwned\n", "\\::error file=x::pwned\n"),
        ("  ::set-output\n", "  \\::set-output\n"),
        ("\x1b[2J\x1b]0;T\x07PASS\n", "\\x1b[2J\\x1b]0;T\\x07PASS\n"),
        ("##vso[task]\n", "##vso\\[task]\n"),
        ("a\tb\n\nä 1::2\n", "a\tb\n\nä 1::2\n"),
    ],
)
def test_messages_of_kernels_are_no_commands(text: str, shown: str) -> None:
    assert printable_lines(text) == shown


def test_a_system_without_threads_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(main.cli, "main", refused)
    assert main._run(["check", "x"]) == Verdict.TOOL_FAILURE.exit_code
    assert " -u" in capsys.readouterr().err


def test_a_command_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.campaigns.fuzzing.command._MOST_BLOCKS", 8)
    found = Command.of("command", "sh -c 'head -c 100000 /dev/zero >{out}'", ("out",))
    ending = found.run({"out": tmp_path / "big"}, tmp_path, 20)
    assert ending.status != 0
    assert (tmp_path / "big").stat().st_size <= 8 * 1024
