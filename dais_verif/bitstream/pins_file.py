"""The pins file (``.pcf``): which bit of which port is at which pin of the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.files import read_plain

__all__ = ["PortBit", "read_pins"]

_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[(\d{1,6})\])?$", re.ASCII)
#: Options of ``set_io`` that say how a pin behaves electrically, and how many words each takes.
_ELECTRICAL = {"-nowarn": 1, "--warn-no-port": 1, "-pullup": 2, "-pullup_resistor": 2}
_MOST = 1 << 20


class PortBit(NamedTuple):
    """A bit of a port; ``place`` in it is None where the port is a single bit without a number."""

    name: str
    place: int | None

    def __str__(self) -> str:
        return self.name if self.place is None else f"{self.name}[{self.place}]"


def read_pins(path: Path) -> dict[PortBit, str]:
    """Return the pin of every port bit. Raises ``InputError`` for what is not understood, or said twice."""
    found: dict[PortBit, str] = {}
    for number, line in enumerate(read_plain(path, _MOST).decode("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words or words[0] == "set_frequency":  # which is for place and route
            continue
        where = f"{path.name}:{number}"
        bit, pin = _set_io(words, where)
        if bit in found:
            raise InputError(f"{where}: {bit} has a pin already, {found[bit]}")
        if pin in found.values():
            raise InputError(f"{where}: pin {pin} is taken already")
        found[bit] = pin
    if not found:
        raise InputError(f"{str(path)!r} gives no port a pin; it must have lines `set_io PORT PIN`")
    for bit in found:
        if bit.place is not None and PortBit(bit.name, None) in found:
            raise InputError(f"{path.name}: {bit.name} is one bit in one line, and a vector in another")
    return found


def _set_io(words: list[str], where: str) -> tuple[PortBit, str]:
    rest = list(words[1:])
    while rest and rest[0] in _ELECTRICAL:
        del rest[: _ELECTRICAL[rest[0]]]
    name = _NAME.match(rest[0]) if len(rest) == 2 else None
    if words[0] != "set_io" or name is None:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} is not understood; must be `set_io PORT PIN`")
    return PortBit(name[1], None if name[2] is None else int(name[2])), rest[1]
