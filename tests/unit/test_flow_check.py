"""``check`` as a flow: it takes a request, returns a record, and prints nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError, ProgramError, VerdictError
from dais_verif.base.verdict import Verdict
from dais_verif.record.check import CheckRecord
from dais_verif.spec.program import Program, load
from dais_verif.verbs.check import CheckRequest, check

S4 = (1, 3, 0)
X = (-1, 0, -1, 0, S4)
#: x + x in the 4 bits of x, which breaks the promise for half of all inputs.
OVERFLOW = Program.build([X, (0, 0, 0, 0, S4)], [(1, 0, 0)], inp_shift=[0])


def test_takes_a_path_bytes_and_a_program(corpus: Path) -> None:
    path = corpus / "p04_sort8" / "prog.v1.bin"
    forms = (path, str(path), path.read_bytes(), load(path))
    records = [check(CheckRequest(program=form)) for form in forms]
    assert {(record.verdict, record.program.hash, record.depth) for record in records} == {
        (Verdict.PASS, load(path).hash, 25)
    }
    assert all(record.passed for record in records)


def test_finds_inputs_that_break_a_promise(capsys: pytest.CaptureFixture[str]) -> None:
    record = check(CheckRequest(program=OVERFLOW))
    assert record.verdict is Verdict.PROGRAM_INVALID and not record.passed
    (broken,) = record.overflow.broken or []
    assert broken.op == 1 and broken.inputs is not None
    assert not -8 <= 2 * int(broken.inputs[0]) <= 7
    with raises(VerdictError) as caught:
        record.raise_for_verdict()
    assert caught.value.verdict is Verdict.PROGRAM_INVALID
    assert capsys.readouterr() == ("", "")


def test_says_unknown_where_the_prover_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dais_verif.prover.overflow", None)
    record = check(CheckRequest(program=OVERFLOW))
    assert (record.verdict, record.overflow.broken) == (Verdict.UNKNOWN, [])
    assert [op.op for op in record.overflow.undecided or []] == [1]


def test_what_is_no_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProgramError):
        check(CheckRequest(program=b"no program"))
    with raises(InputError):
        check(CheckRequest(program=tmp_path / "nowhere.bin"))


@pytest.mark.parametrize("proof", [True, False])
def test_a_record_comes_back_from_its_json(proof: bool) -> None:
    record = check(CheckRequest(program=OVERFLOW, proof=proof))
    assert CheckRecord.from_json(record.to_json()) == record
    assert repr(record).count("\n") == 0 and record.verdict.value in repr(record)


def test_damaged_json_is_an_error() -> None:
    with raises(InputError):
        CheckRecord.from_json('{"verdict": "GOOD"}')
