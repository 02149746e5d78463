"""Seed a fault in a bitstream: invert the look-up table of a cell, so that an output bit is wrong."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from dais_verif.bitstream.chip import Chip, read_chip
from dais_verif.bitstream.configuration import Bit, Configuration, Place
from dais_verif.bitstream.logic import Cell, ReadBack
from dais_verif.bitstream.pins_file import read_pins
from dais_verif.bitstream.trace import TABLE, read_back
from dais_verif.bitstream.unpack import unpack
from dais_verif.errors import CertificateError, CertificateFailure
from dais_verif.files import write_atomically
from dais_verif.toolchain import tools
from dais_verif.toolchain.icetime import part_of

__all__ = ["WrongTable", "wrong_table"]


#: The net that stands for no reset.
_NEVER = "1'b0"


class WrongTable(NamedTuple):
    """The ``cell`` with the wrong table, and the wrong ``output`` bit. ``always``: no reset can mask the fault."""

    cell: str
    output: str
    always: bool


def wrong_table(bitstream: Path, pins: Path, device: str, path: Path, controls: Collection[str] = ()) -> WrongTable:
    """Write to ``path`` a copy of ``bitstream`` with one inverted table, which drives an output bit or its register.

    ``controls``: output ports that carry no output of the program; their tables are not chosen. Raises ``InputError``
    if no table drives an output bit, so that no fault can be seeded.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        configuration = unpack(bitstream, folder)
        chip = read_chip(tools.icestorm_chip(configuration.device), configuration.device)
        found = read_back(chip, configuration, read_pins(pins), part_of(device)[1])
        cell, output, always = _behind(found, controls)
        text = (folder / "unpacked.asc").read_text(encoding="ascii")
        text = _upside_down(text, (cell.x, cell.y), _bits_of(chip, configuration, cell))
        packed = subprocess.run(
            [tools.icestorm("icepack")], input=text.encode(), capture_output=True, timeout=120, check=False
        )
    if packed.returncode or not packed.stdout:
        raise CertificateFailure(f"icepack exited with code {packed.returncode} on a bitstream with a wrong table")
    write_atomically(path, packed.stdout)
    return WrongTable(str(cell), output, always)


def _behind(found: ReadBack, controls: Collection[str] = ()) -> tuple[Cell, str, bool]:
    """Return the cell that drives an output bit, the bit, and whether no reset can mask a fault; prefer such a cell."""
    tables = {lut.name: lut.cell for lut in found.luts}
    registers = {register.name: register for register in found.registers}
    candidates = []
    for bit in sorted((bit for bit in found.driven if bit.name not in controls), key=str):
        register = registers.get(found.driven[bit])
        signal = found.driven[bit] if register is None else register.data
        if signal in tables:
            candidates.append((tables[signal], str(bit), register is None or register.reset == _NEVER))
    for candidate in (*(found for found in candidates if found[2]), *candidates):
        return candidate
    raise CertificateError(
        "no output bit of the bitstream is made by a table: no fault can be seeded that is certain to be visible"
    )


def _bits_of(chip: Chip, configuration: Configuration, cell: Cell) -> list[Bit]:
    """Return the positions of the sixteen bits of the cell's table in its tile."""
    bits = chip.functions(configuration.kinds[cell.x, cell.y])[f"LC_{cell.number}"]
    return [bits[place] for place in TABLE]


def _upside_down(text: str, place: Place, bits: list[Bit]) -> str:
    """Return ``text``, the output of ``iceunpack``, with ``bits`` of the tile at ``place`` inverted."""
    lines = text.split("\n")
    start = lines.index(f".logic_tile {place[0]} {place[1]}") + 1
    for row, column in bits:
        line = lines[start + row]
        lines[start + row] = line[:column] + "10"[int(line[column])] + line[column + 1 :]
    return "\n".join(lines)
