"""Recognize bitstreams, without what is needed to read them."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.errors import InputError
from dais_verif.base.files import open_plain

__all__ = ["MOST_BYTES", "PREAMBLE", "is_bitstream"]

#: The largest bitstream of the family has 135,100 bytes.
MOST_BYTES = 1 << 20

#: The sync word.
PREAMBLE = bytes.fromhex("7eaa997e")

#: The maximum length of comments.
_HEAD = 4096


def is_bitstream(path: Path) -> bool:
    """Return True if the file ``path`` begins like a bitstream: with comments, then 7EAA997E."""
    try:
        with open_plain(path, MOST_BYTES) as file:
            head = file.read(_HEAD)
    except (InputError, OSError):
        return False
    return head.startswith((b"\xff\x00", PREAMBLE)) and PREAMBLE in head
