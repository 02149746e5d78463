"""The bits of ops on which an output can depend; all other bits never matter, for any input.

The demanded bits are found backwards from the outputs, by types, shifts and constants: bits that a quantisation drops,
above or below, and ops that nothing reads are not demanded. A demanded bit may still never matter.
"""

from __future__ import annotations

from dais_verif.spec.program.model import Op, Program
from dais_verif.spec.program.opcodes import Code, bitwise_fields, high_int32
from dais_verif.spec.program.types import FixedType

__all__ = ["demanded_bits", "of_operands"]


def demanded_bits(program: Program) -> tuple[int, ...]:
    """Return for every op a mask of its demanded bits; inverting a bit outside the mask changes no output.

    This holds for unchecked runs and all values of the types, even if no input leads to them.
    """
    masks = [0] * program.n_ops
    for index, _, _ in program.outputs:
        if index >= 0:
            masks[index] = _ones(program.ops[index].type.width)
    for op in reversed(program.ops):
        if masks[op.index]:
            for operand, mask in zip(op.operands, of_operands(program, op, masks[op.index]), strict=True):
                masks[operand] |= mask
    return tuple(masks)


def of_operands(program: Program, op: Op, mask: int) -> tuple[int, ...]:
    """Return the bits of each operand on which the bits ``mask`` of the result of ``op`` depend."""
    kinds = [program.ops[operand].type for operand in op.operands]
    # For each operand, the position of a bit minus that of the result's bit of the same weight, without any shift.
    gaps = [kind.f - op.type.f for kind in kinds]
    match op.code:
        case Code.ADD | Code.SUB:
            first, second = gaps[0], gaps[1] - op.data
            if op.code == Code.SUB:  # the negation carries from the lowest bit on
                return _summand(mask, first, kinds[0], -second), _with_carries(mask, second, kinds[1])
            return _summand(mask, first, kinds[0], -second), _summand(mask, second, kinds[1], -first)
        case Code.RELU | Code.RELU_NEG:
            kept = _with_carries if op.spec.negate else _in_place
            return (kept(mask, gaps[0], kinds[0]) | _top(kinds[0]),)
        case Code.QUANT | Code.QUANT_NEG:
            kept = _with_carries if op.spec.negate else _in_place
            return (kept(mask, gaps[0], kinds[0]),)
        case Code.SHIFT:
            return (_in_place(mask, gaps[0] - op.data, kinds[0]),)
        case Code.SUM:
            return _terms(op, mask, kinds, gaps)
        case Code.ADD_CONST if op.data:
            return (_summand(mask, gaps[0], kinds[0], (op.data & -op.data).bit_length() - 1),)
        case Code.ADD_CONST:
            return (_in_place(mask, gaps[0], kinds[0]),)
        case Code.MUX | Code.MUX_NEG:
            kept = _with_carries if op.spec.negate else _in_place
            other = kept(mask, gaps[1] - high_int32(op.data), kinds[1])
            return _in_place(mask, gaps[0], kinds[0]), other, _top(kinds[2])
        case Code.MUL:
            # The lowest place in the product that a bit of one factor reaches is where it meets the other's lowest bit.
            gap = kinds[0].f + kinds[1].f - op.type.f
            return tuple(_with_carries(mask, gap, kind) for kind in kinds)
        case Code.BIT_UNARY | Code.BIT_UNARY_NEG if op.data == 0:
            kept = _with_carries if op.spec.negate else _in_place
            return (kept(mask, gaps[0], kinds[0]),)
        case Code.BIT_BINARY:
            fields = bitwise_fields(op.data)
            kept_a, kept_b = (_with_carries if negate else _in_place for negate in (fields.negate_a, fields.negate_b))
            return kept_a(mask, gaps[0], kinds[0]), kept_b(mask, gaps[1] - fields.shift, kinds[1])
        case _:  # a table's index and a reduction use every bit; inputs and constants have no operand
            return tuple(_ones(kind.width) for kind in kinds)


def _terms(op: Op, mask: int, kinds: list[FixedType], gaps: list[int]) -> tuple[int, ...]:
    """Return the mask of each term that is an op; terms without bits, and the constant 0, cause no carries."""
    read = [term for term in op.terms if term.op >= 0]
    gaps = [gap - term.shift for term, gap in zip(read, gaps, strict=True)]
    # The bit of the result at which each term begins.
    lowest = [-gap for gap, kind in zip(gaps, kinds, strict=True) if kind.width]
    lowest += [
        (op.data & -op.data).bit_length() - 1 + term.shift + op.type.f for term in op.terms if term.op < 0 and op.data
    ]
    first, *others = sorted(lowest) or [0]
    found = []
    for term, gap, kind in zip(read, gaps, kinds, strict=True):
        if term.negative:  # the negation carries from the lowest bit on
            found.append(_with_carries(mask, gap, kind))
        elif not others:
            found.append(_in_place(mask, gap, kind))
        else:
            found.append(_summand(mask, gap, kind, others[0] if -gap == first else first))
    return tuple(found)


def _in_place(mask: int, gap: int, kind: FixedType) -> int:
    """Return the bits of an operand that reach result bits of the same weight; the sign reaches all higher bits."""
    moved = mask << gap if gap >= 0 else mask >> -gap
    sign = _top(kind) if kind.k and moved >> kind.width else 0
    return moved & _ones(kind.width) | sign


def _with_carries(mask: int, gap: int, kind: FixedType) -> int:
    """Return the bits of an operand that reach result bits of the same weight and, by carries, all higher bits."""
    return _ones(min(max(mask.bit_length() + gap, 0), kind.width))


def _summand(mask: int, gap: int, kind: FixedType, quiet: int) -> int:
    """Return the bits of a summand if the other summand has no bits below bit ``quiet`` of the result."""
    low = max(quiet + gap, 0)
    return _in_place(mask, gap, kind) | _with_carries(mask, gap, kind) >> low << low


def _top(kind: FixedType) -> int:
    return 1 << (kind.width - 1) if kind.width else 0


def _ones(bits: int) -> int:
    return (1 << bits) - 1
