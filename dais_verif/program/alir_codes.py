"""The opcodes of ALIR files, and the shape of their records; ``docs/programs.md`` says what each means."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

__all__ = ["SHAPES", "SPEC_VERSIONS", "AlirCode", "Shape", "constant_in_steps", "odd_constant"]


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
