"""``load``, ``run`` and ``Golden`` take whatever the command line takes as a program, and objects of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import dais_verif
from dais_verif.base.errors import InputError, ProgramError, RequestError
from dais_verif.spec.program import Program, write_binary
from dais_verif.spec.program.conversion import to_da4ml
from dais_verif.spec.program.json_writers import da4ml_json
from tests.support.project_folders import da4ml_folder

SUM = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0]
)


class CombLogic:
    """A program of da4ml as an object, which writes itself as JSON."""

    def save(self, path: Path) -> None:
        Path(path).write_bytes(da4ml_json(to_da4ml(SUM)))


def test_a_program_comes_from_anything(tmp_path: Path) -> None:
    binary = write_binary(SUM, "v1")
    (tmp_path / "a.bin").write_bytes(binary)
    given: dict[str, Any] = {
        "path": tmp_path / "a.bin",
        "text": str(tmp_path / "a.bin"),
        "bytes": binary,
        "program": SUM,
        "words": np.frombuffer(binary, dtype="<i4"),
        "object": CombLogic(),
    }
    assert {name: dais_verif.load(one).hash == SUM.hash for name, one in given.items()} == dict.fromkeys(given, True)
    x = [[3, 4], [15, 15]]
    for one in given.values():
        assert dais_verif.run(one, x).tolist() == dais_verif.Golden(one).run(x).tolist() == [[7.0], [30.0]]
    project = da4ml_folder(tmp_path / "out")
    model = dais_verif.load(project / "model" / "comb.json")
    assert dais_verif.load(project).hash == dais_verif.load(str(project)).hash == model.hash


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (np.zeros(3), RequestError),
        (np.zeros((2, 3), dtype=np.int32), RequestError),
        (np.zeros(2, dtype=np.int32), ProgramError),
        (7, RequestError),
        (None, RequestError),
    ],
)
def test_other_objects_are_refused(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        dais_verif.load(given)


def test_a_layout_is_for_files(tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        dais_verif.load(SUM, layout="v1")
    with pytest.raises(InputError):
        dais_verif.load(tmp_path)  # an empty folder


class Interval(NamedTuple):
    min: int
    max: int
    step: int


def test_types_may_be_intervals() -> None:
    built = Program.build(
        [(-1, 0, -1, 0, (0.0, 9.5, 0.5)), (-1, 1, -1, 0, Interval(-3, 2, 1)), (0, 0, 1, 0, (1, 4, 1))],
        [(2, 0, 0)],
        inp_shift=[0, 0],
    )
    assert [tuple(op.type) for op in built.ops] == [(0, 4, 1), (1, 2, 0), (1, 4, 1)]
    assert built.intervals == ((0, 19), (-3, 2), (-32, 31))
    for wrong in ((0.0, 9.5, 0.3), (2.0, 1.0, 0.5), (0.0, float("nan"), 1.0)):
        with pytest.raises(ProgramError, match=r"^op 0: "):
            Program.build([(-1, 0, -1, 0, wrong)], [(0, 0, 0)], inp_shift=[0])
