"""Each of alkaid's cases still has the result that it states, on the installed alkaid.

A witness whose result is right where the page says that it is wrong fails, too: upstream has fixed it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from interop import table
from interop.alkaid_cases import CASES, AlirCase
from interop.cases import RIGHT, Wrong
from interop.parts import engines_for
from interop.peer import ALIR_PEERS, Answer, Job, answers

from dais_verif.base.errors import ViolationError
from dais_verif.golden import oracle, run
from dais_verif.spec.program.conversion import to_alir

by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
by_peer = pytest.mark.parametrize("peer", ALIR_PEERS)


@pytest.fixture(scope="module")
def found(alkaid: None) -> dict[tuple[str, str], Answer]:
    keys = [(case, peer) for case in CASES for peer in ALIR_PEERS]
    jobs = [Job(peer, case.program, [case.inputs]) for case, peer in keys]
    return {(case.name, peer): answer for (case, peer), answer in zip(keys, answers(jobs), strict=True)}


@by_case
def test_the_right_answer(case: AlirCase) -> None:
    program = case.program
    assert to_alir(program).hash == program.hash, "the witness is what alkaid is given"
    assert oracle.evaluate(program, list(map(type(case.exact[0]), case.inputs)), check=False) == case.exact
    for engine in engines_for(program):
        assert run(program, [list(case.inputs)], engine=engine, check=False).tolist() == [list(map(float, case.gives))]
        if case.breaks is not None:
            with pytest.raises(ViolationError, match=f"violation at op {case.breaks} "):
                run(program, [list(case.inputs)], engine=engine)


@by_case
@by_peer
def test_the_answer_of_the_peer(case: AlirCase, peer: str, found: dict[tuple[str, str], Answer]) -> None:
    answer, expected = found[case.name, peer], case.of(peer)
    if expected is not RIGHT and isinstance(expected.gives, str):
        assert isinstance(answer, str) and answer.startswith(expected.gives), answer
    else:
        assert not isinstance(answer, str), answer
        assert answer.tolist() == [list(map(float, case.gives if expected is RIGHT else expected.gives))]


@by_case
@by_peer
def test_a_wrong_answer_is_wrong_and_its_shape_finds_the_witness(case: AlirCase, peer: str) -> None:
    expected = case.of(peer)
    if expected is not RIGHT:
        assert expected.gives != case.gives
        assert expected.shape is None or any(expected.shape(case.program, op) for op in case.program.ops)


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_page_shows_other_cases_as_others() -> None:
    text = table.page(alir=CASES)
    assert all(f"`{case.name}`" in text for case in CASES)
    assert table.page(alir=CASES[1:]) != text
    assert table.page(alir=[replace(CASES[0], cpp=Wrong((7.0,))), *CASES[1:]]) != text
