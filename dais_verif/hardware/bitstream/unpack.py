"""Unpack a bitstream to its configuration with ``iceunpack``, and pack it again to check that nothing is lost.

Bits that ``iceunpack`` skips would never be checked. Therefore ``icepack`` must produce exactly the given bytes, apart
from comments, from the text that ``iceunpack`` wrote, so that a bit missing in the text is detected.
"""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.errors import BitstreamError, ToolError
from dais_verif.base.files import read_plain
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.hardware.bitstream.configuration import Configuration, parse_configuration
from dais_verif.hardware.bitstream.recognition import MOST_BYTES, PREAMBLE

__all__ = ["unpack"]

_LIMITS = Limits(120, 2048)
_BINARY, _TEXT, _AGAIN = "given.bin", "unpacked.asc", "again.bin"


def unpack(path: Path, folder: Path) -> Configuration:
    """Return the configuration in the bitstream ``path``. ``folder``: the working folder of the tools.

    Raises ``InputError`` if it is not a bitstream of an iCE40, or its contents are not understood, and ``ToolError`` if
    the tools are missing.
    """
    data = read_plain(path, MOST_BYTES)
    start = data.find(PREAMBLE)
    if start < 0:
        raise BitstreamError(f"{str(path)!r} is not a bitstream of an iCE40: it has no sync word 7EAA997E")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _BINARY).write_bytes(b"\xff\x00\x00\xff" + data[start:])
    iceunpack, icepack = tools.icestorm("iceunpack"), tools.icestorm("icepack")
    try:
        run_limited("iceunpack", [str(iceunpack), _BINARY, _TEXT], folder / "iceunpack.log", _LIMITS)
    except ToolError as error:
        raise BitstreamError(f"{str(path)!r} is not a bitstream that a device would accept: {error}") from None
    text = (folder / _TEXT).read_text(encoding="ascii", errors="replace")
    if "*" in text:
        raise BitstreamError(f"{str(path)!r}: iceunpack wrote a file that is not text")
    run_limited("icepack", [str(icepack), _TEXT, _AGAIN], folder / "icepack.log", _LIMITS)
    again = (folder / _AGAIN).read_bytes()
    if again[again.find(PREAMBLE) :] != data[start:]:
        raise BitstreamError(
            f"{str(path)!r} has contents that its unpacked form lacks: icepack makes other bytes from that form; "
            "pack it with icepack's defaults"
        )
    return parse_configuration(text)
