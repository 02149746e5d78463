"""Each case still has the result that it states, right or wrong, on the installed da4ml."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from interop import table
from interop.cases import CASES, RIGHT, Case, Wrong
from interop.parts import engines_for
from interop.peer import NAN, PEERS, Answer, Job, answers

from dais_verif.base.errors import ViolationError
from dais_verif.golden import run

by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
by_peer = pytest.mark.parametrize("peer", PEERS)


def vector(case: Case) -> list[float]:
    return [float(value) for value in case.witness.cases[0].inputs]


def gives(case: Case) -> list[float]:
    return [float(value) for value in case.witness.cases[0].gives]


@pytest.fixture(scope="module")
def found(da4ml: None) -> dict[tuple[str, str], Answer]:
    keys = [(case, peer) for case in CASES for peer in PEERS]
    jobs = [Job(peer, case.witness.program, [vector(case)]) for case, peer in keys]
    return {(case.name, peer): answer for (case, peer), answer in zip(keys, answers(jobs), strict=True)}


@by_case
def test_the_right_answer(case: Case) -> None:
    """Every engine gives the outputs that the page states."""
    (one,) = case.witness.cases
    program = case.witness.program
    assert all(Fraction(float(value)) == value for value in one.inputs + one.gives)
    for engine in engines_for(program):
        assert run(program, [vector(case)], engine=engine, check=False).tolist() == [gives(case)], engine
        if one.breaks is None:
            assert run(program, [vector(case)], engine=engine).tolist() == [gives(case)], engine
        else:
            with pytest.raises(ViolationError, match=f"violation at op {one.breaks} "):
                run(program, [vector(case)], engine=engine)


@by_case
@by_peer
def test_the_answer_of_the_peer(case: Case, peer: str, found: dict[tuple[str, str], Answer]) -> None:
    answer, expected = found[case.name, peer], case.of(peer)
    if expected is not RIGHT and expected.gives == NAN:
        assert np.isnan(answer).all()
    elif expected is not RIGHT and isinstance(expected.gives, str):
        assert isinstance(answer, str) and answer.startswith(expected.gives), answer
    else:
        assert isinstance(answer, np.ndarray), answer
        assert answer.tolist() == [gives(case) if expected is RIGHT else list(expected.gives)]


@by_case
@by_peer
def test_a_wrong_answer_is_wrong_and_its_shape_finds_the_witness(case: Case, peer: str) -> None:
    expected, program = case.of(peer), case.witness.program
    if expected is not RIGHT:
        assert expected.gives != tuple(gives(case))
        assert expected.shape is None or any(expected.shape(program, op) for op in program.ops)


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_page_shows_the_cases() -> None:
    text = table.page()
    assert all(f"`{case.name}`" in text for case in CASES)
    assert table.page(CASES[1:]) != text
    changed = [Case(CASES[0].what, CASES[0].witness, RIGHT, Wrong((7.0,))), *CASES[1:]]
    assert table.page(changed) != text
