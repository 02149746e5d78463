"""Read tables of knobs in the format of ``global_knobs.txt``, which comes with HPVM's runtime."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from dais_verif.base.errors import InputError
from dais_verif.base.files import read_plain
from dais_verif.compile.approximation.configuration import Number
from dais_verif.compile.approximation.knobs import APPROXIMATIONS, Axis, Knob
from dais_verif.compile.approximation.problems import ConfigurationError, error_at, quoted
from dais_verif.compile.approximation.reader import decoded

__all__ = ["parse_knobs", "read_knobs"]

_MOST_BYTES = 1 << 20
_COLUMNS = ("name,number", "parameters", "speedup", "operation", "function", "stage", "class")
#: The stages of the tuner, and the classes of ops, that a knob can be for.
_STAGES, _CLASSES = ("dev", "install"), ("conv", "conv_fc", "conv_fc_red", "red")

_HEAD = re.compile(r"(\w{1,40}),([1-9]\d{0,8})", re.ASCII)
_PARAMETERS = re.compile(r"(\d{1,4}),(\d{1,4}),(\d{1,4})", re.ASCII)


def read_knobs(path: str | os.PathLike[str]) -> Mapping[int, Knob]:
    """Return the knobs in the file ``path``, by number.

    Raises ``ConfigurationError`` with line, token and what was expected, ``InputError`` if it cannot be read.
    """
    return parse_knobs(read_plain(Path(path), _MOST_BYTES, "table of knobs"), str(path))


def parse_knobs(data: bytes, name: str = "knobs") -> Mapping[int, Knob]:
    """Return the knobs in ``data``, the bytes of the file ``name``, like ``read_knobs``."""
    knobs: dict[int, Knob] = {}
    lines: dict[int, int] = {}
    for number, text in enumerate(decoded(data, name).split("\n"), 1):
        # Some lines of the published table have two tabs in a row, and no column contains blanks.
        columns = text.split()
        if not columns:
            continue
        knob = _read_knob(columns, number, name)
        if knob.number in knobs:
            problem = f"knob {knob.number} already given on line {lines[knob.number]}"
            raise error_at(name, number, columns[0], problem)
        knobs[knob.number], lines[knob.number] = knob, number
    if not knobs:
        raise error_at(name, None, None, "the file contains no knobs")
    return knobs


def _read_knob(columns: list[str], line: int, name: str) -> Knob:
    if len(columns) < len(_COLUMNS):
        missing = f"{_COLUMNS[len(columns)]} (column {len(columns) + 1}) is missing"
        raise error_at(name, line, None, f"{missing}; a line has {', '.join(_COLUMNS)}")
    if len(columns) > len(_COLUMNS):
        raise error_at(name, line, columns[len(_COLUMNS)], f"a line has {len(_COLUMNS)} columns, this one has more")
    head = _HEAD.fullmatch(columns[0])
    if head is None:
        raise error_at(name, line, columns[0], "expected an approximation and its number, such as perf,121")
    approximation = head[1]
    if approximation not in APPROXIMATIONS:
        raise error_at(name, line, approximation, f"unknown approximation; known are {', '.join(APPROXIMATIONS)}")
    for token, known in ((columns[5], _STAGES), (columns[6], _CLASSES)):
        if token not in known:
            raise error_at(name, line, token, f"expected one of {', '.join(known)}")
    axis, period, offset = _read_parameters(approximation, columns[1], line, name)
    return Knob(int(head[2]), approximation, _read_speedup(columns[2], line, name), axis, period, offset)


def _read_speedup(token: str, line: int, name: str) -> Decimal:
    try:
        speedup = Number(token)
    except InputError as error:
        raise error_at(name, line, token, f"{error}: speedup (column 3) must be one") from None
    if speedup <= 0:
        raise error_at(name, line, token, "speedup (column 3) must be more than 0")
    return speedup.exact


def _read_parameters(approximation: str, token: str, line: int, name: str) -> tuple[Axis | None, int, int]:
    if not approximation.startswith(("perf", "samp")):
        if token not in ("-1", "1"):
            raise error_at(name, line, token, f"{approximation} has no parameters: expected -1 or 1")
        return None, 0, 0
    found = _PARAMETERS.fullmatch(token)
    if approximation.startswith("samp"):
        if found is None or found[3] != "1":
            raise error_at(name, line, token, "expected period,offset,1: sampling interpolates in one way only")
        return _checked("filter", int(found[1]), int(found[2]), token, line, name)
    if found is None or (found[1] == "1") == (found[2] == "1"):
        raise error_at(name, line, token, "expected period,1,offset (rows) or 1,period,offset (columns)")
    axis: Axis = "columns" if found[1] == "1" else "rows"
    return _checked(axis, max(int(found[1]), int(found[2])), int(found[3]), token, line, name)


def _checked(axis: Axis, period: int, offset: int, token: str, line: int, name: str) -> tuple[Axis, int, int]:
    """Return the parameters. Raises ``ConfigurationError`` unless the period is 2 or more, and above the offset."""
    problem: ConfigurationError | None = None
    if period < 2:
        problem = error_at(name, line, token, "the period must be 2 or more")
    elif offset >= period:
        problem = error_at(name, line, token, f"the offset must be less than the period, {quoted(str(period))}")
    if problem is not None:
        raise problem
    return axis, period, offset
