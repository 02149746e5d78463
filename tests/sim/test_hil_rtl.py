"""The RTL of a board, frame by frame: what is asked well is answered, what is not does no harm."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator

import pytest
from boards import link_to, verilated
from quality.programs import every_opcode

from dais_verif.golden import run_raw
from dais_verif.hil.frames import REPLY, Decoder, Frame, Kind, encode
from dais_verif.hil.identity import PROTOCOL, Identity
from dais_verif.program.ports import ports_of
from dais_verif.sim.packing import pack_inputs, pack_outputs
from dais_verif.stimulus import generate

EVERY = every_opcode()
PORTS = ports_of(EVERY)
IN_BYTES, OUT_BYTES = (PORTS.input_bits + 7) // 8, (PORTS.output_bits + 7) // 8
DAMAGED = Frame(Kind.DAMAGED | REPLY, 0, b"")
FLAG = b"\x7e"
BUFFER = 4096


@pytest.fixture(scope="module", params=["fifo", "uart"])
def board(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    with verilated(EVERY, request.param, tmp_path_factory.mktemp(request.param)) as board:
        yield board


def vectors(rows: int, seed: int = 0) -> tuple[bytes, bytes]:
    """Payloads of a request and of its reply."""
    batch = generate(EVERY, rows, seed)
    inputs, outputs = pack_inputs(batch, PORTS), pack_outputs(run_raw(EVERY, batch, check=False), PORTS, rows)
    return (
        b"".join(row.tobytes()[:IN_BYTES] for row in inputs),
        b"".join(row.tobytes()[:OUT_BYTES] for row in outputs),
    )


def exchange(board: socket.socket, data: bytes, replies: int, *, until: Frame | None = None) -> list[Frame]:
    """Send ``data``; the first ``replies`` frames that come, up to ``until``, and what comes soon after them."""
    decoder: Decoder = Decoder()
    frames: list[Frame] = []
    with link_to(board) as link:
        link.send(data)
        deadline = time.monotonic() + 20
        while (len(frames) < replies or (until and until not in frames)) and time.monotonic() < deadline:
            frames += decoder.feed(link.receive(0.1))
        frames += decoder.feed(link.receive(0.02))
    assert decoder.damaged == 0
    return frames


def run(tag: int, payload: bytes) -> bytes:
    return encode(Frame(Kind.RUN, tag, payload))


def reply(tag: int, payload: bytes) -> Frame:
    return Frame(Kind.RUN | REPLY, tag, payload)


def test_it_says_what_it_is(board: socket.socket) -> None:
    (frame,) = exchange(board, encode(Frame(Kind.IDENTIFY, 0x7E7D5E5D, b"")), 1)
    assert frame[:2] == (Kind.IDENTIFY | REPLY, 0x7E7D5E5D)
    expected = Identity(PROTOCOL, EVERY.hash, PORTS.input_bits, PORTS.output_bits, 0, BUFFER)
    assert Identity.parse(frame.payload) == expected
    assert frame.payload == expected.pack()


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_vectors_and_results(board: socket.socket, rows: int) -> None:
    inputs, outputs = vectors(rows)
    assert exchange(board, run(rows, inputs), 1) == [reply(rows, outputs)]


def test_several_requests_at_once_are_answered_in_order(board: socket.socket) -> None:
    asked = [vectors(rows, rows) for rows in (3, 1, 50, 2)]
    data = b"".join(run(tag, inputs) for tag, (inputs, _) in enumerate(asked))
    assert exchange(board, data, 4) == [reply(tag, outputs) for tag, (_, outputs) in enumerate(asked)]


def test_requests_without_vectors(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    found = exchange(board, run(1, b"") + encode(Frame(Kind.IDENTIFY, 2, b"xyz")) + run(3, inputs), 3)
    assert [frame.tag for frame in found] == [1, 2, 3]
    assert (found[0], found[2]) == (reply(1, b""), reply(3, outputs))


@pytest.mark.parametrize("kind", [0, 3, 0x55, 0x7E, 0x7F])
def test_a_request_of_another_kind_is_answered_without_data(board: socket.socket, kind: int) -> None:
    inputs, outputs = vectors(1)
    data = encode(Frame(kind, 7, b"")) + encode(Frame(kind, 8, bytes(50))) + run(9, inputs)
    expected = [Frame(kind | REPLY, 7, b""), Frame(kind | REPLY, 8, b""), reply(9, outputs)]
    assert exchange(board, data, 3) == expected


@pytest.mark.parametrize("flags", [FLAG, FLAG * 20])
def test_flags_between_frames_mean_nothing(board: socket.socket, flags: bytes) -> None:
    inputs, outputs = vectors(1)
    assert exchange(board, flags + run(1, inputs) + flags + run(2, inputs) + flags, 2) == [
        reply(1, outputs),
        reply(2, outputs),
    ]


def test_two_frames_may_share_a_flag(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    assert exchange(board, run(1, inputs)[:-1] + run(2, inputs), 2) == [reply(1, outputs), reply(2, outputs)]


@pytest.mark.parametrize("damage", ["flip", "lose", "double", "escape", "cut"])
def test_a_damaged_request_is_said_to_be_damaged_and_the_next_one_is_answered(
    board: socket.socket, damage: str
) -> None:
    inputs, outputs = vectors(5)
    bad = bytearray(run(1, bytes(inputs)))
    if damage == "flip":
        bad[7] ^= 0x10
    elif damage == "lose":
        del bad[9]
    elif damage == "double":
        bad.insert(9, bad[9])
    elif damage == "escape":
        bad[-1:] = b"\x7d\x7e"
    else:
        del bad[6:-1]
    assert exchange(board, bytes(bad) + run(2, inputs), 2) == [DAMAGED, reply(2, outputs)]


def test_a_request_beyond_the_buffer_is_said_to_be_damaged(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    large = inputs * (2 * BUFFER // IN_BYTES)
    assert exchange(board, run(1, large) + run(2, inputs), 2) == [DAMAGED, reply(2, outputs)]


def test_a_request_that_fills_the_buffer(board: socket.socket) -> None:
    rows = (BUFFER - 5) // IN_BYTES
    inputs, outputs = vectors(rows)
    assert exchange(board, run(1, inputs), 1) == [reply(1, outputs)]


def test_any_noise_is_survived(board: socket.socket) -> None:
    """A request after noise and a flag is answered, and nothing looks like an answer that was not asked for."""
    rng = random.Random(1)
    inputs, outputs = vectors(2)
    for tag in range(60):
        noise = bytes(rng.choice([0x7E, 0x7D, rng.randrange(256)]) for _ in range(rng.randrange(40)))
        found = exchange(board, noise + FLAG + run(tag, inputs), 1, until=reply(tag, outputs))
        assert found.count(reply(tag, outputs)) == 1
        assert set(found) <= {reply(tag, outputs), DAMAGED}
