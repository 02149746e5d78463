"""The table of all devices for which bitstreams are built, and the pins of their packages, from IceStorm's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import BitstreamFailure
from dais_verif.toolchain import tools

__all__ = ["DEVICES", "Device", "Pin", "package_pins"]


class Device(NamedTuple):
    """A device in its package. ``part``: its name in nextpnr and icetime; ``chip``: its name in IceStorm."""

    title: str
    family: str
    part: str
    package: str
    chip: str


class Pin(NamedTuple):
    """A pin of a package. ``x``, ``y``, ``block``: the place of its cell. ``clock``: it can drive a global network."""

    name: str
    x: int
    y: int
    block: int
    clock: bool


#: Part, title, chip and packages of each device.
_PARTS = (
    ("hx1k", "Lattice iCE40HX1K", "1k", ("vq100", "cb132", "tq144")),
    ("hx8k", "Lattice iCE40HX8K", "8k", ("bg121", "cb132", "cm225", "ct256")),
    ("up5k", "Lattice iCE40UP5K", "5k", ("sg48", "uwg30")),
)

#: All devices, by the names with which users select them.
DEVICES = {
    f"ice40-{part}-{package}": Device(f"{title}-{package.upper()}", "ice40", part, package, chip)
    for part, title, chip, packages in _PARTS
    for package in packages
}

#: For each chip, the places of pins that a design cannot drive: those of the LED drivers of UltraPlus, which only sink
#: current.
_DRAINS = {"5k": ((4, 31, 0), (5, 31, 0), (6, 31, 0))}


def package_pins(device: Device) -> list[Pin]:
    """Return the pins that a design can use, in order around the device.

    Raises ``ToolError`` if IceStorm is missing, or does not know the package.
    """
    path = tools.icestorm_chip(device.chip)
    pads = {tuple(words[:3]) for words in _section(path, ".gbufpin")}
    drains = _DRAINS.get(device.chip, ())
    found = []
    for name, *place in _section(path, f".pins {device.package}"):
        x, y, block = map(int, place)
        if (x, y, block) not in drains:
            found.append(Pin(name, x, y, block, tuple(place) in pads))
    if not found:
        raise BitstreamFailure(f"{path} has no package {device.package}; install another version of IceStorm")
    right, top = max(pin.x for pin in found), max(pin.y for pin in found)
    return sorted(found, key=lambda pin: _around(pin, right, top))


def _section(path: Path, title: str) -> Iterator[list[str]]:
    """Yield the words of each line below ``title``, up to the end of the section, without reading the long rest."""
    with path.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.strip() == title:
                break
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("."):
                return
            yield words


def _around(pin: Pin, right: int, top: int) -> tuple[int, int, int]:
    """Return the sort key of a pin: up the left side, along the top, down the right side and back at the bottom."""
    if pin.x == 0:
        return 0, pin.y, pin.block
    if pin.y == top:
        return 1, pin.x, pin.block
    if pin.x == right:
        return 2, -pin.y, -pin.block
    return 3, -pin.x, -pin.block
