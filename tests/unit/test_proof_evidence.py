"""A sign-off refuses a proof's record that lacks a field it reads, instead of assuming a value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.pages import passed_proof
from support.said import raises

from dais_verif.errors import InputError
from dais_verif.record.proof import ProofRecord
from dais_verif.signoff import evidence
from dais_verif.signoff.verbs import PRINTED


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
    with pytest.raises(InputError, match=name if name != "verdict" else "has no verdict"):
        read(tree)


@pytest.mark.parametrize("outputs", [[{"output": 0}], [{"output": 0, "status": "TRUE", "method": "smt"}], 1])
def test_a_claim_is_a_claim(outputs: object, read: Callable[[Any], ProofRecord]) -> None:
    with raises(InputError):
        read({**passed_proof().to_dict(), "outputs": outputs})
