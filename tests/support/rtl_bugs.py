"""Faults that tests seed in RTL that the package emits."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALIR_BUGS", "ALIR_VARIANTS", "BUGS", "Bug", "VARIANTS"]


class Bug(NamedTuple):
    """A fault: ``new`` replaces ``old`` in the line that begins with ``line``, and makes the value of ``op`` wrong."""

    name: str
    op: int
    line: str
    old: str
    new: str


BUGS = [
    # inputs
    Bug("input read unsigned by one op", 4, "op_4 =", "op_0 +", "{1'b0, op_0} +"),
    Bug("input slice one bit too high", 3, "op_3 =", "[5:2]", "[6:3]"),
    # sums
    Bug("shift off by one", 4, "op_4 =", "<<< 3", "<<< 2"),
    Bug("difference the wrong way round", 5, "op_5 =", "(op_2 <<< 5) - op_0", "op_0 - (op_2 <<< 5)"),
    Bug("sign extension lost in a product", 15, "op_15 =", "op_3 *", "$unsigned(op_3) *"),
    # quantisation
    Bug("wrap of an unsigned value dropped", 6, "op_6 =", " & 7'sh3f", ""),
    Bug("arithmetic shift became logical", 30, "op_30 =", ">>>", ">>"),
    Bug("negation dropped before quantisation", 9, "op_9_exact =", "-op_5", "op_5"),
    # relu and mux
    Bug("relu without its test", 6, "op_6 =", "op_4[10] ? 1'sb0 : ", ""),
    Bug("mux legs swapped", 13, "op_13 =", "(op_6 <<< 1) : op_1", "op_1 : (op_6 <<< 1)"),
    # tables
    Bug("table entry wrong", 16, "table_0[11] =", "5'h12", "5'h13"),
    # bits
    Bug("NOT of an unsigned value not masked", 18, "op_18 =", " & 7'sh3f", ""),
    Bug("OR-reduce became AND-reduce", 20, "op_20 =", "|op_8", "&op_8"),
    Bug("XOR became OR", 23, "op_23 =", "^", "|"),
    # rarely visible
    Bug("wrong for one value in 2048", 4, "op_4 =", "op_0 +", "(op_0 == -8'sd128 ? 8'sd127 : op_0) +"),
]

#: Such faults in the sums and shifts of ALIR.
ALIR_BUGS = [
    Bug("sign of a term flipped", 3, "op_3 =", "- (op_1", "+ (op_1"),
    Bug("shift of a term off by one", 9, "op_9 =", "op_7 <<< 6", "op_7 <<< 5"),
    Bug("term dropped", 9, "op_9 =", " - (op_8 <<< 2)", ""),
    Bug("shift of a quantisation off by one", 7, "op_7 =", ">>> 2", ">>> 1"),
]
ALIR_VARIANTS = [
    Bug("sign of the first term flipped", 10, "op_10 =", "-op_0", "op_0"),
    Bug("term of another op", 9, "op_9 =", "op_5", "op_3"),
    Bug("operand counted once", 5, "op_5 =", "op_0 + ", ""),
    Bug("negation dropped", 4, "op_4 =", "-op_2", "op_2"),
    Bug("negation became NOT", 4, "op_4 =", "-op_2", "~op_2"),
    Bug("term read unsigned", 3, "op_3 =", "op_0 -", "{1'b0, op_0} -"),
    Bug("carry of a sum lost", 9, "op_9 =", "(op_7 <<< 6)", "(op_7[4:0] <<< 6)"),
    Bug("shift of a quantisation the other way", 8, "op_8 =", ">>> 1", "<<< 1"),
]

#: Variants of ``BUGS``, and others in the same kinds of op, for the long test run.
VARIANTS = [
    Bug("carry out lost", 12, "op_12 =", "op_10 + (op_11 <<< 1)", "(op_10 + (op_11 <<< 1)) & 7'sh1f"),
    Bug("wrap of a signed value dropped", 9, "reg signed [6:0] op_9;", "[6:0]", "[8:0]"),
    Bug("shift forgotten", 8, "op_8 =", " >>> 3", ""),
    Bug("mux condition inverted", 14, "op_14 =", "op_7[5] ?", "!op_7[5] ?"),
    Bug("table offset off by one", 27, "op_27_index =", "4'sd4", "4'sd3"),
    Bug("AND-reduce forgets the negation", 22, "op_22 =", "5'd1", "5'd31"),
    Bug("unsigned input read signed", 1, "op_1 =", "model_inp[13:8]", "$signed(model_inp[13:8])"),
    Bug("plus became minus", 4, "op_4 =", "+", "-"),
    Bug("constant off by one", 10, "op_10 =", "3'sd3", "3'sd2"),
    Bug("product wrong at minimum times minimum", 15, "op_15 =", "op_3 * op_2", "op_3 * op_2 == 128 ? 0 : op_3 * op_2"),
    Bug("floor became rounding towards zero", 30, "op_30 =", "op_4 >>> 3", "op_4 / 8"),
    Bug("mux arm not negated", 14, "op_14 =", "(-op_8)", "op_8"),
    Bug("NOT dropped", 17, "op_17 =", "~", ""),
    Bug("AND became OR", 24, "op_24 =", "&", "|"),
    Bug("OR became AND", 25, "op_25 =", "|", "&"),
    Bug("bits of an input reversed in weight", 3, "op_3 =", "model_inp[5:2]", "{model_inp[2], model_inp[5:3]}"),
    Bug("input slice of its neighbour", 2, "op_2 =", "[18:14]", "[17:13]"),
    Bug("mux condition one bit too low", 13, "op_13 =", "op_0[7]", "op_0[6]"),
    Bug("relu tests the wrong bit", 7, "op_7 =", "op_5[10]", "op_5[9]"),
    Bug("table of another lookup", 27, "op_27 =", "table_1[", "table_0["),
    Bug("floor became rounding to nearest", 30, "op_30 =", "op_4 >>> 3", "(op_4 + 4) >>> 3"),
    Bug("wrap became saturation", 8, "op_8 =", "op_4 >>> 3", "(op_4 >>> 3) > 7 ? 4'sd7 : (op_4 >>> 3)"),
    Bug("product with another op", 15, "op_15 =", "* op_2", "* op_3"),
    Bug("constant op off by one", 11, "wire signed [4:0] op_11", "5'sd11", "5'sd10"),
    Bug("negation became NOT", 9, "op_9_exact =", "-op_5", "~op_5"),
    Bug("AND-reduce misses a bit", 21, "op_21 =", "[5:0]", "[4:0]"),
    Bug("NOT of a negated value the wrong way", 19, "op_19 =", "- 2'sd1", "+ 2'sd1"),
]
