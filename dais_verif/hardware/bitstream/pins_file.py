"""Read pins files (``.pcf``), which assign bits of ports to pins of a package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError
from dais_verif.base.files import read_plain

__all__ = ["PortBit", "read_pins"]

_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[(\d{1,6})\])?$", re.ASCII)
#: Options of ``set_io`` without effect on the logic, and the number of words of each.
_ELECTRICAL = {"-nowarn": 1, "--warn-no-port": 1, "-pullup": 2, "-pullup_resistor": 2}
_MOST = 1 << 20


class PortBit(NamedTuple):
    """A bit of a port. ``place``: its index; None if the port is a single bit without an index."""

    name: str
    place: int | None

    def __str__(self) -> str:
        return self.name if self.place is None else f"{self.name}[{self.place}]"


def read_pins(path: Path) -> dict[PortBit, str]:
    """Return the pin of every port bit. Raises ``InputError`` for unknown statements, and bits or pins used twice."""
    found: dict[PortBit, str] = {}
    for number, line in enumerate(read_plain(path, _MOST).decode("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words or words[0] == "set_frequency":  # a statement for place and route only
            continue
        where = f"{path.name}:{number}"
        bit, pin = _set_io(words, where)
        if bit in found:
            raise BitstreamError(f"{where}: {bit} has a pin already, {found[bit]}")
        if pin in found.values():
            raise BitstreamError(f"{where}: pin {pin} is taken already")
        found[bit] = pin
    if not found:
        raise BitstreamError(f"{str(path)!r} assigns no pins; it must have lines `set_io PORT PIN`")
    for bit in found:
        if bit.place is not None and PortBit(bit.name, None) in found:
            raise BitstreamError(f"{path.name}: {bit.name} is one bit in one line, and a vector in another")
    return found


def _set_io(words: list[str], where: str) -> tuple[PortBit, str]:
    rest = list(words[1:])
    while rest and rest[0] in _ELECTRICAL:
        del rest[: _ELECTRICAL[rest[0]]]
    name = _NAME.match(rest[0]) if len(rest) == 2 else None
    if words[0] != "set_io" or name is None:
        raise BitstreamError(f"{where}: {' '.join(words)[:60]!r} is not understood; must be `set_io PORT PIN`")
    return PortBit(name[1], None if name[2] is None else int(name[2])), rest[1]
