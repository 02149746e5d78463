"""A program as text: the form that people read and write, and that ``assembler`` reads back."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.base.text import counted
from dais_verif.spec.program.layouts import LAYOUTS
from dais_verif.spec.program.model import Op, Origin, Program
from dais_verif.spec.program.opcodes import (
    BITWISE_NAMES,
    OPCODES,
    REDUCE_NAMES,
    Code,
    Data,
    bitwise_fields,
    high_int32,
    low_int32,
)

__all__ = ["constant", "in_words", "listing"]

#: The number of table entries on a line.
_ENTRIES = 16
#: A constant is written as a real value if this takes at most so many places after the point, and so many characters.
_PLACES, _CHARACTERS = 16, 20


def listing(program: Program) -> str:
    """Return the program as text that ends with a newline; once assembled, ``write_binary`` writes the same bytes.

    A program that was not read from a binary (``json``, ``memory``) is listed as ``v1``, an ALIR program as ``alir``.
    Declared intervals and estimates, which no binary can hold, are not in the text.
    """
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"; {counted(program.n_in, 'input')}, {counted(program.n_out, 'output')}, {counted(program.n_ops, 'op')}"
    yield f"; hash {program.hash}"
    yield _layout(program)
    for j, shift in enumerate(program.inp_shift.tolist()):
        yield f"input {j}{_shift(shift)}"
    for t, table in enumerate(program.tables):
        yield from _table(t, table.tolist())
    types = [str(op.type) for op in program.ops]
    name_width, type_width = len(f"%{program.n_ops - 1}"), max(map(len, types), default=0)
    for op, kind in zip(program.ops, types, strict=True):
        kept = f" data 0x{op.data & (1 << 64) - 1:x}" if op.data and op.spec.data is Data.NONE else ""
        yield f"{f'%{op.index}':<{name_width}} = {kind:<{type_width}}  {in_words(program, op)}{kept}"
    for j, ((index, shift, negated), type_) in enumerate(zip(program.outputs, program.output_types, strict=True)):
        value = f"%{index}" if index >= 0 else "0"
        yield f"output {j} = {'-' if negated else ''}{value}{_shift(shift)}  ; {type_}"


def _layout(program: Program) -> str:
    origin = program.origin
    if origin.layout == "alir" or any(OPCODES[code].alir for code in set(program.columns.code.tolist())):
        return "layout alir"
    line = f"layout {origin.layout if origin.layout in LAYOUTS else 'v1'}"
    if origin.spec_version != Origin.spec_version:
        line += f" spec {origin.spec_version}"
    if origin.firmware_version != Origin.firmware_version:
        line += f" firmware {origin.firmware_version}"
    return line


def _table(number: int, entries: list[int]) -> Iterator[str]:
    if len(entries) <= _ENTRIES:
        yield f"table {number} = [{', '.join(map(str, entries))}]"
        return
    yield f"table {number} = [  ; {len(entries)} entries"
    for start in range(0, len(entries), _ENTRIES):
        yield f"    {', '.join(map(str, entries[start : start + _ENTRIES]))},"
    yield "]"


def in_words(program: Program, op: Op) -> str:
    """Return ``op`` as one short expression over ``%N``, without its type."""
    a, b = f"%{op.id0}", f"%{op.id1}"
    minus = "-" if op.spec.negate else ""
    match op.code:
        case Code.INPUT:
            return f"input {op.id0}"
        case Code.ADD | Code.SUB:
            return f"{a} {'-' if op.code == Code.SUB else '+'} {b}{_shift(op.data)}"
        case Code.RELU | Code.RELU_NEG | Code.QUANT | Code.QUANT_NEG:
            return f"{op.spec.mnemonic.removesuffix('_neg')}({minus}{a})"
        case Code.ADD_CONST:
            return f"{a} {'-' if op.data < 0 else '+'} {constant(abs(op.data), op.type.f)}"
        case Code.CONST:
            return f"{'-' if op.data < 0 else ''}{constant(abs(op.data), op.type.f)}"
        case Code.MUX | Code.MUX_NEG:
            return f"msb(%{op.condition}) ? {a} : {minus}{b}{_shift(high_int32(op.data))}"
        case Code.MUL:
            return f"{a} * {b}"
        case Code.LOOKUP:
            offset = high_int32(op.data)
            minus_offset = f" {'-' if offset > 0 else '+'} {abs(offset)}" if offset else ""
            return f"table {low_int32(op.data)}[{a}{minus_offset}]"
        case Code.BIT_UNARY | Code.BIT_UNARY_NEG:
            return f"{REDUCE_NAMES[op.data]}({minus}{a})"
        case Code.SHIFT:
            return f"quant({a}{_shift(op.data) or '<<0'})"
        case Code.SUM:
            return _sum(op)
        case _:
            fields = bitwise_fields(op.data)
            first, second = ("-" if negate else "" for negate in (fields.negate_a, fields.negate_b))
            return f"{first}{a} {BITWISE_NAMES[fields.operation]} {second}{b}{_shift(fields.shift)}"


def _sum(op: Op) -> str:
    terms = [
        f"{'-' if term.negative else ''}{f'%{term.op}' if term.op >= 0 else op.data}{_shift(term.shift)}"
        for term in op.terms
    ]
    return f"sum({', '.join(terms)})"


def _shift(bits: int) -> str:
    return "" if bits == 0 else f"<<{bits}" if bits > 0 else f">>{-bits}"


def constant(data: int, f: int) -> str:
    """Format ``data * 2**-f``, not negative: as the real value if it is short, else as ``raw(data)``."""
    if data == 0:
        return "0"
    zeros = (data & -data).bit_length() - 1
    odd, places = data >> zeros, f - zeros
    if -_CHARACTERS * 4 <= places <= 0:
        text = str(odd << -places)
    elif 0 < places <= _PLACES:
        whole, rest = divmod(odd, 1 << places)
        text = f"{whole}.{rest * 5**places:0{places}d}"
    else:
        return f"raw({data})"
    return text if len(text) <= _CHARACTERS else f"raw({data})"
