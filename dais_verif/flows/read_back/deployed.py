"""Check that a bitstream to be deployed configures the device as the certified one does; bytes may differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dais_verif.bitstream.configuration import Configuration
from dais_verif.bitstream.recognition import MOST_BYTES
from dais_verif.bitstream.unpack import unpack
from dais_verif.counts import counted
from dais_verif.errors import BitstreamError, InputError, ToolError
from dais_verif.files import make_folder, read_plain
from dais_verif.record.certificate import CertificateFinding
from dais_verif.toolchain import tools
from dais_verif.toolchain.limits import Limits, run_limited

__all__ = ["deployed_findings"]

_LIMITS = Limits(120, 2048)
_PREAMBLE = bytes.fromhex("7eaa997e")
#: Size limit of a bitstream as text, which is larger than the binary.
_MOST_TEXT = 8 << 20


def deployed_findings(deployed: Path, certified: Path | None, folder: Path) -> Iterator[CertificateFinding]:
    """Yield the differences between ``deployed`` and ``certified``, which is None if no bitstream was certified.

    Either may be binary or text as written by ``iceunpack``; comments and data before the configuration are ignored.
    ``folder``: where tools put their files. Raises ``ToolError`` if tools are missing.
    """
    what = f"bitstream {deployed}"
    if certified is None:
        yield CertificateFinding(what, "a certificate of a bitstream", "one without a bitstream")
        return
    try:
        found = _configuration(deployed, folder / "deployed")
        expected = _configuration(certified, folder / "certified")
    except InputError as error:
        yield CertificateFinding(what, "the configuration of the certified bitstream", str(error))
        return
    if found != expected:
        yield CertificateFinding(what, "the configuration of the certified bitstream", _difference(expected, found))


def _configuration(path: Path, folder: Path) -> Configuration:
    data = read_plain(path, _MOST_TEXT, "bitstream")
    make_folder(folder)
    if _PREAMBLE not in data and b".device" in data:
        (folder / "given.asc").write_bytes(data)
        packed = folder / "packed.bin"
        try:
            run_limited(
                "icepack",
                [str(tools.icestorm("icepack")), "given.asc", packed.name],
                folder / "packed.log",
                _LIMITS,
            )
        except ToolError as error:
            raise BitstreamError(f"{str(path)!r} is not the text of a bitstream: {error}") from None
        path = packed
    elif len(data) > MOST_BYTES:
        raise BitstreamError(f"{str(path)!r} is not a bitstream of an iCE40: it has {len(data)} bytes")
    return unpack(path, folder)


def _difference(expected: Configuration, found: Configuration) -> str:
    if found.device != expected.device:
        return f"a configuration for {found.device} instead of {expected.device}"
    places = sorted({*expected.bits, *found.bits})
    bits = [
        (place, bit)
        for place in places
        for bit in sorted(expected.bits.get(place, frozenset()) ^ found.bits.get(place, frozenset()))
    ]
    rams = [
        place for place in sorted({*expected.rams, *found.rams}) if expected.rams.get(place) != found.rams.get(place)
    ]
    if bits:
        (x, y), (row, column) = bits[0]
        return f"{counted(len(bits), 'different bit')} of tiles, the first one B{row}[{column}] of tile ({x} {y})"
    if rams:
        return f"different contents of {len(rams)} block RAMs, the first one at ({rams[0][0]} {rams[0][1]})"
    return "different bits outside of tiles"
