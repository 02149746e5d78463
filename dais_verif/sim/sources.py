"""RTL files as a build sees them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

#: A text of a million ops has a tenth of it.
MOST_RTL_BYTES = 2 << 30

__all__ = ["MOST_RTL_BYTES", "digests", "include_folders", "is_vhdl", "read_others"]

_INCLUDING = re.compile(rb"\binclude\b|``")


def is_vhdl(source: Path) -> bool:
    """Whether ``source`` is VHDL, by its name; whatever else is given is Verilog."""
    return source.suffix.lower() in (".vhd", ".vhdl")


def read_others(sources: Sequence[Path]) -> bool:
    """Whether any of ``sources`` may include other files: a macro may make the directive, or join the word."""
    return any(_INCLUDING.search(source.read_bytes()) for source in sources)


def include_folders(sources: Sequence[Path]) -> list[str]:
    """Options that let ``sources`` include what lies beside them.

    None if nothing is included: Verilator also looks there for modules that no source holds, and what it found would
    be part of a build of which only the sources are known.
    """
    if not read_others(sources):
        return []
    return list(dict.fromkeys(f"-I{source.absolute().parent}" for source in sources))


def digests(sources: Sequence[Path]) -> list[bytes]:
    """The hash of each file."""
    return [hashlib.sha256(source.read_bytes()).digest() for source in sources]
