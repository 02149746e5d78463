"""The reference convolution equals exact vectors of all 56 knobs, loops written from the rules, and numpy's float16."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.places import HPVM
from support.said import as_recorded, raises

from dais_verif.base.errors import ApproximationError, InputError
from dais_verif.compile import approximation as approx
from dais_verif.compile.approximation.convolution import STEPS, half_steps
from dais_verif.compile.approximation.knobs import SUPPORTED

VECTORS = json.loads(gzip.decompress((HPVM / "conv_vectors.json.gz").read_bytes()))
CONV_KNOBS = sorted(number for number, knob in approx.KNOBS.items() if knob.approximation in SUPPORTED)


def convolved(case: dict[str, Any], knob: int) -> tuple[list[int], list[Fraction]]:
    x, w = (np.array(case[name]).reshape(case[f"{name}_shape"]) for name in "xw")
    y = approx.convolve(x, w, case["bias"], stride=case["stride"], pad=case["pad"], groups=case["groups"], knob=knob)
    return list(y.shape), y.ravel().tolist()


@pytest.mark.parametrize("knob", CONV_KNOBS)
def test_each_knob_gives_the_exact_vectors(knob: int) -> None:
    cases = [case for case in VECTORS["cases"] if case["knob"] == knob]
    assert len(cases) >= 3
    for case in cases:
        expected = [Fraction(value, case["scale"]) for value in case["y"]]
        assert convolved(case, knob) == (case["y_shape"], expected), case["id"]


def test_no_two_knobs_pass_for_each_other() -> None:
    """For any two knobs of the same precision, at least one vector of either tells them apart."""
    passed: Counter[tuple[int, int]] = Counter()
    for case in VECTORS["cases"]:
        if case["groups"] > 1 or case["rule"] != "exact":
            continue
        expected = [Fraction(value, case["scale"]) for value in case["y"]]
        for knob in CONV_KNOBS:
            if approx.KNOBS[knob].half == approx.KNOBS[case["knob"]].half and knob != case["knob"]:
                try:
                    passed[case["knob"], knob] += convolved(case, knob)[1] == expected
                except InputError:
                    continue
    total = Counter(case["knob"] for case in VECTORS["cases"] if case["groups"] == 1 and case["rule"] == "exact")
    same = {pair for pair, count in passed.items() if count == total[pair[0]]}
    assert not [pair for pair in same if pair[::-1] in same]


@pytest.mark.parametrize("at", range(len(VECTORS["refuse"])))
def test_what_leaves_nothing_to_compute_is_refused(at: int) -> None:
    case = VECTORS["refuse"][at]
    x, w = (np.ones(case[f"{name}_shape"], dtype=int) for name in "xw")
    with raises(ApproximationError):
        approx.convolve(x, w, stride=case["stride"], pad=case["pad"], groups=case["groups"], knob=case["knob"])


# the same rules, written as loops


def slowly(x: Any, w: Any, bias: Any, stride: tuple[int, int], pad: tuple[int, int], knob: approx.Knob) -> Any:
    """Return the convolution, each output computed on its own with fractions, in single precision."""
    count, channels, height, width = x.shape
    filters, _, kh, kw = w.shape
    size, s, offset = kh * kw, knob.period, knob.offset

    def kept(c: int, p: int) -> bool:
        if knob.axis != "filter":
            return True
        if size % s == 0:
            return p % s != (offset + c) % s
        j = c * size + p
        return j < offset or (j - offset) % s != 0

    factor = Fraction(s, s - 1) if knob.axis == "filter" else Fraction(1)

    def raw(n: int, k: int, row: int, column: int) -> Fraction:
        total = Fraction(0)
        for c in range(channels):
            for p in range(size):
                r, q = row * stride[0] + p // kw - pad[0], column * stride[1] + p % kw - pad[1]
                if kept(c, p) and 0 <= r < height and 0 <= q < width:
                    total += factor * w[k, c, p // kw, p % kw] * x[n, c, r, q]
        return total

    rows, columns = (height + 2 * pad[0] - kh) // stride[0] + 1, (width + 2 * pad[1] - kw) // stride[1] + 1

    def filled(n: int, k: int, row: int, column: int) -> Fraction:
        i, places = (row, rows) if knob.axis == "rows" else (column, columns)
        if knob.axis in (None, "filter") or i < offset or (i - offset) % s:
            return raw(n, k, row, column)
        near = [1] if i == 0 else [places - 2] if i == places - 1 else [i - 1, i + 1]
        found = [raw(n, k, j, column) if knob.axis == "rows" else raw(n, k, row, j) for j in near]
        return sum(found, Fraction(0)) / len(found)

    y = np.empty((count, filters, rows, columns), dtype=object)
    for n, k, row, column in np.ndindex(y.shape):
        y[n, k, row, column] = filled(n, k, row, column) + (bias[k] if bias is not None else 0)
    return y


@pytest.mark.parametrize("knob", [11, *range(121, 139), *range(231, 240)])
def test_it_is_what_loops_give_on_random_shapes(knob: int) -> None:
    rng = random.Random(knob)
    numbers = [Fraction(1, 3), Fraction(-7, 5), *map(Fraction, range(-9, 10))]
    for scale in (1, 1, 1, 3**50):
        channels, filters, kh, kw = (rng.randint(1, 3) for _ in range(4))
        stride, pad = ((rng.randint(1, 2), rng.randint(1, 2)), (rng.randint(0, 2), rng.randint(0, 2)))
        shape = (rng.randint(1, 2), channels, kh + rng.randint(1, 5), kw + rng.randint(1, 5))
        x, w = np.empty(shape, dtype=object), np.empty((filters, channels, kh, kw), dtype=object)
        for array in (x, w):
            array.ravel()[:] = [scale * rng.choice(numbers) for _ in range(array.size)]
        bias = [rng.choice(numbers) for _ in range(filters)] if rng.random() < 0.5 else None
        try:
            y = approx.convolve(x, w, bias, stride=stride, pad=pad, knob=knob)
        except InputError as error:
            as_recorded(str(error))
            continue
        assert y.tolist() == slowly(x, w, bias, stride, pad, approx.KNOBS[knob]).tolist()


@pytest.mark.parametrize("knob", [11, 123, 232])
def test_nothing_is_lost_where_integers_grow(knob: int) -> None:
    """Sums, products and interpolated values stay exact integers of any size."""
    rng = np.random.default_rng(knob)
    x, w = rng.integers(-9, 9, (1, 2, 5, 5)).astype(object), rng.integers(-9, 9, (2, 2, 3, 3)).astype(object)
    big = 3**60
    found = approx.convolve(x * big, w * big, pad=2, knob=knob)
    assert found.tolist() == (approx.convolve(x, w, pad=2, knob=knob) * big**2).tolist()


def test_integers_of_any_size_are_exact() -> None:
    big = 3**60
    assert approx.convolve([[[[big, 1]]]], [[[[big, -1]]]]).tolist() == [[[[big * big - 1]]]]
    near = (1 << 31) - 1
    assert approx.convolve([[[[near] * 4]]], [[[[near] * 4]]]).tolist() == [[[[4 * near * near]]]]


@pytest.mark.parametrize("shape", [(9, 1, 1), (1, 9, 1), (1, 1, 9), (3, 3, 1)])
def test_sums_beyond_int64_are_exact(shape: tuple[int, ...]) -> None:
    """A sum is exact if it exceeds int64 although each of its products fits int64."""
    x = np.full((1, *shape), 1 << 30)
    assert approx.convolve(x, x).tolist() == [[[[9 << 60]]]]


@pytest.mark.parametrize(("channels", "filters", "depth"), [(4, 3, 2), (3, 4, 2), (4, 4, 1), (4, 4, 4)])
def test_groups_divide_channels_and_filters(channels: int, filters: int, depth: int) -> None:
    x, w = np.ones((1, channels, 3, 3), dtype=int), np.ones((filters, depth, 1, 1), dtype=int)
    with raises(InputError):
        approx.convolve(x, w, groups=2)


def test_two_groups_have_no_knob_of_a_conv() -> None:
    x, w = np.ones((1, 4, 3, 3), dtype=int), np.ones((4, 2, 1, 1), dtype=int)
    with raises(InputError):
        approx.convolve(x, w, groups=2, knob=124)


def test_numbers_of_every_kind_are_taken_for_what_they_are() -> None:
    x: list[Any] = [0.1, Decimal("0.1"), Fraction(1, 10), np.float16(0.1), np.int8(3)]
    y = approx.convolve([[[x]]], [[[[1]]]]).ravel().tolist()
    assert y == [Fraction(0.1), Fraction(1, 10), Fraction(1, 10), Fraction(float(np.float16(0.1))), 3]


def test_integers_of_numpy_say_how() -> None:
    one, two = np.int64(1), np.array([1, 2])
    x, w = np.arange(36).reshape(1, 1, 6, 6), np.ones((1, 1, 2, 2), dtype=np.uint8)
    found = approx.convolve(x, w, stride=two, pad=one, groups=np.int8(1), knob=np.int16(123))  # type: ignore[arg-type]
    assert found.tolist() == approx.convolve(x, w, stride=(1, 2), pad=(1, 1), knob=123).tolist()


def test_groups_are_convolutions_of_their_own() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.integers(-9, 9, (2, 4, 5, 5)), rng.integers(-9, 9, (6, 2, 3, 2))
    whole = approx.convolve(x, w, groups=2, knob=12)
    parts = [approx.convolve(x[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3], knob=12) for g in range(2)]
    assert whole.tolist() == np.concatenate(parts, axis=1).tolist()


# half precision


@pytest.mark.parametrize("lowest", [-30, -20, -12, 0, 10])
def test_rounding_is_numpys(lowest: int) -> None:
    """Rounding equals numpy's for ties, subnormals and zero; ``np.float16(float)`` rounds only once."""
    rng = random.Random(lowest)
    for _ in range(3000):
        digits = rng.choice((1, 11, 12, 13, 40))
        value = Fraction(rng.randint(-(1 << digits), 1 << digits)) * Fraction(2) ** (lowest - rng.randint(0, digits))
        if abs(value) < 65520:
            assert Fraction(half_steps(*value.as_integer_ratio()), STEPS) == Fraction(float(np.float16(float(value))))


