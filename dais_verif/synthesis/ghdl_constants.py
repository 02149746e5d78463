"""Correct the constants that GHDL's synthesis writes: long values in quotes, and blocks that never run.

A signal without assignments keeps its initial value. For such a signal, GHDL writes an ``always @*`` block that reads
no signal and therefore never runs. GHDL also writes values of hundreds of bits in quotes, which Verilog reads as
characters.
"""

from __future__ import annotations

import re

__all__ = ["with_plain_constants"]

_QUOTED = re.compile(r'(= )"([01xz]+)";')
_ASLEEP = re.compile(
    r"always @\*\n( *)(\S+) = (\d+'b[01xz]+); // \(isignal\)(?:\n *initial\n *\2 <= \d+'b[01xz]+;)?$", re.MULTILINE
)


def with_plain_constants(text: str) -> str:
    """Return GHDL's Verilog with numbers instead of quoted bits, and ``always_comb`` where a constant is assigned."""
    text = _QUOTED.sub(lambda found: f"{found[1]}{len(found[2])}'b{found[2]};", text)
    return _ASLEEP.sub(r"always_comb\n\1\2 = \3; // (isignal)", text)
