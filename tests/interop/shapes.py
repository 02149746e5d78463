"""Predicates for ops that da4ml may compute wrongly: the shapes of the table of cases.

Each function is written from its case alone, and is true for every op that the case can affect; whether it does depends
on the values. An op with no such shape in its fan-in cone must have the right value, and the tests check this.
"""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import high_int32, low_int32

__all__ = ["Shape", "operand_types"]

Shape = Callable[[Program, Op], bool]


def operand_types(program: Program, op: Op) -> list[FixedType]:
    """Return the types of id0 and id1 as the op uses them: the second one shifted, for ops that shift it."""
    kinds = [program.ops[index].type for index in op.operands[:2]]
    shift = {0: op.data, 1: op.data, 6: high_int32(op.data), 10: low_int32(op.data)}.get(abs(op.code), 0)
    if len(kinds) == 2 and op.code != 7:
        kinds[1] = FixedType(kinds[1].k, kinds[1].i + shift, kinds[1].f - shift)
    return kinds


# Sizes


def span(program: Program, op: Op) -> int:
    """Return the bits from the least to the most significant place of operands and result, with one for a sign."""
    kinds = [op.type, *operand_types(program, op)]
    if op.code in (8, 9, -9):
        return max(kind.width for kind in kinds) + 1
    bits = max(kind.i for kind in kinds) + max(kind.f for kind in kinds) + 1
    if op.code == 7:
        bits = max(bits, kinds[1].width + kinds[2].width + 1)
    return bits


def beyond_a_double(program: Program, op: Op) -> bool:
    return span(program, op) > 53


def beyond_64_bits(program: Program, op: Op) -> bool:
    return span(program, op) > 62


def implies_quantisation(op: Op) -> bool:
    return not op.spec.promise


def wide_and_signed(program: Program, op: Op) -> bool:
    return implies_quantisation(op) and bool(op.type.k) and op.type.width > 32


def no_bits_but_signed(program: Program, op: Op) -> bool:
    """Return whether the op quantises to a signed type without bits, or looks up by such a value."""
    kind = program.ops[op.id0].type if op.code == 8 else op.type
    return (op.code == 8 or implies_quantisation(op)) and bool(kind.k) and kind.width == 0


def far(program: Program, op: Op) -> bool:
    """Return whether a shift or type needs powers of two that a double does not hold."""
    shifts = [int(program.inp_shift[op.id0])] if op.code == -1 else []
    kinds = [op.type, *(program.ops[index].type for index in op.operands), *operand_types(program, op)]
    return any(abs(n) > 1000 for n in (*shifts, *(n for kind in kinds for n in kind)))


# Inputs


def shifted_input(program: Program, op: Op) -> bool:
    return op.code == -1 and int(program.inp_shift[op.id0]) != 0


def input_of_several_types(program: Program, op: Op) -> bool:
    return op.code == -1 and any(
        other.type != op.type for other in program.ops if other.code == -1 and other.id0 == op.id0
    )


# Results on another grid than da4ml assumes


def finer_sum(program: Program, op: Op) -> bool:
    return op.code in (0, 1) and op.type.f > max(kind.f for kind in operand_types(program, op))


def finer_copy(program: Program, op: Op) -> bool:
    return abs(op.code) in (2, 3) and op.type.f > operand_types(program, op)[0].f


def coarser_add_const(program: Program, op: Op) -> bool:
    return op.code == 4 and op.type.f < operand_types(program, op)[0].f


def other_grid_product(program: Program, op: Op) -> bool:
    return op.code == 7 and op.type.f != sum(kind.f for kind in operand_types(program, op))


def other_grid_not(program: Program, op: Op) -> bool:
    return abs(op.code) == 9 and op.data == 0 and op.type.f != operand_types(program, op)[0].f


def fractional_truth(program: Program, op: Op) -> bool:
    return abs(op.code) == 9 and op.data != 0 and op.type.f != 0


def other_grid_bitwise(program: Program, op: Op) -> bool:
    return op.code == 10 and op.type.f != max(kind.f for kind in operand_types(program, op))


# ±6


def unsigned_condition(program: Program, op: Op) -> bool:
    kind = program.ops[op.condition].type if abs(op.code) == 6 else FixedType(0, 0, 0)
    return not kind.k and kind.width >= 3


def no_arm_on_the_grid(program: Program, op: Op) -> bool:
    return abs(op.code) == 6 and all(kind.f != op.type.f for kind in operand_types(program, op))


def coarser_mux(program: Program, op: Op) -> bool:
    return abs(op.code) == 6 and any(kind.f > op.type.f for kind in operand_types(program, op))


def mux_that_quantises(program: Program, op: Op) -> bool:
    if abs(op.code) != 6:
        return False
    first, second = operand_types(program, op)
    return not (_holds(op.type, first, False) and _holds(op.type, second, op.spec.negate))


def _holds(wide: FixedType, kind: FixedType, negated: bool) -> bool:
    """Return whether the type ``wide`` holds every value of ``kind``, negated or not."""
    if kind.width == 0:
        return True
    if wide.f < kind.f:
        return False
    ends = [end << (wide.f - kind.f) for end in (kind.raw_min, kind.raw_max)]
    return all(wide.raw_min <= (-end if negated else end) <= wide.raw_max for end in ends)


# 2 and 9


def signed_relu(program: Program, op: Op) -> bool:
    return abs(op.code) == 2 and bool(op.type.k) and op.type.width > 0


def widening_not(program: Program, op: Op) -> bool:
    """Return whether the op is a NOT with a signed result not as wide as its operand, or an operand without bits."""
    if abs(op.code) != 9 or op.data != 0:
        return False
    width = program.ops[op.id0].type.width
    return width == 0 or (bool(op.type.k) and op.type.width != width)


def all_of_a_fraction(program: Program, op: Op) -> bool:
    """Return whether the op is an AND-reduce of an unsigned value with a fraction, or of a negated value."""
    if abs(op.code) != 9 or op.data != 2:
        return False
    kind = program.ops[op.id0].type
    if op.spec.negate:
        return not kind.k or kind.width < 2
    return not kind.k and kind.f != 0 and kind.width > 0


def part_of_a_table(program: Program, op: Op) -> bool:
    """Return whether the op is a lookup that da4ml's JSON, whose tables fit intervals, cannot express by types only."""
    if op.code != 8:
        return False
    table = program.tables[low_int32(op.data)]
    return high_int32(op.data) != 0 or len(table) != 1 << program.ops[op.id0].type.width
