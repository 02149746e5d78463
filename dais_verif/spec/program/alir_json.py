"""Reading ALIR, the successor of DAIS, as alkaid saves it: spec versions 2, 3 and 4.

One op of the program is one op of the file, with the same index. For opcodes of ALIR that DAIS does not have, the
program has a sum or a shift (see ``opcodes``); all other ops are ops of DAIS. A spec 2 file is da4ml's list with other
opcodes; a spec 3 file lacks only the shift of opcode 3. ``docs/programs.md`` has the table of opcodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from reprlib import repr as _short
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ProgramError
from dais_verif.spec.program.json_fields import as_int32, as_integer, as_integers, as_list, as_type
from dais_verif.spec.program.machine_begin import TAKE_MACHINES
from dais_verif.spec.program.model import Columns, Estimates, Origin, Program, Terms
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.types import FixedType

__all__ = [
    "AlirCode",
    "NOTES",
    "SHAPES",
    "SPEC_VERSIONS",
    "Shape",
    "constant_in_steps",
    "has_alir_records",
    "odd_constant",
    "program_of",
]


# The opcodes of ALIR files, and the shape of their records; ``docs/programs.md`` says what each means.


#: The generations of the format that alkaid 0.8 reads; it writes the last one.
SPEC_VERSIONS: Final = (2, 3, 4)


class AlirCode(IntEnum):
    """Opcodes of spec 4. In contrast to DAIS, -2 is not ``relu(-x)``."""

    NEG = -2
    INPUT = -1
    ADD = 0
    SUB = 1
    RELU = 2
    QUANT = 3
    ADD_CONST = 4
    CONST = 5
    MUX = 6
    MUL = 7
    LOOKUP = 8
    BIT_UNARY = 9
    BIT_BINARY = 10
    SUM = 11


class Shape(NamedTuple):
    """The numbers of addresses and data words in the records of an opcode; None: equal to the number of terms."""

    words: str
    addresses: int | None
    data: int | None


SHAPES: Final[dict[int, Shape]] = {
    AlirCode.NEG: Shape("negation", 1, 0),
    AlirCode.INPUT: Shape("input", 0, 1),
    AlirCode.ADD: Shape("sum", 2, 1),
    AlirCode.SUB: Shape("difference", 2, 1),
    AlirCode.RELU: Shape("relu", 1, 0),
    AlirCode.QUANT: Shape("quantisation", 1, 1),
    AlirCode.ADD_CONST: Shape("sum with a constant", 1, 2),
    AlirCode.CONST: Shape("constant", 0, 1),
    AlirCode.MUX: Shape("mux", 3, 1),
    AlirCode.MUL: Shape("product", 2, 0),
    AlirCode.LOOKUP: Shape("lookup", 1, 1),
    AlirCode.BIT_UNARY: Shape("unary bit operation", 1, 1),
    AlirCode.BIT_BINARY: Shape("binary bit operation", 2, 2),
    AlirCode.SUM: Shape("shifted sum", None, None),
}


def constant_in_steps(value: int, left: int) -> int | None:
    """Return the data word in DAIS for a constant: ``value`` shifted ``left``; None if no data word can hold it."""
    if value == 0:
        return 0
    if left > 64 or (left < 0 and (value & -value).bit_length() - 1 < -left):
        return None
    data = value << left if left >= 0 else value >> -left
    return data if -(1 << 63) <= data < 1 << 63 else None


def odd_constant(value: int, places: int) -> tuple[int, int]:
    """Return ``value * 2**-places`` as alkaid writes it: an odd number or 0, since this number sets adder widths."""
    if value == 0:
        return 0, places  # with another step, alkaid would shift the operand out of its 64 bits
    zeros = (value & -value).bit_length() - 1
    return value >> zeros, places - zeros


# Reading ALIR, the successor of DAIS, as alkaid saves it: spec versions 2, 3 and 4.


_METAS = ("ALIRModel", "DAISModel")
#: The key under which a file names its origin; alkaid ignores it.
NOTES = "dais"


class _Record(NamedTuple):
    """One op of spec 4: its operands, its opcode, its data words."""

    addr: list[int]
    opcode: int
    data: list[int]


class _Row(NamedTuple):
    """An op without its type, and its terms."""

    code: int
    id0: int = -1
    id1: int = -1
    data: int = 0
    terms: tuple[tuple[int, int, int], ...] = ()


def has_alir_records(model: Sequence[Any]) -> bool:
    """Return True if ``model`` holds records of spec 3 and 4, whose first entries list the operands of an op."""
    records = model[5] if len(model) > 5 and isinstance(model[5], list) else []
    return any(isinstance(record, list) and record and isinstance(record[0], list) for record in records[:1])


def program_of(tree: Any, origin: Origin) -> Program:
    """Return the program, not yet checked, in the JSON ``tree``. Raises ``ProgramError`` if there is none."""
    model, spec = _model(tree)
    shape, inp_shift, out_idx, out_shift, out_neg, ops = model[:6]
    n_in, n_out = as_integers(shape, "shape", 2).tolist()
    tables = _tables(model[8] if len(model) == 9 else None)
    reader = _Reader(spec)
    for index, record in enumerate(as_list(ops, "ops")):
        reader.read(index, record)
    return Program(
        inp_shift=as_integers(inp_shift, "inp_shifts", n_in),
        out_idx=as_integers(out_idx, "out_idxs", n_out),
        out_shift=as_integers(out_shift, "out_shifts", n_out),
        out_neg=as_integers(out_neg, "out_negs", n_out),
        columns=reader.columns(),
        tables=tables,
        intervals=tuple(reader.intervals),
        origin=Origin(**{**vars(origin), "spec_version": spec}),
        terms=Terms.of(reader.terms),
        estimates=reader.estimates(as_integer(model[6], "carry_size"), as_integer(model[7], "adder_size")),
        notes=_notes(tree),
    )


def _notes(tree: Any) -> dict[str, Any] | None:
    notes = tree.get(NOTES) if isinstance(tree, dict) else None
    return notes if isinstance(notes, dict) else None


def _model(tree: Any) -> tuple[list[Any], int]:
    """Return the list of parts, and the spec version of its ops."""
    spec: Any
    if isinstance(tree, list):  # requested with --layout: a bare list does not identify its format
        model, spec = tree, 4 if has_alir_records(tree) else 2
    elif isinstance(tree, dict):
        meta = tree.get("meta")
        if meta == "ALIRFSM":
            raise ProgramError(
                "JSON: meta is ALIRFSM, a machine, where a program (ALIRModel) is expected; " + TAKE_MACHINES
            )
        if meta not in _METAS:
            raise ProgramError(f"JSON: meta is {_short(meta)}, must be ALIRModel, or DAISModel in older files")
        model = as_list(tree.get("model"), "model")
        spec = tree.get("spec_version")
        if "spec_version" not in tree and meta == "DAISModel":  # requested with --layout
            spec = 4 if has_alir_records(model) else 2
    else:
        raise ProgramError(f"JSON: a {type(tree).__name__}, must be an object with model, meta and spec_version")
    if isinstance(spec, bool) or spec not in SPEC_VERSIONS:
        raise ProgramError(
            f"JSON: spec_version is {_short(spec)}, must be one of {', '.join(map(str, SPEC_VERSIONS))};"
            " this version of ALIR is not supported"
        )
    if len(model) not in (8, 9):
        raise ProgramError(f"JSON model: a list of {len(model)}, must have the 8 or 9 parts that alkaid's save writes")
    return model, int(spec)


class _Reader:
    """Reads records, one op each, into columns."""

    def __init__(self, spec: int) -> None:
        self.spec = spec
        self.types: list[FixedType] = []
        self.intervals: list[tuple[int, int]] = []
        self.terms: list[tuple[int, int, int]] = []
        self._rows: list[tuple[int, int, int, int, int, int, int]] = []
        self._estimates: list[tuple[float, float]] = []

    def read(self, index: int, entry: Any) -> None:
        """Read op ``index``. Raises ``ProgramError`` if its record is invalid."""
        record, interval, estimates = self._record(index, entry)
        kind, raw = as_type(interval, index, on_grid=True)
        row = self._row(index, record, kind, interval)
        first = len(self.terms)
        self.terms += row.terms
        id0, id1 = (first, len(row.terms)) if row.terms else (row.id0, row.id1)
        self._rows.append((row.code, id0, id1, row.data, *kind))
        self.types.append(kind)
        self.intervals.append(raw)
        self._estimates.append((_estimate(estimates[0], index, "latency"), _estimate(estimates[1], index, "cost")))

    def columns(self) -> Columns:
        """Return all ops as columns."""
        table = np.array(self._rows, dtype=np.int64).reshape(-1, 7)
        return Columns(*(np.ascontiguousarray(column) for column in table.T))

    def estimates(self, carry_size: int, adder_size: int) -> Estimates:
        """Return the hardware estimates in the file."""
        latency, cost = np.array(self._estimates, dtype=np.float64).reshape(-1, 2).T.copy()
        return Estimates(latency, cost, carry_size, adder_size)

    def _record(self, index: int, entry: Any) -> tuple[_Record, Any, list[Any]]:
        """Return record, interval and estimates of op ``index``, for any spec version."""
        if self.spec == 2:
            if not isinstance(entry, list) or len(entry) != 7:
                raise ProgramError(
                    f"JSON op {index}: must be [id0, id1, opcode, data, [min, max, step], latency, cost]"
                    f" (spec 2), not {_short(entry)}"
                )
            return _upgraded(index, entry), entry[4], entry[5:]
        if not isinstance(entry, list) or len(entry) != 6:
            raise ProgramError(
                f"JSON op {index}: must be [addr, opcode, data, [min, max, step], latency, cost]"
                f" (spec {self.spec}), not {_short(entry)}"
            )
        addr, opcode, data = entry[:3]
        record = _Record(
            [as_int32(v, f"op {index}: addr[{j}]") for j, v in enumerate(as_list(addr, f"op {index}: addr"))],
            as_int32(opcode, f"op {index}: opcode"),
            [as_integer(v, f"op {index}: data[{j}]") for j, v in enumerate(as_list(data, f"op {index}: data"))],
        )
        if self.spec == 3 and record.opcode == AlirCode.QUANT and not data:  # spec 3 has no shift yet
            record = record._replace(data=[0])
        return record, entry[3], entry[4:]

    def _row(self, index: int, record: _Record, kind: FixedType, interval: Any) -> _Row:
        addr, opcode, data = record
        if opcode not in SHAPES:
            known = ", ".join(str(int(code)) for code in sorted(SHAPES))
            raise ProgramError(f"JSON op {index}: opcode is {opcode}, must be one of {known} in ALIR")
        shape = SHAPES[opcode]
        name = f"JSON op {index} ({opcode}, {shape.words})"
        for field, words, count in (("addresses", addr, shape.addresses), ("data words", data, shape.data)):
            if count is not None and len(words) != count:
                raise ProgramError(f"{name}: {len(words)} {field}, must be {count}")
        if shape.addresses is None and (len(addr) < 2 or len(data) != 2 * len(addr)):
            raise ProgramError(
                f"{name}: {len(addr)} addresses and {len(data)} data words; must be two addresses or more, and"
                " a sign and a shift for each"
            )
        for j, operand in enumerate(addr):
            if not 0 <= operand < index:
                raise ProgramError(f"{name}: addr[{j}] is {operand}, must name an earlier op, 0 to {index} - 1")
        return _ROWS[opcode](_Context(self, name, record, kind, interval))


class _Context(NamedTuple):
    """The data that the rule of an opcode may use."""

    reader: _Reader
    name: str
    record: _Record
    kind: FixedType
    interval: Any

    @property
    def a(self) -> int:
        return self.record.addr[0]

    @property
    def b(self) -> int:
        return self.record.addr[1]

    def word(self, j: int, lowest: int = -(1 << 31), highest: int = (1 << 31) - 1) -> int:
        """Return data word ``j``, which must lie in ``lowest .. highest``."""
        value = self.record.data[j]
        if not lowest <= value <= highest:
            raise ProgramError(f"{self.name}: data[{j}] is {value}, must be within {lowest}..{highest}")
        return value

    def constant(self) -> int:
        """Return data word 0 as a signed 64-bit integer."""
        return self.word(0, -(1 << 63), (1 << 63) - 1)


def _upgraded(index: int, entry: list[Any]) -> _Record:
    """Return a record of spec 2 as one of spec 4: its data word is packed, and opcode -2 already means negation."""
    id0, id1, opcode = (as_int32(v, f"op {index}: {n}") for v, n in zip(entry, ("id0", "id1", "opcode"), strict=False))
    data = as_integer(entry[3], f"op {index}: data")
    data = (data & (1 << 64) - 1 ^ 1 << 63) - (1 << 63)
    low, high = (data & 0xFFFF_FFFF ^ 0x8000_0000) - 0x8000_0000, data >> 32
    match opcode:
        case AlirCode.NEG | AlirCode.RELU:
            return _Record([id0], opcode, [])
        case AlirCode.INPUT:
            return _Record([], opcode, [id0])
        case AlirCode.ADD | AlirCode.SUB:
            return _Record([id0, id1], opcode, [data])
        case AlirCode.QUANT:
            return _Record([id0], opcode, [0])
        case AlirCode.ADD_CONST:
            return _Record([id0], opcode, [low, high])
        case AlirCode.CONST:
            return _Record([], opcode, [data])
        case AlirCode.MUX:
            return _Record([id0, id1, low], opcode, [high])
        case AlirCode.MUL:
            return _Record([id0, id1], opcode, [])
        case AlirCode.LOOKUP | AlirCode.BIT_UNARY:
            return _Record([id0], opcode, [data])
        case AlirCode.BIT_BINARY:
            return _Record([id0, id1], opcode, [low, data >> 56 & 0xFF])
        case _:
            known = ", ".join(str(int(code)) for code in sorted(set(SHAPES) - {AlirCode.SUM}))
            raise ProgramError(f"JSON op {index}: opcode is {opcode}, must be one of {known} in ALIR of spec 2")


def _negation(c: _Context) -> _Row:
    return _Row(Code.SUM, terms=((c.a, 0, 1),))


def _input(c: _Context) -> _Row:
    return _Row(Code.INPUT, c.word(0))


def _add(c: _Context) -> _Row:
    return _Row(_SAME[c.record.opcode], c.a, c.b, c.word(0))


def _relu(c: _Context) -> _Row:
    return _Row(Code.RELU, c.a)


def _quantisation(c: _Context) -> _Row:
    shift = c.word(0)
    return _Row(Code.SHIFT, c.a, data=shift) if shift else _Row(Code.QUANT, c.a)


def _add_constant(c: _Context) -> _Row:
    """Convert the addition of a constant: a multiple of the type's step gives one op, any other a term of a sum."""
    value, point = c.constant(), c.word(1)
    steps = constant_in_steps(value, c.kind.f - point)
    if steps is not None:
        return _Row(Code.ADD_CONST, c.a, data=steps)
    return _Row(Code.SUM, data=value, terms=((c.a, 0, 0), (-1, -point, 0)))


