"""Unusual requests, such as damaged or too long ones, which all boards with one program must answer in the same way."""

from __future__ import annotations

import random
import time

from dais_verif.base.errors import BoardFailure
from dais_verif.simulation.boards.identity import REPLY, Decoder, Frame, Kind, encode
from dais_verif.simulation.boards.link import Link

__all__ = ["answer", "unusual_requests"]

#: The longest time, in seconds, to wait for data before the deadline is checked.
_LOOK = 0.2
#: The upper bound of the bytes that the query after each request takes in the board's buffer.
_QUESTION = 64


def unusual_requests(rng: random.Random, count: int, *, row_bytes: int, buffer: int) -> list[bytes]:
    """Draw ``count`` requests to a board with vectors of ``row_bytes`` bytes and a buffer of ``buffer`` bytes.

    Each request takes less than half of the buffer, so that the query after the request always fits, or more than the
    whole buffer.
    """
    return [_request(rng, max(row_bytes, 1), buffer) for _ in range(count)]


def _request(rng: random.Random, row_bytes: int, buffer: int) -> bytes:
    rows = max((buffer // 2 - _QUESTION) // row_bytes, 1)
    size = row_bytes * rng.randint(1, rows if rng.random() < 0.15 else min(rows, 8))
    kind, tag = rng.choice([Kind.RUN, Kind.RUN, Kind.RUN, Kind.IDENTIFY, rng.randrange(256)]), rng.getrandbits(32)
    what = rng.randrange(8)
    if what == 0:
        size = buffer + rng.randint(1, 64)
    elif what == 1:
        size = rng.randint(0, min(2 * row_bytes, buffer // 2))  # in most cases not a whole number of vectors
    special = rng.random() < 0.2
    payload = bytes(
        rng.choice((0x7D, 0x7E, 0x5D, 0x5E, 0, 0xFF)) if special else rng.randrange(256) for _ in range(size)
    )
    sent = bytearray(encode(Frame(kind, tag, payload)))
    if what == 2:
        sent[rng.randrange(len(sent))] ^= 1 << rng.randrange(8)
    elif what == 3:
        del sent[rng.randrange(len(sent)) :]
    elif what == 4:
        sent = bytearray(rng.randrange(256) for _ in range(rng.randint(1, 40))) + sent
    elif what == 5:
        sent += bytes([0x7E]) * rng.randint(1, 4)
    return bytes(sent)


def answer(link: Link, tag: int, request: bytes, patience: float) -> bytes:
    """Send ``request``, then a query with ``tag``, and return all received bytes up to the answer to the query.

    Raises ``ToolError`` if the board sends nothing for ``patience`` seconds.
    """
    link.send(request + encode(Frame(Kind.IDENTIFY, tag, b"")))
    decoder, received, heard = Decoder(), b"", time.monotonic()
    while True:
        data = link.receive(_LOOK)
        if data:
            heard, received = time.monotonic(), received + data
        elif time.monotonic() - heard > patience:
            raise BoardFailure(f"the board does not answer request {tag}, after {len(received)} bytes")
        if any((one.kind, one.tag) == (Kind.IDENTIFY | REPLY, tag) for one in decoder.feed(data)):
            return received
