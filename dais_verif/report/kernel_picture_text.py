"""An instance of a kernel in characters: grids of its index space and tensors, and activity of the first members."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from dais_verif.record.kernel_picture import Activity, Chart, Grid, KernelPicture, TensorPicture

__all__ = ["print_picture", "region_words"]

#: Minimum width of a chart after its labels, in characters.
_NARROWEST = 24


def print_picture(picture: KernelPicture, out: Console) -> None:
    """Print ``picture``. A narrow terminal makes charts coarser, and truncates no grid."""
    for line in _lines(picture, out.width):
        out.print(line.rstrip(), markup=False, soft_wrap=True)


def _lines(picture: KernelPicture, width: int) -> Iterator[str]:
    sizes = " x ".join(map(str, picture.index_space))
    yield f"kernel      {picture.kernel}"
    yield f"members     {picture.members}, in an index space of {sizes}"
    yield f"shown       member {_coordinates(picture.member)}, marked #"
    yield from (f"broken      {law}" for law in picture.broken)
    yield from (f"warning     {law}" for law in picture.warnings)
    yield ""
    yield from _grid(picture.index_grid)
    for tensor in picture.tensors:
        yield ""
        yield region_words(tensor)
        for grid in tensor.grids:
            yield from _grid(grid)
        if tensor.left_out:
            yield f"and {tensor.left_out} grids more"
    if any(tensor.outside for tensor in picture.tensors):
        yield ""
        yield "# touched, + outside of the tensor: reads give a pad, writes are dropped"
    for chart in picture.charts:
        yield ""
        yield from _chart(chart, width)
    for form, why in picture.unfit.items():
        yield ""
        yield f"no {form} form: {why}"


def _coordinates(member: list[int]) -> str:
    return ",".join(map(str, member))


def region_words(tensor: TensorPicture) -> str:
    """Describe the elements of ``tensor`` that the member accesses."""
    region = ", ".join(str(first) if first == last else f"{first}..{last}" for first, last in tensor.region)
    shape = ", ".join(map(str, tensor.shape))
    outside = ""
    if tensor.outside:
        what = "dropped" if tensor.pad is None else f"read as {tensor.pad}"
        outside = f", {tensor.outside} of them outside and {what}"
    count = f"{tensor.elements} element{'' if tensor.elements == 1 else 's'}"
    return f"{tensor.access} {tensor.name}[{region}] of shape ({shape}), {tensor.type}: {count}{outside}"


def _grid(grid: Grid) -> Iterator[str]:
    """Yield the lines of marks, with the coordinates of each row, of the first column and of the last column."""
    last_row, last_column = grid.first_row + len(grid.rows) - 1, grid.first_column + len(grid.rows[0]) - 1
    width = max(len(str(grid.first_row)), len(str(last_row)), 4)
    yield f"  {grid.title}{', cut' if grid.cut else ''}"
    head = str(grid.first_column)
    if last_column > grid.first_column:
        head += str(last_column).rjust(max(len(grid.rows[0]) - len(head), len(str(last_column)) + 1))
    yield f"  {'':{width}}  {head}"
    for number, row in enumerate(grid.rows):
        yield f"  {grid.first_row + number:>{width}}  {row}"


def _chart(chart: Chart, width: int) -> Iterator[str]:
    """Yield a line for each loaded tensor and for each member; one character stands for one or several cycles."""
    rows: dict[str, list[Activity]] = {}
    for activity in chart.activities:
        label = f"load {activity.tensor}" if activity.member is None else f"member {_coordinates(activity.member)}"
        rows.setdefault(label, []).append(activity)
    wide = max(map(len, rows))
    each = -(-(chart.last - chart.first + 1) // max(width - wide - 4, _NARROWEST))
    scale = f", {each} cycles per character" if each > 1 else ""
    yield f"{chart.form} form: cycle 0 is {chart.zero}, all members are done in cycle {chart.done}{scale}"
    zero = -chart.first // each
    yield f"  {'':{wide}}  {'':{zero}}0{_ticks(chart, each, zero)}"
    for label, activities in rows.items():
        yield f"  {label:<{wide}}  {_bar(chart, activities, each)}"
    yield "  l load, r read, c compute, w write"


def _ticks(chart: Chart, each: int, zero: int) -> str:
    """Return the numbers of cycles counted from cycle 0, every ten characters."""
    text = ""
    for at in range(10, (chart.last - chart.first) // each + 1 - zero, 10):
        text = text.ljust(at - 1) + str(at * each)
    return text


def _bar(chart: Chart, activities: list[Activity], each: int) -> str:
    bar = [" "] * ((chart.last - chart.first) // each + 1)
    # Short activities are drawn over long ones.
    for activity in sorted(activities, key=lambda one: one.first - one.last):
        first, last = max(activity.first, chart.first), min(activity.last, chart.last)
        for at in range((first - chart.first) // each, (last - chart.first) // each + 1):
            bar[at] = activity.what[0]
        if activity.first < chart.first:
            bar[0] = "<"
        if activity.last > chart.last:
            bar[-1] = ">"
    return "".join(bar)
