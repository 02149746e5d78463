"""Choose the integers with which an op is computed: int64 if its types show that 62 bits suffice, else Python's."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.spec.program import FixedType, Op
from dais_verif.spec.program.opcodes import INPUT, MUXES, REDUCTIONS, SUMS, Code, high_int32, low_int32

__all__ = ["constant_term", "fits_int64", "is_wide"]

_INT64_BITS = 62


def is_wide(op: Op, kinds: Sequence[FixedType]) -> bool:
    """Return True if ``op``, on operands of types ``kinds``, needs Python integers: an intermediate exceeds 62 bits."""
    return _bits_needed(op, kinds) > _INT64_BITS


def fits_int64(kind: FixedType) -> bool:
    """Return True if values of type ``kind`` are kept as int64; else they are Python integers."""
    return kind.width <= _INT64_BITS


def constant_term(op: Op) -> tuple[int, int] | None:
    """Return the constant term of a sum as an odd integer and its ``f``; None if there is none, or if it is 0."""
    for term in op.terms:
        if term.op < 0 and op.data:
            zeros = (op.data & -op.data).bit_length() - 1
            return op.data >> zeros, -(term.shift + zeros)
    return None


_CONSTANTS = (Code.ADD_CONST, Code.CONST)
_MUL, _LOOKUP, _BITWISE, _SHIFT = Code.MUL, Code.LOOKUP, Code.BIT_BINARY, Code.SHIFT


def _bits_needed(op: Op, kinds: Sequence[FixedType]) -> int:
    """Return an upper bound of the number of bits, with sign, of each operand, intermediate and result of ``op``."""
    own = op.type
    if op.code == INPUT:
        return own.width + 2
    if op.code in MUXES:
        spread = [
            _span_bits(k.width + 2, k.f - s, own.f) for k, s in zip(kinds, (0, high_int32(op.data)), strict=False)
        ]
        return max(*spread, kinds[2].width + 1, own.width + 2)
    if op.code == _MUL:
        return max(_span_bits(kinds[0].width + kinds[1].width + 2, kinds[0].f + kinds[1].f, own.f), own.width + 2)
    if op.code == _LOOKUP:
        return max(kinds[0].width + 2, 35, own.width + 2)
    if op.terms:
        return _bits_of_sum(op, kinds)
    if op.code == _SHIFT:
        return max(_span_bits(kinds[0].width + 2, kinds[0].f - op.data, own.f), own.width + 2)
    shift = op.data if op.code in SUMS else low_int32(op.data) if op.code == _BITWISE else 0
    points = [kind.f - by for kind, by in zip(kinds, (0, shift), strict=False)]
    tops = [kind.width + 1 - point for kind, point in zip(kinds, points, strict=True)]
    if op.code in _CONSTANTS:
        points.append(own.f)
        tops.append(op.data.bit_length() + 1 - own.f)
    points.append(own.f)
    tops.append(own.width + 1 - own.f)
    if op.code in REDUCTIONS:
        points.append(0)
        tops.append(2)
    return max(points) + max(tops) + 2


def _bits_of_sum(op: Op, kinds: Sequence[FixedType]) -> int:
    """Return ``_bits_needed`` for a sum, with all terms in the units of the finest term that has bits."""
    own, constant = op.type, constant_term(op)
    shifts = (term.shift for term in op.terms if term.op >= 0)
    terms = [(kind.width, kind.f - shift) for kind, shift in zip(kinds, shifts, strict=True) if kind.width]
    terms += [(constant[0].bit_length(), constant[1])] if constant else []
    terms.append((own.width, own.f))
    return max(f for _, f in terms) + max(bits + 1 - f for bits, f in terms) + len(terms).bit_length() + 1


def _span_bits(bits: int, f: int, own_f: int) -> int:
    """Return the width of a ``bits``-bit integer in units of ``2**-f`` after alignment to ``2**-own_f``."""
    return bits + max(own_f - f, 0)
