"""Approximation configurations as a page: speed-up against loss as a plot, and the table of all configurations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.record.approximation import ConfigurationInfo, ConfigurationsRecord, Measured, MeasuredRecord
from dais_verif.report.approximation_text import measured_columns, measured_notes, short, skipping_words
from dais_verif.report.html.page import render_template
from dais_verif.report.html.verdicts import Standing

__all__ = [
    "Chart",
    "Mark",
    "Plot",
    "Point",
    "charts_of",
    "plot_of",
    "plot_points",
    "write_configurations_page",
    "write_measured_page",
    "write_page",
]


WIDTH, HEIGHT = 640.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 16.0, 40.0


class Mark(NamedTuple):
    """A configuration in the plot: its position and its text."""

    x: float
    y: float
    on_curve: bool
    text: str


class Plot(NamedTuple):
    """Loss from left to right, speed-up upwards, each from its lowest to its highest value; ``curve``: a path."""

    lowest: tuple[float, float]
    highest: tuple[float, float]
    marks: list[Mark]
    curve: str


class Point(NamedTuple):
    """A point to plot: a configuration, with its loss and its value on the vertical axis."""

    name: str
    loss: float
    height: float
    on_curve: bool
    text: str


def plot_of(configurations: Sequence[ConfigurationInfo], curve: Sequence[str]) -> Plot:
    """Return the plot of ``configurations``, with a line through the configurations in ``curve``, in that order."""
    text = "{0.name}: {0.speedup:.4g}x at a loss of {0.loss:.4g}"
    return plot_points(
        [Point(one.name, one.loss, one.speedup, one.on_curve, text.format(one)) for one in configurations], curve
    )


def plot_points(points: Sequence[Point], curve: Sequence[str]) -> Plot:
    """Return the plot of ``points``, with a line through the points in ``curve``, in that order."""
    losses, heights = [one.loss for one in points], [one.height for one in points]
    lowest, highest = (min(losses), min(0.0, *heights)), (max(losses), max(heights))
    marks = {
        one.name: Mark(
            round(_LEFT + _share(one.loss, lowest[0], highest[0]) * (WIDTH - _LEFT - _RIGHT), 1),
            round(HEIGHT - _BOTTOM - _share(one.height, lowest[1], highest[1]) * (HEIGHT - _TOP - _BOTTOM), 1),
            one.on_curve,
            one.text,
        )
        for one in points
    }
    path = " ".join(f"{'L' if at else 'M'}{marks[name].x} {marks[name].y}" for at, name in enumerate(curve))
    return Plot(lowest, highest, sorted(marks.values(), key=lambda mark: mark.on_curve), path)


def _share(value: float, lowest: float, highest: float) -> float:
    """Return the position of ``value`` between both limits, from 0 to 1, even if their difference exceeds float64."""
    width = highest / 2 - lowest / 2
    return (value / 2 - lowest / 2) / width if width > 0 else 0.5


def write_configurations_page(record: ConfigurationsRecord, path: str | Path) -> None:
    """Write the page of ``record`` to ``path``. Raises ``InputError`` if it cannot be written."""
    path = Path(path)
    text = render_template(
        "configurations.html",
        path.parent,
        standing=Standing(record.verdict, record.message, counted(record.total, "configuration")),
        record=record,
        plot=plot_of(record.configurations, record.curve),
        skipping=skipping_words,
        short=short,
    )
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


# Measured configurations as a page: speed-up and cost against loss as plots, and the table of all configurations.


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
