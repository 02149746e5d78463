"""``diff`` as a flow gives the record that the command prints, and the record comes back from its JSON."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from dais_verif.base.errors import InputError, VerdictError
from dais_verif.base.own_command import own_command
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.record.diff import DiffRecord
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.check import CheckRequest, check
from dais_verif.verbs.diff import DiffRequest, diff

S6 = (1, 5, 0)
X, Y = (-1, 0, -1, 0, (1, 4, 0)), (-1, 1, -1, 0, (1, 4, 0))
OUT, SHIFTS = [(2, 0, 0)], [0, 0]
SUM = Program.build([X, Y, (0, 0, 1, 0, S6)], OUT, inp_shift=SHIFTS)
SWAPPED = Program.build([X, Y, (0, 1, 0, 0, S6)], OUT, inp_shift=SHIFTS)
DIFFERENCE = Program.build([X, Y, (1, 0, 1, 0, S6)], OUT, inp_shift=SHIFTS)


def told(*words: object) -> dict[str, Any]:
    """Return the record that the command prints with ``--json``."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        main._run([*map(str, words), "--json"])
    tree: dict[str, Any] = json.loads(out.getvalue())
    return tree


def plain(tree: dict[str, Any]) -> dict[str, Any]:
    """Return ``tree`` without the time of the proof."""
    return {**tree, "proof": {**tree["proof"], "seconds": 0}} if tree.get("proof") else tree


@pytest.mark.parametrize("other", ["SUM", "SWAPPED", "DIFFERENCE"])
@pytest.mark.parametrize("prove", [False, True])
def test_the_command_prints_the_record(other: str, prove: bool, tmp_path: Path) -> None:
    a, b = tmp_path / "a.bin", tmp_path / "b.bin"
    a.write_bytes(write_binary(SUM, "v1"))
    b.write_bytes(write_binary(globals()[other], "v1"))
    words = ["diff", a, b, "--vectors", 50, *(["--prove"] if prove else [])]
    command = own_command([*map(str, words), "--json"])
    record = diff(DiffRequest(a=a, b=b, vectors=50, prove=prove, command=command))
    assert plain(told(*words)) == plain(record.to_dict())
    assert record.passed == (other != "DIFFERENCE")
    assert DiffRecord.from_json(record.to_json()) == record


def test_check_prints_its_record(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(write_binary(SUM, "v1"))
    assert told("check", path) == check(CheckRequest(program=path)).to_dict()


@pytest.mark.parametrize("unchecked", [False, True])
def test_the_line_to_copy_gives_the_same_record(unchecked: bool, tmp_path: Path) -> None:
    a, b, witness = tmp_path / "a.bin", tmp_path / "b b.bin", tmp_path / "w.csv"
    a.write_bytes(write_binary(SUM, "v1"))
    b.write_bytes(write_binary(DIFFERENCE, "headerless"))
    request = DiffRequest(a=a, b=b, layout_b="headerless", vectors=7, seed=3, unchecked=unchecked, output=witness)
    record = diff(request)
    _, *words = shlex.split(record.reproduce)
    again = told(*words)
    assert again | {"reproduce": ""} == record.to_dict() | {"reproduce": ""}
    _, *words = shlex.split(record.replay or "")
    assert told(*words)["verdict"] == "PROGRAMS_DIFFER"


def test_programs_in_memory_need_no_file() -> None:
    record = diff(DiffRequest(a=SUM, b=write_binary(DIFFERENCE, "v1"), vectors=20))
    assert record.verdict is Verdict.PROGRAMS_DIFFER
    assert record.difference is not None and record.difference.a.type == "s6.0"
    with pytest.raises(VerdictError):
        record.raise_for_verdict()


def test_programs_of_another_shape_are_an_error() -> None:
    with pytest.raises(InputError):
        diff(DiffRequest(a=SUM, b=Program.build([X], [(0, 0, 0)], inp_shift=[0])))


def test_nothing_compared_is_no_pass() -> None:
    assert diff(DiffRequest(a=SUM, b=SUM, vectors=0)).verdict is Verdict.NOT_RUN
