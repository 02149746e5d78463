"""A program as text for people: one line an op."""

from __future__ import annotations

from dais_verif.program.model import Op, Program
from dais_verif.program.opcodes import BITWISE_NAMES, REDUCE_NAMES, bitwise_fields, high_int32, low_int32

__all__ = ["in_words", "listing"]


def listing(program: Program) -> str:
    """The whole program, ended by a newline."""
    origin = program.origin
    lines = [
        f"; {program.n_in} inputs, {program.n_out} outputs, {program.n_ops} ops; read as {origin.layout}",
        f"; hash {program.hash}",
    ]
    lines += [f"; table {t}: {len(table)} entries" for t, table in enumerate(program.tables)]
    types = [str(op.type) for op in program.ops]
    names = [f"%{op.index}" for op in program.ops]
    name_width = max(map(len, names), default=0)
    type_width = max(map(len, types), default=0)
    for op, name, kind in zip(program.ops, names, types, strict=True):
        lines.append(f"{name:<{name_width}} = {kind:<{type_width}}  {op.spec.mnemonic:<13}  {in_words(program, op)}")
    for j, ((index, shift, negated), kind_) in enumerate(zip(program.outputs, program.output_types, strict=True)):
        value = f"{'-' if negated else ''}%{index}{_power(shift)}" if index >= 0 else "0"
        lines.append(f"output {j} = {value}  ; {kind_}")
    return "\n".join(lines) + "\n"


def in_words(program: Program, op: Op) -> str:
    """What ``op`` computes, in one short expression over ``%N``."""
    a, b = f"%{op.id0}", f"%{op.id1}"
    minus = "-" if op.spec.negate else ""
    point = f" * 2^{-op.type.f}" if op.type.f else ""
    match abs(op.code) if op.code != -1 else -1:
        case -1:
            return f"input[{op.id0}]{_power(int(program.inp_shift[op.id0]))}"
        case 0 | 1:
            return f"{a} {'-' if op.code == 1 else '+'} {b}{_power(op.data)}"
        case 2:
            return f"max({minus}{a}, 0)"
        case 3:
            return f"{minus}{a}"
        case 4:
            return f"{a} {'-' if op.data < 0 else '+'} {abs(op.data)}{point}"
        case 5:
            return f"{op.data}{point}"
        case 6:
            return f"msb(%{op.condition}) ? {a} : {minus}{b}{_power(high_int32(op.data))}"
        case 7:
            return f"{a} * {b}"
        case 8:
            return f"table{low_int32(op.data)}[raw({a}) - {program.ops[op.id0].type.raw_min + high_int32(op.data)}]"
        case 9:
            return f"{REDUCE_NAMES[op.data]}({minus}{a})"
        case _:
            fields = bitwise_fields(op.data)
            first, second = ("-" if negate else "" for negate in (fields.negate_a, fields.negate_b))
            return f"{first}{a} {BITWISE_NAMES[fields.operation]} {second}{b}{_power(fields.shift)}"


def _power(shift: int) -> str:
    return f" * 2^{shift}" if shift else ""
