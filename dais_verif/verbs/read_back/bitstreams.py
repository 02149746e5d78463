"""Read a bitstream and its pins as a design: the configured logic of the device, as Verilog."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError, InputError, ToolError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.text import counted
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.hardware.bitstream.chip import Chip, read_chip
from dais_verif.hardware.bitstream.configuration import Configuration
from dais_verif.hardware.bitstream.hints import read_hints, with_names
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.hardware.bitstream.pins_file import read_pins
from dais_verif.hardware.bitstream.recognition import MOST_BYTES
from dais_verif.hardware.bitstream.trace import read_back
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.hardware.bitstream.verilog import write_verilog
from dais_verif.hardware.synthesis.devices import DEVICES
from dais_verif.record.program import BitstreamFacts
from dais_verif.record.signoff import CertificateFinding

__all__ = [
    "BitstreamFile",
    "bitstream_board",
    "bitstream_facts",
    "bitstream_rtl",
    "deployed_findings",
    "link_of",
    "read_bitstream",
]


#: The default device: each chip in its largest package.
_USUAL = {"1k": "ice40-hx1k-tq144", "8k": "ice40-hx8k-ct256", "5k": "ice40-up5k-sg48"}

#: A port by which each kind of link is recognized.
_LINK_PORTS = {"uart": "uart_rx", "spi": "spi_sck", "fifo": "rx_data"}

_RTL, _WORK = "read_back.v", "bitstream"


class BitstreamFile(NamedTuple):
    """A bitstream as written by ``icepack``, and its pins. ``device``: such as ``ice40-hx8k-ct256``; None: the default.

    ``hints``: the placement as written by nextpnr, which is only used for names of registers.
    """

    path: Path
    pins: Path
    device: str | None = None
    hints: Path | None = None


def read_bitstream(given: BitstreamFile, folder: Path) -> ReadBack:
    """Return the logic of a bitstream. ``folder``: where tools put their files.

    Raises ``InputError`` if any part of the bitstream is not understood.
    """
    hints = None if given.hints is None else read_hints(given.hints)  # before the long steps
    configuration = unpack(given.path, folder)
    package = _package(given.device, configuration)
    chip: Chip = read_chip(tools.icestorm_chip(configuration.device), configuration.device)
    logic = read_back(chip, configuration, read_pins(given.pins), package)
    return logic if hints is None else with_names(logic, hints)


def bitstream_rtl(given: BitstreamFile, top: str, folder: Path) -> tuple[Path, BitstreamFacts]:
    """Write the logic of a bitstream into ``folder``, as module ``top``; return the file and the bitstream's facts.

    Also raises ``InputError`` if the bitstream or its pins changed meanwhile.
    """
    path, facts = folder / _RTL, bitstream_facts(given)
    write_atomically(path, write_verilog(read_bitstream(given, folder / _WORK), top).encode())
    if bitstream_facts(given) != facts:
        raise BitstreamError(f"{str(given.path)!r} or its pins were changed while they were read; run again")
    return path, facts


def bitstream_board(given: BitstreamFile, top: str, folder: Path) -> tuple[Path, str, BitstreamFacts]:
    """Write the logic of a board into ``folder``.

    Returns the file, the kind of the link, which is added to ``top``, and the bitstream's facts. Raises ``InputError``
    if the pins of the bitstream are not the pins of a link.
    """
    kind = link_of(given)
    if kind is None:
        raise BitstreamError(
            f"{str(given.pins)!r} has no link that `hil` talks over ({' or '.join(_LINK_PORTS.values())}): `sim` and"
            " `prove` take the bitstream of a bare core"
        )
    path, facts = bitstream_rtl(given, f"{top}_{kind}", folder)
    return path, kind, facts


def bitstream_facts(given: BitstreamFile) -> BitstreamFacts:
    """Return the facts of the bitstream and its pins, with the current SHA-256 of each file."""
    bits, pins = (hashlib.sha256(read_plain(path, MOST_BYTES)).hexdigest() for path in (given.path, given.pins))
    return BitstreamFacts(
        file=str(given.path), sha256=bits, pins=str(given.pins), pins_sha256=pins, device=given.device
    )


def link_of(given: BitstreamFile) -> str | None:
    """Return the kind of link to which the pins belong; None: a core without a link."""
    names = {bit.name for bit in read_pins(given.pins)}
    return next((kind for kind, port in _LINK_PORTS.items() if port in names), None)


def _package(name: str | None, configuration: Configuration) -> str:
    """Return IceStorm's name of the package. Raises ``InputError`` if the bitstream is for another device."""
    if name is None and configuration.device not in _USUAL:
        raise BitstreamError(
            f"the bitstream is for chip {configuration.device}; {', '.join(_USUAL)} of iCE40 are read back"
        )
    device = DEVICES.get(_USUAL[configuration.device] if name is None else name)
    if device is None:
        raise BitstreamError.of("{device} must be one of {known}, not {value!r}", known=", ".join(DEVICES), value=name)
    if device.chip != configuration.device:
        raise BitstreamError.of(
            "{device} {value} has chip {chip}, but the bitstream is for {other}",
            value=name,
            chip=device.chip,
            other=configuration.device,
        )
    return device.package


# Check that a bitstream to be deployed configures the device as the certified one does; bytes may differ.


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
