"""Measured configurations as a page: speed-up and cost against loss as plots, and the table of all configurations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dais_verif.counts import counted
from dais_verif.files import write_atomically
from dais_verif.record.approximation import Measured, MeasuredRecord
from dais_verif.record.configurations import ConfigurationsRecord
from dais_verif.report.approximation_text import measured_columns, measured_notes
from dais_verif.report.html.configurations import Plot, Point, plot_points, write_configurations_page
from dais_verif.report.html.page import render_template
from dais_verif.report.html.verdicts import Standing

__all__ = ["Chart", "charts_of", "write_measured_page", "write_page"]


class Chart(NamedTuple):
    """A plot with its vertical axis; ``unit``: the suffix of its numbers."""

    title: str
    plot: Plot
    unit: str


def charts_of(record: MeasuredRecord) -> list[Chart]:
    """Return plots of the measured configurations: speed-up, then each cost that is known for all configurations."""
    measured = [one for one in record.measured if one.refused is None]
    if not measured:
        return []
    heights: dict[str, Callable[[Measured], float | None]] = {
        "Speed-up": lambda one: one.speedup,
        "Ops": lambda one: one.ops,
        "Cycles": lambda one: one.cycles,
    }
    for kind in dict.fromkeys(kind for one in measured for kind, count in (one.cells or {}).items() if count):
        heights[kind] = lambda one, kind=kind: (one.cells or {}).get(kind, 0)  # type: ignore[misc]
    heights["Depth in cells"] = lambda one: one.depth
    found = []
    for title, height in heights.items():
        values = [height(one) for one in measured]
        if None in values:
            continue
        unit = "x" if title == "Speed-up" else ""
        points = [
            Point(
                *(one.name, one.loss or 0.0, float(value or 0), one.name == record.chosen),
                f"{one.name}: {value:.6g}{unit} at a loss of {one.loss:.4g}",
            )
            for one, value in zip(measured, values, strict=True)
        ]
        curve = record.curves.get({"Speed-up": "speedup", "Cycles": "cycles"}.get(title, title), [])
        found.append(Chart(title, plot_points(points, curve), unit))
    return found


def write_page(record: ConfigurationsRecord | MeasuredRecord, path: str | Path) -> None:
    """Write the page of ``record``. Raises ``InputError`` if it cannot be written."""
    if isinstance(record, MeasuredRecord):
        write_measured_page(record, path)
    else:
        write_configurations_page(record, path)


def write_measured_page(record: MeasuredRecord, path: str | Path) -> None:
    """Write the page of ``record`` to ``path``. Raises ``InputError`` if it cannot be written."""
    path = Path(path)
    text = render_template(
        "measured.html",
        path.parent,
        standing=Standing(record.verdict, record.message, counted(len(record.measured), "configuration")),
        record=record,
        charts=charts_of(record),
        more=measured_columns(record),
        notes=measured_notes(record),
    )
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
