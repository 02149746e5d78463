"""A file that is valid in both word orders, with different meanings, is not signed off unless the layout is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.doors.cli.main import _run
from dais_verif.spec.program import Program, load, write_binary

#: Read in the other word order, no op can overflow; as it is written, the sum might.
PROGRAM = Program.build(
    [(-1, 0, -1, 0, (0, 3, 0)), (-1, 1, -1, 0, (0, 3, 0)), (6, 0, 1, 1 << 32, (0, 8, 0)), (4, 2, -1, 0, (0, 3, 0))],
    [(3, 0, 0)],
    inp_shift=[0, 0],
)


@pytest.fixture
def ambiguous(tmp_path: Path) -> Path:
    path = tmp_path / "p.bin"
    path.write_bytes(write_binary(PROGRAM, "headerless"))
    return path


def test_it_is_not_signed_off(ambiguous: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = ambiguous.parent / "out"
    assert _run(["signoff", str(ambiguous), "-o", str(out)]) == 2
    said = capfd.readouterr().err
    assert "INVALID_INPUT" in said and "--layout" in said
    as_recorded(said)
    assert not (out / "certificate.json").exists()


def test_other_verbs_warn_and_say_that_it_is_assumed(ambiguous: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["check", str(ambiguous)]) in (0, 2)
    out, err = capfd.readouterr()
    assert err.count("warning: layout assumed") == 1
    assert "headerless (assumed)" in out


def test_a_layout_that_is_given_is_not_assumed(ambiguous: Path) -> None:
    assert load(ambiguous, layout="headerless").hash == PROGRAM.hash
    assert not load(ambiguous, layout="published").origin.assumed
