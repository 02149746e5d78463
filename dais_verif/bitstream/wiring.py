"""Find the drivers of nets: the switches that a bitstream closes, and the columns that global networks reach.

A switch drives in one direction. A net with two drivers is a short circuit; its value is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dais_verif.bitstream.chip import Chip
from dais_verif.bitstream.configuration import Bit, Configuration, Place
from dais_verif.errors import BitstreamError

__all__ = ["Wiring", "read_wiring"]


@dataclass(frozen=True)
class Wiring:
    """The wiring of a configuration. ``closed``: for each net, the tiles and the driving nets of its closed switches.

    ``set``: the functions that are configured in each tile, by name; those of cells are single bits.
    """

    chip: Chip
    configuration: Configuration
    closed: Mapping[int, tuple[tuple[Place, int], ...]]
    set: Mapping[Place, frozenset[str]]

    def bit(self, place: Place, name: str) -> bool:
        """Return True if ``name`` is configured in the tile ``place``."""
        return name in self.set.get(place, ())

    def source(self, net: int) -> tuple[Place, int] | None:
        """Return the tile of the switch that drives ``net``, and the net at its other end; None if no switch drives it.

        Raises ``InputError`` if several switches drive ``net``, and if a global network does not reach the tile.
        """
        drivers = self.closed.get(net, ())
        if len(drivers) > 1:
            places = ", ".join(f"({x} {y})" for (x, y), _ in drivers)
            raise BitstreamError(
                f"short circuit in the bitstream: {len(drivers)} switches in tiles {places} drive one net"
            )
        if not drivers:
            return None
        place, source = drivers[0]
        number = self.chip.globals.get(source)
        if number is not None:
            buffer = self.chip.column_buffers.get(place)
            if buffer is None or not self.bit(buffer, f"ColBufCtrl.glb_netwk_{number}"):
                raise BitstreamError(
                    f"tile ({place[0]} {place[1]}) reads global network {number}, but the buffer that brings it to "
                    "its column is off"
                )
        return place, source


def read_wiring(chip: Chip, configuration: Configuration) -> Wiring:
    """Find all closed switches, and name all other bits. Raises ``InputError`` for bits with an unknown function."""
    unread: dict[Place, set[Bit]] = {place: set(bits) for place, bits in configuration.bits.items()}
    closed: dict[int, list[tuple[Place, int]]] = {}
    for switch in chip.switches(configuration.bits):
        ones = configuration.bits[switch.place]
        pattern = "".join("1" if bit in ones else "0" for bit in switch.bits)
        if "1" not in pattern:
            continue
        if pattern not in switch.sources:
            x, y = switch.place
            raise BitstreamError(
                f"a switch of tile ({x} {y}) has bits {pattern}, which the chip database does not have"
            )
        closed.setdefault(switch.net, []).append((switch.place, switch.sources[pattern]))
        unread[switch.place].difference_update(switch.bits)
    functions = {kind: chip.functions(kind) for kind in set(configuration.kinds.values())}
    named: dict[Place, frozenset[str]] = {}
    for place, bits in unread.items():
        kind = configuration.kinds[place]
        names: set[str] = set()
        for name, wanted in functions[kind].items():
            there = bits.intersection(wanted)
            if name.startswith("LC_"):
                names.update(f"{name}[{wanted.index(bit)}]" for bit in there)
            elif len(there) == len(wanted):
                names.add(name)
            elif there:
                raise BitstreamError(
                    f"{name} of tile ({place[0]} {place[1]}) is partly set, which the chip database does not have"
                )
            bits.difference_update(wanted)
        if bits:
            row, column = min(bits)
            raise BitstreamError(
                f"bit B{row}[{column}] of tile ({place[0]} {place[1]}) is set, and its function is not known"
            )
        named[place] = frozenset(names)
    return Wiring(chip, configuration, {net: tuple(drivers) for net, drivers in closed.items()}, named)
