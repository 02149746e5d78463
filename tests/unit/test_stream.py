"""The scoreboard of streams reports lost, repeated, late and changed beats, and a broken protocol."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.said import as_recorded

from dais_verif.simulation.testbench.stream import NEVER, Beat, Pauses, Side, Sink, StreamScoreboard

BEATS = [Beat(f"{17 * k:08b}", str(k % 2), f"{k:04b}") for k in range(10)]


def told(sent: list[int], found: list[Beat]) -> list[str]:
    board = StreamScoreboard()
    for number in sent:
        board.expect(number, BEATS[number])
    for beat in found:
        board.found(beat)
    assert board.compared <= min(len(sent), len(found))
    board.finish()
    assert board.problems or board.compared == len(sent)
    return board.problems


def test_what_went_in_comes_out() -> None:
    assert told([0, 1, 2], BEATS[:3]) == []


@pytest.mark.parametrize(
    ("found", "names"),
    [
        ([BEATS[0], BEATS[2]], "1 2"),
        ([BEATS[2]], "0, 1 2"),
        ([BEATS[0], BEATS[0], BEATS[1], BEATS[2]], "0"),
        ([*BEATS[:3], BEATS[2]], "2"),
        (BEATS[:2], "1 2"),
        ([BEATS[0], BEATS[1]._replace(last="0"), BEATS[2]], "1: TLAST 0,"),
        ([BEATS[0], BEATS[1]._replace(user="1000"), BEATS[2]], "1: TUSER 0x8, 0x1"),
        ([BEATS[0], BEATS[1]._replace(data="0001x001"), BEATS[2]], "1: TDATA 0001x001,"),
        ([*BEATS[:3], BEATS[7]], "TDATA 0x77, TLAST 1, TUSER 0x7"),
    ],
)
def test_a_difference_is_named_for_what_it_is(found: list[Beat], names: str) -> None:
    (problem,) = told([0, 1, 2], found)
    assert all(name in problem for name in names.split()), problem
    as_recorded(problem)


@given(st.lists(st.sampled_from(range(10)), max_size=12))
def test_only_the_very_sequence_is_accepted(order: list[int]) -> None:
    assert (told([0, 1, 2, 3], [BEATS[k] for k in order]) == []) == (order == [0, 1, 2, 3])


def test_after_a_reset_nothing_is_on_its_way() -> None:
    board = StreamScoreboard()
    board.expect(0, BEATS[0])
    board.expect(1, BEATS[1])
    assert board.forget() == 2
    board.found(BEATS[0])
    as_recorded(board.problems[0])


def test_all_problems_are_counted_and_few_are_kept() -> None:
    board = StreamScoreboard()
    for _ in range(100):
        board.found(BEATS[0])
    assert board.total == 100 and len(board.problems) < 10


def watched(*clocks: tuple[str, bool, Beat | None]) -> list[str]:
    board = StreamScoreboard()
    for number in range(10):
        board.expect(number, BEATS[number])
    sink = Sink(board, "m_axis")
    for number, (valid, ready, beat) in enumerate(clocks):
        sink.clock(number, valid, ready, beat)
    return board.problems


def test_a_stalled_beat_that_stays_is_right() -> None:
    assert watched(("1", False, BEATS[0]), ("1", False, BEATS[0]), ("1", True, BEATS[0]), ("0", True, None)) == []


def test_valid_must_not_drop() -> None:
    assert watched(("1", False, BEATS[0]), ("0", True, None)) == ["clock 1: m_axis_tvalid dropped before m_axis_tready"]


def test_a_stalled_payload_must_not_change() -> None:
    problems = watched(("1", False, BEATS[1]), ("1", True, BEATS[0]))
    as_recorded(problems)


def test_valid_must_be_known() -> None:
    assert watched(("x", True, None)) == ["clock 0: m_axis_tvalid is x"]


def test_in_reset_valid_may_drop() -> None:
    board = StreamScoreboard()
    board.expect(0, BEATS[0])
    sink = Sink(board, "m_axis")
    sink.clock(0, "1", False, BEATS[0])
    sink.reset()
    sink.clock(1, "0", False, None)
    assert board.problems == []


def test_pauses() -> None:
    chance = random.Random(0)
    assert all(NEVER.going(now, chance) for now in (False, True) for _ in range(100))
    half = [Pauses(0.5, 0.5).going(True, chance) for _ in range(1000)]
    assert 400 < sum(half) < 600
    assert not any(Pauses(1.0, 0.0).going(now, chance) for now in (False, True) for _ in range(100))


@pytest.mark.parametrize("pauses", [NEVER, Pauses(0.5, 0.5), Pauses(0.1, 0.9)])
def test_a_side_pauses_at_random_and_stands_for_its_long_stop(pauses: Pauses) -> None:
    side, active, seen = Side(pauses, 40, random.Random(3)), False, []
    for clock in range(400):
        active = side.active(active, clock >= 300)
        seen.append(active)
    early, stop, late = seen[:300], seen[300:340], seen[340:]
    assert not any(stop) and any(late)
    assert all(early) if pauses == NEVER else 0.2 < sum(early) / len(early) < 0.95


def test_a_long_stop_counts_only_what_it_is_told_to() -> None:
    side = Side(NEVER, 2, random.Random(0))
    found = [side.active(True, True, counts=counts) for counts in (False, True, False, True, True)]
    assert found == [False, False, False, False, True]
