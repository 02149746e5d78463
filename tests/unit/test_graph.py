"""The graph of a program: cones, dead ops, depth, and ops with other operands; a mux also reads its condition."""

from __future__ import annotations

import pytest

from dais_verif.spec.program import FixedType, Op, Program, Term
from dais_verif.spec.program.graph import cone, dead_ops, depths
from dais_verif.spec.program.opcodes import OPCODES, Code, Pattern

U4 = (0, 4, 0)

#: 0, 1: inputs. 2: const. 3: 0 + 1. 4: relu of 3 (dead). 5: mux of 3 and 0 with condition 2. 6: not of 5.
PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, U4),
        (-1, 1, -1, 0, U4),
        (5, -1, -1, 7, U4),
        (0, 0, 1, 0, (0, 5, 0)),
        (2, 3, -1, 0, U4),
        (6, 3, 0, 2, U4),
        (9, 5, -1, 0, U4),
    ],
    [(-1, 0, 0), (6, 0, 0)],
    inp_shift=[0, 0],
)


def test_cone_is_in_order_and_holds_its_roots() -> None:
    assert cone(PROGRAM, [3]) == [0, 1, 3]
    assert cone(PROGRAM, [4, 2]) == [0, 1, 2, 3, 4]
    assert cone(PROGRAM, []) == []


def test_the_condition_of_a_mux_belongs_to_its_cone() -> None:
    assert cone(PROGRAM, [6]) == [0, 1, 2, 3, 5, 6]


def test_dead_ops_are_those_that_no_output_reaches() -> None:
    assert dead_ops(PROGRAM) == [4]
    assert dead_ops(Program.build([(5, -1, -1, 1, U4)], [(-1, 0, 0)])) == [0]
    assert dead_ops(Program.build([], [])) == []


def test_depth_counts_ops_on_the_longest_path() -> None:
    assert depths(PROGRAM) == [0, 0, 0, 1, 2, 2, 3]


@pytest.mark.parametrize(
    "code", [code for code in OPCODES if code != Code.SUM], ids=[OPCODES[c].mnemonic for c in OPCODES if c != Code.SUM]
)
def test_an_op_is_rewired_in_what_it_reads_and_in_nothing_else(code: int) -> None:
    """A word that merely looks like an operand stays: the number of an input, a shift of -1, the index of a table."""
    pattern = OPCODES[code].pattern
    a = 3 if pattern in (Pattern.UNARY, Pattern.BINARY, Pattern.INPUT) else -1
    op = Op(9, code, a, 4 if pattern is Pattern.BINARY else -1, -7 << 32 | 5, FixedType(0, 4, 0))
    moved = op.rewired({3: 30, 4: 40, 5: 1 << 30}.__getitem__)
    assert moved.operands == tuple({3: 30, 4: 40, 5: 1 << 30}[n] for n in op.operands)
    assert moved.rewired({30: 3, 40: 4, 1 << 30: 5}.__getitem__) == op
    assert (moved == op) is (not op.operands)


def test_the_terms_of_a_sum_are_rewired() -> None:
    terms = (Term(2, 1, True), Term(-1, 3, False), Term(2, 0, False), Term(0, 0, False))
    op = Op(9, Code.SUM, 5, 4, 77, FixedType(1, 9, 0), terms)
    moved = op.rewired({0: 6, 2: 1}.__getitem__)
    assert [term.op for term in moved.terms] == [1, -1, 1, 6]
    assert moved.rewired({6: 0, 1: 2}.__getitem__) == op
