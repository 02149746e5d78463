"""Write programs as JSON, plain or gzip: ALIR of spec 4, as alkaid does, and DAIS, as da4ml does."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dais_verif.base.errors import ConversionError
from dais_verif.spec.program.alir_json import NOTES, SPEC_VERSIONS, AlirCode, odd_constant
from dais_verif.spec.program.conversion.spelling import as_numbers, spelt
from dais_verif.spec.program.model import Op, Program
from dais_verif.spec.program.opcodes import OPCODES, Code, high_int32, low_int32
from dais_verif.spec.program.types import FixedType

__all__ = ["alir_json", "alir_model", "compressed", "da4ml_json"]

#: The modification time in gzip headers, which is fixed so that files of the same program are always identical.
_NO_TIME = 0


def compressed(data: bytes) -> bytes:
    """Return ``data`` as gzip."""
    return gzip.compress(data, compresslevel=6, mtime=_NO_TIME)


def alir_json(program: Program, notes: Mapping[str, Any] | None = None) -> bytes:
    """Return ``program``, the result of ``conversion.to_alir``, as a file of spec 4, with its estimates.

    ``notes``: what to store about the binary from which the program was made. Raises ``InputError``, which names the
    op, for a type that JSON cannot represent.
    """
    tree = {"model": alir_model(program), "meta": "ALIRModel", "spec_version": max(SPEC_VERSIONS)}
    if notes is not None:
        tree[NOTES] = dict(notes)
    return _text(tree)


def alir_model(program: Program) -> list[Any]:
    """Return the parts of ``program`` as a file of spec 4 has them under ``model``. Raises as ``alir_json``."""
    return _parts(program, _alir_record)


def da4ml_json(program: Program) -> bytes:
    """Return ``program``, which ``conversion.to_da4ml`` has made, as da4ml 0.6 saves it. Raises as ``alir_json``."""
    return _text(_parts(program, _da4ml_record))


def _text(tree: Any) -> bytes:
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _parts(program: Program, record: Any) -> list[Any]:
    known = program.estimates
    latency = known.latency.tolist() if known else [0.0] * program.n_ops
    cost = known.cost.tolist() if known else [0.0] * program.n_ops
    ops = []
    for op in program.ops:
        interval = program.intervals[op.index] if program.intervals else (op.type.raw_min, op.type.raw_max)
        numbers = as_numbers(op.type, spelt(op.type, interval), str(op))
        ops.append([*record(op, numbers), latency[op.index], cost[op.index]])
    parts: list[Any] = [
        [program.n_in, program.n_out],
        program.inp_shift.tolist(),
        program.out_idx.tolist(),
        program.out_shift.tolist(),
        (program.out_neg != 0).tolist(),
        ops,
        known.carry_size if known else -1,
        known.adder_size if known else -1,
    ]
    return [*parts, _tables(program)] if program.tables else parts


def _da4ml_record(op: Op, interval: list[int | float]) -> list[Any]:
    if OPCODES[op.code].alir:
        raise ConversionError(f"{op} is an ALIR op, which da4ml's JSON cannot hold; convert the program to DAIS first")
    data = low_int32(op.data) if op.code == Code.LOOKUP else op.data
    return [op.id0, op.id1, op.code, data, interval]


def _alir_record(op: Op, interval: list[int | float]) -> list[Any]:
    addr, code, data = _record(op)
    return [addr, int(code), data, interval]


def _record(op: Op) -> tuple[list[int], AlirCode, list[int]]:
    match op.code:
        case Code.INPUT:
            return [], AlirCode.INPUT, [op.id0]
        case Code.ADD | Code.SUB:
            return [op.id0, op.id1], AlirCode(op.code), [op.data]
        case Code.RELU:
            return [op.id0], AlirCode.RELU, []
        case Code.QUANT:
            return [op.id0], AlirCode.QUANT, [0]
        case Code.SHIFT:
            return [op.id0], AlirCode.QUANT, [op.data]
        case Code.ADD_CONST:
            return [op.id0], AlirCode.ADD_CONST, [*odd_constant(op.data, op.type.f)]
        case Code.CONST:
            return [], AlirCode.CONST, [op.data]
        case Code.MUX:
            return [op.id0, op.id1, op.condition], AlirCode.MUX, [high_int32(op.data)]
        case Code.MUL:
            return [op.id0, op.id1], AlirCode.MUL, []
        case Code.LOOKUP:
            return [op.id0], AlirCode.LOOKUP, [low_int32(op.data)]
        case Code.BIT_UNARY:
            return [op.id0], AlirCode.BIT_UNARY, [op.data]
        case Code.BIT_BINARY:
            return [op.id0, op.id1], AlirCode.BIT_BINARY, [low_int32(op.data), op.data >> 56]
        case Code.SUM:
            return _sum(op)
        case _:
            raise ConversionError(f"{op} is a DAIS op that ALIR does not have; convert the program to ALIR first")


def _sum(op: Op) -> tuple[list[int], AlirCode, list[int]]:
    terms = op.terms
    if op.spec.number == AlirCode.NEG:
        return [terms[0].op], AlirCode.NEG, []
    if op.spec.number == AlirCode.ADD_CONST:
        return [terms[0].op], AlirCode.ADD_CONST, [*odd_constant(op.data, -terms[1].shift)]
    signs = [number for term in terms for number in (int(not term.negative), term.shift)]
    return [term.op for term in terms], AlirCode.SUM, signs


def _tables(program: Program) -> list[dict[str, Any]]:
    """Return the tables, each with the type of an op that reads it and the hash that alkaid and da4ml compare."""
    readers = {low_int32(op.data): op for op in program.ops if op.code == Code.LOOKUP}
    tables = []
    for number, table in enumerate(program.tables):
        reader = readers.get(number)
        f = reader.type.f if reader else 0
        ends = (int(table.min()), int(table.max())) if len(table) else (0, 0)
        kind = reader.type if reader else FixedType(1, 31, 0)
        out = as_numbers(kind, ends, str(reader)) if kind.width else [0.0, 0.0, 1.0]
        entries = table.astype("<i4")
        spec = {
            "hash": hashlib.sha256(entries.tobytes() + str(f).encode()).hexdigest(),
            "out_qint": dict(zip(("min", "max", "step"), out, strict=True)),
            "inp_width": max(len(table) - 1, 0).bit_length(),
        }
        tables.append({"spec": spec, "table": entries.tolist()})
    return tables
