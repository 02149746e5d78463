"""The pins of a package for the bits of all ports: read and write constraints files, and assign pins automatically."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dais_verif.errors import BitstreamError
from dais_verif.synthesis.devices import DEVICES, package_pins
from dais_verif.synthesis.pnr import Port

__all__ = ["MOST_CONSTRAINTS_BYTES", "assigned", "bit_names", "constraints_text", "read_constraints", "require_pins"]

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
