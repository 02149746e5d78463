"""The floor plan of a bitstream: the device resources that it uses, tile by tile."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CELLS", "FloorPlan", "TileUse"]

#: The number of cells of a logic tile.
CELLS = 8


@dataclass(frozen=True)
class TileUse:
    """A tile on which outputs depend. ``cells``: the number of used cells (of eight). ``pads``: port bits at its pads.

    A tile without used cells, pads and block RAM only routes signals.
    """

    x: int
    y: int
    kind: str
    cells: int = 0
    carries: int = 0
    registers: int = 0
    pads: tuple[str, ...] = ()
    ram: bool = False

    @property
    def mark(self) -> str:
        """The tile as a character: its number of used cells, a pad that drives or is read, a block RAM, or wires."""
        if self.cells:
            return str(self.cells)
        if self.ram:
            return "R"
        return "P" if self.pads else "."


@dataclass(frozen=True)
class FloorPlan:
    """A bitstream at ``path``, for ``chip`` in ``package``, with ``columns`` and ``rows`` of tiles.

    ``cells``, ``block_rams``: logic cells and block RAMs of the chip. Tiles on which no output depends are not counted.
    """

    path: str
    chip: str
    package: str
    columns: int
    rows: int
    cells: int
    block_rams: int
    luts: int
    carries: int
    registers: int
    rams: int
    multipliers: int
    inputs: int
    outputs: int
    tiles: tuple[TileUse, ...]

    def summary(self) -> list[tuple[str, str]]:
        """Return the resources used and available, as titles and texts."""
        used = sum(tile.cells for tile in self.tiles)
        return [
            ("bitstream", f"{self.path}, chip {self.chip} of iCE40, package {self.package}"),
            ("cells", f"{used} of {self.cells}"),
            ("LUTs", str(self.luts)),
            ("carries", str(self.carries)),
            ("registers", str(self.registers)),
            ("block RAMs", f"{self.rams} of {self.block_rams}"),
            ("DSPs", str(self.multipliers)),
            ("pads", f"{self.inputs} read, {self.outputs} driven"),
        ]

    def text(self) -> str:
        """Return the summary, and the device as rows of characters that begin at its upper left corner."""
        marks = {(tile.x, tile.y): tile.mark for tile in self.tiles}
        lines = [f"{title:<11}{text}" for title, text in self.summary()]
        lines += ["", "Tiles: 1 to 8 cells, R a block RAM, P pads, . wires alone", ""]
        for y in reversed(range(self.rows)):
            row = "".join(marks.get((x, y), " ") for x in range(self.columns))
            lines.append(f"{y:>3} {row}".rstrip())
        return "\n".join([*lines, ""])
