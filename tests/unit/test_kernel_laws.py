"""Laws of mappings: decisions for all members at once equal those found by enumerating members and elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, floor
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.said import as_recorded, raises
from support.tier import examples
from support.upstream_kernels import upstream

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels import mapping_laws as chains
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.data_types import DataType
from dais_verif.compile.kernels.mapping import Addressing, MappedTensor, Mapping, mapping_of
from dais_verif.compile.kernels.mapping_laws import Finding, Law, check_mapping, needed_pattern
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.regions import Region
from dais_verif.compile.kernels.rules import access, block, point, steps, whole, window
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor

Point = tuple[int, ...]


def members_of(mapping: Mapping) -> list[Point]:
    return list(product(*map(range, mapping.geometry)))


def elements_of(region: Region) -> list[Point]:
    return list(product(*(range(span.first, span.last + 1) for span in region.spans)))


def is_inside(element: Point, sizes: Point) -> bool:
    return all(0 <= x < size for x, size in zip(element, sizes, strict=True))


def writers(mapping: Mapping, output: MappedTensor) -> dict[Point, list[Point]]:
    """Return the members whose regions hold an element, for each element in any region, inside the output or not."""
    stated, found = mapping.windows(output), dict[Point, list[Point]]()
    for member in members_of(mapping):
        for element in elements_of(stated.region_of(member)):
            found.setdefault(element, []).append(member)
    return found


def broken(mapping: Mapping, *, inside: bool) -> Counter[tuple[Law, str]]:
    """Count the violations of laws of outputs by enumeration."""
    found: Counter[tuple[Law, str]] = Counter()
    idle = set(members_of(mapping))
    for output in mapping.outputs:
        written = writers(mapping, output)
        for element in product(*map(range, output.sizes)):
            by = written.get(element, [])
            idle -= set(by)
            found[Law.WRITTEN, output.name] += not by and not output.pattern.memset_before_execution
            found[Law.WRITTEN_ONCE, output.name] += len(by) > 1
        outside = any(not is_inside(element, output.sizes) for element in written)
        found[Law.WRITTEN_INSIDE, output.name] += inside and outside and 0 not in output.sizes
    found[Law.REACHED, ""] = len(idle)
    return +found


def assert_witness(mapping: Mapping, finding: Finding) -> None:
    """Assert that the witness of ``finding`` is correct."""
    if finding.law is Law.REACHED:
        for output in mapping.outputs:
            region = mapping.windows(output).region_of(finding.members[0])
            assert not any(is_inside(element, output.sizes) for element in elements_of(region))
        return
    (output,) = [output for output in mapping.outputs if output.name == finding.tensor]
    assert finding.element is not None
    by = writers(mapping, output).get(finding.element, [])
    if finding.law is Law.WRITTEN:
        assert not by and is_inside(finding.element, output.sizes)
    elif finding.law is Law.WRITTEN_ONCE:
        assert len(set(finding.members)) == 2 and set(finding.members) <= set(by)
        assert is_inside(finding.element, output.sizes)
    else:
        assert set(finding.members) <= set(by) and not is_inside(finding.element, output.sizes)


slopes = st.sampled_from([0, 0.5, 1, 1, 1, 1.5, 2, 2, 3])


@st.composite
def dim_patterns(draw: st.DrawFn, rank: int) -> DimPattern:
    a = draw(slopes)
    start = draw(st.sampled_from([0, 0, 0, -1, 1, 0.5, -2]))
    wide = draw(st.sampled_from([a - 1, a - 1, a, 0, 1, 5, 7]))
    end_a = draw(st.sampled_from([a, a, a, a + 1]))
    return DimPattern(draw(st.integers(0, rank - 1)), a, end_a, start, start + wide, draw(st.booleans()) and a == 3)


@st.composite
def mappings(draw: st.DrawFn) -> Mapping:
    geometry = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    outputs = []
    for at in range(draw(st.integers(1, 2))):
        sizes = tuple(draw(st.lists(st.integers(0, 6) | st.integers(1, 6), min_size=1, max_size=3)))
        dims = tuple(draw(dim_patterns(len(geometry))) for _ in sizes)
        pattern = AccessPattern(dims, all_required=draw(st.integers(0, 9)) == 0)
        outputs.append(MappedTensor(f"output {at}", sizes, pattern))
    return Mapping(geometry, (), tuple(outputs))


def bare(*findings: Finding) -> list[Finding]:
    """Return the findings without the patterns that would be right."""
    return [replace(one, tight=None) for one in findings]


class TestOutputs:
    @settings(max_examples=examples(150))
    @given(mappings(), st.booleans(), st.sampled_from([1, 2, 1 << 20]))
    def test_what_is_found_is_what_there_is(self, mapping: Mapping, inside: bool, stretch: int) -> None:
        before, chains.STRETCH = chains.STRETCH, stretch
        try:
            report = check_mapping(mapping, inside=inside)
        finally:
            chains.STRETCH = before
        expected = broken(mapping, inside=inside)
        assert {(finding.law, finding.tensor) for finding in report.findings} == set(expected)
        for finding in report.findings:
            assert_witness(mapping, finding)
            if finding.count is not None:
                assert finding.count == expected[finding.law, finding.tensor]

    def test_a_partition_passes(self) -> None:
        y = MappedTensor("y", (7, 9), access(block(0, 2), block(1, 3)))
        report = check_mapping(Mapping((4, 3), (), (y,)))
        assert (report.verdict, report.findings, report.members, report.elements) == (Verdict.PASS, (), 12, 63)
        (outside,) = check_mapping(Mapping((4, 3), (), (y,)), inside=True).findings
        as_recorded(str(outside))

    @pytest.mark.parametrize(
        ("geometry", "dims", "found"),
        [
            ((4,), [steps(0, 2, 0, 0)], Finding(Law.WRITTEN, "y", (), (1,), 4)),
            ((4,), [steps(0, 2, 0, 2)], Finding(Law.WRITTEN_ONCE, "y", ((0,), (1,)), (2,))),
            ((3,), [block(0, 2)], Finding(Law.WRITTEN, "y", (), (6,), 2)),
            ((5,), [block(0, 2)], Finding(Law.REACHED, "", ((4,),), None, 1)),
            ((4, 2), [block(0, 2)], Finding(Law.WRITTEN_ONCE, "y", ((0, 0), (0, 1)), (0,))),
            ((2,), [whole(8)], Finding(Law.WRITTEN_ONCE, "y", ((0,), (1,)), (0,))),
        ],
    )
    def test_findings_in_words(self, geometry: Point, dims: list[DimPattern], found: Finding) -> None:
        report = check_mapping(Mapping(geometry, (), (MappedTensor("y", (8,), access(*dims)),)))
        assert report.verdict is Verdict.RTL_MISMATCH and bare(*report.failures) == bare(found)
        as_recorded(*report.failures)

    def test_nothing_to_write_is_no_pass(self) -> None:
        assert check_mapping(Mapping((3,), (), ())).verdict is Verdict.RTL_MISMATCH
        y = MappedTensor("y", (0,), access(point(0)))
        assert {f.law for f in check_mapping(Mapping((1,), (), (y,))).findings} == {Law.REACHED}

    def test_real_sizes(self) -> None:
        """3 * 10^10 members and 4 * 10^18 elements are no problem, as the cost only grows with the sum of the sizes."""
        y = MappedTensor("y", (1 << 17, 1 << 15, 1 << 30), access(block(0, 128), point(1), block(2, 1 << 20)))
        good = Mapping((1 << 10, 1 << 15, 1 << 10), (), (y,))
        assert check_mapping(good).verdict is Verdict.PASS and good.members > 10**10
        (late,) = check_mapping(replace(good, geometry=(1 << 10, 1 << 15, (1 << 10) - 1))).findings
        assert late.count == 1 << 52 and late.element == (0, 0, (1 << 30) - (1 << 20))

    def test_numbers_beyond_64_bits(self) -> None:
        y = MappedTensor("y", (1 << 31, 1 << 31, 1 << 31), access(*(steps(0, 2.0**31, 0, 2.0**31),) * 3))
        report = check_mapping(Mapping((1,), (), (y,)))
        assert report.verdict is Verdict.PASS and report.elements == 1 << 93
        tiny = DimPattern(0, 1 + 2.0**-23, 1 + 2.0**-23, 2.0**-100, 0)
        report = check_mapping(Mapping((8,), (), (MappedTensor("y", (8,), access(tiny)),)))
        assert report.findings[0].law is Law.WRITTEN_ONCE

    def test_a_tensor_that_is_set_before_need_not_be_written(self) -> None:
        y = MappedTensor("y", (8,), access(steps(0, 2, 0, 0), memset=True))
        assert check_mapping(Mapping((4,), (), (y,))).verdict is Verdict.PASS


@st.composite
def touched(draw: st.DrawFn) -> Mapping:
    geometry = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    rank = draw(st.integers(1, 2))
    sizes = tuple(draw(st.lists(st.integers(1, 8), min_size=rank, max_size=rank)))
    slopes = draw(
        st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 1, 2, -1])] * len(geometry)), min_size=rank, max_size=rank)
    )
    offsets = draw(st.lists(st.tuples(*[st.integers(-1, 2)] * rank), min_size=1, max_size=4))
    dims = tuple(draw(dim_patterns(len(geometry))) for _ in sizes)
    x = MappedTensor("x", sizes, AccessPattern(dims), Addressing(tuple(slopes), tuple(offsets)))
    if draw(st.booleans()):
        x = replace(x, pattern=needed_pattern(Mapping(geometry, (x,), ()), x))
    y = MappedTensor("y", geometry, access(*map(point, range(len(geometry)))))
    return Mapping(geometry, (x,), (y,))


def touched_by(mapping: Mapping, tensor: MappedTensor, member: Point) -> list[Point]:
    addressing = mapping.addressing(tensor)
    moved = [sum(a * m for a, m in zip(row, member, strict=True)) for row in addressing.slopes]
    return [tuple(at + by for at, by in zip(row, moved, strict=True)) for row in addressing.offsets]


class TestInputs:
    @settings(max_examples=examples(150))
    @given(touched())
    def test_what_is_exceeded_is_found(self, mapping: Mapping) -> None:
        (x,) = mapping.inputs
        stated = mapping.access(x)

        def beyond(member: Point, element: Point) -> bool:
            spans = stated.region_of(member).spans
            pairs = zip(element, spans, stated.all_required, strict=True)
            return any(not required and not span.first <= at <= span.last for at, span, required in pairs)

        expected = any(beyond(member, e) for member in members_of(mapping) for e in touched_by(mapping, x, member))
        found = [finding for finding in check_mapping(mapping).findings if finding.law is Law.DECLARED]
        assert bool(found) == expected
        for finding in found:
            assert finding.element is not None and finding.element in touched_by(mapping, x, finding.members[0])
            assert beyond(finding.members[0], finding.element)

    @settings(max_examples=examples(150))
    @given(touched())
    def test_the_needed_pattern_holds_all_and_no_less_would(self, mapping: Mapping) -> None:
        (x,) = mapping.inputs
        tight = replace(mapping, inputs=(replace(x, pattern=needed_pattern(mapping, x)),))
        assert not [finding for finding in check_mapping(tight).findings if finding.tensor == "x"]
        report = check_mapping(mapping)
        if any(finding.law is Law.DECLARED for finding in report.findings):
            return

        def spare(member: Point) -> bool:
            """Return whether the region of ``member`` has tensor elements that are not needed, in some dimension."""
            regions = [one.windows(one.inputs[0]).region_of(member).spans for one in (mapping, tight)]
            pairs = zip(*regions, x.sizes, strict=True)
            return any(
                not narrow.first <= at <= narrow.last
                for wide, narrow, size in pairs
                for at in range(size)
                if wide.first <= at <= wide.last
            )

        assert bool(report.warnings) == any(map(spare, members_of(mapping)))
        for finding in report.warnings:
            assert finding.tight == needed_pattern(mapping, x) and spare(finding.members[0])

    def test_a_convolution(self) -> None:
        """Of three patterns for windows of 3 with stride 2, one is right, one ends too early, and one too late."""
        reads = Addressing(((2,),), tuple((k - 1,) for k in range(3)))
        y = MappedTensor("y", (5,), access(point(0)))

        def report(end: int) -> Sequence[Finding]:
            x = MappedTensor("x", (9,), access(steps(0, 2, -1, end)), reads)
            return check_mapping(Mapping((5,), (x,), (y,))).findings

        assert not report(1)
        assert bare(*report(0)) == bare(Finding(Law.DECLARED, "x", ((0,),), (1,)))
        (wide,) = report(2)
        assert bare(wide) == bare(Finding(Law.TIGHT, "x", ((0,),)))
        as_recorded(wide)
        dilated = window(0, stride=2, pad=1, kernel=2, dilation=2)
        assert dilated == steps(0, 2, -1, 1)

    def test_all_of_a_tensor_is_wider_than_a_part(self) -> None:
        x = MappedTensor("x", (8,), access(all_required=True), Addressing(((1,),), ((0,),)))
        y = MappedTensor("y", (8,), access(point(0)))
        report = check_mapping(Mapping((8,), (x,), (y,)))
        assert report.verdict is Verdict.PASS
        assert bare(*report.warnings) == bare(Finding(Law.TIGHT, "x", ((0,),)))
        as_recorded(*report.warnings)


class TestBlocks:
    """A block must write exactly the region of its member."""

    def report(self, offsets: list[Point], slope: int = 2) -> Sequence[Finding]:
        y = MappedTensor("y", (8,), access(block(0, 2)), Addressing(((slope,),), tuple(offsets)))
        return check_mapping(Mapping((4,), (), (y,))).findings

    def test_it_does(self) -> None:
        assert not self.report([(0,), (1,)]) and not self.report([(1,), (0,)])

    def test_it_does_not(self) -> None:
        assert bare(*self.report([(0,), (2,)])) == bare(Finding(Law.DECLARED, "y", ((0,),), (2,)))
        assert bare(*self.report([(0,), (1,)], slope=1)) == bare(Finding(Law.DECLARED, "y", ((3,),), (3,)))
        assert bare(*self.report([(0,)])) == bare(Finding(Law.WRITTEN, "y", ((0,),)))
        assert bare(*self.report([(0,), (1,), (0,)])) == bare(Finding(Law.WRITTEN_ONCE, "y", ((0,),), (0,)))
        as_recorded(*self.report([(0,)]))
        y = MappedTensor("y", (9,), access(block(0, 3)), Addressing(((3,),), ((0,), (2,))))
        (finding,) = check_mapping(Mapping((3,), (), (y,))).findings
        as_recorded(str(finding))


@st.composite
def written_by_blocks(draw: st.DrawFn) -> Mapping:
    """Draw a mapping whose block states what it writes: its window or another one, even wider than the tensor."""
    geometry = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    sizes, dims, slopes, ranges = [], [], [], []
    for d in range(draw(st.integers(1, 2))):
        e = d % len(geometry) if draw(st.integers(0, 3)) else draw(st.integers(0, len(geometry) - 1))
        a, first = draw(st.sampled_from([1, 1, 2])), draw(st.sampled_from([0, 0, 0, -1, 1, 2, -4]))
        last = first + draw(st.sampled_from([a - 1, a - 1, a - 1, 4, 6]))
        sizes.append(draw(st.sampled_from([a * geometry[e], a * geometry[e], 4, 1])))
        dims.append(DimPattern.affine(e, a, first, last, all_required=draw(st.integers(0, 4)) == 0))
        slopes.append(tuple(a * (at == e) for at in range(len(geometry))))
        if draw(st.integers(0, 3)) == 0:
            slopes[-1] = tuple(draw(st.sampled_from([-1, 0, 1])) for _ in geometry)
            first, last = draw(st.sampled_from([(first, last), (0, sizes[-1] - 1), (0, 0)]))
        ranges.append(range(first, last + 1))
    written = Addressing(tuple(slopes), tuple(product(*ranges)))
    y = MappedTensor("y", tuple(sizes), access(*dims), written)
    return Mapping(geometry, (), (y,))


class TestWhatBlocksWrite:
    @settings(max_examples=examples(150))
    @given(written_by_blocks())
    def test_a_mapping_that_passes_writes_each_element_once(self, mapping: Mapping) -> None:
        (y,) = mapping.outputs
        stated = replace(mapping, outputs=(replace(y, addressing=None),))
        for one in (mapping, stated):
            (output,) = one.outputs
            elements = {member: touched_by(one, output, member) for member in members_of(one)}
            counts = Counter(element for of_member in elements.values() for element in of_member)
            lawful = all(counts[element] == 1 for element in product(*map(range, y.sizes)))
            lawful &= all(any(is_inside(e, y.sizes) for e in of_member) for of_member in elements.values())
            for inside in (False, True):
                passed = check_mapping(one, inside=inside).verdict is Verdict.PASS
                right = lawful and not (inside and any(not is_inside(element, y.sizes) for element in counts))
                assert right or not passed
                assert passed or not right or output.addressing is not None

    @pytest.mark.parametrize(
        ("geometry", "sizes", "dims", "found"),
        [
            ((1,), (4,), [steps(0, 1, 2, 7)], [Finding(Law.WRITTEN, "y", (), (0,), 2)]),
            (
                (1,),
                (4,),
                [steps(0, 1, 4, 8)],
                [Finding(Law.WRITTEN, "y", (), (0,), 4), Finding(Law.REACHED, "", ((0,),), None, 1)],
            ),
            (
                (4,),
                (1, 4),
                [steps(0, 1, 0, 1), point(0)],
                [Finding(Law.WRITTEN, "y", (), (0, 1), 3), Finding(Law.REACHED, "", ((1,),), None, 3)],
            ),
        ],
    )
    def test_a_window_as_wide_as_the_tensor_is_no_more_than_a_window(
        self, geometry: Point, sizes: Point, dims: list[DimPattern], found: list[Finding]
    ) -> None:
        y = MappedTensor("y", sizes, access(*dims))
        mapping = Mapping(geometry, (), (y,))
        assert bare(*check_mapping(mapping).failures) == found
        literal = Mapping(geometry, (), (replace(y, addressing=mapping.addressing(y)),))
        assert bare(*check_mapping(literal).failures) == found

    def test_a_block_may_write_all_where_its_window_counts_as_all(self) -> None:
        y = MappedTensor("y", (4,), access(steps(0, 1, 2, 7)), Addressing(((1,),), tuple((at,) for at in range(4))))
        assert check_mapping(Mapping((1,), (), (y,)), inside=True).verdict is Verdict.PASS

    def test_all_of_a_dimension_is_written_by_each_member(self) -> None:
        """A finding is made if the block's elements move down from member to member and partly leave the tensor."""
        y = MappedTensor("y", (2, 3), access(whole(2), point(0)), Addressing(((-1,), (1,)), ((0, 0), (1, 0))))
        (finding,) = check_mapping(Mapping((3,), (), (y,))).failures
        assert finding.law is Law.WRITTEN and finding.members in (((1,),), ((2,),))


