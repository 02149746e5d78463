"""Bitstreams of small designs, and changes of single bits in them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.hardware.bitstream.chip import Chip, read_chip
from dais_verif.hardware.bitstream.configuration import Bit, Configuration, Place
from dais_verif.hardware.bitstream.logic import ReadBack
from dais_verif.hardware.bitstream.pins_file import PortBit, read_pins
from dais_verif.hardware.bitstream.trace import TABLE, read_back
from dais_verif.hardware.bitstream.unpack import unpack

__all__ = [
    "BOARD",
    "DESIGNS",
    "FIFO",
    "MACHINE",
    "PINNED",
    "Stored",
    "chip_of",
    "flipped",
    "repacked",
    "require_icestorm",
    "stored",
    "turned_over",
    "with_fault",
]

_FOLDER = Path(__file__).parents[1] / "bitstreams"
_CORPUS = Path(__file__).parents[1] / "corpus"
_EXAMPLES = Path(__file__).parents[2] / "examples"

#: The pins of a pipeline that ``emit`` writes.
PINNED = {"clock": "clk", "reset": "rst", "enable": "en", "valid_in": "in_valid", "valid_out": "out_valid"}


class Stored(NamedTuple):
    """A design whose bitstream is stored: its program, the options that name its pins, and its pins file."""

    name: str
    program: Path
    device: str = "ice40-hx1k-tq144"
    clocked: bool = False

    @property
    def options(self) -> list[str]:
        """Return the command-line options that name the pins of a pipeline."""
        return [word for name, pin in self.arguments.items() for word in (f"--{name.replace('_', '-')}", pin)]

    @property
    def arguments(self) -> dict[str, str]:
        """Return the names of the pins of a pipeline, as keyword arguments."""
        return PINNED if self.clocked else {}

    @property
    def pins(self) -> Path:
        """Return the path of the design's pins file."""
        return _FOLDER / f"{self.name}.pcf"

    def write(self, folder: Path) -> Path:
        """Write the bitstream into ``folder``."""
        path = folder / f"{self.name}.bin"
        path.write_bytes(gzip.decompress((_FOLDER / f"{self.name}.bin.gz").read_bytes()))
        return path

    def read(self, configuration: Configuration, pins: dict[PortBit, str] | None = None) -> ReadBack:
        """Return the logic of another configuration with the same pins, or with ``pins``."""
        named = read_pins(self.pins) if pins is None else pins
        return read_back(chip_of(configuration.device), configuration, named, self.device.rpartition("-")[2])


DESIGNS = {
    design.name: design
    for design in (
        Stored("quantised_mac", _EXAMPLES / "quantised_mac.bin"),
        Stored("lookup_square", _EXAMPLES / "lookup_square.bin"),
        Stored("lookup_square_pipelined", _EXAMPLES / "lookup_square.bin", clocked=True),
        Stored("sort_two", _EXAMPLES / "sort_two.bin", "ice40-up5k-sg48"),
        Stored("bitops_pipelined", _CORPUS / "p10_bitops" / "prog.v1.bin", "ice40-hx8k-ct256", clocked=True),
    )
}

#: A board: the core behind a bridge, a buffer in block RAMs, and a UART for 12 MHz.
BOARD = Stored("lookup_square_uart", _EXAMPLES / "lookup_square.bin")

#: The same core behind the plain FIFO of an HX8K.
FIFO = Stored("lookup_square_fifo", _EXAMPLES / "lookup_square.bin", "ice40-hx8k-ct256")

#: A machine without a board around it.
MACHINE = Stored("serial_dot", _EXAMPLES / "serial_dot.mach")


def require_icestorm() -> None:
    """Skip the test where IceStorm is absent, but never in CI."""
    try:
        for name in ("icepack", "iceunpack"):
            tools.icestorm(name)
        tools.icestorm_chip("1k")
    except ToolError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))


@cache
def chip_of(device: str) -> Chip:
    """Return the description of a device, which is read once."""
    return read_chip(tools.icestorm_chip(device), device)


def stored(name: str, folder: Path) -> Configuration:
    """Return the configuration that the bitstream of a design holds."""
    design = {**DESIGNS, BOARD.name: BOARD, FIFO.name: FIFO, MACHINE.name: MACHINE}[name]
    return unpack(design.write(folder), folder / "tools")


def flipped(configuration: Configuration, place: Place, *bits: Bit) -> Configuration:
    """Return the configuration with each of ``bits`` of one tile flipped."""
    ones = configuration.bits.get(place, frozenset()) ^ frozenset(bits)
    return replace(configuration, bits={**configuration.bits, place: ones})


def turned_over(text: str, place: Place, bit: Bit) -> str:
    """Return the text that ``iceunpack`` wrote, with one bit of one tile flipped."""
    found = re.search(rf"^\.\w+_tile {place[0]} {place[1]}\n", text, re.MULTILINE)
    assert found is not None
    row = text.index("\n", found.end()) + 1 - found.end()  # all rows of a tile have one length
    at = found.end() + bit[0] * row + bit[1]
    return text[:at] + "10"[int(text[at])] + text[at + 1 :]


def with_fault(bitstream: Path, source: str, path: Path) -> None:
    """Write ``bitstream``, as ``build`` left it, to ``path``, with an inverted lookup table for a bit of ``source``.

    ``source``: the beginning of a line of the core's RTL. The place of its cell is taken from nextpnr's output, so that
    it does not depend on our reader of bitstreams.
    """
    rtl = (bitstream.parent / "rtl" / "model.v").read_text().splitlines()
    line = next(number for number, text in enumerate(rtl, 1) if text.strip().startswith(source))
    (module,) = json.loads((bitstream.parent / "placed.json").read_text())["modules"].values()
    for cell in module["cells"].values():
        made_of = re.findall(r"/model\.v:(\d+)\.", cell["attributes"].get("src", ""))
        if made_of == [str(line)] and "1" in cell["parameters"].get("LUT_INIT", "") and cell["connections"]["O"]:
            x, y, number = map(int, re.findall(r"\d+", cell["attributes"]["NEXTPNR_BEL"]))
            break
    else:
        raise AssertionError(f"no cell of {bitstream} is made of {source!r} alone")
    text = subprocess.run([tools.icestorm("iceunpack"), bitstream], capture_output=True, text=True, check=True).stdout
    device = re.search(r"^\.device (\w+)", text, re.MULTILINE)
    assert device is not None
    bits = chip_of(device[1]).functions("logic")[f"LC_{number}"]
    for entry in TABLE:
        text = turned_over(text, (x, y), bits[entry])
    packed = subprocess.run([tools.icestorm("icepack")], input=text.encode(), capture_output=True, check=True)
    path.write_bytes(packed.stdout)


def repacked(bitstream: Path, place: Place, bit: Bit, path: Path) -> Path:
    """Write ``bitstream`` to ``path`` with one bit flipped and with a correct CRC."""
    unpacked = subprocess.run([tools.icestorm("iceunpack"), bitstream], capture_output=True, text=True, check=True)
    text = turned_over(unpacked.stdout, place, bit)
    packed = subprocess.run([tools.icestorm("icepack")], input=text.encode(), capture_output=True, check=True)
    path.write_bytes(packed.stdout)
    return path
