"""Structural checks of programs, before anything runs.

Every rule is one vectorised comparison over the columns and one sentence; half a million ops take a fraction of a
second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import RuleError
from dais_verif.spec.program.opcodes import BITWISE_NAMES, OPCODES, REDUCE_NAMES, Data, Pattern, high_int32, low_int32
from dais_verif.spec.program.types import LIMIT, FixedType

if TYPE_CHECKING:
    from dais_verif.spec.program.model import Ints, Program

__all__ = ["BrokenRule", "meaningless_data", "validate"]

Mask = NDArray[np.bool_]


def _codes(kind: Pattern | Data) -> Mask:
    """Return a table with True at the opcodes of ``kind``; negative opcodes count from its end, as numpy's indices."""
    table = np.zeros(max(OPCODES) - min(OPCODES) + 1, dtype=bool)
    table[[code for code, row in OPCODES.items() if kind in (row.pattern, row.data)]] = True
    return table


_CODES = {kind: _codes(kind) for kind in (*Pattern, *Data)}


class BrokenRule(RuleError):
    """A broken rule with the element that breaks it, for callers that know its position in a text.

    ``part``: ``op``, ``type`` (of an op), ``input`` or ``output``. ``finding``: the message without its
    remedy. The remedy may contain names of arguments in braces, as in ``DaisError.of``.
    """

    def __init__(self, part: str, index: int, finding: str, remedy: str) -> None:
        super().__init__()
        self._name("{finding}; " + remedy, finding=finding)
        self.part, self.index, self.finding = part, index, finding


def validate(program: Program) -> None:
    """Raise ``BrokenRule`` for the first rule that ``program`` breaks; return None if it is valid."""
    _check_opcodes(program)
    _check_terms(program)
    _check_operands(program)
    _check_types(program)
    _check_data(program)
    _check_ends(program)


def meaningless_data(program: Program) -> Ints:
    """Return the indices of ops whose data word is not 0 although their opcode does not use it."""
    return np.flatnonzero(_has(program, Data.NONE) & (program.columns.data != 0))


def _has(program: Program, kind: Pattern | Data) -> Mask:
    """Return a mask of the ops of ``kind``, for a program with known opcodes only."""
    mask: Mask = _CODES[kind][program.columns.code]
    return mask


def _refuse_op(program: Program, bad: Mask, field: str, values: Ints, rule: str, remedy: str, part: str = "op") -> None:
    """Raise for the first op where ``bad``; ``rule`` may use ``{index}``."""
    if not bad.any():
        return
    index = int(np.argmax(bad))
    code = int(program.columns.code[index])
    name = f" ({OPCODES[code].mnemonic})" if code in OPCODES else ""
    finding = f"op {index}{name}: {field} is {int(values[index])}, {rule.format(index=index)}"
    raise BrokenRule(part, index, finding, remedy)


def _refuse_element(bad: Mask, what: str, field: str, values: Ints, rule: str, remedy: str) -> None:
    """Raise for the first input or output where ``bad``."""
    if bad.any():
        index = int(np.argmax(bad))
        raise BrokenRule(what, index, f"{what} {index}: {field} is {int(values[index])}, {rule}", remedy)


_LAYOUT = "the file is damaged or has another layout (see {layout})"
_WRITER = "fix the tool that wrote the program"
_SSA = "ops can read only earlier ops, so the file is damaged or has another layout (see {layout})"
_EARLIER = "must name an earlier op, 0 to {index} - 1"
#: Sources of programs that may hold ALIR's own ops.
_ALIR_LAYOUTS = ("alir", "memory")
_WITHIN = f"must be within -{LIMIT}..{LIMIT}"


def _beyond(values: Ints) -> Mask:
    """Return where a value exceeds the limit; ``abs`` would overflow at -2**63."""
    return (values > LIMIT) | (values < -LIMIT)


