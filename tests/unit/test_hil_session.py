"""A session with a board written in Python: results are right or an error is clear, whatever happens on the line."""

from __future__ import annotations

import itertools
import re
import socket
from collections.abc import Callable

import numpy as np
import pytest
from support.boards import Mangler, link_to, mangled, python_board
from support.said import as_recorded, raises

from dais_verif.base.errors import BoardError, BoardFailure, ToolError
from dais_verif.simulation.boards.compare import _few
from dais_verif.simulation.boards.identity import PROTOCOL, REPLY, Frame, Identity, Kind, encode, require_fits
from dais_verif.simulation.boards.session import Bytes, Session
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

WIDTH = 3
PROGRAM = Program.build([(-1, 0, -1, 0, (1, 7, 0))], [(0, 0, 0)], inp_shift=[0])
SHORT = 0.5  # seconds to wait for boards that never answer


def blocks(rows: int, size: int, seed: int = 0) -> list[Bytes]:
    values = np.random.default_rng(seed).integers(0, 256, (rows, WIDTH), dtype=np.uint8)
    values[values < 40] = 0x7E  # many bytes that must be escaped
    return [values[k : k + size] for k in range(0, rows, size)]


def talk(board: socket.socket, sent: list[Bytes], *, patience: float = 20) -> tuple[list[Bytes], Session]:
    with link_to(board) as link:
        session = Session(link, patience)
        identity = session.identify()
        return list(session.run(iter(sent), identity)), session


def check(sent: list[Bytes], found: list[Bytes]) -> None:
    assert len(found) == len(sent)
    for inputs, results in zip(sent, found, strict=True):
        np.testing.assert_array_equal(results, inputs[:, ::-1])


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (1000, 1000), (5000, 256), (7, 2)])
def test_results_of_a_good_line(rows: int, size: int) -> None:
    sent = blocks(rows, size)
    with python_board() as board:
        found, session = talk(board, sent)
    check(sent, found)
    assert session.traffic.repeated == session.traffic.damaged_here == session.traffic.damaged_there == 0


def test_latency_is_paid_by_the_batch() -> None:
    """Thousands of vectors are sent in far fewer requests."""
    with python_board() as board:
        _, session = talk(board, blocks(5000, 5000))
    assert session.traffic.sent < 100


def test_blocks_without_rows_and_none_at_all() -> None:
    empty = np.zeros((0, WIDTH), dtype=np.uint8)
    with python_board() as board, link_to(board) as link:
        session = Session(link, 20)
        identity = session.identify()
        assert list(session.run(iter([]), identity)) == []
        some = blocks(5, 5)[0]
        sent = [empty] * 9 + [some, empty, some] + [empty] * 9
        check(sent, list(session.run(iter(sent), identity)))


def test_no_more_is_in_flight_than_the_board_has_room_for() -> None:
    """No more is in flight than a board, of any kind, has room for: dropped vectors would lose a batch for good."""
    identity = Identity(PROTOCOL, "0" * 64, 8 * WIDTH, 8 * WIDTH, 0, 64)
    largest = []

    def look(frame: Frame) -> None:
        largest.append(5 + len(frame.payload))

    sent = blocks(300, 300)
    with python_board(identity=identity, answer=look) as board:
        found, _ = talk(board, sent)
    check(sent, found)
    assert max(largest) <= 64 // 4