def _constant(c: _Context) -> _Row:
    """Return a multiple of the declared step, which is the step of the type unless the interval is [0, 0]."""
    value = c.constant()
    if value == 0 or c.kind.width:
        return _Row(Code.CONST, data=value)
    raise ProgramError(f"{c.name}: data[0] is {value}, but its interval {_short(c.interval)} says that it is 0")


def _mux(c: _Context) -> _Row:
    return _Row(Code.MUX, c.a, c.b, c.word(0) << 32 | c.record.addr[2])


def _product(c: _Context) -> _Row:
    return _Row(Code.MUL, c.a, c.b)


def _lookup(c: _Context) -> _Row:
    """Return a lookup whose first entry belongs to the minimum of the operand's interval."""
    pad = c.reader.intervals[c.a][0] - c.reader.types[c.a].raw_min
    if pad >= 1 << 31:
        raise ProgramError(f"{c.name}: the table begins {pad} entries into the operand's type, must fit an int32")
    return _Row(Code.LOOKUP, c.a, data=pad << 32 | c.word(0, 0))


def _reduction(c: _Context) -> _Row:
    return _Row(Code.BIT_UNARY, c.a, data=c.word(0, 0, 2))


def _bitwise(c: _Context) -> _Row:
    return _Row(Code.BIT_BINARY, c.a, c.b, c.word(1, 0, 2) << 56 | c.word(0) & 0xFFFF_FFFF)


