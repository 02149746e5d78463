"""The faulty op of a board is located by taps, even if few fit, on programs in which one op computes something else."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, log2

import pytest
from support.programs import every_opcode

from dais_verif.golden import oracle
from dais_verif.simulation.boards.taps import Located, Reading, Where, locate
from dais_verif.spec.program import Program
from dais_verif.spec.program.taps import live, tappable, tapped

#: A chain of 64 ops, each of which adds 1 to the one before it; op 0 is the input.
CHAIN = Program.build(
    [(-1, 0, -1, 0, (1, 7, 0)), *((4, n, -1, 1, (1, 7, 0)) for n in range(64))], [(64, 0, 0)], inp_shift=[0]
)


class Board:
    """A board that takes taps of at most ``bits`` bits, and on which one op is wrong by 1, and so are later ops."""

    def __init__(self, program: Program, wrong: int | None, bits: int, inputs: list[Fraction], output: int = 0) -> None:
        self.program, self.bits, self.output, self.reads = program, bits, output, 0
        self.right = oracle.trace(program, inputs, violations=[])
        found: list[Fraction] = []
        for op in program.ops:
            context = oracle.Context(program, op, found, inputs)
            found.append(oracle.value_of(context, []))
            if op.index == wrong:
                found[-1] += oracle.two(-op.type.f) * (-1 if found[-1] > 0 else 1)
        self.found = found

    def read(self, ops: Sequence[int]) -> Reading | None:
        self.reads += 1
        if sum(self.program.ops[index].type.width for index in ops) > self.bits:
            return None
        outputs = [oracle.outputs_of(self.program, values)[self.output] for values in (self.right, self.found)]
        bad = frozenset(index for index in ops if self.right[index] != self.found[index])
        return Reading(bad, outputs[0] != outputs[1])

    def located(self, most_bits: int) -> Located:
        return locate(self.program, self.output, self.read, most_bits)


@pytest.mark.parametrize("bits", [8, 24, 100, 1000])
def test_each_op_of_a_chain_is_named_with_few_bitstreams(bits: int) -> None:
    for wrong in range(65):
        board = Board(CHAIN, wrong, bits, [Fraction(3)])
        assert board.located(bits) == Located(Where.OP, wrong)
        assert board.reads <= ceil(log2(65)) + 1


def test_what_is_thought_to_fit_and_does_not_is_tried_with_less() -> None:
    board = Board(CHAIN, 20, 16, [Fraction(3)])
    assert board.located(1000).op == 20
    assert board.reads < 20


def test_in_a_graph_the_first_wrong_op_is_named_and_nothing_that_depends_on_it() -> None:
    program = every_opcode()
    random_numbers = random.Random(1)
    named = 0
    for _ in range(150):
        output = random_numbers.randrange(program.n_out)
        if program.outputs[output][0] < 0:
            continue
        wrong = random_numbers.choice(tappable(program, program.outputs[output][0]) or [0])
        inputs = [Fraction(random_numbers.randrange(-40, 40), 4) for _ in range(program.n_in)]
        bits = random_numbers.choice([30, 60, 10_000])
        board = Board(program, wrong, bits, inputs, output)
        found = board.located(bits)
        masked = board.read([]) == Reading(frozenset(), False)
        if found.where is Where.OP:
            assert found.op == wrong
            named += 1
        else:
            assert masked or found.where is Where.NO_ROOM, (wrong, found)
    assert named > 30


def _says(reading: Reading | None) -> Callable[[Sequence[int]], Reading | None]:
    return lambda ops: reading


def test_where_no_op_is_wrong_none_is_named() -> None:
    assert locate(CHAIN, 0, _says(Reading(frozenset(), True)), 10_000).where is Where.OUTPUT
    assert locate(CHAIN, 0, _says(Reading(frozenset(), True)), 8).where is Where.OUTPUT
    repeated = locate(CHAIN, 0, _says(Reading(frozenset(), False)), 8)
    assert repeated.where is Where.NOT_REPEATED and repeated.op is None
    assert locate(CHAIN, 0, _says(None), 10_000).where is Where.NO_ROOM


def test_a_fault_that_moves_about_names_no_op() -> None:
    """No op is named if the value at the first cut is wrong, but later bitstreams show it and all other taps right."""
    answers = iter([True])
    found = locate(CHAIN, 0, lambda ops: Reading(frozenset(ops) if next(answers, False) else frozenset(), True), 160)
    assert found.where is Where.NOT_REPEATED and found.op is None


def test_a_program_with_taps_computes_the_same_and_more() -> None:
    program = every_opcode()
    ops = [op.index for op in program.ops if op.type.width][::3]
    more = tapped(program, ops)
    inputs = [Fraction(n, 2) for n in range(program.n_in)]
    values = oracle.trace(program, inputs, violations=[])
    assert more.hash != program.hash and oracle.trace(more, inputs, violations=[]) == values
    assert oracle.outputs_of(more, values) == [*oracle.outputs_of(program, values), *(values[i] for i in ops)]


def test_what_crosses_a_cut_decides_all_beyond_it() -> None:
    program = every_opcode()
    ops = list(range(program.n_ops))
    for last in ops:
        crossing = set(live(program, ops, last))
        for op in program.ops[last + 1 :]:
            assert {i for i in op.operands if i <= last} <= crossing
