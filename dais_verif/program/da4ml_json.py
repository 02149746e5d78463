"""Reading da4ml's ``CombLogic.save`` JSON, plain or gzip.

The JSON declares an interval and a step for every op instead of a type; the type is the smallest that holds
it, and the intervals are kept beside the program.
"""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from reprlib import repr as _short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import ProgramError
from dais_verif.program.checks import validate
from dais_verif.program.gzipped import beginning, is_gzip, unpacked
from dais_verif.program.model import Columns, Origin, Program
from dais_verif.program.opcodes import Code, low_int32
from dais_verif.program.types import LIMIT, FixedType, type_of_interval

__all__ = ["looks_like_json", "read_json"]


def looks_like_json(data: bytes) -> bool:
    """Whether ``data`` begins as a JSON list or object does, or is gzip and holds what does.

    A binary of 91 inputs begins with ``[`` too, but its first word holds a 0 byte, which no JSON text does.
    """
    if is_gzip(data):
        data = beginning(data)
    return data[:64].lstrip()[:1] in (b"[", b"{") and b"\0" not in data[:4]


def read_json(data: bytes) -> Program:
    """The valid program in ``data``. Raises ``ProgramError`` if it is not one."""
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        tree = json.loads(unpacked(data) if is_gzip(data) else data)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"JSON: {error}; the file is damaged or no da4ml program") from None
    if not isinstance(tree, list) or len(tree) not in (8, 9):
        found = f"a list of {len(tree)}" if isinstance(tree, list) else f"a {type(tree).__name__}"
        raise ProgramError(f"JSON: {found}, must be the list of 8 or 9 parts that da4ml's CombLogic.save writes")
    program = _program(tree, Origin("json", file_sha256=sha256))
    validate(program)
    return program


def _program(tree: list[Any], origin: Origin) -> Program:
    shape, inp_shift, out_idx, out_shift, out_neg, ops = tree[:6]
    n_in, n_out = _integers(shape, "shape", 2).tolist()
    rows = _list(ops, "ops")
    tables = _tables(tree[8] if len(tree) == 9 else None)
    columns: list[list[int]] = [[] for _ in Columns._fields]
    intervals: list[tuple[int, int]] = []
    types: list[FixedType] = []
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) < 5:
            raise ProgramError(
                f"JSON op {index}: must be [id0, id1, opcode, data, [min, max, step], ...], not {_short(row)}"
            )
        id0, id1, code = (_int32(v, f"op {index}: {name}") for v, name in zip(row, _ROW, strict=False))
        data = _integer(row[3], f"op {index}: data")
        data = (data & (1 << 64) - 1 ^ 1 << 63) - (1 << 63)  # two's complement of 64 bits, as a binary holds it
        kind, interval = _type(row[4], index)
        if code == Code.LOOKUP and 0 <= id0 < index:
            data = _lookup_data(data, types[id0], intervals[id0], index)
        types.append(kind)
        intervals.append(interval)
        for column, value in zip(columns, (code, id0, id1, data, *kind), strict=True):
            column.append(value)
    return Program(
        inp_shift=_integers(inp_shift, "inp_shifts", n_in),
        out_idx=_integers(out_idx, "out_idxs", n_out),
        out_shift=_integers(out_shift, "out_shifts", n_out),
        out_neg=_integers(out_neg, "out_negs", n_out),
        columns=Columns(*(np.array(column, dtype=np.int64) for column in columns)),
        tables=tables,
        intervals=tuple(intervals),
        origin=origin,
    )


_ROW = ("id0", "id1", "opcode")


def _lookup_data(table: int, kind: FixedType, interval: tuple[int, int], index: int) -> int:
    """The data word of a lookup: JSON names the table only; its first entry belongs to the interval's minimum."""
    if table != low_int32(table):
        raise ProgramError(f"JSON op {index}: data (table index) is {table}, must be an int32")
    offset = interval[0] - kind.raw_min
    if not 0 <= offset < 1 << 31:
        raise ProgramError(
            f"JSON op {index}: the table begins {offset} entries into the operand's type, must fit an int32"
        )
    return offset << 32 | table & 0xFFFF_FFFF


def _type(value: Any, index: int) -> tuple[FixedType, tuple[int, int]]:
    """Type and raw interval of ``[min, max, step]``.

    da4ml writes [0, 0, Infinity] for a column of zeros: the constant 0 lies on any grid.
    """
    numbers = value if isinstance(value, list) and len(value) == 3 else [None]
    if numbers == [0, 0, math.inf] and not any(isinstance(v, bool) for v in numbers):
        return FixedType(0, 0, 0), (0, 0)
    if not all(isinstance(v, int) or (isinstance(v, float) and math.isfinite(v)) for v in numbers):
        raise ProgramError(
            f"JSON op {index}: interval must be three finite numbers [min, max, step], not {_short(value)}"
        )
    low, high, step = map(Fraction, numbers)
    if low > high:
        raise ProgramError(
            f"JSON op {index}: interval minimum {_short(numbers[0])} is above its maximum {_short(numbers[1])}"
        )
    if low == high == 0:
        return FixedType(0, 0, 0), (0, 0)
    f = _exponent(step)
    if f is None or abs(f) > LIMIT:
        raise ProgramError(
            f"JSON op {index}: step is {_short(numbers[2])}, must be a power of two within 2**-{LIMIT}..2**{LIMIT}"
        )
    lo, hi = math.floor(low / step), math.ceil(high / step)
    return type_of_interval(lo, hi, f), (lo, hi)


def _exponent(step: Fraction) -> int | None:
    """``-log2(step)`` if ``step`` is a power of two, else None."""
    if step <= 0 or (step.numerator & (step.numerator - 1)) or (step.denominator & (step.denominator - 1)):
        return None
    return step.denominator.bit_length() - step.numerator.bit_length()


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ProgramError(f"JSON {name}: must be a list, not {_short(value)}")
    return value


def _integer(value: Any, where: str) -> int:
    """An integer that a 64-bit word can hold, signed or not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 64:
        raise ProgramError(f"JSON {where} is {_short(value)}, must be a 64-bit integer")
    return int(value)


def _int32(value: Any, where: str) -> int:
    """An integer that a word of a binary can hold."""
    number = _integer(value, where)
    if number != low_int32(number):
        raise ProgramError(f"JSON {where} is {number}, must be an int32")
    return number


def _integers(value: Any, name: str, count: int) -> NDArray[np.int64]:
    items = _list(value, name)
    if len(items) != count:
        raise ProgramError(f"JSON {name}: {len(items)} values, must be {count}")
    return np.array([_int32(item, f"{name}[{j}]") for j, item in enumerate(items)], dtype=np.int64)


def _tables(value: Any) -> tuple[NDArray[np.int64], ...]:
    tables = []
    for t, table in enumerate(_list(value, "lookup_tables") if value is not None else []):
        entries = table.get("table") if isinstance(table, dict) else None
        name = f"lookup_tables[{t}].table"
        tables.append(_integers(entries, name, len(entries) if isinstance(entries, list) else 0))
    return tuple(tables)