def _shifted_sum(c: _Context) -> _Row:
    terms = []
    for j, operand in enumerate(c.record.addr):
        plus, shift = c.word(2 * j, 0, 1), c.word(2 * j + 1)
        terms.append((operand, shift, 1 - plus))
    return _Row(Code.SUM, terms=tuple(terms))


#: The opcodes with the same meaning and the same data words as in DAIS.
_SAME: dict[int, Code] = {AlirCode.ADD: Code.ADD, AlirCode.SUB: Code.SUB}

_ROWS: dict[int, Callable[[_Context], _Row]] = {
    AlirCode.NEG: _negation,
    AlirCode.INPUT: _input,
    AlirCode.ADD: _add,
    AlirCode.SUB: _add,
    AlirCode.RELU: _relu,
    AlirCode.QUANT: _quantisation,
    AlirCode.ADD_CONST: _add_constant,
    AlirCode.CONST: _constant,
    AlirCode.MUX: _mux,
    AlirCode.MUL: _product,
    AlirCode.LOOKUP: _lookup,
    AlirCode.BIT_UNARY: _reduction,
    AlirCode.BIT_BINARY: _bitwise,
    AlirCode.SUM: _shifted_sum,
}


def _estimate(value: Any, index: int, name: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ProgramError(f"JSON op {index}: {name} is {_short(value)}, must be a finite number that a double holds")
    return number


def _tables(value: Any) -> tuple[NDArray[np.int64], ...]:
    tables = []
    for t, table in enumerate(as_list(value, "tables") if value is not None else []):
        entries = table.get("table") if isinstance(table, dict) else None
        name = f"tables[{t}].table"
        tables.append(as_integers(entries, name, len(entries) if isinstance(entries, list) else 0))
    return tuple(tables)