BAD_LINES = {
    "loses": Mangler(1, lose=0.003),
    "flips": Mangler(2, flip=0.003),
    "doubles": Mangler(3, double=0.003),
    "delays": Mangler(4, delay=0.002, pause=0.15),
    "all": Mangler(5, lose=0.002, flip=0.002, double=0.002, delay=0.0005),
    "awful": Mangler(6, lose=0.004, flip=0.004, double=0.004),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_changes_nothing_but_the_time(name: str) -> None:
    sent = blocks(300, 100)
    with python_board() as board, mangled(board, BAD_LINES[name]) as line:
        found, session = talk(line, sent)
    check(sent, found)
    assert session.traffic.repeated or name == "delays"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_bad_lines_of_many_kinds(seed: int) -> None:
    rates = np.random.default_rng(seed).dirichlet([1] * 3) * 10 ** np.random.default_rng(seed).uniform(-4, -1.6)
    sent = blocks(1000, 150, seed)
    mangler = Mangler(seed, *map(float, rates), delay=0.0005)
    with python_board() as board, mangled(board, mangler) as line:
        found, _ = talk(line, sent, patience=60)
    check(sent, found)


def usual(frame: Frame) -> bytes:
    payload = b"".join(frame.payload[k : k + WIDTH][::-1] for k in range(0, len(frame.payload), WIDTH))
    return encode(Frame(frame.kind | REPLY, frame.tag, payload))


def only_run(answer: Callable[[Frame], list[bytes]]) -> Callable[[Frame], list[bytes] | None]:
    return lambda frame: answer(frame) if frame.kind == Kind.RUN else None


def test_replies_that_come_twice_count_once() -> None:
    sent = blocks(300, 100)
    with python_board(answer=only_run(lambda frame: [usual(frame)] * 2)) as board:
        found, session = talk(board, sent)
    check(sent, found)
    assert session.traffic.unexpected > 0


def test_replies_of_an_earlier_run_do_not_count() -> None:
    """Replies to requests that this run never made are ignored, even if they have the right size and come first."""
    sent = blocks(50, 50)

    def stale(frame: Frame) -> list[bytes]:
        return [encode(Frame(Kind.RUN | REPLY, (frame.tag + 77) % 2**32, bytes(len(frame.payload)))), usual(frame)]

    with python_board(answer=only_run(stale)) as board:
        found, session = talk(board, sent)
    check(sent, found)
    assert session.traffic.unexpected > 0


def test_one_reply_that_is_lost_is_noticed_by_the_next() -> None:
    """The lost reply is noticed when another one arrives in its place, not only after a timeout."""
    numbers = itertools.count()
    sent = blocks(2000, 2000)
    with python_board(answer=only_run(lambda frame: [] if next(numbers) == 5 else [usual(frame)])) as board:
        found, session = talk(board, sent)
    check(sent, found)
    assert session.traffic.repeated >= 1


def test_a_board_that_only_says_that_frames_are_damaged_is_given_up() -> None:
    damaged = encode(Frame(Kind.DAMAGED | REPLY, 0, b""))
    with (
        python_board(answer=only_run(lambda frame: [damaged])) as board,
        raises(BoardFailure),
    ):
        talk(board, blocks(10, 10), patience=SHORT)


def test_a_reply_of_the_wrong_size_is_no_result() -> None:
    wrong = only_run(lambda frame: [encode(Frame(frame.kind | REPLY, frame.tag, bytes(WIDTH + 1)))])
    with (
        python_board(answer=wrong) as board,
        pytest.raises(BoardFailure, match=r"1 vector.*4 bytes.*3"),
    ):
        talk(board, blocks(1, 1))


def test_a_board_that_falls_silent() -> None:
    numbers = itertools.count()
    with (
        python_board(answer=only_run(lambda frame: [usual(frame)] if next(numbers) < 3 else [])) as board,
        pytest.raises(BoardFailure, match=r"0\.5 s.*\d+ batches.*\d+"),
    ):
        talk(board, blocks(5000, 1000), patience=SHORT)


def test_a_board_that_talks_but_never_answers() -> None:
    """Valid frames that are not replies to a request do not keep the run alive."""
    noise = [encode(Frame(Kind.RUN | REPLY, tag, b"xyz")) for tag in range(50)]
    with (
        python_board(answer=only_run(lambda frame: noise)) as board,
        raises(BoardFailure),
    ):
        talk(board, blocks(10, 10), patience=SHORT)


class TestIdentify:
    def nobody(self, board: socket.socket) -> str:
        with link_to(board) as link, pytest.raises(ToolError) as caught:
            Session(link, SHORT).identify()
        return str(caught.value)

    def test_silence(self) -> None:
        with python_board(answer=lambda frame: []) as board:
            said = self.nobody(board)
            assert "dais-verif emit --wrap" in said
            as_recorded(said)

    def test_noise(self) -> None:
        with python_board(answer=lambda frame: [b"boot: hello 1234\r\n~~~x"]) as board:
            said = self.nobody(board)
            assert "asked 3 times" in said
            as_recorded(said)

    def test_an_echo(self) -> None:
        with python_board(echo=True) as board:
            said = self.nobody(board)
            assert "asked 3 times" in said
            as_recorded(said)

    def test_a_link_that_is_closed(self) -> None:
        ours, theirs = socket.socketpair()
        theirs.close()
        with ours:
            said = self.nobody(ours)
            as_recorded(said)

    def test_an_answer_to_somebody_else(self) -> None:
        other = Identity(PROTOCOL, "0" * 64, 24, 24, 0, 4096).pack()
        answer = [encode(Frame(Kind.IDENTIFY | REPLY, 12345, other))]
        with python_board(answer=lambda frame: answer) as board:
            said = self.nobody(board)
            assert "asked 3 times" in said
            as_recorded(said)

    @pytest.mark.parametrize("payload", [b"", b"DAIS", b"SIAD" + bytes(60)])
    def test_an_answer_that_is_no_identity(self, payload: bytes) -> None:
        with python_board(answer=lambda frame: [encode(Frame(frame.kind | REPLY, frame.tag, payload))]) as board:
            said = self.nobody(board)
            assert "asked 3 times" in said
            as_recorded(re.sub(r"\d+ bytes", "N bytes", said))


GOOD = Identity(PROTOCOL, PROGRAM.hash, 8, 8, 0, 4096)


def test_an_identity_says_what_it_was_given() -> None:
    for identity in (GOOD, Identity(7, "ab" * 32, 1, 99999, 12, 1 << 20)):
        assert Identity.parse(identity.pack()) == identity


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"program": "0" * 64},
            f"expected hash {PROGRAM.hash}.*{'0' * 64}; load.*bitstream",
        ),
        ({"input_bits": 9}, r"ports of 9.*8 bits.*8.*8.*bitstream"),
        ({"output_bits": 7}, r"ports of 8.*7 bits.*8.*8"),
        ({"protocol": PROTOCOL + 1}, f"version {PROTOCOL + 1}.*protocol.*{PROTOCOL}"),
        ({"buffer": 0}, "buffer"),
    ],
)
def test_a_board_that_is_another_one(changed: dict[str, int], message: str) -> None:
    require_fits(GOOD, PROGRAM, ports_of(PROGRAM), "x")
    with raises(BoardError, match=message):
        require_fits(GOOD._replace(**changed), PROGRAM, ports_of(PROGRAM), "x")


def test_rows_that_are_computed_twice_are_spread_over_all() -> None:
    assert [_few(*of) for of in ((0, 3), (1, 3), (2, 3), (101, 3))] == [[], [0], [0, 1], [0, 50, 100]]
