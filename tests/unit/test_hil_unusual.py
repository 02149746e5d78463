"""Requests that no host sends: they are reproducible, a board answers them in the same way, and silence is reported."""

from __future__ import annotations

import random

from support.said import raises

from dais_verif.base.errors import ToolError
from dais_verif.simulation.boards.identity import REPLY, Decoder, Frame, Kind, encode
from dais_verif.simulation.boards.link import Link
from dais_verif.simulation.boards.odd_requests import answer, unusual_requests

BUFFER = 256


class Board(Link):
    """A minimal board that answers every request with an empty reply, and is silent from request ``silent`` on."""

    def __init__(self, silent: int | None = None) -> None:
        self._decoder, self._waiting, self._silent, self._asked = Decoder(), b"", silent, 0

    def send(self, data: bytes) -> None:
        if self._asked == self._silent:
            return
        self._asked += 1
        for frame in self._decoder.feed(data):
            self._waiting += encode(Frame(frame.kind | REPLY, frame.tag, b""))

    def receive(self, seconds: float) -> bytes:
        said, self._waiting = self._waiting[:7], self._waiting[7:]
        return said


def drawn(seed: int, count: int = 200) -> list[bytes]:
    return unusual_requests(random.Random(seed), count, row_bytes=3, buffer=BUFFER)


def test_requests_are_of_all_kinds() -> None:
    """A request either fits the buffer beside the following question, or does not fit at all.

    Some requests are damaged, and some are of unknown kinds.
    """
    requests = drawn(1)
    assert requests == drawn(1) and requests != drawn(2)
    kinds: set[int] = set()
    damaged = long = 0
    for request in requests:
        frames = (decoder := Decoder()).feed(request)
        kinds |= {frame.kind for frame in frames}
        damaged += decoder.damaged
        assert all(len(frame.payload) < BUFFER // 2 or len(frame.payload) > BUFFER for frame in frames)
        long += any(len(frame.payload) > BUFFER for frame in frames)
    assert {Kind.RUN, Kind.IDENTIFY} < kinds and damaged > 10 and long > 10


def test_answers_end_with_that_to_the_question() -> None:
    board = Board()
    for tag, request in enumerate(drawn(3, 20)):
        assert Decoder().feed(answer(board, tag, request, 10.0))[-1] == Frame(Kind.IDENTIFY | REPLY, tag, b"")


def test_a_silent_board_is_told() -> None:
    board, requests = Board(silent=2), drawn(4, 5)
    for tag in range(2):
        answer(board, tag, requests[tag], 10.0)
    with raises(ToolError):
        answer(board, 2, requests[2], 0.0)
