"""The table of all devices for which bitstreams are built, and the pins of their packages, from IceStorm's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError, BitstreamFailure
from dais_verif.base.toolchain import tools
from dais_verif.hardware.synthesis.pnr import Port

__all__ = [
    "DEVICES",
    "Device",
    "MOST_CONSTRAINTS_BYTES",
    "Pin",
    "assigned",
    "bit_names",
    "constraints_text",
    "package_pins",
    "read_constraints",
    "require_pins",
]


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


# The pins of a package for the bits of all ports: read and write constraints files, and assign pins automatically.


MOST_CONSTRAINTS_BYTES = 1 << 20


def bit_names(ports: Iterable[Port]) -> list[str]:
    """Return the names of all bits of ``ports`` as nextpnr writes them, such as ``clk`` or ``model_inp[3]``."""
    return [port.name if port.width == 1 else f"{port.name}[{bit}]" for port in ports for bit in range(port.width)]


def require_pins(device: str, bits: int) -> None:
    """Raise ``InputError`` if ``bits``, the number of bits of all ports, exceeds the pins of ``device``."""
    pins = len(package_pins(DEVICES[device]))
    if bits > pins:
        raise BitstreamError.of(
            "the ports have {bits} bits, and {given} has {pins} pins: {more} too many; put the core behind a serial"
            " link with {wrap} uart or {wrap} spi",
            bits=bits,
            given=device,
            pins=pins,
            more=bits - pins,
        )


def assigned(device: str, ports: Sequence[Port], clock: str) -> dict[str, str]:
    """Return a pin for each bit of ``ports``.

    The bits of a port get neighbouring pins, and the clock gets a pin that drives a global network. Raises
    ``InputError`` if there are too few pins.
    """
    require_pins(device, sum(port.width for port in ports))
    pins = package_pins(DEVICES[device])
    found: dict[str, str] = {}
    if any(port.name == clock for port in ports):
        best = next((pin for pin in pins if pin.clock), pins[0])
        pins.remove(best)
        found[clock] = best.name
    names = [name for name in bit_names(ports) if name != clock]
    return found | dict(zip(names, (pin.name for pin in pins), strict=False))


def constraints_text(pins: Mapping[str, str]) -> str:
    """Return the text of a constraints file for nextpnr. ``pins``: the pin of each bit of a port."""
    return "".join(f"set_io {name} {pin}\n" for name, pin in pins.items())


def read_constraints(text: str, name: str, device: str, ports: Sequence[Port]) -> dict[str, str]:
    """Return the pin of each bit of ``ports`` from ``text``, a constraints file with the name ``name``.

    Raises ``InputError`` for a line that cannot be parsed, a bit without a pin, a bit or a pin that is named twice, a
    pin that the package does not have, and a name that is not a bit of the ports, since such a line has no effect.
    """
    known, wanted = {pin.name for pin in package_pins(DEVICES[device])}, bit_names(ports)
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}, line {number}"
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] != "set_io" or len(words) != 3 or words[1].startswith("-"):
            raise BitstreamError(f"{place}: {line.strip()!r} must be `set_io NAME PIN`")
        bit, pin = words[1], words[2]
        if bit not in wanted:
            near = ", ".join(wanted[:3])
            raise BitstreamError(f"{place}: {bit!r} is not a bit of a port; the ports begin with {near}")
        if bit in found:
            raise BitstreamError(f"{place}: {bit!r} has the pin {found[bit]} already")
        if pin not in known:
            raise BitstreamError(f"{place}: {device} has no pin {pin!r} that a design can use")
        if pin in found.values():
            raise BitstreamError(f"{place}: pin {pin} is taken already")
        found[bit] = pin
    missing = [bit for bit in wanted if bit not in found]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BitstreamError(f"{name} names no pin for {missing[0]}{more}; add `set_io {missing[0]} PIN`")
    return found
