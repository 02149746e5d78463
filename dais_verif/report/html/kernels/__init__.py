"""Instances of kernels on a page: grids of the elements that a member accesses, and charts of member activity."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.base.errors import DaisError
from dais_verif.base.files import read_plain
from dais_verif.record.kernel_picture import OUTSIDE, TOUCHED, UNTOUCHED, Chart, Grid, KernelPicture
from dais_verif.report.kernel_picture_text import region_words
from dais_verif.spec.machine import Machine

__all__ = [
    "Bar",
    "Box",
    "ChartDrawing",
    "GridDrawing",
    "Label",
    "chart_drawing",
    "grid_drawing",
    "picture_beside",
    "template_facts",
]


# The drawing of an instance: rectangles and texts with their positions.


#: The width of a chart, the width of its labels, and the height of its rows.
CHART_WIDTH, _LABELS, _ROW = 680.0, 132.0, 20.0
#: Margins of a grid for coordinates, left and top; the largest size of a cell, and the width of all cells.
_LEFT, _TOP, _CELL, _WIDEST = 40.0, 18.0, 16.0, 480.0
#: The minimum width of a bar that holds a letter.
_LETTER = 11.0

_CLASSES = {TOUCHED: "touched", UNTOUCHED: "untouched", OUTSIDE: "outside"}


class Box(NamedTuple):
    """A rectangle: ``kind`` is its CSS class."""

    x: float
    y: float
    width: float
    height: float
    kind: str


class Label(NamedTuple):
    """A text and its anchor: ``start``, ``middle`` or ``end``."""

    x: float
    y: float
    text: str
    anchor: str


class GridDrawing(NamedTuple):
    """A grid: ``boxes`` are runs of equal cells in a row, each cell ``cell`` pixels wide."""

    title: str
    width: float
    height: float
    cell: float
    boxes: list[Box]
    labels: list[Label]


class Bar(NamedTuple):
    """An activity as a bar: ``told`` is its description, ``letter`` is drawn in it if there is room."""

    box: Box
    told: str
    letter: str


class ChartDrawing(NamedTuple):
    """A chart: its bars, the labels of its rows, and its ticks with their cycles."""

    height: float
    bars: list[Bar]
    rows: list[Label]
    ticks: list[Label]


def template_facts(picture: KernelPicture | None) -> dict[str, Any]:
    """Return the data for the template of a kernel; None: the page shows no kernel."""
    return {
        "picture": picture,
        "grid_drawing": grid_drawing,
        "chart_drawing": chart_drawing,
        "region_words": region_words,
        "chart_width": CHART_WIDTH,
    }


def grid_drawing(grid: Grid) -> GridDrawing:
    """Return the positions of the cells of ``grid``."""
    columns, rows = len(grid.rows[0]), len(grid.rows)
    cell = min(_CELL, round(_WIDEST / columns, 1))
    boxes = []
    for number, row in enumerate(grid.rows):
        at = 0
        for mark, run in groupby(row):
            count = len(list(run))
            if mark in _CLASSES:
                x, y = round(_LEFT + at * cell, 1), round(_TOP + number * cell, 1)
                boxes.append(Box(x, y, round(count * cell, 1), cell, _CLASSES[mark]))
            at += count
    right, bottom = _LEFT + columns * cell, _TOP + rows * cell
    labels = [Label(_LEFT, _TOP - 5, str(grid.first_column), "start")]
    if columns > 2:
        labels.append(Label(round(right, 1), _TOP - 5, str(grid.first_column + columns - 1), "end"))
    labels.append(Label(_LEFT - 5, _TOP + 10, str(grid.first_row), "end"))
    if rows > 2:
        labels.append(Label(_LEFT - 5, round(bottom - 2, 1), str(grid.first_row + rows - 1), "end"))
    return GridDrawing(grid.title, round(right + 4, 1), round(bottom + 6, 1), cell, boxes, labels)


def chart_drawing(chart: Chart) -> ChartDrawing:
    """Return the positions of the bars of ``chart``, clipped to its range of cycles."""
    names = [
        f"load {one.tensor}" if one.member is None else f"member {','.join(map(str, one.member))}"
        for one in chart.activities
    ]
    lines = {name: number for number, name in enumerate(dict.fromkeys(names))}
    scale = (CHART_WIDTH - _LABELS - 16) / (chart.last - chart.first + 1)

    def place(cycle: int) -> float:
        return round(_LABELS + (cycle - chart.first) * scale, 1)

    bars = []
    for name, one in zip(names, chart.activities, strict=True):
        first, last = max(one.first, chart.first), min(one.last, chart.last)
        if first > last:
            continue
        width = round(max((last - first + 1) * scale - 0.5, 1.5), 1)
        box = Box(place(first), 2 + lines[name] * _ROW, width, _ROW - 4, one.what)
        cycles = f"cycle {one.first}" if one.first == one.last else f"cycles {one.first} to {one.last}"
        who = name if one.member is None else f"{name}: {one.what}"
        bars.append(Bar(box, f"{who}, {cycles}", one.what[0] if width >= _LETTER else ""))
    height = 2 + len(lines) * _ROW
    rows = [Label(_LABELS - 8, 2 + number * _ROW + 12, name, "end") for name, number in lines.items()]
    step = _step((chart.last - chart.first + 1) / 8)
    begin = -(-chart.first // step) * step
    ticks = [Label(place(at), height + 14, str(at), "middle") for at in range(begin, chart.last + 1, step)]
    return ChartDrawing(height + 20, bars, rows, ticks)


def _step(least: float) -> int:
    """Return a round number of cycles, at least ``least``."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10


# The picture of a kernel, stored next to its machine.


#: The file name of the picture in the folder of a kernel.
_PICTURE = "picture.json"
_MOST_BYTES = 1 << 24


def picture_beside(machine: Machine | None) -> KernelPicture | None:
    """Return the picture of the kernel ``machine``; None if no picture of it is next to its file."""
    if machine is None or machine.origin.path is None:
        return None
    try:
        picture = KernelPicture.from_json(read_plain(Path(machine.origin.path).parent / _PICTURE, _MOST_BYTES))
    except DaisError:
        return None
    return picture if picture.machine == machine.origin.file_sha256 else None
