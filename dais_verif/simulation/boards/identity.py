"""The identity that a board reports, and its comparison with the program or machine."""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import NamedTuple

from dais_verif.base.errors import BoardError
from dais_verif.base.text import counted
from dais_verif.hardware.emitter.machines.board import MOST_CYCLES
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Ports

__all__ = [
    "Decoder",
    "Frame",
    "Identity",
    "Kind",
    "OVERHEAD",
    "PROTOCOL",
    "REPLY",
    "encode",
    "require_fits",
    "require_fits_machine",
]


#: The version of the protocol that we support.
PROTOCOL = 1

_LAYOUT = struct.Struct("<4sB32sIIII")
_MAGIC = b"DAIS"


class Identity(NamedTuple):
    """The reply to an identify request.

    ``program``: the hash of the program or machine, in hexadecimal. ``buffer``: the number of bytes that requests may
    take in the board. ``input_bits`` and ``output_bits``: the widths of the core's ports. ``latency``: the latency of
    the core, in clocks.
    """

    protocol: int
    program: str
    input_bits: int
    output_bits: int
    latency: int
    buffer: int

    @classmethod
    def parse(cls, payload: bytes) -> Identity | None:
        """Return the identity in the payload of a reply, or None if the payload does not hold one."""
        if len(payload) < _LAYOUT.size or not payload.startswith(_MAGIC):
            return None
        _, protocol, program, *numbers = _LAYOUT.unpack_from(payload)
        return cls(protocol, f"{int.from_bytes(program, 'little'):064x}", *numbers)

    def pack(self) -> bytes:
        """Return the payload of a reply with this identity."""
        program = int(self.program, 16).to_bytes(32, "little")
        return _LAYOUT.pack(
            _MAGIC, self.protocol, program, self.input_bits, self.output_bits, self.latency, self.buffer
        )


def require_fits(identity: Identity, program: Program, ports: Ports, target: str) -> None:
    """Raise ``InputError`` unless a board with this identity runs ``program``."""
    bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    _require(identity, "program", program.hash, bits, target)


def require_fits_machine(identity: Identity, digest: str, bits: tuple[int, int], target: str) -> None:
    """Raise ``InputError`` unless a board with this identity runs the machine with the hash ``digest``.

    ``bits``: the numbers of bits of the machine's inputs and of its outputs in one cycle. The latency of such a board
    is the number of cycles in a vector.
    """
    cycles = min(max(identity.latency, 1), MOST_CYCLES)
    _require(identity, "machine", digest, (cycles * bits[0], cycles * bits[1]), target)
    if identity.latency != cycles:
        raise BoardError(
            f"the board at {target} runs {identity.latency} cycles per vector, must be 1 to {MOST_CYCLES}; make its"
            " bitstream again (dais-verif emit --wrap)"
        )


def _require(identity: Identity, what: str, digest: str, bits: tuple[int, int], target: str) -> None:
    """Raise ``InputError`` if the board runs another program or machine, or has another protocol or other ports.

    ``what``: ``program`` or ``machine``, for messages. ``bits``: the numbers of bits of a vector and of its result.
    """
    if identity.protocol != PROTOCOL:
        raise BoardError(
            f"the board at {target} uses version {identity.protocol} of the protocol, must be {PROTOCOL};"
            " make its bitstream again with this version of dais-verif (emit --wrap)"
        )
    if identity.program != digest:
        raise BoardError(
            f"the board at {target} runs another {what}: expected hash {digest}, found {identity.program};"
            f" load the bitstream that was made from this {what} (dais-verif emit --wrap), or name the {what}"
            " that the board runs"
        )
    found = identity.input_bits, identity.output_bits
    if bits != found:
        raise BoardError(
            f"the board at {target} has ports of {found[0]} and {counted(found[1], 'bit')}, must be {bits[0]} and"
            f" {bits[1]}; make its bitstream again (dais-verif emit --wrap)"
        )
    if identity.buffer < 1:
        raise BoardError(f"the board at {target} has no buffer; make its bitstream again (dais-verif emit --wrap)")


# Frames on a byte stream: the format of requests and replies, with which a receiver resynchronizes after damage.
#
# Framing is that of PPP (RFC 1662): each frame is between two flags 7E; a 7E or 7D within it is sent as 7D followed
# by the byte with bit 5 inverted. Therefore a flag never occurs within a frame, and a receiver resynchronizes at the
# next flag. Contents: a byte ``kind``, a word ``tag``, the payload, and the CRC-32 of all of these; words have four
# bytes and are little-endian. The other end is ``rtl/dais_deframer.v`` and ``rtl/dais_framer.v``.


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