def _check_opcodes(program: Program) -> None:
    code = program.columns.code
    # 11 and 12 in a DAIS file are not opcodes.
    known = sorted(row.code for row in OPCODES.values() if not row.alir or program.origin.layout in _ALIR_LAYOUTS)
    rule = f"must be one of {', '.join(str(int(c)) for c in known)}"
    _refuse_op(program, ~np.isin(code, known), "opcode", code, rule, _LAYOUT)


def _check_operands(program: Program) -> None:
    _, id0, id1, *_ = program.columns
    own = np.arange(program.n_ops)
    is_input = _has(program, Pattern.INPUT)
    no_operand = _has(program, Pattern.NONE)
    binary = _has(program, Pattern.BINARY)
    terms = _has(program, Pattern.TERMS)
    for name, ids, used in (("id0", id0, ~is_input & ~no_operand), ("id1", id1, binary)):
        _refuse_op(program, used & ~terms & ((ids < 0) | (ids >= own)), name, ids, _EARLIER, _SSA)
    bad = is_input & ((id0 < 0) | (id0 >= program.n_in))
    _refuse_op(program, bad, "id0", id0, f"must name one of the {program.n_in} inputs", _LAYOUT)
    for name, ids, unused in (("id0", id0, no_operand), ("id1", id1, ~binary)):
        _refuse_op(
            program, unused & ~terms & (ids != -1), name, ids, "must be -1 since the op does not use it", _WRITER
        )


def _check_terms(program: Program) -> None:
    """Require that the terms of each sum follow those of the previous sum, and that no terms are left over."""
    op, shift, negative = program.terms
    if not len(op) == len(shift) == len(negative):
        raise RuleError(f"terms: {len(op)} ops, {len(shift)} shifts and {len(negative)} signs, must be as many")
    is_sum = _has(program, Pattern.TERMS)
    first, count = program.columns.id0, program.columns.id1
    _refuse_op(program, is_sum & (count < 1), "number of terms", count, "must be at least 1", _WRITER)
    before = np.cumsum(np.where(is_sum, count, 0)) - count
    _refuse_op(program, is_sum & (first != before), "first term", first, "must follow those of the sum before", _WRITER)
    owned = int(count[is_sum].sum())
    if owned != len(op):
        raise RuleError(f"terms: {len(op)} of them, {owned} are those of sums; {_WRITER}")
    owner = np.repeat(np.flatnonzero(is_sum), count[is_sum])
    _refuse_term(program, owner, (op < -1) | (op >= owner), "op", op, "must be -1 (the constant) or name an earlier op")
    _refuse_term(program, owner, _beyond(shift), "shift", shift, _WITHIN)
    _refuse_term(program, owner, (negative != 0) & (negative != 1), "sign", negative, "must be 0 (plus) or 1 (minus)")
    constant = op == -1
    _refuse_term(program, owner, constant & (negative != 0), "sign", negative, "must be 0: the constant has its own")
    constants = np.bincount(owner[constant], minlength=program.n_ops)
    _refuse_op(program, constants > 1, "number of constant terms", constants, "must be at most 1", _WRITER)
    data = program.columns.data
    unused = is_sum & (constants == 0) & (data != 0)
    _refuse_op(program, unused, "data", data, "must be 0 since no term is the constant", _WRITER)


def _refuse_term(program: Program, owner: Ints, bad: Mask, field: str, values: Ints, rule: str) -> None:
    """Raise for the first term where ``bad``; ``owner``: the op of each term."""
    if bad.any():
        term = int(np.argmax(bad))
        index = int(owner[term])
        place = term - int(program.columns.id0[index])
        finding = f"op {index} (sum): {field} of term {place} is {int(values[term])}, {rule}"
        raise BrokenRule("op", index, finding, _WRITER)


