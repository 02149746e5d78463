"""The identity that a board reports, and its comparison with the program or machine."""

from __future__ import annotations

import struct
from typing import NamedTuple

from dais_verif.counts import counted
from dais_verif.emitter.machines.board import MOST_CYCLES
from dais_verif.errors import BoardError
from dais_verif.program import Program
from dais_verif.program.ports import Ports

__all__ = ["PROTOCOL", "Identity", "require_fits", "require_fits_machine"]

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
