"""Predicates for ops of ALIR that alkaid may compute wrongly: the shapes of its table of cases (see ``shapes``)."""

from __future__ import annotations

from interop import shapes

from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import Code, high_int32, low_int32

__all__ = ["seen_types"]


def shifts_of(op: Op) -> list[int]:
    """Return the shift of every operand."""
    match op.code:
        case Code.ADD | Code.SUB:
            return [0, op.data]
        case Code.SHIFT:
            return [op.data]
        case Code.MUX:
            return [0, high_int32(op.data), 0]
        case Code.BIT_BINARY:
            return [0, low_int32(op.data)]
        case Code.SUM:
            return [term.shift for term in op.terms if term.op >= 0]
        case _:
            return [0] * len(op.operands)


def seen_types(program: Program, op: Op) -> list[FixedType]:
    """Return the types of the operands after their shifts, and the type of a constant in opcode 4 or a sum."""
    kinds = []
    for index, shift in zip(op.operands, shifts_of(op), strict=True):
        kind = program.ops[index].type
        kinds.append(FixedType(kind.k, kind.i + shift, kind.f - shift))
    places, data = op.type.f, op.data
    if op.code == Code.SUM:
        places = next((-term.shift for term in op.terms if term.op < 0), 0)
    if op.code in (Code.ADD_CONST, Code.SUM) and data:  # the constant as an odd multiple of its own step
        zeros = (data & -data).bit_length() - 1
        kinds.append(FixedType(1, data.bit_length() - places, places - zeros))
    return kinds


def finest(program: Program, op: Op) -> int:
    """Return the fractional bits of the finest operand."""
    return max((kind.f for kind in seen_types(program, op)), default=0)


def span(program: Program, op: Op) -> int:
    """Return the bits from the least to the most significant place of operands and result, with spare bits for sums."""
    kinds = [op.type, *seen_types(program, op)]
    if op.code in (Code.LOOKUP, Code.BIT_UNARY):
        return max(kind.width for kind in kinds) + 1
    spare = len(kinds).bit_length()
    bits = max(kind.i for kind in kinds) + max(kind.f for kind in kinds) + spare
    return max(bits, sum(kind.width for kind in kinds[1:]) + 1) if op.code == Code.MUL else bits


def beyond_a_double(program: Program, op: Op) -> bool:
    return span(program, op) > 53


def beyond_64_bits(program: Program, op: Op) -> bool:
    return span(program, op) > 62


def beyond_a_byte(program: Program, op: Op) -> bool:
    return not (-128 <= op.type.i <= 127 and -128 <= op.type.f <= 127)


def far_shift(program: Program, op: Op) -> bool:
    return any(not -128 <= shift <= 127 for shift in shifts_of(op))


def finer_copy(program: Program, op: Op) -> bool:
    return op.code in (Code.RELU, Code.QUANT, Code.SHIFT) and op.type.f > finest(program, op)


def finer_sum(program: Program, op: Op) -> bool:
    return op.code in (Code.ADD, Code.SUB) and op.type.f > finest(program, op)


def finer_negation(program: Program, op: Op) -> bool:
    return op.spec.number == -2 and op.type.f > finest(program, op)


def finer_add_const(program: Program, op: Op) -> bool:
    return op.spec.number == 4 and op.type.f > finest(program, op)


def no_arm_on_the_grid(program: Program, op: Op) -> bool:
    return op.code == Code.MUX and all(kind.f != op.type.f for kind in seen_types(program, op)[:2])


def coarser_mux(program: Program, op: Op) -> bool:
    return op.code == Code.MUX and any(kind.f > op.type.f for kind in seen_types(program, op)[:2])


def signed_relu(program: Program, op: Op) -> bool:
    return op.code == Code.RELU and bool(op.type.k) and op.type.width > 0


def other_not(program: Program, op: Op) -> bool:
    """Return whether the op is a NOT into another type than the operand's, or into a type without bits."""
    return op.code == Code.BIT_UNARY and op.data == 0 and (op.type != program.ops[op.id0].type or not op.type.width)


def all_of_unsigned(program: Program, op: Op) -> bool:
    """Return whether the op is an AND-reduce of an unsigned operand.

    alkaid compares the raw integer with the upper bound of the interval, which is a real value.
    """
    return op.code == Code.BIT_UNARY and op.data == 2 and not program.ops[op.id0].type.k


other_grid_product = shapes.other_grid_product
other_grid_not = shapes.other_grid_not
fractional_truth = shapes.fractional_truth
other_grid_bitwise = shapes.other_grid_bitwise
shifted_input = shapes.shifted_input
input_of_several_types = shapes.input_of_several_types
