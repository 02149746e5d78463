"""The specifications for third-party modules are well-formed, and compute the same as an independent model."""

from __future__ import annotations

import random

import pytest
from others.cases import SPECIFICATIONS, cases, projects
from others.models import MODELS

import dais_verif
from dais_verif.doors.cli import main
from dais_verif.golden import run

_ROWS = 500


def test_each_has_a_model_and_a_module_and_nothing_else_is_there() -> None:
    names = {path.stem for path in SPECIFICATIONS.iterdir()}
    assert names == set(MODELS) == {case.specification for case in cases()}
    assert {case.project for case in cases()} == set(projects())
    assert len({(case.project, case.module) for case in cases()}) == len(cases())


@pytest.mark.parametrize("name", MODELS)
def test_it_computes_what_its_model_computes(name: str) -> None:
    program, model = dais_verif.load(SPECIFICATIONS / f"{name}.dais"), MODELS[name]
    draw = random.Random(name)
    tops = [(1 << width) - 1 for width in model.inputs]
    rows = [[draw.choice((0, top, top >> 1, draw.randint(0, top))) for top in tops] for _ in range(_ROWS)]
    if sum(model.inputs) <= 8:
        rows = [[x] for x in range(tops[0] + 1)]
    found = run(program, rows)  # raises an error if a promise is broken
    assert found.shape[1] == len(program.output_types)
    for row, values in zip(rows, found.tolist(), strict=True):
        sizes = [1 << kind.width for kind in program.output_types]
        wanted = [int(value) % size for value, size in zip(model.compute(*row), sizes, strict=True)]
        assert [int(value) % size for value, size in zip(values, sizes, strict=True)] == wanted, row


@pytest.mark.parametrize("name", MODELS)
def test_it_keeps_its_promises(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main._run(["check", str(SPECIFICATIONS / f"{name}.dais")]) == 0, capsys.readouterr().out
