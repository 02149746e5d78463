"""Constants as GHDL's synthesis writes them, put right: long ones are in quotes, signals with one never run.

A signal that nothing assigns has its initial value for ever. GHDL makes a block of it that waits for a change of what
it reads, which is nothing; and a value of hundreds of bits stands there in quotes, which Verilog takes for characters.
"""

from __future__ import annotations

import re

__all__ = ["with_plain_constants"]

_QUOTED = re.compile(r'(= )"([01xz]+)";')
_ASLEEP = re.compile(
    r"always @\*\n( *)(\S+) = (\d+'b[01xz]+); // \(isignal\)(?:\n *initial\n *\2 <= \d+'b[01xz]+;)?$", re.MULTILINE
)


def with_plain_constants(text: str) -> str:
    """GHDL's Verilog with numbers for quoted bits, and with blocks that run at once where they assign a constant."""
    text = _QUOTED.sub(lambda found: f"{found[1]}{len(found[2])}'b{found[2]};", text)
    return _ASLEEP.sub(r"always_comb\n\1\2 = \3; // (isignal)", text)
