"""Read programs in JSON, plain or gzip, and detect their dialect: da4ml's DAIS or alkaid's ALIR.

Opcode -2 is ``relu(-x)`` in DAIS and ``-x`` in ALIR, so a file of unknown dialect is refused.
"""

from __future__ import annotations

import hashlib
import json
from reprlib import repr as _short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ProgramError
from dais_verif.spec.program import alir_json
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.json_fields import (
    as_int32,
    as_integer,
    as_integers,
    as_list,
    as_type,
    beginning,
    is_gzip,
    unpacked,
)
from dais_verif.spec.program.model import Columns, Origin, Program
from dais_verif.spec.program.opcodes import Code, low_int32
from dais_verif.spec.program.types import FixedType

__all__ = ["JSON_LAYOUTS", "looks_like_json", "program_of", "read_json"]


#: The values of ``--layout`` for JSON files: da4ml's and alkaid's.
JSON_LAYOUTS = ("json", "alir")


def looks_like_json(data: bytes) -> bool:
    """Return True if ``data`` begins like a JSON list or object, or is gzip of such a text.

    A binary with 91 inputs begins with ``[``, too, but its first word contains a 0 byte, which JSON text never does.
    """
    if is_gzip(data):
        data = beginning(data)
    return data[:64].lstrip()[:1] in (b"[", b"{") and b"\0" not in data[:4]


def read_json(data: bytes, layout: str | None = None) -> Program:
    """Return the valid program in ``data``; ``layout``: ``json`` or ``alir`` overrides detection.

    Raises ``ProgramError`` if ``data`` does not hold a valid program, or if its dialect is unknown.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        tree = json.loads(unpacked(data) if is_gzip(data) else data)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"JSON: {error}; the file is damaged or not a program") from None
    if (layout or _dialect(tree)) == "alir":
        program = alir_json.program_of(tree, Origin("alir", file_sha256=sha256))
    else:
        program = program_of(tree, Origin("json", file_sha256=sha256))
    validate(program)
    return program


def _dialect(tree: Any) -> str:
    """Return ``json`` for da4ml's bare list, ``alir`` for alkaid's files. Raises ``ProgramError`` if ambiguous."""
    if isinstance(tree, list):
        if alir_json.has_alir_records(tree):
            raise ProgramError.of(
                "JSON: a bare list, as da4ml writes DAIS, whose ops are records of ALIR (spec 3 or 4), where opcode "
                "-2 has another meaning; {layout} alir reads it as ALIR, {layout} json as DAIS"
            )
        return "json"
    if isinstance(tree, dict) and tree.get("meta") == "DAISModel" and "spec_version" not in tree:
        raise ProgramError.of(
            "JSON: meta is DAISModel without a spec_version: opcode -2 is relu(-x) if it is da4ml's DAIS, and -x if "
            "it is an early ALIR; {layout} json reads it as DAIS, {layout} alir as ALIR"
        )
    return "alir"


# Reading da4ml's ``CombLogic.save`` JSON, plain or gzip.
#
# The JSON declares an interval and a step for every op instead of a type. The type is the smallest that holds the
# interval; the intervals are kept with the program.


def program_of(tree: Any, origin: Origin) -> Program:
    """Return the program, not yet checked, in the list ``tree``. Raises ``ProgramError`` if there is none."""
    if isinstance(tree, dict) and "model" in tree:
        tree = tree["model"]
    if not isinstance(tree, list) or len(tree) not in (8, 9):
        found = f"a list of {len(tree)}" if isinstance(tree, list) else f"a {type(tree).__name__}"
        raise ProgramError(f"JSON: {found}, must be the list of 8 or 9 parts that da4ml's CombLogic.save writes")
    return _program(tree, origin)


def _program(tree: list[Any], origin: Origin) -> Program:
    shape, inp_shift, out_idx, out_shift, out_neg, ops = tree[:6]
    n_in, n_out = as_integers(shape, "shape", 2).tolist()
    rows = as_list(ops, "ops")
    tables = _tables(tree[8] if len(tree) == 9 else None)
    columns: list[list[int]] = [[] for _ in Columns._fields]
    intervals: list[tuple[int, int]] = []
    types: list[FixedType] = []
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) < 5:
            raise ProgramError(
                f"JSON op {index}: must be [id0, id1, opcode, data, [min, max, step], ...], not {_short(row)}"
            )
        id0, id1, code = (as_int32(v, f"op {index}: {name}") for v, name in zip(row, _ROW, strict=False))
        data = as_integer(row[3], f"op {index}: data")
        data = (data & (1 << 64) - 1 ^ 1 << 63) - (1 << 63)  # two's complement of 64 bits, as a binary holds it
        kind, interval = as_type(row[4], index)
        if code == Code.LOOKUP and 0 <= id0 < index:
            data = _lookup_data(data, types[id0], intervals[id0], index)
        types.append(kind)
        intervals.append(interval)
        for column, value in zip(columns, (code, id0, id1, data, *kind), strict=True):
            column.append(value)
    return Program(
        inp_shift=as_integers(inp_shift, "inp_shifts", n_in),
        out_idx=as_integers(out_idx, "out_idxs", n_out),
        out_shift=as_integers(out_shift, "out_shifts", n_out),
        out_neg=as_integers(out_neg, "out_negs", n_out),
        columns=Columns(*(np.array(column, dtype=np.int64) for column in columns)),
        tables=tables,
        intervals=tuple(intervals),
        origin=origin,
    )


_ROW = ("id0", "id1", "opcode")


def _lookup_data(table: int, kind: FixedType, interval: tuple[int, int], index: int) -> int:
    """Return the data word of a lookup: JSON names only the table, which starts at the interval's minimum."""
    if table != low_int32(table):
        raise ProgramError(f"JSON op {index}: data (table index) is {table}, must be an int32")
    offset = interval[0] - kind.raw_min
    if not 0 <= offset < 1 << 31:
        raise ProgramError(
            f"JSON op {index}: the table begins {offset} entries into the operand's type, must fit an int32"
        )
    return offset << 32 | table & 0xFFFF_FFFF


def _tables(value: Any) -> tuple[NDArray[np.int64], ...]:
    tables = []
    for t, table in enumerate(as_list(value, "lookup_tables") if value is not None else []):
        entries = table.get("table") if isinstance(table, dict) else None
        name = f"lookup_tables[{t}].table"
        tables.append(as_integers(entries, name, len(entries) if isinstance(entries, list) else 0))
    return tuple(tables)
