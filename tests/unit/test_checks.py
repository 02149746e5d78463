"""Every structural rule, with its message and the nearest value that is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import ProgramError
from dais_verif.spec.program import Program
from dais_verif.spec.program.checks import meaningless_data

LIMIT = 4096
S4, U4 = (1, 3, 0), (0, 4, 0)
INPUT = (-1, 0, -1, 0, S4)


def data(low: int, high: int) -> int:
    return high << 32 | low & 0xFFFF_FFFF


def build(*ops: Any, outputs: Any = ((0, 0, 0),), inp_shift: Any = (0,), tables: Any = ()) -> Program:
    return Program.build([INPUT, *ops], outputs, inp_shift=inp_shift, tables=tables)


def bitwise(operation: int, shift: int = 0, reserved: int = 0) -> int:
    return operation << 56 | reserved << 34 | shift & 0xFFFF_FFFF


#: Name: op 1 of a program whose op 0 is an s4.0 input, and how the message continues after "op 1".
REFUSED: dict[str, tuple[Any, str]] = {
    "opcode -10": ((-10, 0, -1, 0, S4), "-9, -6, -3, -2, -1, 0, 1, 2"),
    "opcode -4": ((-4, 0, -1, 0, S4), "opcode is -4"),
    "opcode 13": ((13, 0, 0, 0, S4), "opcode is 13"),
    "add id0 negative": ((0, -1, 0, 0, S4), "(add): id0 is -1"),
    "add id0 own index": ((0, 1, 0, 0, S4), "(add): id0 is 1"),
    "sub id1 negative": ((1, 0, -1, 0, S4), "(sub): id1 is -1"),
    "sub id1 own index": ((1, 0, 1, 0, S4), "(sub): id1 is 1"),
    "relu id0": ((2, 1, -1, 0, S4), "(relu): id0 is 1"),
    "relu_neg id1": ((-2, 0, 0, 0, S4), "(relu_neg): id1 is 0"),
    "quant id0": ((3, -2, -1, 0, S4), "(quant): id0 is -2"),
    "quant_neg id1": ((-3, 0, -2, 0, S4), "(quant_neg): id1 is -2"),
    "add_const id1": ((4, 0, 0, 0, S4), "(add_const): id1 is 0"),
    "const id0": ((5, 0, -1, 0, S4), "(const): id0 is 0"),
    "const id1": ((5, -1, 0, 0, S4), "(const): id1 is 0"),
    "mux id1": ((6, 0, 1, 0, S4), "(mux): id1 is 1"),
    "mux_neg id0": ((-6, -1, 0, 0, S4), "(mux_neg): id0 is -1"),
    "mul id1": ((7, 0, -1, 0, S4), "(mul): id1 is -1"),
    "lookup id1": ((8, 0, 0, 0, S4), "(lookup): id1 is 0"),
    "bit_unary id1": ((9, 0, 0, 0, S4), "(bit_unary): id1 is 0"),
    "bit_binary id1": ((10, 0, -1, 0, S4), "(bit_binary): id1 is -1"),
    "input below": ((-1, -1, -1, 0, S4), "(input): id0 is -1"),
    "input above": ((-1, 1, -1, 0, S4), "(input): id0 is 1"),
    "input id1": ((-1, 0, 0, 0, S4), "(input): id1 is 0"),
    "signed -1": ((3, 0, -1, 0, (-1, 4, 0)), "(quant): signed is -1, must be 0 or 1"),
    "signed 2": ((3, 0, -1, 0, (2, 4, 0)), "(quant): signed is 2, must be 0 or 1"),
    "width -1": ((3, 0, -1, 0, (0, -1, 0)), "(quant): width k+i+f is -1"),
    "width -1 of a signed type": ((3, 0, -1, 0, (1, 3, -5)), "(quant): width k+i+f is -1"),
    "width above": ((3, 0, -1, 0, (1, LIMIT, 0)), "(quant): width k+i+f is 4097"),
    "i below": ((3, 0, -1, 0, (0, -LIMIT - 1, LIMIT)), "(integer bits) is -4097"),
    "i above": ((3, 0, -1, 0, (0, LIMIT + 1, -1)), "i (integer bits) is 4097"),
    "f below": ((3, 0, -1, 0, (0, LIMIT, -LIMIT - 1)), "f (fractional bits) is -4097"),
    "f above": ((3, 0, -1, 0, (0, -1, LIMIT + 1)), "f (fractional bits) is 4097"),
    "add shift below": ((0, 0, 0, -LIMIT - 1, S4), "(add): data (shift) is -4097"),
    "sub shift above": ((1, 0, 0, LIMIT + 1, S4), "(sub): data (shift) is 4097"),
    "add shift most negative": ((0, 0, 0, -(1 << 63), S4), "(add): data (shift) is -9223372036854775808"),
    "mux condition negative": ((6, 0, 0, data(-1, 0), S4), "(mux): condition index (low data) is -1"),
    "mux condition own": ((6, 0, 0, data(1, 0), S4), "(mux): condition index (low data) is 1"),
    "mux shift below": ((6, 0, 0, data(0, -LIMIT - 1), S4), "(mux): shift (high data) is -4097"),
    "mux_neg shift above": ((-6, 0, 0, data(0, LIMIT + 1), S4), "(mux_neg): shift (high data) is 4097"),
    "reduce -1": ((9, 0, -1, -1, S4), "(bit_unary): data is -1, must be 0 (NOT), 1 (OR-reduce) or 2 (AND-reduce)"),
    "reduce 3": ((-9, 0, -1, 3, S4), "(bit_unary_neg): data is 3"),
    "reduce 2**32": ((9, 0, -1, 1 << 32, S4), "(bit_unary): data is 4294967296"),
    "bitwise -1": ((10, 0, 0, -1, S4), "(bit_binary): operation (data >> 56) is -1, must be 0 (AND), 1 (OR) or 2"),
    "bitwise 3": ((10, 0, 0, bitwise(3), S4), "operation (data >> 56) is 3"),
    "bitwise bit 34": ((10, 0, 0, bitwise(0, 0, 1), S4), "data bits 34..55 is 1, must be 0"),
    "bitwise bit 55": ((10, 0, 0, bitwise(1, 0, 1 << 21), S4), "data bits 34..55 is 2097152"),
    "bitwise shift below": ((10, 0, 0, bitwise(2, -LIMIT - 1), S4), "shift (low data) is -4097"),
    "bitwise shift above": ((10, 0, 0, bitwise(0, LIMIT + 1), S4), "shift (low data) is 4097"),
    "table without tables": ((8, 0, -1, 0, S4), "table index (low data) is 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_op_is_refused(name: str) -> None:
    op, message = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        build(op)
    text = str(caught.value)
    assert text.startswith("op 1")
    assert message in text
    as_recorded(text)
    assert "\n" not in text
    assert "; " in text, "it says what to do"


#: The nearest accepted values.
ACCEPTED: dict[str, Any] = {
    "widest": (3, 0, -1, 0, (1, LIMIT - 1, 0)),
    "width 0, signed": (3, 0, -1, 0, (1, -1, 0)),
    "width 0, unsigned, extreme point": (3, 0, -1, 0, (0, -LIMIT, LIMIT)),
    "width 0, largest i": (3, 0, -1, 0, (0, LIMIT, -LIMIT)),
    "add shift lowest": (0, 0, 0, -LIMIT, S4),
    "sub shift highest": (1, 0, 0, LIMIT, S4),
    "mux shift lowest": (6, 0, 0, data(0, -LIMIT), S4),
    "mux shift highest": (-6, 0, 0, data(0, LIMIT), S4),
    "bitwise shift lowest": (10, 0, 0, bitwise(0, -LIMIT), S4),
    "bitwise shift highest, both negated": (10, 0, 0, bitwise(2, LIMIT) | 3 << 32, S4),
    "constant lowest": (4, 0, -1, -(1 << 63), S4),
    "constant highest": (5, -1, -1, (1 << 63) - 1, S4),
    "data without meaning": (7, 0, 0, -(1 << 63), S4),
    "reduce": (-9, 0, -1, 2, S4),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_op_at_the_edge_is_accepted(name: str) -> None:
    assert build(ACCEPTED[name]).n_ops == 2


@pytest.mark.parametrize(
    ("outputs", "inp_shift", "message"),
    [
        ([(-2, 0, 0)], [0], "output 0: out_idx is -2"),
        ([(0, 0, 0), (1, 0, 0)], [0], "output 1: out_idx is 1"),
        ([(0, -4097, 0)], [0], "output 0: out_shift is -4097"),
        ([(0, 4097, 0)], [0], "output 0: out_shift is 4097"),
        ([(0, 0, -1)], [0], "output 0: out_neg is -1, must be 0 or 1"),
        ([(0, 0, 2)], [0], "output 0: out_neg is 2, must be 0 or 1"),
        ([], [0, -4097], "input 1: inp_shift is -4097"),
        ([], [4097], "input 0: inp_shift is 4097"),
    ],
)
def test_ends_are_refused(outputs: Any, inp_shift: Any, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        build(outputs=outputs, inp_shift=inp_shift)
    assert message in str(caught.value)
    as_recorded(caught.value)


def test_ends_at_the_edge_are_accepted() -> None:
    program = build(outputs=[(-1, -LIMIT, 1), (0, LIMIT, 0)], inp_shift=[-LIMIT, LIMIT])
    assert (program.n_in, program.n_out) == (2, 2)


@pytest.mark.parametrize(
    ("kind", "table", "message"),
    [
        (S4, [7, -8, -9], "op's type s4.0 (-8..7)"),
        (S4, [8], "op's type s4.0 (-8..7)"),
        (U4, [0, -1], "op's type u4.0 (0..15)"),
        (U4, [15, 16], "0 is 16"),
        ((1, -1, 0), [0, 1], "op's type s0.0 (0..0)"),
    ],
)
def test_table_entry_that_does_not_fit_is_refused(kind: Any, table: list[int], message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        build((8, 0, -1, 0, kind), tables=[table])
    assert message in str(caught.value)
    as_recorded(caught.value)


@pytest.mark.parametrize("number", [-1, 2])
def test_table_index_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(ProgramError) as caught:
        build((8, 0, -1, data(number, 0), S4), tables=[[0], [0]])
    as_recorded(str(caught.value))


def test_entries_are_judged_by_the_ops_that_use_them() -> None:
    """Table entries are checked for the ops that read them.

    An unused table may hold anything, and two ops of different types may share a table that fits both.
    """
    program = build((8, 0, -1, 0, S4), (8, 0, -1, 0, (1, 9, -2)), tables=[[-8, 7], [1 << 30]])
    assert program.n_ops == 3
    assert build((8, 0, -1, 0, (0, 0, 0)), tables=[[]]).n_ops == 2


def test_the_first_bad_op_is_the_one_named() -> None:
    with pytest.raises(ProgramError, match=r"op 2 \(mul\): id1 is 9"):
        build((3, 0, -1, 0, S4), (7, 0, 9, 0, S4), (7, 0, 8, 0, S4))


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1])
def test_numbers_beyond_64_bits_are_no_crash(value: int) -> None:
    with raises(ProgramError):
        build((4, 0, -1, value, S4))


def test_meaningless_data_is_noted_where_the_opcode_gives_it_no_meaning() -> None:
    ops = [(code, 0, 0 if code == 7 else -1, 5, S4) for code in (-1, 2, -2, 3, -3, 7)]
    program = build(*ops, (4, 0, -1, 5, S4), (3, 0, -1, 0, S4))
    assert meaningless_data(program).tolist() == [1, 2, 3, 4, 5, 6]
