"""Pages for ``show``: a machine, or a bitstream."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.errors import RequestError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.floor_plan import FloorPlan, TileUse
from dais_verif.report.html.machines.page import write_machine_page
from dais_verif.report.html.page import render_template
from dais_verif.report.html.verdicts import Standing
from dais_verif.spec.machine import Machine

__all__ = ["write_floor_plan_page", "write_listed_page"]


def write_listed_page(listed: Machine | FloorPlan | None, path: Path) -> None:
    """Write the page of ``listed`` to ``path``; None: a program, which raises ``RequestError``."""
    if listed is None:
        raise RequestError.of("{html} is for machines and bitstreams; for a program, `report` writes a page.")
    if isinstance(listed, FloorPlan):
        write_floor_plan_page(listed, path)
    else:
        write_machine_page(listed, path)


# The page of a bitstream: the device resources that it uses, and a picture of its tiles.


#: Side of a tile in the picture, in pixels.
_SIDE = 18


def write_floor_plan_page(plan: FloorPlan, path: str | Path) -> None:
    """Write the page of ``plan`` to ``path``. Raises ``InputError`` if it cannot be written."""
    path = Path(path)
    used = sum(tile.cells for tile in plan.tiles)
    standing = Standing(
        Verdict.PASS, f"{used} of {plan.cells} cells are used; all that is set is understood", "read back"
    )
    tiles = [
        {
            "x": tile.x * _SIDE,
            "y": (plan.rows - 1 - tile.y) * _SIDE,
            "mark": tile.mark.strip("."),
            "style": _style(tile),
            "title": _told(tile),
        }
        for tile in plan.tiles
    ]
    text = render_template(
        "floor_plan.html",
        path.parent,
        standing=standing,
        plan=plan,
        tiles=tiles,
        side=_SIDE,
        width=plan.columns * _SIDE,
        height=plan.rows * _SIDE,
    )
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


def _style(tile: TileUse) -> str:
    if tile.cells:
        return f"fill: #2a6fb0; fill-opacity: {0.25 + 0.75 * tile.cells / 8:.2f}"
    if tile.ram:
        return "fill: #7a4fa3; fill-opacity: 0.8"
    return "fill: #2e8b57; fill-opacity: 0.8" if tile.pads else "fill: #888888; fill-opacity: 0.25"


def _told(tile: TileUse) -> str:
    parts = [f"tile ({tile.x} {tile.y}), {tile.kind}"]
    if tile.cells:
        parts.append(f"{tile.cells} of 8 cells, {counted(tile.registers, 'register')}, {tile.carries} carries")
    if tile.ram:
        parts.append("block RAM")
    if tile.pads:
        parts.append(", ".join(tile.pads))
    return ": ".join(parts)
