"""Files of users are not changed, and files of an earlier run are not taken for results of this one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import dais_verif
from dais_verif.emitter import emit_verilog
from dais_verif.errors import DaisError, InputError
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.proof.links import hints_of
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.flows.read_back.bitstreams import BitstreamFile, read_bitstream
from dais_verif.flows.work_folder import work_folder
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.files import KeptCase, case_names, require_place, write_case
from dais_verif.fuzzing.generate.cases import made_case
from dais_verif.verdict import Verdict

PROGRAM = Path(dais_verif.__file__).parents[1] / "examples" / "quantised_mac.bin"


@pytest.mark.parametrize("text", ['{"mine": 1}', "", '{"schema": "dais-verif/mutation/1"}'])
@pytest.mark.parametrize("verb", ["fuzz", "mutate"])
def test_a_record_that_is_not_ours_is_not_written_over(verb: str, text: str, tmp_path: Path) -> None:
    name = {"fuzz": "fuzz.json", "mutate": "mutation.json"}[verb]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="is not a record of an earlier run"):
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
    with pytest.raises(InputError, match=r"holds 'program.bin', which fuzz would overwrite"):
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
    with pytest.raises(InputError, match="is a link, and shrink would write to its target"):
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
        with pytest.raises(DaisError, match="is not what `nextpnr-ice40 --write` writes"):
            read()
