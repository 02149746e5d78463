"""Pages for ``show``: a machine, or a bitstream."""

from __future__ import annotations

from pathlib import Path

from dais_verif.errors import RequestError
from dais_verif.machine import Machine
from dais_verif.record.pictures.floor_plan import FloorPlan
from dais_verif.report.html.floor_plan import write_floor_plan_page
from dais_verif.report.html.machines.page import write_machine_page

__all__ = ["write_listed_page"]


def write_listed_page(listed: Machine | FloorPlan | None, path: Path) -> None:
    """Write the page of ``listed`` to ``path``; None: a program, which raises ``RequestError``."""
    if listed is None:
        raise RequestError.of("{html} is for machines and bitstreams; for a program, `report` writes a page.")
    if isinstance(listed, FloorPlan):
        write_floor_plan_page(listed, path)
    else:
        write_machine_page(listed, path)
