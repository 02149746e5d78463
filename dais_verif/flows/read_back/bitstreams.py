"""A bitstream and its pins as a design: the logic that a device makes of it, as Verilog."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from dais_verif.bitstream.chip import Chip, read_chip
from dais_verif.bitstream.configuration import Configuration
from dais_verif.bitstream.logic import ReadBack
from dais_verif.bitstream.pins_file import read_pins
from dais_verif.bitstream.trace import read_back
from dais_verif.bitstream.unpack import MOST_BYTES, unpack
from dais_verif.bitstream.verilog import write_verilog
from dais_verif.errors import InputError
from dais_verif.files import read_plain, write_atomically
from dais_verif.toolchain import tools

__all__ = ["BitstreamFile", "bitstream_rtl", "bitstream_sha256", "read_bitstream"]

_DEVICE = re.compile(r"ice40-([a-z]{2})(\d)k-([a-z]+\d+)$")
#: IceStorm's description of a part, and what it adds to the names of its packages.
_CHIPS = {"1": ("1k", ""), "4": ("8k", ":4k"), "8": ("8k", ""), "5": ("5k", "")}
#: The package where nobody names one: the largest of each chip.
_USUAL = {"1k": "tq144", "8k": "ct256", "5k": "sg48"}

_RTL, _WORK = "read_back.v", "bitstream"


class BitstreamFile(NamedTuple):
    """A bitstream as ``icepack`` writes it, and its pins. ``device``: ``ice40-hx8k-ct256``; None: the usual one."""

    path: Path
    pins: Path
    device: str | None = None


def read_bitstream(given: BitstreamFile, folder: Path) -> ReadBack:
    """Return the logic of a bitstream; ``folder``: where tools may work.

    Raises ``InputError`` for what is not understood: all of it is, or nothing is said of it.
    """
    configuration = unpack(given.path, folder)
    package = _package(given.device, configuration)
    chip: Chip = read_chip(tools.icestorm_chip(configuration.device), configuration.device)
    return read_back(chip, configuration, read_pins(given.pins), package)


def bitstream_rtl(given: BitstreamFile, top: str, folder: Path) -> Path:
    """Write the logic of a bitstream into ``folder``, as module ``top``; return the file."""
    path = folder / _RTL
    write_atomically(path, write_verilog(read_bitstream(given, folder / _WORK), top).encode())
    return path


def bitstream_sha256(given: BitstreamFile) -> dict[str, str]:
    """Return the SHA-256 of the bitstream and of its pins, by their paths."""
    return {str(path): hashlib.sha256(read_plain(path, MOST_BYTES)).hexdigest() for path in (given.path, given.pins)}


def _package(device: str | None, configuration: Configuration) -> str:
    """Return the package, as IceStorm names it. Raises ``InputError`` where the bitstream is of another device."""
    if device is None:
        if configuration.device not in _USUAL:
            raise InputError(
                f"bitstreams for {configuration.device} are not read; read-back knows {', '.join(_USUAL)} of iCE40"
            )
        return _USUAL[configuration.device]
    found = _DEVICE.match(device)
    if found is None or found[2] not in _CHIPS:
        raise InputError.of("{device} {value!r} is not known; must be like ice40-hx8k-ct256", value=device)
    chip, suffix = _CHIPS[found[2]]
    if chip != configuration.device:
        raise InputError.of(
            "{device} {value} has another chip than the bitstream is made for, {chip}",
            value=device,
            chip=configuration.device,
        )
    return found[3] + suffix
