"""The campaign of bitstream flips can fail: the second reading of the bitstream sees a flipped bit."""

from __future__ import annotations

from itertools import islice

import pytest
from prove.bitstream_flips.campaign import OUTCOMES, Judge, drawn, table
from support.bitstreams import DESIGNS, require_icestorm, turned_over

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["quantised_mac", "lookup_square_pipelined"])
def judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    require_icestorm()
    return Judge(DESIGNS[request.param], tmp_path_factory.mktemp(request.param))


def test_the_second_route_sees_a_wrong_table(judge: Judge) -> None:
    """The second route sees a flipped table bit without our reader: it gets only the text and the original reading."""
    assert judge.second.difference(judge.text) == ""
    place, bits = next((place, bits) for place, bits in judge.cells if judge.ones[place] & set(bits))
    found = [judge.second.difference(turned_over(judge.text, place, bits[entry])) for entry in (4, 14, 15, 5, 0)]
    assert any(said.startswith("DIFFERENT in step") for said in found), found


def test_each_flip_has_an_outcome_and_none_escapes(judge: Judge) -> None:
    rows = []
    for place, bit in islice(drawn(judge, 7), 15):
        outcome, _ = judge(place, bit)
        assert outcome in OUTCOMES[:-1]
        rows.append({"design": judge.design.name, "outcome": outcome})
    assert f"| all | {len(rows)} |" in table(rows)


def test_what_escapes_is_said(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that overlooks a table would pass a wrong bitstream, and the campaign reports it as escaped."""
    place, bits = judge.cells[0]

    class Blind(type(judge.design)):  # type: ignore[misc]
        def read(self, configuration: object, pins: object = None) -> object:
            return judge.logic

    monkeypatch.setattr(judge, "design", Blind(*judge.design))
    outcomes = {judge(place, bits[entry])[0] for entry in (4, 14, 15, 5, 0)}
    assert "ESCAPED" in outcomes, outcomes
