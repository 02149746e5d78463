"""Access patterns of kernels: exact regions, members and relations, compared with upstream's cases and enumeration."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kernel_cases import access_cases, evaluate_access
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.mapping import TensorAccess, map_region
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.regions import Region, Span, chunk_count, chunk_size, halved
from dais_verif.compile.kernels.touched import Touch, judge_touched

numbers = st.integers(-40, 40).map(lambda n: n / 4)
slopes = st.integers(4, 40).map(lambda n: n / 4)


def one_dim(size: int, pattern: DimPattern) -> TensorAccess:
    return TensorAccess.of([size], AccessPattern((pattern,)), dummy_dim=1)


class TestCases:
    def test_every_case_is_met(self) -> None:
        checks = [(case, check) for case in access_cases() for check in case["checks"]]
        assert len(checks) > 1000
        wrong = [(case["name"], check) for case, check in checks if evaluate_access(case, check) != check["expect"]]
        assert not wrong


class TestRegions:
    @given(slopes, slopes, numbers, numbers, st.integers(0, 50), st.integers(0, 9))
    def test_floor_of_the_start_ceiling_of_the_end(
        self, start_a: float, end_a: float, start_b: float, end_b: float, first: int, more: int
    ) -> None:
        found = DimPattern(0, start_a, end_a, start_b, end_b).span(Span(first, first + more))
        ends = Fraction(start_a) * first + Fraction(start_b), Fraction(end_a) * (first + more) + Fraction(end_b)
        assert found == (math.floor(min(ends)), math.ceil(max(ends)))

    def test_products_beyond_24_bits_are_exact(self) -> None:
        span = DimPattern.affine(0, 65537, 0, 65536).span(Span(65535, 65535))
        assert span == (65535 * 65537, 65535 * 65537 + 65536)

    def test_a_reversed_region_is_swapped(self) -> None:
        access = one_dim(40, DimPattern.affine(0, 4, 3, 0))
        assert access.region(Region((2,), (1,))) == ((8,), (4,))

    def test_coefficients_are_binary32(self) -> None:
        assert DimPattern(0, 1 / 3, 1 / 3).start_a == 0.3333333432674408
        for value in (math.nan, math.inf, 1e39):
            with raises(InputError):
                DimPattern(0, value)

    @pytest.mark.parametrize(
        ("pattern", "whole"),
        [
            (DimPattern.affine(0, 1, 0, 11), False),
            (DimPattern.affine(0, 1, 0, 12), True),
            (DimPattern.affine(0, 0.5, 0, 0), True),
            (DimPattern(0, 1, 0, 0, 0), True),
            (DimPattern(0, 0, 1, 0, 0), True),
            (DimPattern.affine(0, 1, 0, 0, all_required=True), True),
            (DimPattern(), True),
        ],
    )
    def test_what_counts_as_all_required(self, pattern: DimPattern, whole: bool) -> None:
        access = one_dim(12, pattern)
        assert access.all_required == (whole,)
        if whole:
            assert access.region(Region((5,), (1,))) == ((0,), (12,))

    def test_a_dimension_of_the_index_space_that_is_not_there(self) -> None:
        with raises(InputError):
            one_dim(12, DimPattern.affine(3, 1, 0, 0)).region(Region((0,), (1,)))

    def test_dimensions_beyond_five_are_in_further_patterns(self) -> None:
        point = DimPattern.affine(0, 1, 0, 0)
        access = TensorAccess.of([4] * 7, [AccessPattern((point,) * 5), AccessPattern((DimPattern(), point))], 1)
        assert access.all_required == (False,) * 5 + (True, False)
        assert TensorAccess.of([4] * 7, [AccessPattern((point,) * 5)], 1).all_required[5:] == (True, True)


class TestMembers:
    @given(st.integers(1, 9), numbers, st.integers(0, 12), st.integers(0, 9), st.integers(0, 9))
    def test_members_are_those_of_the_region(self, a: int, b: float, wide: int, first: int, more: int) -> None:
        access = one_dim(1000, DimPattern.affine(0, a, b, b + wide))
        members = Region((first,), (more + 1,))
        found = access.members(access.region(members), (30,))
        assert found == members if Fraction(b).denominator == 1 else found is None

    def test_a_region_that_is_no_union_is_not_mappable(self) -> None:
        access = one_dim(32, DimPattern.affine(0, 4, 0, 3))
        assert access.members(Region((2,), (4,)), (8,)) is None
        assert access.members(Region((4,), (6,)), (8,)) is None
        assert access.members(Region((8,), (12,)), (8,)) == ((2,), (3,))

    def test_dimensions_that_follow_the_same_members_must_agree(self) -> None:
        point = DimPattern.affine(0, 1, 0, 0)
        diagonal = TensorAccess.of([9, 9], AccessPattern((point, point)), 1)
        assert diagonal.members(Region((2, 3), (4, 4)), (9,)) == ((3,), (3,))
        assert diagonal.members(Region((2, 6), (2, 2)), (9,)) is None

    def test_a_region_is_mapped_from_tensor_to_tensor(self) -> None:
        x = TensorAccess.of([32], AccessPattern((DimPattern.affine(0, 2, -1, 1),)), 1)
        y = TensorAccess.of([16], AccessPattern((DimPattern.affine(0, 1, 0, 0),)), 1)
        assert map_region(y, Region((4,), (3,)), x, (16,)) == ((7,), (7,))
        assert map_region(x, Region((0,), (4,)), y, (16,)) is None


class TestTouched:
    AFFINE = DimPattern.affine(0, 64, 0, 63)

    @pytest.mark.parametrize(
        ("touched", "found"),
        [
            ((64, 191), Touch.OK),
            ((63, 191), Touch.EXCEEDED),
            ((64, 192), Touch.EXCEEDED),
            ((65, 191), Touch.SUB_OPTIMAL),
            ((64, 190), Touch.SUB_OPTIMAL),
        ],
    )
    def test_ranges(self, touched: tuple[int, int], found: Touch) -> None:
        assert judge_touched(self.AFFINE, Span(1, 2), Span(*touched), 300) is found

    def test_a_range_may_end_with_the_tensor(self) -> None:
        assert judge_touched(self.AFFINE, Span(4, 4), Span(256, 299), 300) is Touch.OK

    def test_less_is_right_where_it_is_allowed(self) -> None:
        assert judge_touched(self.AFFINE, Span(1, 2), Span(70, 100), 300, partial=True) is Touch.OK

    def test_what_is_all_required_is_not_judged(self) -> None:
        assert judge_touched(DimPattern(), Span(1, 2), Span(70, 100), 300) is Touch.OK


class TestChunks:
    @given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(1, 40))
    def test_halved_boxes_are_all_of_the_space_once(self, geometry: list[int], most: int) -> None:
        boxes = halved(geometry, most)
        seen = Counter(
            point for box in boxes for point in product(*(range(span.first, span.last + 1) for span in box.spans))
        )
        assert len(boxes) <= most and set(seen) == set(product(*map(range, geometry))) and set(seen.values()) == {1}

    def test_the_smaller_half_comes_first(self) -> None:
        assert halved((5, 3)) == (((0, 0), (2, 1)), ((2, 0), (3, 1)), ((0, 1), (2, 2)), ((2, 1), (3, 2)))

    @given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=3))
    def test_chunks_add_up(self, pairs: list[tuple[int, int]]) -> None:
        sizes, chunk = zip(*pairs, strict=True)
        counts = [-(-size // step) for size, step in pairs]
        all_sizes = [chunk_size(sizes, chunk, coord) for coord in product(*map(range, counts))]
        assert len(all_sizes) == chunk_count(sizes, chunk)
        assert sum(map(math.prod, all_sizes)) == math.prod(sizes)
