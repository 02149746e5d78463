"""A sign-off refuses a proof's record that lacks a field it reads, instead of assuming a value."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.pages import passed_proof
from support.said import raises

from dais_verif.base.errors import CertificateError, InputError
from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import ProofRecord
from dais_verif.signoff import evidence
from dais_verif.signoff.bitstreams import stages
from dais_verif.signoff.machines.judge import _grade
from dais_verif.signoff.signed_design import sha256_of
from dais_verif.signoff.verbs import CALL, PRINTED, read_call


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], ProofRecord]:
    """Return a function that reads a record given as a tree; agreement of process and folder is tested elsewhere."""
    monkeypatch.setattr(evidence, "_agree", lambda folder, verdict: None)
    monkeypatch.setattr(evidence, "_kept", lambda folder, printed: None)

    def reading(tree: Any) -> ProofRecord:
        (tmp_path / PRINTED).write_text(json.dumps(tree))
        return evidence.proved(tmp_path)

    return reading


def test_a_whole_record_is_read(read: Callable[[Any], ProofRecord]) -> None:
    assert read(passed_proof().to_dict()) == passed_proof()


@pytest.mark.parametrize(
    "name",
    ["verdict", "message", "program", "outputs", "reproduce", "rtl", *evidence._JUDGED, *evidence._JUDGED_OF_RTL],
)
def test_nothing_is_taken_for_granted(name: str, read: Callable[[Any], ProofRecord]) -> None:
    tree = passed_proof().to_dict()
    del (tree["rtl"] if name in evidence._JUDGED_OF_RTL else tree)[name]
    with raises(InputError, match=name if name != "verdict" else ""):
        read(tree)


@pytest.mark.parametrize("reason", [None, "state"])
def test_a_command_that_ended_in_an_error_has_no_record(reason: str | None, read: Callable[[Any], ProofRecord]) -> None:
    said = {"verdict": "UNKNOWN", "exit_code": 4, "message": "no solver", **({"reason": reason} if reason else {})}
    with pytest.raises(evidence.Unusable, match="no solver") as caught:
        read(said)
    assert (caught.value.verdict, caught.value.reason) == (Verdict.UNKNOWN, reason or "")


@pytest.mark.parametrize("outputs", [[{"output": 0}], [{"output": 0, "status": "TRUE", "method": "smt"}], 1])
def test_a_claim_is_a_claim(outputs: object, read: Callable[[Any], ProofRecord]) -> None:
    with raises(InputError):
        read({**passed_proof().to_dict(), "outputs": outputs})


@pytest.mark.parametrize("other", ["nothing", "the record", "the file"])
def test_the_logic_that_was_read_back_is_proved(other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "same_program", lambda *_: [])
    for folder in (stages.FOLDER, "proof"):
        place = tmp_path / folder / stages.READ_BACK
        place.parent.mkdir(parents=True)
        place.write_text("module m; endmodule\n" + "// edited" * (other == "the file" and folder == "proof"))
    made = sha256_of(tmp_path / stages.FOLDER / stages.READ_BACK)
    record = replace(passed_proof(), cached_claims=0)
    record = replace(record, rtl=replace(record.rtl, sha256=["0" * 64 if other == "the record" else made]))
    policy = SimpleNamespace(overflow="unchecked" if record.unchecked else "checked")
    context: Any = SimpleNamespace(folder=tmp_path, subject=None, policy=policy)
    found = list(stages.problems_of_proof(context, tmp_path / "proof", record))
    assert len(found) == (other != "nothing"), found


@pytest.mark.parametrize("text", [None, "no JSON", "[]", '{"other": 1}'])
def test_how_a_command_was_run_must_be_recorded(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / CALL).write_text(text)
    with pytest.raises(CertificateError):
        read_call(tmp_path)


def test_an_output_is_as_well_verified_as_its_best_evidence() -> None:
    grades = {
        (bits, proved, cycles): _grade(bits, proved, cycles)
        for bits in (0, 1)
        for proved in (0, 1)
        for cycles in (0, 9)
    }
    assert {case for case, grade in grades.items() if grade == "proved"} == {(1, 1, 0), (1, 1, 9)}
    assert {case for case, grade in grades.items() if grade == "sampled"} == {(1, 0, 9)}
    assert set(grades.values()) == {"none", "proved", "sampled"}