class TestUpstream:
    """The laws find quirks that upstream documents of its kernels."""

    def mapping(self, name: str, inputs: list[Tensor], outputs: list[Tensor], version: str = "1.11") -> Mapping:
        params = HabanaKernelParams(name, tuple(inputs), tuple(outputs), bytes(4))
        return mapping_of(params, instantiate(upstream(version), params))

    def test_add_has_idle_members(self) -> None:
        x = Tensor.of(DataType.F32, 100, 5, 5, 1, 2)
        report = check_mapping(self.mapping("custom_add_f32", [x, x], [x]))
        (finding,) = report.failures
        assert finding.law is Law.REACHED and finding.members == ((0, 0, 2, 0, 0),)

    def test_gather_covers_a_quarter(self) -> None:
        x = Tensor.of(DataType.I32, 4, 4, 1, 1, 1)
        (finding,) = check_mapping(self.mapping("custom_gather_fwd_dim0_i32", [x, x], [x])).failures
        assert finding.law is Law.WRITTEN and finding.count == 12

    @pytest.mark.parametrize(("width", "busy"), [(9, 1), (300, 3)])
    def test_softmax_has_a_member_an_element(self, width: int, busy: int) -> None:
        x = Tensor.of(DataType.BF16, width, 4)
        (finding,) = check_mapping(self.mapping("custom_softmax_non_fcd_bf16", [x], [x])).failures
        assert finding.law is Law.REACHED and finding.count == width - busy

    def test_leaky_relu_is_right(self) -> None:
        x = Tensor.of(DataType.F32, 100, 7, 5, 2)
        assert check_mapping(self.mapping("custom_leakyrelu_f32_gaudi", [x], [x])).verdict is Verdict.PASS


class TestMappings:
    def test_an_empty_index_space_is_refused(self) -> None:
        for geometry in ((), (3, 0)):
            with raises(InputError):
                Mapping(geometry, (), ())

    def test_a_pattern_of_a_dimension_that_is_not_there_is_refused(self) -> None:
        with raises(InputError):
            Mapping((3,), (), (MappedTensor("y", (3,), access(point(1))),))

    def test_members_of_different_shapes_have_no_block(self) -> None:
        growing = MappedTensor("y", (40,), access(DimPattern(0, 1, 2, 0, 1)))
        mapping = Mapping((3,), (), (growing,))
        with raises(InputError):
            mapping.addressing(growing)


def test_regions_of_members_with_large_numbers_are_exact() -> None:
    for first, slope in ((0, Fraction(1 << 30)), (1 << 40, Fraction(1 << 30)), (1 << 40, Fraction(1 << 30, 3))):
        pattern: Any = SimpleNamespace(exact=(slope, Fraction(-1), slope, Fraction(5)))
        starts, ends = chains.affine_spans(pattern, first, 3)
        assert starts.tolist() == [floor(slope * member - 1) for member in range(first, first + 3)]
        assert ends.tolist() == [ceil(slope * member + 5) for member in range(first, first + 3)]
