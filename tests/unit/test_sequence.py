"""Vectors made in parts equal the vectors made at once, however they are cut."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.programs import every_opcode
from support.strategies import programs
from support.tier import examples

from dais_verif.golden import oracle
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import ExhaustiveRows, Generated, Stimulus, Vectors, generate
from dais_verif.stimulus.pseudo_exhaustive.plan import plan

#: Number of rows that share a seed.
BLOCK = 16384

S4 = (1, 3, 0)


def readers(*kinds: tuple[int, int, int], shifts: Sequence[int] = ()) -> Program:
    """Return a program with one input for each of ``kinds``."""
    rows = [(-1, j, -1, 0, kind) for j, kind in enumerate(kinds)]
    return Program.build(rows, [(0, 0, 0)], inp_shift=list(shifts or [0] * len(kinds)))


def assert_same(one: Batch, other: Batch) -> None:
    assert (one.rows, one.n_in) == (other.rows, other.n_in)
    for a, b in zip(one.columns, other.columns, strict=True):
        assert len(a.mantissa) == one.rows
        finest = min(a.exponent, b.exponent)
        assert [int(v) << a.exponent - finest for v in a.mantissa] == [
            int(v) << b.exponent - finest for v in b.mantissa
        ]


def values(batch: Batch, column: int = 0) -> list[Fraction]:
    return [batch.value(row, column) for row in range(batch.rows)]


def joined(vectors: Vectors, cuts: Sequence[int]) -> Batch:
    """Return all rows, made in the parts between ``cuts``, the last part first."""
    parts = [vectors.slice(start, stop) for start, stop in reversed(list(pairwise(cuts)))][::-1]
    assert [part.rows for part in parts] == [stop - start for start, stop in pairwise(cuts)]
    return Batch.concatenate(parts)


class TestGenerated:
    @pytest.mark.parametrize(
        "cuts",
        [
            [0, 1, 2, 700, 701, 40_000],
            [0, BLOCK, 2 * BLOCK, 40_000],
            [0, BLOCK - 1, BLOCK + 1, 40_000],
            [0, 5, 2 * BLOCK + 3, 40_000],
            [0, 39_999, 40_000],
            [0, 0, 40_000, 40_000],
            [0, *range(9_000, 40_000, 9_000), 40_000],
        ],
    )
    def test_is_the_same_however_it_is_cut(self, cuts: list[int]) -> None:
        vectors = Generated([every_opcode()], 40_000, 3)
        assert_same(joined(vectors, cuts), vectors.slice(0, 40_000))
        assert_same(vectors.slice(0, 40_000), generate(every_opcode(), 40_000, 3))

    def test_of_wide_and_unread_inputs_is_the_same_however_it_is_cut(self) -> None:
        """Cuts do not change columns of Python integers, constants or unread inputs, or with exponents far apart."""
        program = readers((1, 79, 0), (0, 62, 0), (0, 0, 0), (1, 3, 60))
        program = Program.build(
            [(-1, j, -1, 0, tuple(op.type)) for j, op in enumerate(program.ops)],  # type: ignore[misc]
            [(0, 0, 0)],
            inp_shift=[0, 30, 0, -60, 5],
        )
        rows = BLOCK + 100
        vectors = Generated([program], rows, 0)
        assert_same(joined(vectors, [0, 3, BLOCK - 2, BLOCK + 2, BLOCK + 60, rows]), vectors.slice(0, rows))

    @given(programs(), st.integers(0, 99), st.lists(st.integers(0, 2 * BLOCK + 50), max_size=4))
    @settings(max_examples=examples(15), deadline=None)
    def test_of_any_program_is_the_same_however_it_is_cut(
        self, case: tuple[Program, Any], seed: int, cuts: list[int]
    ) -> None:
        rows = BLOCK + 40
        vectors = Generated([case[0]], rows, seed)
        stretches = sorted({0, rows, *(min(cut, rows) for cut in cuts)})
        assert_same(joined(vectors, stretches), vectors.slice(0, rows))

    def test_begins_alike_in_each_length_of_whole_blocks(self) -> None:
        """A longer run begins with the blocks of the shorter one."""
        short, long = (Generated([readers(S4)], rows, 3) for rows in (2 * BLOCK, 3 * BLOCK))
        assert_same(short.slice(0, 2 * BLOCK), long.slice(0, 2 * BLOCK))

    @pytest.mark.parametrize("rows", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 15, 2 * BLOCK])
    def test_has_as_many_rows_as_asked_for(self, rows: int) -> None:
        vectors = Generated([readers(S4, (1, 79, 0))], rows, 0)
        assert vectors.rows == rows
        assert vectors.slice(0, rows).rows == rows
        assert vectors.slice(0, rows + 5).rows == rows
        assert vectors.slice(rows, rows).rows == 0
        assert vectors.slice(max(rows - 1, 0), rows).rows == min(rows, 1)

    def test_depends_on_the_seed_in_every_block(self) -> None:
        one, other = (Generated([readers((1, 20, 0))], 3 * BLOCK, seed) for seed in (0, 1))
        for start in (0, BLOCK, 2 * BLOCK):
            stretches = [values(vectors.slice(start + 100, start + 1100)) for vectors in (one, other)]
            assert sum(a == b for a, b in zip(*stretches, strict=True)) < 200

    def test_no_two_blocks_or_inputs_are_alike(self) -> None:
        batch = Generated([readers((1, 40, 0), (1, 40, 0))], 3 * BLOCK, 0).slice(0, 3 * BLOCK)
        plain = {
            (block, j): batch.columns[j].mantissa[(block + 1) * BLOCK - 1000 : (block + 1) * BLOCK].tobytes()
            for block in range(3)
            for j in range(2)
        }
        assert len(set(plain.values())) == 6

    def test_of_many_millions_makes_only_what_is_asked_for(self) -> None:
        vectors = Generated([readers(S4)], 10**8, 0)
        assert vectors.slice(10**7, 10**7 + 7).rows == 7
        assert values(vectors.slice(10**8 - 3, 10**8)) == values(vectors.slice(10**8 - 3, 10**8))


class TestLaterBlocks:
    @pytest.mark.few(6)
    @pytest.mark.parametrize("kind", [S4, (0, 4, 0), (1, -2, 6), (0, 70, -60), (1, 63, 10), (1, 0, 0), (0, 1, 0)])
    @pytest.mark.parametrize("block", [1, 2])
    def test_hold_corners_and_what_is_off_the_grid_or_out_of_range(
        self, kind: tuple[int, int, int], block: int
    ) -> None:
        vectors = Generated([readers(kind, shifts=[-3])], 3 * BLOCK, 1)
        unit = Fraction(2) ** (3 - kind[2])
        seen = {value / unit for value in values(vectors.slice(block * BLOCK, (block + 1) * BLOCK))}
        lo, hi = FixedType(*kind).raw_min, FixedType(*kind).raw_max
        assert {lo, hi, lo - 1, hi + 1, 0, 1, -1} <= seen
        assert {hi + Fraction(1, 2), lo - Fraction(1, 2), Fraction(1, 2), Fraction(-1, 2), Fraction(-1, 4)} <= seen
        assert any(x > hi + 1 for x in seen) and any(x < lo - 1 for x in seen)

    def test_are_plain_for_the_most_part(self) -> None:
        """Most vectors are on the grid and in range, and all values are about equally frequent."""
        found = values(Generated([readers(S4)], 2 * BLOCK, 0).slice(BLOCK, 2 * BLOCK))
        plain = [x for x in found if x.denominator == 1 and -8 <= x <= 7]
        assert len(plain) > 0.93 * BLOCK
        counts = np.bincount([int(x) + 8 for x in found[BLOCK // 16 :]], minlength=16)
        assert counts.min() > 0.8 * counts.mean() and counts.max() < 1.2 * counts.mean()

    @pytest.mark.parametrize("bits", [1, 15, 16, 17, 31, 32, 33, 60, 61, 62, 63, 64, 65, 100])
    @pytest.mark.parametrize("signed", [0, 1])
    def test_reach_both_halves_of_every_type(self, bits: int, signed: int) -> None:
        """For types near the widths of machine integers, plain values are in range and reach all quarters of it."""
        kind = FixedType(signed, bits - signed, 0)
        rows = BLOCK + 2000
        found = values(Generated([readers(tuple(kind))], rows, 0).slice(BLOCK + 200, rows))
        assert all(x.denominator == 1 and kind.raw_min <= x <= kind.raw_max for x in found)
        quarters = {int(x - kind.raw_min) * 4 >> bits for x in found}
        assert quarters == ({0, 1, 2, 3} if bits > 1 else {0, 2})

    @pytest.mark.parametrize(("lo", "hi"), [(-3, 5), (-8, -8), (0, 7), (7, 7)])
    def test_keep_declared_intervals(self, lo: int, hi: int) -> None:
        program = replace(readers((1, 1, 2), shifts=[-1]), intervals=((lo, hi),))
        batch = Generated([program], BLOCK + 1600, 0).slice(BLOCK, BLOCK + 1600)
        seen = [oracle.trace(program, batch.row(row), violations=[])[0] * 4 for row in range(batch.rows)]
        assert min(seen) == lo and max(seen) == hi
        assert any(x * 8 % 4 for x in values(batch)), "off-grid values stay"

    def test_keep_declared_intervals_of_all_readers(self) -> None:
        """Declared are raw -8..7 of s4.0, 3..11 of u6.2 and -1..3 of s3.0: the input lies in 0.75..2.99."""
        rows = [(-1, 0, -1, 0, S4), (-1, 0, -1, 0, (0, 4, 2)), (-1, 0, -1, 0, (1, 2, 0))]
        program = replace(Program.build(rows, [], inp_shift=[0]), intervals=((-8, 7), (3, 11), (-1, 3)))
        batch = Generated([program], BLOCK + 1600, 0).slice(BLOCK, BLOCK + 1600)
        for row in range(batch.rows):
            found = oracle.trace(program, batch.row(row), violations=[])
            assert 3 <= found[1] * 4 <= 11 and -1 <= found[2] <= 3

    def test_of_an_input_that_nothing_reads_are_numbers(self) -> None:
        program = Program.build([(-1, 1, -1, 0, (0, 0, 0))], [], inp_shift=[0, 7])
        assert Generated([program], BLOCK + 5, 0).slice(BLOCK, BLOCK + 5).rows == 5
        assert len(set(values(Generated([program], 2 * BLOCK, 0).slice(BLOCK, 2 * BLOCK)))) > 5


def counting(start: int, rows: int) -> Batch:
    return Batch.of(np.stack([np.arange(start, start + rows), -np.arange(start, start + rows)], axis=1), 2)


class TestStimulus:
    def test_is_its_parts_in_order(self) -> None:
        stimulus = Stimulus([counting(0, 3), counting(3, 0), counting(3, 1), counting(4, 6)])
        assert stimulus.rows == 10
        for start in range(11):
            for stop in range(start, 11):
                assert_same(stimulus.slice(start, stop), counting(start, stop - start))

    def test_ends_where_its_parts_end(self) -> None:
        assert_same(Stimulus([counting(0, 3), counting(3, 4)]).slice(2, 100), counting(2, 5))

    def test_of_no_rows(self) -> None:
        batch = Stimulus([counting(0, 0), counting(0, 0)]).slice(0, 0)
        assert (batch.rows, batch.n_in) == (0, 2)

    def test_joins_what_was_given_as_doubles_and_as_integers(self) -> None:
        given = Batch.of(np.array([[0.1, -1e300], [2.0**-1074, 3.0]]), 2)
        huge = Batch.of([[1 << 100, Fraction(-3, 1 << 70)]], 2)
        stimulus = Stimulus([given, Generated([readers(S4, S4)], 5, 0), huge])
        batch = stimulus.slice(0, 8)
        assert batch.row(0) == [Fraction(0.1), Fraction(-1e300)]
        assert batch.row(1) == [Fraction(2.0**-1074), 3]
        assert batch.row(7) == [1 << 100, Fraction(-3, 1 << 70)]
        for row in range(8):
            assert stimulus.slice(row, row + 1).row(0) == batch.row(row)

    def test_asks_no_part_for_rows_that_it_need_not_make(self) -> None:
        asked: list[tuple[str, int, int]] = []

        class Part:
            def __init__(self, name: str, rows: int) -> None:
                self.rows, self._name = rows, name

            def slice(self, start: int, stop: int) -> Batch:
                asked.append((self._name, start, stop))
                return counting(start, stop - start)

        stimulus = Stimulus([Part("a", 5), Part("b", 5), Part("c", 5)])
        stimulus.slice(6, 9)
        stimulus.slice(5, 10)
        stimulus.slice(4, 11)
        assert asked == [("b", 1, 4), ("b", 0, 5), ("a", 4, 5), ("b", 0, 5), ("c", 0, 1)]


class TestSwept:
    @pytest.fixture(params=[0, 5])
    def swept(self, request: pytest.FixtureRequest) -> ExhaustiveRows:
        """Return rows for x + y of two inputs of 4 bits: 256 rows, beside a third input that output 0 does not read."""
        rows = [(-1, 0, -1, 0, S4), (-1, 1, -1, 0, S4), (-1, 2, -1, 0, (1, 30, 0)), (0, 0, 1, 0, (1, 4, 0))]
        program = Program.build(rows, [(3, 0, 0), (2, 0, 0)], inp_shift=[0, 0, 0])
        (exhaustive,) = plan(program, max_rows=1000, max_bits=8).passes
        return ExhaustiveRows(exhaustive, request.param)

    def test_is_the_same_however_it_is_cut(self, swept: ExhaustiveRows) -> None:
        assert swept.rows == 256
        whole = swept.slice(0, 256)
        assert {(a, b) for a, b, _ in map(whole.row, range(256))} == {
            (a, b) for a in range(-8, 8) for b in range(-8, 8)
        }
        rng = random.Random(1)
        for _ in range(20):
            cuts = sorted({0, 256, *(rng.randrange(257) for _ in range(rng.randrange(6)))})
            assert_same(joined(swept, cuts), whole)

    def test_is_random_where_it_does_not_count(self, swept: ExhaustiveRows) -> None:
        assert len(set(values(swept.slice(0, 256), 2))) > 250

    def test_of_another_seed_is_another(self, swept: ExhaustiveRows) -> None:
        other = ExhaustiveRows(swept._exhaustive, 77)
        assert values(swept.slice(0, 256), 2) != values(other.slice(0, 256), 2)

    def test_may_be_a_part_of_a_stimulus(self, swept: ExhaustiveRows) -> None:
        stimulus = Stimulus([Generated([readers(S4, S4, S4)], 10, 0), swept])
        assert_same(stimulus.slice(10, 266), swept.slice(0, 256))
        assert_same(joined(stimulus, [0, 7, 12, 200, 266]), stimulus.slice(0, 266))