def test_rounding_takes_fractions_that_are_no_floats() -> None:
    half = Fraction(1) + Fraction(1, 1 << 11)  # halfway between 1 and the next half-precision number
    above, below = half + Fraction(1, 3**50), half - Fraction(1, 3**50)
    found = [half_steps(*value.as_integer_ratio()) for value in (below, half, above, -above)]
    assert found == [STEPS, STEPS, STEPS + (STEPS >> 10), -STEPS - (STEPS >> 10)]


@pytest.mark.parametrize(("value", "fits"), [(65519, True), (65520, False), (-65519, True), (-65520, False)])
def test_what_would_be_infinite_is_refused(value: int, fits: bool) -> None:
    if fits:
        assert half_steps(value, 1) == (65504 * STEPS if value > 0 else -65504 * STEPS)
    else:
        with raises(InputError):
            half_steps(value, 1)


def test_infinities_on_the_way_are_refused_where_they_are_computed() -> None:
    x = [[[[60000, 1, 60000]]]]
    assert approx.convolve(x, [[[[1]]]], knob=12)[0, 0, 0, 0] == 60000
    with raises(InputError):
        approx.convolve(x, [[[[2]]]], knob=12)
    with raises(InputError):  # the sum of both neighbours
        approx.convolve(x, [[[[1]]]], knob=152)
    assert approx.convolve(x, [[[[2]]]], knob=122)[0, 0, 0, 1] == 120000
    with raises(InputError):
        approx.convolve([[[[70000]]]], [[[[0]]]], knob=12)
    skipped = [[[[60000, 1, 1]]]]
    assert approx.convolve(skipped, [[[[2]]]], knob=151).ravel().tolist() == [2, 2, 2], (
        "what is skipped is not computed"
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"x": [[1, 2], [3, 4]]}, r"x.*4"),
        ({"x": [[[[1, 2], [3]]]]}, r"x.*4"),
        ({"x": [np.ones((1, 2, 2)), np.ones((1, 2, 3))]}, "rows"),
        ({"x": [[[[]]]]}, "empty"),
        ({"x": [[[[float("nan")]]]]}, r"x.*'nan'"),
        ({"w": [[[["a"]]]]}, r"w.*'a'"),
        ({"w": [[[[True]]]]}, r"w.*'True'"),
        ({"w": [[[[1, 2, 3]]]]}, r"3 columns.*2.*x"),
        ({"bias": [1, 2]}, r"1.*2"),
        ({"groups": 2}, r"1.*x in 2 groups do.*w of shape"),
        ({"groups": 0}, r"groups.*number of 1"),
        ({"stride": 0}, "number of 1"),
        ({"stride": (1, 2, 3)}, "number of 1"),
        ({"pad": -1}, r"pad.*number of 0"),
        ({"pad": None}, r"pad.*number of 0"),
        ({"pad": 1 << 40}, r"pad.*number of 0"),
        ({"pad": (0.5, 1)}, r"pad.*number of 0"),
        ({"knob": 999}, "knob 999"),
        ({"knob": "11"}, "knob '11'"),
        ({"knob": 41}, "knob 41 is red_samp"),
        ({"knob": 3}, ""),
    ],
)
def test_what_cannot_be_convolved_is_one_line(wrong: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"x": [[[[1, 2], [3, 4]]]], "w": [[[[1]]]], **wrong}
    with raises(ApproximationError, match=words):
        approx.convolve(asked.pop("x"), asked.pop("w"), **asked)


def test_a_knob_of_ones_own_table() -> None:
    knob = approx.Knob(170, "perf", Decimal("1.25"), "columns", 5, 1)
    assert approx.convolve([[[[2, 0, 4, 5, 6, 7, 0]]]], [[[[1]]]], knob=knob).ravel().tolist() == [2, 3, 4, 5, 6, 7, 7]
