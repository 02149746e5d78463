"""Flipping bits that are not demanded changes nothing, and the rules of each opcode are as tight as stated."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.slow_faults import flipped_outputs
from support.strategies import batches
from support.tier import examples

from dais_verif.golden import oracle
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.demanded_bits import demanded_bits
from dais_verif.spec.program.graph import dead_ops
from dais_verif.spec.program.numbers import Batch

S8 = (1, 7, 0)
X, Y = (-1, 0, -1, 0, S8), (-1, 1, -1, 0, S8)


@given(batches(rows=4) | batches(rows=4, alir=True))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_bit_that_is_not_demanded_changes_no_output(case: tuple[Program, list[list[Any]]]) -> None:
    program, rows = case
    batch = Batch.of(rows, program.n_in)
    for row in range(batch.rows):
        inputs = batch.row(row)
        expected = oracle.evaluate(program, inputs, check=False)
        for op, mask in zip(program.ops, demanded_bits(program), strict=True):
            idle = [bit for bit in range(op.type.width) if not mask >> bit & 1]
            for bit in idle if len(idle) < 9 else (*idle[:4], *idle[-4:]):
                assert flipped_outputs(program, inputs, op.index, bit) == expected, f"{op}, bit {bit}, row {row}"


#: The last op, all of whose bits are demanded, and the demanded bits of the two inputs, both s8.0.
CASES = {
    "quantised to fewer bits": ((3, 0, -1, 0, (1, 5, -2)), "00111100", "00000000"),
    "quantised to more fraction": ((3, 0, -1, 0, (0, 2, 3)), "00000011", "00000000"),
    "sign extended": ((3, 0, -1, 0, (1, 11, -6)), "11000000", "00000000"),
    "negated: carries from below": ((-3, 0, -1, 0, (1, 5, -2)), "00111111", "00000000"),
    "relu needs the sign": ((2, 0, -1, 0, (0, 2, 0)), "10000011", "00000000"),
    "relu of the negated": ((-2, 0, -1, 0, (0, 3, -1)), "10000111", "00000000"),
    "sum": ((0, 0, 1, 2, (1, 3, 0)), "00001111", "00000011"),
    "sum, second finer": ((0, 0, 1, -3, (1, 3, 0)), "00001111", "01111000"),
    "sum, first finer": ((0, 0, 1, 3, (1, 5, -2)), "00111100", "00000111"),
    "difference, first finer": ((1, 0, 1, 3, (1, 5, -2)), "00111100", "00000111"),
    "difference, second finer": ((1, 0, 1, -3, (1, 3, 0)), "00001111", "01111111"),
    "difference, second far above": ((1, 0, 1, 9, (1, 7, 0)), "11111111", "00000000"),
    "plus constant": ((4, 0, -1, 5, (1, 5, -2)), "00111100", "00000000"),
    "plus even constant": ((4, 0, -1, -12, (1, 9, 0)), "11111111", "00000000"),
    "plus nothing": ((4, 0, -1, 0, (1, 5, -2)), "00111100", "00000000"),
    "constant": ((5, -1, -1, 5, (1, 3, 0)), "00000000", "00000000"),
    "mux by itself": ((6, 0, 1, (1 << 32) | 0, (1, 3, 0)), "10001111", "00000111"),
    "mux, second negated": ((-6, 0, 1, (-2 << 32) | 1, (0, 4, -2)), "00001100", "10111111"),
    "product": ((7, 0, 1, 0, (1, 3, 0)), "00001111", "00001111"),
    "product, top bits": ((7, 0, 1, 0, (1, 15, -8)), "11111111", "11111111"),
    "not": ((9, 0, -1, 0, (1, 5, -2)), "00111100", "00000000"),
    "not of the negated": ((-9, 0, -1, 0, (1, 5, -2)), "00111111", "00000000"),
    "any": ((9, 0, -1, 1, (0, 1, 0)), "11111111", "00000000"),
    "all": ((9, 0, -1, 2, (0, 1, 0)), "11111111", "00000000"),
    "bitwise": ((10, 0, 1, 2, (1, 5, -2)), "00111100", "00001111"),
    "bitwise, both negated": ((10, 0, 1, (3 << 32) | 2, (1, 5, -2)), "00111111", "00001111"),
    "table": ((8, 0, -1, 0, (0, 1, 0)), "11111111", "00000000"),
    "shifted up, quantised": ((12, 0, -1, 2, (1, 5, -1)), "00001111", "00000000"),
    "shifted down, more fraction": ((12, 0, -1, -2, (0, 2, 3)), "00001111", "00000000"),
    "shifted past the top": ((12, 0, -1, 4096, (1, 5, 0)), "00000000", "00000000"),
    "shifted past the bottom": ((12, 0, -1, -4096, (1, 5, 0)), "10000000", "00000000"),
}

#: Terms and constant of an s4.0 sum, and the demanded bits of the two inputs.
SUMS = {
    "two": ([(0, 0, 0), (1, 2, 0)], 0, "00001111", "00000011"),
    "first finer": ([(0, -3, 0), (1, 0, 0)], 0, "01111000", "00001111"),
    "one negative, finer": ([(0, -3, 1), (1, 0, 0)], 0, "01111111", "00001111"),
    "one": ([(0, -2, 0)], 0, "00111100", "00000000"),
    "negation of one": ([(0, -2, 1)], 0, "00111111", "00000000"),
    "twice the same": ([(0, -2, 0), (0, -2, 0)], 0, "00111111", "00000000"),
    "a constant below": ([(0, -2, 0), (-1, -1, 0)], 5, "00111110", "00000000"),
    "a constant at the lowest bit": ([(-1, -4, 0), (0, -2, 0)], 4, "00111111", "00000000"),
    "the constant 0": ([(-1, -4, 0), (0, -2, 0)], 0, "00111100", "00000000"),
    "far beyond either end": ([(0, 4096, 0), (1, -4096, 0), (0, 0, 0)], 0, "00001111", "10000000"),
}


@pytest.mark.parametrize("name", CASES)
def test_demand_of_one_op(name: str) -> None:
    op, *expected = CASES[name]
    program = Program.build([X, Y, op], [(2, 0, 0)], inp_shift=[0, 0], tables=[[0, 1]])
    masks = demanded_bits(program)
    assert [format(mask, "08b") for mask in masks[:2]] == expected
    assert masks[2] == (1 << program.ops[2].type.width) - 1


@pytest.mark.parametrize("name", SUMS)
def test_demand_of_a_sum(name: str) -> None:
    terms, data, *expected = SUMS[name]
    ops = [X, Y, (11, 0, len(terms), data, (1, 3, 0))]
    program = Program.build(ops, [(2, 0, 0)], inp_shift=[0, 0], terms=terms)
    assert [format(mask, "08b") for mask in demanded_bits(program)[:2]] == expected


#: Cases in which more bits are demanded than any vector can show: the rule for products ignores what a floor drops.
LOOSE = {"product, top bits"}


@pytest.mark.parametrize("name", sorted(set(CASES) - LOOSE))
def test_every_bit_that_is_demanded_matters_to_some_vector(name: str) -> None:
    op, *_ = CASES[name]
    rng = random.Random(1)
    program = Program.build(
        [X, Y, op], [(2, 0, 0)], inp_shift=[0, 0], tables=[[rng.getrandbits(1) for _ in range(256)]]
    )
    missing = {(index, bit) for index in (0, 1) for bit in range(8) if demanded_bits(program)[index] >> bit & 1}
    corners = [[a, b] for a in (0, -1, -128, 127) for b in (0, -1, -128, 127)]
    for vector in [*corners, *([rng.randint(-128, 127), rng.randint(-128, 127)] for _ in range(200))]:
        inputs = Batch.of([vector], 2).row(0)
        expected = oracle.evaluate(program, inputs, check=False)
        missing -= {flip for flip in missing if flipped_outputs(program, inputs, *flip) != expected}
    assert not missing


def test_nothing_is_demanded_of_ops_that_no_output_reads() -> None:
    program = Program.build([X, Y, (0, 0, 0, 0, S8)], [(1, 3, 1), (-1, 0, 0)], inp_shift=[0, 0])
    assert demanded_bits(program) == (0, 255, 0)
    assert demanded_bits(Program.build([], [])) == ()


def test_a_constant_makes_no_carries_below_its_lowest_bit() -> None:
    """Bit 0 of x is not demanded, and bit 1 only affects bit 1, if bits 1 to 3 of x - 12 are read.

    The constant has no bits below bit 2.
    """
    program = Program.build([X, (4, 0, -1, -12, (1, 8, 0)), (3, 1, -1, 0, (0, 4, -1))], [(2, 0, 0)], inp_shift=[0])
    assert demanded_bits(program)[:2] == (0b1110, 0b1110)


def test_demand_is_the_union_over_all_readers() -> None:
    rows = [X, (3, 0, -1, 0, (1, 7, -5)), (3, 0, -1, 0, (0, 1, 0))]
    program = Program.build(rows, [(1, 0, 0), (2, 0, 0)], inp_shift=[0])
    assert demanded_bits(program)[0] == 0b11100001


def test_dead_ops_of_real_programs_demand_nothing(corpus: Path) -> None:
    for path in sorted(corpus.glob("*/prog.v1.bin")):
        program = load(path)
        masks = demanded_bits(program)
        assert all(masks[index] == 0 for index in dead_ops(program))
