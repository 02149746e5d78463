"""Flows that only use the golden model: evaluate, explain, profile, show and assemble, without a command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from support.said import raises

from dais_verif.base.errors import InputError, RequestError, ViolationError
from dais_verif.doors.cli import main
from dais_verif.record.evaluation import EvaluationRecord, ProfileRecord
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.convert import ConversionRequest, convert
from dais_verif.verbs.evaluate import EvaluationRequest, evaluate
from dais_verif.verbs.explain import ExplanationRequest, explain
from dais_verif.verbs.profile import ProfileRequest, profile
from dais_verif.verbs.show import ListingRequest, show

X = (-1, 0, -1, 0, (1, 3, 0))
SUM = Program.build([X, (0, 0, 0, 0, (1, 4, 0))], [(1, 0, 0)], inp_shift=[0])
#: Promises that x + x fits in as many bits as x.
NARROW = Program.build([X, (0, 0, 0, 0, (1, 3, 0))], [(1, 0, 0)], inp_shift=[0])


@pytest.fixture
def x(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text("1\n-8\n7\n")
    return tmp_path / "x.csv"


def test_evaluate_returns_columns_and_writes_them(x: Path, tmp_path: Path) -> None:
    done = evaluate(EvaluationRequest(program=SUM, inputs=x, output=tmp_path / "y.npy", raw=True))
    assert done.columns[0].tolist() == [2, -16, 14] and done.csv() == "out_0\n2\n-16\n14\n"
    assert np.load(tmp_path / "y.npy").tolist() == [[2], [-16], [14]]
    assert EvaluationRecord.from_json(done.record.to_json()) == done.record
    with pytest.raises(ViolationError, match="row 1"):
        evaluate(EvaluationRequest(program=NARROW, inputs=x))
    assert evaluate(EvaluationRequest(program=NARROW, inputs=x, unchecked=True)).columns[0].tolist() == [2.0, 0.0, -2.0]


def test_explain_says_which_promise_is_broken(x: Path) -> None:
    request = ExplanationRequest(program=NARROW, inputs=(x,), vectors=0, row=1)
    done = explain(request)
    assert done.violation is not None and done.violation.startswith("row 1: ") and "!" in done.text
    with pytest.raises(ViolationError, match="row 1"):
        done.raise_for_violation()
    explain(ExplanationRequest(program=SUM, inputs=(x,), vectors=0, row=1)).raise_for_violation()
    with pytest.raises(InputError, match="row 3"):
        explain(ExplanationRequest(program=SUM, inputs=(x,), vectors=0, row=3))


def test_the_line_of_a_profile_asks_for_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prog.bin").write_bytes(write_binary(SUM, "v1"))
    done = profile(ProfileRequest(program=tmp_path / "prog.bin", layout="v1", vectors=5, samples=2, pullback=True))
    assert [sequence.direction for sequence in done.record.sequences] == ["forward", "pullback"]
    _, *words = shlex.split(done.record.reproduce)
    assert main._run([*words, "--json"]) == 0
    again = ProfileRecord.from_json(capsys.readouterr().out)
    assert (again.program, again.vectors, again.sequences[1].calls) == (done.record.program, 5, 2)
    with raises(RequestError):
        ProfileRequest(program=SUM, samples=1, ignore_first=True)


def test_text_and_back(tmp_path: Path) -> None:
    listing = show(ListingRequest(program=SUM, output=tmp_path / "prog.dais"))
    record = convert(ConversionRequest(program=tmp_path / "prog.dais", output=tmp_path / "prog.bin"))
    assert record.program.hash == SUM.hash and listing.ops == record.program.n_ops == 2
    assert (tmp_path / "prog.bin").read_bytes() == write_binary(SUM, "v1")
    assert show(ListingRequest(program=tmp_path / "prog.bin", vm=True)).text.startswith("[Forward]")
