"""The register map of ``rtl/dais_axil.v``, for emitted folders and for the documentation."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MAGIC", "REGISTERS", "VERSION", "Register", "register_table"]

MAGIC = 0x44414953
VERSION = 0x00010000


class Register(NamedTuple):
    """A register of ``bits`` bits at byte address ``offset``; the least significant word is first, except in HASH."""

    offset: int
    name: str
    access: str
    bits: int
    meaning: str


REGISTERS = (
    Register(0x00, "MAGIC", "read", 32, f"0x{MAGIC:08X}, `DAIS`"),
    Register(0x04, "VERSION", "read", 32, f"0x{VERSION:08X}: version of this map"),
    Register(0x08, "CONTROL", "write", 32, "bit 0 START a self-check, bit 1 GIVE_UP waiting, bit 2 CLEAR all counters"),
    Register(0x0C, "STATUS", "read", 32, "bit 0 BUSY, bit 1 DONE, bit 2 WAITING until the stream has drained"),
    Register(0x10, "N_IN", "read", 32, "inputs of the program"),
    Register(0x14, "N_OUT", "read", 32, "outputs of the program"),
    Register(0x18, "IN_BITS", "read", 32, "bits of the core's input port"),
    Register(0x1C, "OUT_BITS", "read", 32, "bits of the core's output port"),
    Register(0x20, "LATENCY", "read", 32, "of the core, in clocks"),
    Register(0x24, "USER_BITS", "read", 32, "bits of TUSER that are carried"),
    Register(0x28, "CHECK_BEATS", "read, write", 32, "vectors of a self-check; 0 after reset"),
    Register(0x2C, "SIGNATURE", "read", 32, "of the last self-check, valid while DONE"),
    Register(0x40, "HASH", "read", 256, "hash of the program, most significant word first"),
    Register(0x60, "BEATS_IN", "read", 64, "beats taken at s_axis"),
    Register(0x68, "BEATS_OUT", "read", 64, "beats delivered at m_axis"),
    Register(0x70, "STALLS_IN", "read", 64, "clocks in which s_axis offered a beat that was not taken"),
    Register(0x78, "STALLS_OUT", "read", 64, "clocks in which m_axis offered a beat that was not taken"),
    Register(0x80, "PACKETS", "read", 64, "beats with TLAST delivered at m_axis"),
)


def register_table() -> str:
    """Return the map as a Markdown table."""
    lines = ["| address | name | access | bits | meaning |", "|---|---|---|---|---|"]
    lines += [f"| 0x{r.offset:02X} | {r.name} | {r.access} | {r.bits} | {r.meaning} |" for r in REGISTERS]
    return "\n".join(lines) + "\n"
