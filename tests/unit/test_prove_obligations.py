"""What must be shown for an op or an output, over variables for the values that it reads."""

from __future__ import annotations

from dais_verif.prover.obligations import Builder
from dais_verif.prover.terms import Term, add, const, neg, var, zext
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import Code

#: The second input has no bits.
ROWS = [
    (-1, 0, -1, 0, (0, 4, 0)),
    (-1, 1, -1, 0, (0, 0, 0)),
    (0, 0, 1, 0, (0, 5, 0)),
    (1, 2, 0, 0, (1, 5, 0)),
]
PROGRAM = Program.build(ROWS, [(3, 0, 0)], inp_shift=[0, 0])


def test_the_value_of_an_op_over_its_operands() -> None:
    builder = Builder.of_program(PROGRAM)
    a, b = var(5, "v0"), var(4, "v1")
    value, operands = builder.meaning_of(3)
    assert operands == {2: a, 0: b}
    assert value is add(zext(a, 6), neg(zext(b, 6)))


def test_an_operand_without_bits_is_a_zero() -> None:
    builder = Builder.of_program(PROGRAM)
    value, operands = builder.meaning_of(2)
    assert operands == {0: var(4, "v0"), 1: const(1, 0)}
    assert value is zext(var(4, "v0"), 5)
    assert builder.meaning_of(1) == (const(1, 0), {})


def test_an_input_is_its_element() -> None:
    value, operands = Builder.of_program(PROGRAM).meaning_of(0)
    assert (value, operands) == (var(4, "v0"), {})


def test_sums_of_one_shape_are_told_apart_by_where_their_constant_stands() -> None:
    rows = [(-1, 0, -1, 0, (1, 4, 0)), (-1, 1, -1, 0, (1, 4, 0))]
    rows += [(Code.SUM, 0, 3, 3, (1, 4, 0)), (Code.SUM, 3, 3, 3, (1, 4, 0))]
    terms = [(0, 0, 0), (1, 1, 0), (-1, 2, 0), (0, 0, 0), (-1, 1, 0), (1, 2, 0)]
    program = Program.build(rows, [(2, 0, 0), (3, 0, 0)], inp_shift=[0, 0], terms=terms)

    def kept(builder: Builder, index: int) -> Term:
        return builder.promise(index, lambda i: False, lambda i, value: const(1, 1)).rtl

    one = Builder.of_program(program)
    first, second = kept(one, 2), kept(one, 3)
    assert first is not second
    assert second is kept(Builder.of_program(program), 3)
