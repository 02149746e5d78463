"""The record of ``kernel show`` for an instance: its index space, a member's accesses, and the schedule of members."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.record.base import Record

__all__ = [
    "BESIDE",
    "OUTSIDE",
    "PICTURE_SCHEMA",
    "TOUCHED",
    "UNTOUCHED",
    "Activity",
    "Chart",
    "Grid",
    "KernelPicture",
    "TensorPicture",
]

PICTURE_SCHEMA = "dais-verif/kernel-picture/1"

#: Marks of a grid: an accessed element, any other element, an access outside of the tensor, any other place outside.
TOUCHED, UNTOUCHED, OUTSIDE, BESIDE = "#", ".", "+", " "


@dataclass(frozen=True)
class Grid:
    """Rows and columns of an index space or a tensor, with one mark per element.

    ``title``: its heading. ``first_row``, ``first_column``: the coordinates of the first mark. ``cut``: whether there
    are more rows or columns.
    """

    title: str
    first_row: int
    first_column: int
    rows: list[str]
    cut: bool = False


@dataclass(frozen=True)
class TensorPicture:
    """The elements of a tensor that a member accesses. ``access``: ``reads`` or ``writes``. ``shape``: as in NumPy.

    ``region``: the first and last accessed element in each dimension of ``shape``. ``elements``: the number of accessed
    elements. ``outside``: the number of accesses outside of the tensor, where reads return ``pad`` and writes are
    dropped. ``left_out``: the number of grids that are not in ``grids``.
    """

    name: str
    access: str
    shape: list[int]
    type: str
    pattern: str
    region: list[tuple[int, int]]
    elements: int
    outside: int
    pad: str | None
    grids: list[Grid]
    left_out: int = 0


@dataclass(frozen=True)
class Activity:
    """An activity in the cycles ``first`` to ``last``.

    ``what``: ``load`` of ``tensor``; or ``read``, ``compute`` or ``write`` of ``member``.
    """

    what: str
    first: int
    last: int
    member: list[int] | None = None
    tensor: str | None = None


@dataclass(frozen=True)
class Chart:
    """The schedule of the first members in a form, in cycles. ``zero``: the event in cycle 0.

    ``first``, ``last``: the cycles to show. ``done``: the cycle in which all members are done.
    """

    form: str
    zero: str
    first: int
    last: int
    done: int
    activities: list[Activity]


@dataclass(frozen=True, kw_only=True)
class KernelPicture(Record):
    """An instance in pictures. ``index_space``: its sizes. ``member``: the shown one. The fastest dimension is first.

    ``broken``, ``warnings``: findings about the laws of the mapping: laws that fail, and regions that are wider than
    needed. ``unfit``: for each form that the instance lacks, the reason. ``machine``: the SHA-256 of the file of the
    instance's machine, if the picture is kept beside that file.
    """

    SCHEMA: ClassVar = PICTURE_SCHEMA

    kernel: str
    index_space: list[int]
    members: int
    member: list[int]
    index_grid: Grid
    tensors: list[TensorPicture]
    charts: list[Chart]
    broken: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unfit: dict[str, str] = field(default_factory=dict)
    machine: str | None = None
