"""Draw an instance: index space, elements that a member reads and writes, and the timing of the first members."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, KernelError
from dais_verif.compile.kernels.data_types import pattern_text
from dais_verif.compile.kernels.forms.memory import require_memory_form
from dais_verif.compile.kernels.forms.raster import raster_of
from dais_verif.compile.kernels.forms.schedule import Schedule, memory_schedule, stream_schedule
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import MappedTensor
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.record.kernel_picture import (
    BESIDE,
    OUTSIDE,
    TOUCHED,
    UNTOUCHED,
    Activity,
    Chart,
    Grid,
    KernelPicture,
    TensorPicture,
)
from dais_verif.spec.program import FixedType

__all__ = ["FORMS", "picture_of"]

#: The forms for which there is a chart.
FORMS = ("memory", "stream")

Ints = NDArray[np.int64]

#: Limits: rows and columns of a grid, and grids of a tensor.
_MOST_ROWS, _MOST_COLUMNS, _MOST_GRIDS = 24, 64, 6
#: The number of members that a chart shows, and of loading cycles before these.
_MEMBERS, _BEFORE = 6, 8


def picture_of(
    instance: KernelInstance, member: Sequence[int] | None = None, forms: Sequence[str] = FORMS, parallel: int = 1
) -> KernelPicture:
    """Return the pictures of ``instance`` and of the member with coordinates ``member``; None: the middle member.

    ``forms``: the forms to draw charts of. ``parallel``: the number of parallel members in the memory form.
    Raises ``InputError`` for a member outside the index space.
    """
    mapping = instance.mapping
    geometry = mapping.geometry
    shown = tuple(size // 2 for size in geometry) if member is None else tuple(member)
    if len(shown) != len(geometry) or any(not 0 <= at < size for at, size in zip(shown, geometry, strict=False)):
        raise KernelError.of(
            "{member} is {given}; {name} has an index space of {sizes}, the fastest dimension first, counted from 0",
            given=",".join(map(str, shown)),
            name=instance.name,
            sizes=" x ".join(map(str, geometry)),
        )
    tensors = [
        _tensor(instance, "reads", tensor, kind, shown, pad)
        for tensor, kind, pad in zip(mapping.inputs, instance.input_types, instance.pads, strict=True)
    ]
    tensors += [
        _tensor(instance, "writes", tensor, kind, shown, None)
        for tensor, kind in zip(mapping.outputs, instance.output_types, strict=True)
    ]
    charts, unfit = [], {}
    for form in forms:
        try:
            charts.append(_chart(instance, form, parallel))
        except InputError as error:
            unfit[form] = str(error)
    findings = check_mapping(mapping).findings
    return KernelPicture(
        kernel=instance.name,
        index_space=list(geometry),
        members=mapping.members,
        member=list(shown),
        index_grid=_index_grid(geometry, shown),
        tensors=tensors,
        charts=charts,
        broken=[str(one) for one in findings if one.is_failure],
        warnings=[str(one) for one in findings if not one.is_failure],
        unfit=unfit,
    )


def _index_grid(geometry: tuple[int, ...], member: tuple[int, ...]) -> Grid:
    others = "".join(f", [{d}] = {at}" for d, at in enumerate(member) if d > 1)
    down = ", [1] down" if len(geometry) > 1 else ""
    touched = np.array([[*member[:2], 0][:2]], dtype=np.int64)
    return _grid(f"[0] across{down}{others}", touched, [*geometry, 1][:2])


def _tensor(
    instance: KernelInstance,
    access: str,
    tensor: MappedTensor,
    kind: FixedType,
    member: tuple[int, ...],
    pad: int | None,
) -> TensorPicture:
    sizes = np.array(tensor.sizes, dtype=np.int64)
    elements = instance.mapping.addressing(tensor).elements(np.array([member], dtype=np.int64))[0]
    inside = ((elements >= 0) & (elements < sizes)).all(axis=1)
    grids = _grids(tensor, elements) if len(elements) else []
    dims = [*tensor.pattern.dims, *[None] * len(sizes)][: len(sizes)]
    stated = ["all" if tensor.pattern.all_required or dim is None else pattern_text(dim) for dim in dims]
    return TensorPicture(
        name=tensor.name,
        access=access,
        shape=list(tensor.sizes[::-1]),
        type=str(kind),
        pattern=", ".join(reversed(stated)),
        region=[(int(column.min()), int(column.max())) for column in elements.T[::-1]] if len(elements) else [],
        elements=len(elements),
        outside=int((~inside).sum()),
        pad=None if pad is None else _decimal(pad, kind.f),
        grids=grids[:_MOST_GRIDS],
        left_out=max(len(grids) - _MOST_GRIDS, 0),
    )


def _decimal(raw: int, f: int) -> str:
    """Return a number in decimal: integers exactly, others with six significant digits."""
    value = Fraction(raw) / Fraction(2) ** f
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def _grids(tensor: MappedTensor, elements: Ints) -> list[Grid]:
    """Return the touched planes of the two fastest dimensions; equal planes are drawn once."""
    planes: dict[tuple[int, ...], list[int]] = {}
    for number, element in enumerate(elements.tolist()):
        planes.setdefault(tuple(element[:1:-1]), []).append(number)
    sizes, slow = [*tensor.sizes, 1][:2], tensor.sizes[:1:-1]
    flat = np.concatenate([elements, np.zeros_like(elements[:, :1])], axis=1)[:, :2]
    looks: dict[tuple[int, int, tuple[str, ...], bool], list[tuple[int, ...]]] = {}
    for at, numbers in sorted(planes.items()):
        there = all(0 <= one < size for one, size in zip(at, slow, strict=True))
        grid = _grid("", flat[numbers], sizes, around=flat, there=there)
        looks.setdefault((grid.first_row, grid.first_column, tuple(grid.rows), grid.cut), []).append(at)
    free = ":, :" if len(tensor.sizes) > 1 else ":"
    return [
        Grid(f"{tensor.name}[{where}{free}]", row, column, list(rows), cut)
        for (row, column, rows, cut), alike in looks.items()
        for where in _places(alike)
    ]


def _places(alike: list[tuple[int, ...]]) -> list[str]:
    """Return the coordinates of planes in words: one text if they are a box, else one per plane."""
    spans = [(min(column), max(column)) for column in zip(*alike, strict=True)]
    if not spans:
        return [""]
    count = int(np.prod([last - first + 1 for first, last in spans], dtype=object))
    if count == len(alike):
        return ["".join(f"{first}, " if first == last else f"{first}..{last}, " for first, last in spans)]
    return ["".join(f"{one}, " for one in at) for at in alike]


def _grid(title: str, touched: Ints, sizes: Sequence[int], *, around: Ints | None = None, there: bool = True) -> Grid:
    """Return a grid of ``sizes`` columns and rows with ``touched`` elements, shape (elements, 2), marked.

    A large grid is cut to the surroundings of the elements ``around``. ``there``: the plane exists in the tensor.
    """
    around = touched if around is None else around
    (first_column, columns, cut_columns), (first_row, rows, cut_rows) = (
        _window(around[:, d], sizes[d], most) for d, most in ((0, _MOST_COLUMNS), (1, _MOST_ROWS))
    )
    row, column = np.mgrid[first_row : first_row + rows, first_column : first_column + columns]
    inside = (row >= 0) & (row < sizes[1]) & (column >= 0) & (column < sizes[0]) & there
    hit = np.zeros((rows, columns), dtype=bool)
    places = touched - np.array([first_column, first_row])
    seen = ((places >= 0) & (places < np.array([columns, rows]))).all(axis=1)
    hit[places[seen, 1], places[seen, 0]] = True
    marks = np.where(inside, np.where(hit, TOUCHED, UNTOUCHED), np.where(hit, OUTSIDE, BESIDE))
    return Grid(title, first_row, first_column, ["".join(line) for line in marks], cut_columns or cut_rows)


def _window(touched: Ints, size: int, most: int) -> tuple[int, int, bool]:
    """Return the first coordinate that a grid shows, how many it shows, and whether it leaves any out."""
    low, high = int(touched.min()), int(touched.max())
    first, last = min(low, 0), max(high, size - 1)
    count = last - first + 1
    if count <= most:
        return first, count, False
    middle = (low + high + 1) // 2 if high - low < most else low + most // 2
    return min(max(middle - most // 2, first), last + 1 - most), most, True


def _chart(instance: KernelInstance, form: str, parallel: int) -> Chart:
    schedule = _schedule(instance, form, parallel)
    activities = [
        Activity(work.what, work.first, work.last, list(work.member) or None, work.tensor or None)
        for work in schedule.works
    ]
    own = [work for work in schedule.works if work.what != "load"]
    first = max(min(0, *(work.first for work in schedule.works)), -_BEFORE)
    zero = {"memory": "start", "stream": "the first pixel"}[form]
    return Chart(form, zero, first, max((work.last for work in own), default=0), schedule.done, activities)


def _schedule(instance: KernelInstance, form: str, parallel: int) -> Schedule:
    if form == "stream":
        return stream_schedule(instance, raster_of(instance), _MEMBERS)
    require_memory_form(instance, parallel)
    return memory_schedule(instance, _MEMBERS, parallel)
