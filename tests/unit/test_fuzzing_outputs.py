"""Whatever a tool leaves in place of its outputs is a finding, never an internal error."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.command import Command, Ending, Interpreter
from dais_verif.spec.program import assemble

CASE = Case(assemble("layout v1\ninput x\na = s60.0 input x\noutput y = a"), ((Fraction(2**53),),))


class WritesOutputs(Command):
    """A tool that calls ``leave`` and exits with 0."""

    leave: Callable[[Path], object] = staticmethod(lambda path: None)

    def run(self, files: Mapping[str, object], folder: Path, seconds: float) -> Ending:
        path = files["outputs"]
        assert isinstance(path, Path)
        type(self).leave(path)
        return Ending(0, "")


def _judged(folder: Path, leave: Callable[[Path], object]) -> str | None:
    tool = type("Tool", (WritesOutputs,), {"leave": staticmethod(leave)})((), folder)
    found = Interpreter(tool, "v1", folder, 1.0).judge(CASE)
    return found and found.kind


def _archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, np.array([[2.0**53]]))


@pytest.mark.parametrize(
    "leave",
    [
        _archive,
        Path.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.write_bytes(b"PK\x03\x04 damaged"),
        lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\x08\x00{'\xff(\n   "),
    ],
    ids=["archive", "folder", "FIFO", "device", "damaged archive", "damaged header"],
)
def test_what_holds_no_outputs_is_a_finding_and_is_gone_for_the_next_case(
    leave: Callable[[Path], object], tmp_path: Path
) -> None:
    assert _judged(tmp_path, leave) == "no outputs"
    assert _judged(tmp_path, lambda path: None) == "no outputs"
    assert _judged(tmp_path, lambda path: np.save(path, np.array([[2.0**53]]))) is None


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_integers_are_not_rounded_before_they_are_compared(kind: type, tmp_path: Path) -> None:
    assert _judged(tmp_path, lambda path: np.save(path, np.array([[2**53]], kind))) is None
    assert _judged(tmp_path, lambda path: np.save(path, np.array([[2**53 + 1]], kind))) == "output"
