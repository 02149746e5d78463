"""Read the description of a device: IceStorm's chip database, with the effect of every configuration bit.

The database is a text of up to 38 MB. It is split into blocks, and only blocks of tiles with set bits are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import BitstreamError, BitstreamFailure
from dais_verif.hardware.bitstream.configuration import Bit, Place

__all__ = ["Chip", "Pad", "Switch", "read_chip"]

_BIT = re.compile(r"B(\d+)\[(\d+)\]$")
#: Names of pins that connect logic to nets; all other names in the database are wire segments.
_PINS = re.compile(
    r"^\.net (\d+)$|^(\d+) (\d+) ((?:lutff_|io_|ram/|mult/)\S+|carry_in|carry_in_mux|fabout|glb_netwk_\d|padin_\d)$",
    re.MULTILINE,
)


class Pad(NamedTuple):
    """A pad: its tile, and its number among the two pads of the tile."""

    x: int
    y: int
    number: int

    @property
    def place(self) -> Place:
        """The tile of the pad."""
        return self.x, self.y


class Switch(NamedTuple):
    """A switch that drives ``net``. ``bits``: its bits in the tile; ``sources``: the driving net, by value of these."""

    place: Place
    net: int
    bits: tuple[Bit, ...]
    sources: Mapping[str, int]


@dataclass(frozen=True)
class Chip:
    """The description of one device. ``blocks``: the blocks of its text, by their first words."""

    device: str
    text: str
    blocks: Mapping[str, tuple[str, ...]]

    def switches(self, places: Iterable[Place]) -> Iterator[Switch]:
        """Yield all switches of the tiles ``places``."""
        for place in places:
            if place not in self._parsed:
                self._parsed[place] = tuple(_switch(place, block) for block in self._of_tiles.get(place, ()))
            yield from self._parsed[place]

    @cached_property
    def _parsed(self) -> dict[Place, tuple[Switch, ...]]:
        """A cache of the switches of tiles."""
        return {}

    @cached_property
    def _of_tiles(self) -> dict[Place, list[str]]:
        """The blocks of switches, by their tiles."""
        found: dict[Place, list[str]] = {}
        for kind in (".buffer", ".routing"):
            for block in self.blocks[kind]:
                _, x, y, _ = block.split(" ", 3)
                found.setdefault((int(x), int(y)), []).append(block)
        return found

    @cached_property
    def drivers(self) -> dict[int, tuple[Place, str]]:
        """The pin of a cell, pad or block RAM that drives each net, for all nets that are driven by a pin."""
        found: dict[int, tuple[Place, str]] = {}
        for (x, y, name), net in self.nets.items():
            end = name.rpartition("/")[2]
            drives = end in ("out", "lout", "cout", "carry_in_mux") or end.startswith(("RDATA_", "D_IN_", "O_"))
            if drives and found.setdefault(net, ((x, y), name)) != ((x, y), name):
                raise BitstreamFailure(f"the chip database has two pins that drive net {net}")
        return found

    def functions(self, kind: str) -> dict[str, tuple[Bit, ...]]:
        """Return the bits of tiles of ``kind`` that are not switches, by the function that they configure."""
        return {name: tuple(map(_bit, bits)) for name, *bits in self._rows(f".{kind}_tile_bits")}

    @cached_property
    def nets(self) -> dict[tuple[int, int, str], int]:
        """The net at each pin of a logic cell, pad, block RAM or global buffer."""
        found: dict[tuple[int, int, str], int] = {}
        net = -1
        for match in _PINS.finditer(self.text):
            if match[1] is not None:
                net = int(match[1])
            else:
                found[int(match[2]), int(match[3]), match[4]] = net
        return found

    @cached_property
    def globals(self) -> dict[int, int]:
        """The numbers of the global networks, by their nets."""
        return {net: int(name[-1]) for (_, _, name), net in self.nets.items() if name.startswith("glb_netwk_")}

    def pins(self, package: str) -> dict[str, Pad]:
        """Return the pads of ``package`` by pin name. Raises ``InputError`` for an unknown package."""
        blocks = {block.split("\n", 1)[0].split()[1]: block for block in self.blocks[".pins"]}
        if package not in blocks:
            raise BitstreamError(
                f"the bitstream is for device {self.device}, which is available in {', '.join(sorted(blocks))}, "
                f"not in package {package!r}"
            )
        rows = [line.split() for line in blocks[package].split("\n")[1:] if line]
        return {name: Pad(int(x), int(y), int(number)) for name, x, y, number in rows}

    @cached_property
    def fabric_globals(self) -> dict[int, Place]:
        """The tiles whose ``fabout`` may drive a global network, by number of the network."""
        return {int(number): (int(x), int(y)) for x, y, number in self._rows(".gbufin")}

    @cached_property
    def pad_globals(self) -> dict[int, Pad]:
        """The pads that may drive a global network, by number of the network."""
        return {int(number): Pad(int(x), int(y), int(z)) for x, y, z, number in self._rows(".gbufpin")}

    @cached_property
    def extra_bits(self) -> dict[tuple[int, int, int], str]:
        """The effects of bits outside tiles."""
        return {(int(b), int(x), int(y)): name for name, b, x, y in self._rows(".extra_bits")}

    @cached_property
    def column_buffers(self) -> dict[Place, Place]:
        """For each tile, the tile whose bits connect it to global networks."""
        return {(int(x), int(y)): (int(bx), int(by)) for bx, by, x, y in self._rows(".colbuf")}

    @cached_property
    def input_enables(self) -> dict[Pad, Pad]:
        """For each pad, the tile with the bits that enable its input, and their number in that tile, as a ``Pad``."""
        return {Pad(*map(int, row[:3])): Pad(*map(int, row[3:])) for row in self._rows(".ieren")}

    @cached_property
    def hard_inputs(self) -> dict[int, str]:
        """The nets at inputs of hard blocks, such as the block that loads another bitstream, with names.

        Inputs of PLLs are left out, since a PLL does nothing unless its own bits enable it, and so are inputs of
        multipliers, which are read back.
        """
        found: dict[int, str] = {}
        for block in self.blocks.get(".extra_cell", ()):
            head, *lines = block.split("\n")
            kind = head.split()[-1]
            for words in (line.split() for line in lines if kind not in ("PLL", "MAC16")):
                if len(words) != 4 or not (words[1].isdigit() and words[2].isdigit()):
                    continue
                pin = {"clk": "lutff_global/clk"}.get(words[3], words[3])
                net = self.nets.get((int(words[1]), int(words[2]), pin))
                if net is not None and net not in self.drivers and net not in self.globals:
                    found[net] = f"{words[0]} of {kind}"
        return found

    def _rows(self, name: str) -> Iterator[list[str]]:
        for block in self.blocks.get(name, ()):
            yield from (line.split() for line in block.split("\n")[1:] if line)


@lru_cache(maxsize=1)
def read_chip(path: Path, device: str) -> Chip:
    """Read the chip database ``path``, of ``device``. Raises ``ToolError`` if it cannot be read."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise BitstreamFailure(
            f"{path}, IceStorm's description of the device, cannot be read: {error}; install it (Debian: apt-get "
            "install fpga-icestorm-chipdb)"
        ) from None
    blocks: dict[str, list[str]] = {}
    for block in re.split(r"\n\s*\n(?=\.)", text):
        block = block.strip()
        blocks.setdefault(block.split(None, 1)[0], []).append(block)
    if ".buffer" not in blocks or ".net" not in blocks:
        raise BitstreamFailure(f"{path} is not a chip database of IceStorm; reinstall fpga-icestorm-chipdb")
    return Chip(device, text, {name: tuple(found) for name, found in blocks.items()})


def _switch(place: Place, block: str) -> Switch:
    head, _, rest = block.partition("\n")
    _, _, _, net, *bits = head.split()
    sources = dict(line.split() for line in rest.split("\n") if line)
    found = {pattern: int(source) for pattern, source in sources.items()}
    return Switch(place, int(net), tuple(map(_bit, bits)), found)


@cache
def _bit(text: str) -> Bit:
    found = _BIT.match(text)
    if found is None:
        raise BitstreamFailure(f"the chip database has an unknown bit {text!r}")
    return int(found[1]), int(found[2])
