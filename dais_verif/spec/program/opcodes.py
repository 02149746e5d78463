"""The table of opcodes, which drives checks, golden model, emitter, disassembly and tests.

The semantics page defines what each opcode *computes*; this table gives its encoding. Two codes exist only in ALIR, and
two opcodes of ALIR are special sums: ``opcode_of_sum`` returns their usual names.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    # the table
    "Code",
    "OPCODES",
    "Data",
    "Opcode",
    "Pattern",
    "Term",
    "opcode_of_sum",
    # frequently used codes
    "INPUT",
    "MUXES",
    "QUANTS",
    "QUANTISATIONS",
    "REDUCTIONS",
    "RELUS",
    "SUMS",
    # reading the data word
    "BITWISE_NAMES",
    "REDUCE_NAMES",
    "BitwiseFields",
    "high_int32",
    "low_int32",
    "bitwise_fields",
]


class Code(IntEnum):
    """Opcodes by name, with the codes of binaries. Ops and columns hold plain integers, which compare equal to them."""

    INPUT = -1
    ADD = 0
    SUB = 1
    RELU = 2
    RELU_NEG = -2
    QUANT = 3
    QUANT_NEG = -3
    ADD_CONST = 4
    CONST = 5
    MUX = 6
    MUX_NEG = -6
    MUL = 7
    LOOKUP = 8
    BIT_UNARY = 9
    BIT_UNARY_NEG = -9
    BIT_BINARY = 10
    #: ALIR's sum of any number of terms; also its opcode -2 (one negative term), and its opcode 4 with a constant of
    #: another step.
    SUM = 11
    #: ALIR's opcode 3 with a shift; the number 12 is internal and does not occur in files.
    SHIFT = 12


class Data(Enum):
    """The meaning of the 64-bit data word of an op."""

    #: Unused; kept so that load-then-save is byte-identical.
    NONE = "none"
    #: A shift of the second operand, in bits.
    SHIFT = "shift"
    #: A shift of the only operand, in bits.
    SHIFT_ONLY = "shift of the only operand"
    #: A signed constant; the shift of its term gives the units.
    TERM = "constant term"
    #: A signed constant in units of the op's own ``2**-f``.
    CONSTANT = "constant"
    #: Low int32: index of the condition op. High int32: shift of the second operand.
    MUX = "mux"
    #: Low int32: index of the table. High int32: raw offset of the table's first entry.
    TABLE = "table"
    #: 0 NOT, 1 OR-reduce, 2 AND-reduce.
    REDUCE = "reduce"
    #: Low int32: shift of the second operand. Bits 32 and 33: negate the first and the second operand. Bits 56..63:
    #: AND, OR or XOR.
    BITWISE = "bitwise"


class Pattern(Enum):
    """How an op uses ``id0`` and ``id1``; an index that is not used must be -1."""

    INPUT = "id0 is an input"
    NONE = "no operand"
    UNARY = "id0 is an op"
    BINARY = "id0 and id1 are ops"
    TERMS = "id0 is the first of id1 terms"


class Term(NamedTuple):
    """One term of a sum: ``±value * 2**shift``; with ``op`` -1 the value is the data word of the sum."""

    op: int
    shift: int
    negative: bool


class Opcode(NamedTuple):
    """One row of the table.

    ``promise``: quantisation to the op's type must change nothing; a change is an overflow violation. ``negate``: the
    negative code of a pair, which first negates the first operand, or the second operand of a mux. ``number``: the
    opcode in files and messages. ``alir``: only ALIR has the opcode; neither binaries nor JSON of DAIS have it.
    """

    code: Code
    mnemonic: str
    pattern: Pattern
    data: Data
    promise: bool
    negate: bool
    words: str
    number: int
    alir: bool = False


def _dais(code: Code, mnemonic: str, pattern: Pattern, data: Data, promise: bool, negate: bool, words: str) -> Opcode:
    return Opcode(code, mnemonic, pattern, data, promise, negate, words, int(code))


def _alir(code: Code, mnemonic: str, pattern: Pattern, data: Data, promise: bool, words: str, number: int) -> Opcode:
    return Opcode(code, mnemonic, pattern, data, promise, False, words, number, alir=True)


def _rows() -> list[Opcode]:
    c, p, d = Code, Pattern, Data
    return [
        _dais(c.INPUT, "input", p.INPUT, d.NONE, False, False, "input quantised to the type"),
        _dais(c.ADD, "add", p.BINARY, d.SHIFT, True, False, "sum, second operand shifted"),
        _dais(c.SUB, "sub", p.BINARY, d.SHIFT, True, False, "difference, second operand shifted"),
        _dais(c.RELU, "relu", p.UNARY, d.NONE, False, False, "max(x, 0), quantised"),
        _dais(c.RELU_NEG, "relu_neg", p.UNARY, d.NONE, False, True, "max(-x, 0), quantised"),
        _dais(c.QUANT, "quant", p.UNARY, d.NONE, False, False, "quantised"),
        _dais(c.QUANT_NEG, "quant_neg", p.UNARY, d.NONE, False, True, "negated, then quantised"),
        _dais(c.ADD_CONST, "add_const", p.UNARY, d.CONSTANT, True, False, "plus a constant"),
        _dais(c.CONST, "const", p.NONE, d.CONSTANT, True, False, "constant"),
        _dais(c.MUX, "mux", p.BINARY, d.MUX, False, False, "MSB of the condition chooses"),
        _dais(c.MUX_NEG, "mux_neg", p.BINARY, d.MUX, False, True, "MSB of the condition chooses, second negated"),
        _dais(c.MUL, "mul", p.BINARY, d.NONE, True, False, "product"),
        _dais(c.LOOKUP, "lookup", p.UNARY, d.TABLE, True, False, "table entry"),
        _dais(c.BIT_UNARY, "bit_unary", p.UNARY, d.REDUCE, True, False, "NOT, OR-reduce or AND-reduce"),
        _dais(c.BIT_UNARY_NEG, "bit_unary_neg", p.UNARY, d.REDUCE, True, True, "NOT, OR-reduce or AND-reduce of -x"),
        _dais(c.BIT_BINARY, "bit_binary", p.BINARY, d.BITWISE, True, False, "AND, OR or XOR, second operand shifted"),
        _alir(c.SUM, "sum", p.TERMS, d.TERM, True, "signed sum of shifted terms", 11),
        _alir(c.SHIFT, "quant_shift", p.UNARY, d.SHIFT_ONLY, False, "shifted, then quantised", 3),
    ]


#: Every opcode of the semantics page, by its code as a plain integer, since lookups by enum members are slower.
OPCODES: Final[dict[int, Opcode]] = {int(row.code): row for row in _rows()}

_NEGATION: Final = _alir(Code.SUM, "neg", Pattern.TERMS, Data.TERM, True, "negated", -2)
_SUM_WITH_CONSTANT: Final = _alir(Code.SUM, "add_term", Pattern.TERMS, Data.TERM, True, "plus a constant", 4)


def opcode_of_sum(terms: Sequence[Term]) -> Opcode:
    """Return the row for a sum of ``terms`` in ALIR: 11, or -2 if it negates, or 4 if it adds a constant."""
    if len(terms) == 1 and terms[0].negative and terms[0].shift == 0:
        return _NEGATION
    constants = sum(term.op < 0 for term in terms)
    return _SUM_WITH_CONSTANT if constants == 1 and len(terms) == 2 else OPCODES[Code.SUM]


#: Codes that loops over all ops use: an enum lookup takes 0.1 µs, which matters for a million ops.
INPUT: Final = Code.INPUT
SUMS: Final = (Code.ADD, Code.SUB)
RELUS: Final = (Code.RELU, Code.RELU_NEG)
QUANTS: Final = (Code.QUANT, Code.QUANT_NEG)
QUANTISATIONS: Final = (*QUANTS, Code.SHIFT)
MUXES: Final = (Code.MUX, Code.MUX_NEG)
REDUCTIONS: Final = (Code.BIT_UNARY, Code.BIT_UNARY_NEG)

REDUCE_NAMES = ("not", "any", "all")
BITWISE_NAMES = ("and", "or", "xor")

_Word = TypeVar("_Word", int, NDArray[np.int64])


def low_int32(data: _Word) -> _Word:
    """Return the low 32 bits of a data word, read as a signed integer (one word or an int64 array of them)."""
    return ((data & 0xFFFF_FFFF) ^ 0x8000_0000) - 0x8000_0000


def high_int32(data: _Word) -> _Word:
    """Return the high 32 bits of a data word, read as a signed integer (one word or an int64 array of them)."""
    return data >> 32


class BitwiseFields(NamedTuple):
    """The fields of the data word of opcode 10. ``reserved`` must be 0."""

    shift: int
    negate_a: bool
    negate_b: bool
    reserved: int
    operation: int


def bitwise_fields(data: int) -> BitwiseFields:
    """Return the fields of the data word of opcode 10; a valid ``operation`` indexes ``BITWISE_NAMES``."""
    return BitwiseFields(
        low_int32(data), bool(data >> 32 & 1), bool(data >> 33 & 1), data >> 34 & 0x3F_FFFF, data >> 56
    )