def _check_types(program: Program) -> None:
    *_, k, i, f = program.columns
    width = k + i + f
    _refuse_op(program, (k != 0) & (k != 1), "signed", k, "must be 0 or 1", _LAYOUT, "type")
    _refuse_op(program, _beyond(i), "i (integer bits)", i, _WITHIN, _LAYOUT, "type")
    _refuse_op(program, _beyond(f), "f (fractional bits)", f, _WITHIN, _LAYOUT, "type")
    _refuse_op(program, width < 0, "width k+i+f", width, "must not be negative", _WRITER, "type")
    _refuse_op(program, width > LIMIT, "width k+i+f", width, f"must be at most {LIMIT}", _WRITER, "type")


def _check_data(program: Program) -> None:
    data = program.columns.data
    low, high = low_int32(data), high_int32(data)
    by_kind = {kind: _has(program, kind) for kind in Data}

    shifts = by_kind[Data.SHIFT] | by_kind[Data.SHIFT_ONLY]
    _refuse_op(program, shifts & _beyond(data), "data (shift)", data, _WITHIN, _LAYOUT)

    mux = by_kind[Data.MUX]
    bad = mux & ((low < 0) | (low >= np.arange(program.n_ops)))
    _refuse_op(program, bad, "condition index (low data)", low, _EARLIER, _SSA)
    _refuse_op(program, mux & _beyond(high), "shift (high data)", high, _WITHIN, _LAYOUT)

    bad = by_kind[Data.REDUCE] & ((data < 0) | (data >= len(REDUCE_NAMES)))
    _refuse_op(program, bad, "data", data, "must be 0 (NOT), 1 (OR-reduce) or 2 (AND-reduce)", _WRITER)

    bitwise = by_kind[Data.BITWISE]
    operation = data >> 56
    bad = bitwise & ((operation < 0) | (operation >= len(BITWISE_NAMES)))
    _refuse_op(program, bad, "operation (data >> 56)", operation, "must be 0 (AND), 1 (OR) or 2 (XOR)", _WRITER)
    reserved = data >> 34 & 0x3F_FFFF
    _refuse_op(program, bitwise & (reserved != 0), "data bits 34..55", reserved, "must be 0", _WRITER)
    _refuse_op(program, bitwise & _beyond(low), "shift (low data)", low, _WITHIN, _LAYOUT)

    _check_tables(program, by_kind[Data.TABLE], low)


def _check_tables(program: Program, lookup: Mask, table_index: Ints) -> None:
    n_tables = len(program.tables)
    bad = lookup & ((table_index < 0) | (table_index >= n_tables))
    rule = f"must name one of the {n_tables} tables"
    remedy = "only the v1 layout and JSON carry tables" if n_tables == 0 else _WRITER
    _refuse_op(program, bad, "table index (low data)", table_index, rule, remedy)
    if not lookup.any():
        return
    extremes = [(int(t.min()), int(t.max())) if len(t) else (0, 0) for t in program.tables]
    for index in np.flatnonzero(lookup).tolist():
        table = int(table_index[index])
        kind = FixedType(*(int(column[index]) for column in program.columns[4:]))
        for entry in extremes[table]:
            if not kind.raw_min <= entry <= kind.raw_max:
                position = int(np.argmax(program.tables[table] == entry))
                finding = (
                    f"op {index} (lookup): entry {position} of table {table} is {entry}, must fit the op's type"
                    f" {kind} ({kind.raw_min}..{kind.raw_max})"
                )
                raise BrokenRule("op", index, finding, _WRITER)


def _check_ends(program: Program) -> None:
    shifts = program.inp_shift
    _refuse_element(_beyond(shifts), "input", "inp_shift", shifts, _WITHIN, _LAYOUT)
    out, shifts, neg = program.out_idx, program.out_shift, program.out_neg
    rule = f"must be -1 (constant 0) or one of the {program.n_ops} ops"
    _refuse_element((out < -1) | (out >= program.n_ops), "output", "out_idx", out, rule, _LAYOUT)
    _refuse_element(_beyond(shifts), "output", "out_shift", shifts, _WITHIN, _LAYOUT)
    _refuse_element((neg != 0) & (neg != 1), "output", "out_neg", neg, "must be 0 or 1", _LAYOUT)
