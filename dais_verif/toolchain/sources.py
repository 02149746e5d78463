"""Properties of RTL files: language, hashes, and whether they may include others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

#: The largest size of an RTL file; the RTL of a million ops takes a tenth of it.
MOST_RTL_BYTES = 2 << 30

__all__ = ["MOST_RTL_BYTES", "digests", "is_vhdl", "read_others"]

_INCLUDING = re.compile(rb"\binclude\b|``")


def is_vhdl(source: Path) -> bool:
    """Return True if ``source`` has a suffix of VHDL; all other files are Verilog."""
    return source.suffix.lower() in (".vhd", ".vhdl")


def read_others(texts: Sequence[bytes]) -> bool:
    """Return True if RTL with these texts may include other files, even by a directive that macros form."""
    return any(map(_INCLUDING.search, texts))


def digests(sources: Sequence[Path]) -> list[bytes]:
    """Return the hash of each file."""
    return [hashlib.sha256(source.read_bytes()).digest() for source in sources]
