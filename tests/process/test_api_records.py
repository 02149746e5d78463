"""Records read back from JSON are equal, other texts are refused, and public types are found where users look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filelock import FileLock
from support.said import raises

import dais_verif
from dais_verif.base.errors import RecordError
from dais_verif.record.signoff import CertificateFacts, CertificateFinding, CertificateRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.spec.program import Program

X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])


def test_a_certificate_record_keeps_its_facts() -> None:
    facts = CertificateFacts(program="a" * 64, issued="2026-01-01", stages=3, evidence=9)
    record = CertificateRecord(verdict=dais_verif.Verdict.PASS, notes=["why"], facts=facts)
    assert CertificateRecord.from_json(record.to_json()) == record
    wrong = CertificateRecord(verdict=dais_verif.Verdict.NOT_SIGNED_OFF, findings=[CertificateFinding("a", "b", "c")])
    assert CertificateRecord.from_json(wrong.to_json()) == wrong


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("schema", "dais-verif/proof/1", "schema"),
        ("schema", None, "schema"),
        ("exit_code", 1, r"exit_code is 1.*0.*PASS"),
        ("exit_code", None, "exit_code is None"),
        ("verdict", "FINE", "SimulationRecord"),
    ],
)
def test_another_text_is_no_record(field: str, value: object, says: str) -> None:
    record = dais_verif.simulate(SUM, simulators="icarus", vectors=5)
    tree = json.loads(record.to_json())
    assert SimulationRecord.from_json(json.dumps(tree)) == record
    with raises(RecordError, match=says):
        SimulationRecord.from_json(json.dumps({**tree, field: value}))
    with raises(dais_verif.InputError):
        SimulationRecord.from_json("[" * 100_000)


def test_a_folder_that_is_being_written_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    dais_verif.emit(SUM, wrap="axis", output=tmp_path / "axis")
    (lock,) = (tmp_path / "cache" / "locks").iterdir()
    with FileLock(lock), raises(dais_verif.InputError):
        dais_verif.emit(SUM, wrap="axis", output=tmp_path / "axis")
    with FileLock(lock):
        dais_verif.emit(SUM, wrap="axis", output=tmp_path / "other")
    assert not (tmp_path / "axis" / ".lock").exists()


def test_all_names_are_listed_and_found() -> None:
    assert set(dais_verif.__all__) <= set(dir(dais_verif))
    assert dais_verif.SimulationRecord is SimulationRecord
    for name in dais_verif.__all__:
        if name.endswith(("Record", "Request")):
            assert getattr(dais_verif, name).__name__ == name
