"""Frames on a byte stream: the format of requests and replies, with which a receiver resynchronizes after damage.

Framing is that of PPP (RFC 1662): each frame is between two flags 7E; a 7E or 7D within it is sent as 7D followed by
the byte with bit 5 inverted. Therefore a flag never occurs within a frame, and a receiver resynchronizes at the next
flag. Contents: a byte ``kind``, a word ``tag``, the payload, and the CRC-32 of all of these; words have four bytes and
are little-endian. The other end is ``rtl/dais_deframer.v`` and ``rtl/dais_framer.v``.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import NamedTuple

__all__ = ["OVERHEAD", "REPLY", "Decoder", "Frame", "Kind", "encode"]

_FLAG, _ESCAPE, _INVERTED = 0x7E, 0x7D, 0x20
_HEAD, _CHECK = struct.Struct("<BI"), struct.Struct("<I")

#: The number of bytes of a frame in the buffer of a board, besides its payload.
OVERHEAD = _HEAD.size
#: The bit that is set in ``kind`` of a reply.
REPLY = 0x80
#: The largest number of bytes of a frame; longer data without a flag is noise.
_LONGEST = 1 << 24


class Kind(IntEnum):
    """The command of a request."""

    IDENTIFY = 0x01
    RUN = 0x02
    #: Only in replies: the board has received a damaged frame.
    DAMAGED = 0x7F


class Frame(NamedTuple):
    """The contents of a frame. ``tag`` (32 bits): the host chooses it for a request, and the reply repeats it."""

    kind: int
    tag: int
    payload: bytes


def encode(frame: Frame) -> bytes:
    """Return the bytes to send for ``frame``, including both flags."""
    body = _HEAD.pack(frame.kind, frame.tag) + frame.payload
    body += _CHECK.pack(zlib.crc32(body))
    for special in (_ESCAPE, _FLAG):  # in this order: escapes must not be escaped
        body = body.replace(bytes([special]), bytes([_ESCAPE, special ^ _INVERTED]))
    return b"%c%b%c" % (_FLAG, body, _FLAG)


class Decoder:
    """Extracts undamaged frames from received bytes.

    ``bytes``: the number of received bytes. ``damaged``: the number of damaged frames, which are dropped.
    """

    def __init__(self) -> None:
        self._begun = bytearray()
        self.bytes = 0
        self.damaged = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that ``data`` completes."""
        self.bytes += len(data)
        first, *others = data.split(bytes([_FLAG]))
        self._begun += first
        frames = []
        for following in others:
            if self._begun:
                frame = _decode(bytes(self._begun))
                if frame is None:
                    self.damaged += 1
                else:
                    frames.append(frame)
            self._begun = bytearray(following)
        if len(self._begun) > _LONGEST:
            self._begun.clear()
        return frames


def _decode(sent: bytes) -> Frame | None:
    """Return the frame in ``sent``, the bytes between two flags; None if it was damaged."""
    first, *escaped = sent.split(bytes([_ESCAPE]))
    if not all(escaped):  # an escape at the end
        return None
    body = b"".join([first, *(bytes([part[0] ^ _INVERTED]) + part[1:] for part in escaped)])
    content, check = body[: -_CHECK.size], body[-_CHECK.size :]
    if len(content) < _HEAD.size or _CHECK.unpack(check)[0] != zlib.crc32(content):
        return None
    kind, tag = _HEAD.unpack_from(content)
    return Frame(kind, tag, content[_HEAD.size :])
