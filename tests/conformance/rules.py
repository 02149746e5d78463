"""The rules and remarks of the semantics page that a row can show, as quotations."""

from __future__ import annotations

from enum import Enum

__all__ = ["Rule"]


class Rule(Enum):
    """A rule, whose ``value`` is the wording of the page."""

    # values and types
    NEGATIVE_I_F = "`i` or `f` may be negative"
    RANGE = "range `[-2**(w-1), 2**(w-1)-1]` signed, `[0, 2**w - 1]` unsigned, `[0, 0]` for `w = 0`"
    ZERO_WIDTH = "`w = 0` is a type whose only value is 0 whatever `k` is"
    FLOOR = "floor to a multiple of `2**-f` (TRUNC)"
    WRAP = "keep the low `w` bits, read in two's complement if signed (WRAP)"
    NEGATIVE = "Both hold for negative numbers"
    FINER = "a target with *more* fractional bits than the source (which only appends zeros)"
    LIMIT = "every shift (data of 0/1, s of ±6 and 10, inp_shift, out_shift) at most 4096"
    LIMIT_TYPE = "`w`, `|i|`, `|f|`"

    # one rule for every operation
    EXACT = "Compute the exact rational result, then quantise it to the operation's own type."
    IMPLIED = "Operations that *imply quantisation*: -1, ±2, ±3, ±6"
    PROMISE = "The quantisation must change nothing."
    OVERFLOW = "integer overflow"
    LOST = "lost fraction"
    UNCHECKED = "`--unchecked` carries on with the quantised value, as hardware would"

    # opcodes
    INPUT = "`input[id0] * 2**inp_shift[id0]`"
    READERS = "Several -1 ops may read one input with different types"
    ADD = "`buf[id0] ± buf[id1] * 2**data`"
    ADD_SHIFT = "the shift acts on id1 only"
    RELU = "`max(±buf[id0], 0)`"
    RELU_NEGATE = "negate exactly first: minus the most negative value does not wrap before the max"
    QUANT = "`±buf[id0]`"
    QUANT_NEGATE = "same remark; flooring happens after the negation"
    ADD_CONST = "`buf[id0] + data * 2**-f`"
    ADD_CONST_F = "`f` of the op's own type"
    DATA_64 = "data is a signed 64-bit integer"
    CONST = "`data * 2**-f`"
    MUX = "`MSB(buf[c]) ? buf[id0] : ±buf[id1] * 2**s`"
    MUX_SHIFT = "s on id1 only"
    MUX_ARMS = "either arm is quantised"
    MSB = "MSB is the top bit of the `w`-bit pattern of `c`: bit `w-1`, signed or not"
    MSB_ZERO_WIDTH = "0 when `w = 0`"
    MUL = "`buf[id0] * buf[id1]`"
    LOOKUP = "`table[low int32][index]`, raw in the op's type"
    INDEX = "`index = raw(id0) - raw_min(type of id0) - high int32`"
    OUTSIDE = "Outside the table: a violation, and 0 when unchecked, in RTL too"
    RAW_NEGATED = "with `t = ±raw(id0)`, exact"
    NOT_SIGNED = "NOT: `-t - 1` if the op's type is signed"
    NOT_UNSIGNED = "else `(-t - 1) mod 2**w(id0)`"
    NOT_UNITS = "in units of id0's `2**-f`"
    ANY = "OR-reduce: 1 if `t != 0` else 0"
    ALL = "AND-reduce: 1 if `t mod 2**w(id0)` is all ones else 0"
    ALL_ZERO_WIDTH = "(1 for `w = 0`)"
    BITWISE = "`a OP b*2**s` bit by bit"
    BITWISE_OPERATOR = "OP = data>>56: 0 AND, 1 OR, 2 XOR"
    GRID = "on the grid `g = max(f_a, f_b - s)`"
    EXTENDED = "both infinitely sign-extended (an unsigned value with zeros)"
    BITWISE_NEGATE = "bit 32 / 33 of data negates a / b first, exactly and unbounded"
    NO_DATA = "Data of -1, ±2, ±3, 7 has no meaning"

    # inputs and outputs
    OUTPUT = "`buf[out_idx] * 2**out_shift * (-1 if out_neg else 1)`, exact, never quantised"
    OUTPUT_ZERO = "`out_idx = -1` is constant 0"
    NUMBERS = "Inputs are exact: a double, an integer of any size, or raw"
    LARGE = "Large finite values wrap exactly"
    PACKED = "element 0 in the least significant bits, no gaps; an element without bits takes none"
    DEAD_READERS = "over the -1 ops that read it with `w > 0`, dead ones included"
    NOT_READ = "Not read: no bits"
