"""Bounds on the error of an approximation: no input exceeds them, small errors stay small, the solver tightens them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import raises

import dais_verif
from dais_verif.compile.approximation import KNOBS as ALL_KNOBS
from dais_verif.compile.approximation import parse as parse_configurations
from dais_verif.compile.networks import Network
from dais_verif.compile.networks.approximate import Approximated, approximate
from dais_verif.compile.networks.differences import output_differences
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.verbs.approximation import bounds
from dais_verif.verbs.approximation.bounds import Bounds, exact_outputs, plain_bounds, sharpened

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")


def network(seed: int, size: int = 4, bits: str = "INT4", channels: int = 1) -> bytes:
    """Return a network with random weights: convolution, bias, ReLU, 2x2 max pooling, quantiser, and a dense layer."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    cells = 2 * (size // 2) ** 2
    arrays = {
        "w": rng.integers(-4, 5, size=(2, channels, 3, 3)) / 2,
        "b": rng.integers(-4, 5, size=2) / 4,
        "m": rng.integers(-3, 4, size=(cells, 2)) / 2,
        "c": rng.integers(-4, 5, size=2) / 4,
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("Conv", ["d", "w", "b"], ["conv"], pads=[1] * 4),
        helper.make_node("Relu", ["conv"], ["relu"]),
        helper.make_node("MaxPool", ["relu"], ["pool"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("QuantizeLinear", ["pool", "s2", "z2"], ["q2"]),
        helper.make_node("DequantizeLinear", ["q2", "s2", "z2"], ["d2"]),
        helper.make_node("Flatten", ["d2"], ["flat"]),
        helper.make_node("Gemm", ["flat", "m", "c"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", channels, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            *(numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()),
            helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
            helper.make_tensor("z", getattr(TensorProto, bits), [], [0]),
            helper.make_tensor("s2", TensorProto.FLOAT, [], [0.5]),
            helper.make_tensor("z2", TensorProto.UINT4, [], [0]),
        ],
    )
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    return data


def under(data: bytes, conv: str, rest: str = "fp32 1") -> tuple[Any, Approximated]:
    """Return the exact network, and the one with knob ``conv`` for the convolution and ``rest`` for all other ops."""
    lines = [f"1 gpu conv {conv} add {rest} relu {rest} pool_max {rest}", f"2 gpu mul {rest} add {rest}"]
    file = parse_configurations("\n".join(["+++++", "c 1 1 0 0", *lines, "-----", ""]).encode())
    return dais_verif.networks.parse(data), approximate(data, file, "c")


def reached(exact: Any, made: Approximated, rows: np.ndarray) -> list[Fraction]:
    a, b = (exact_outputs(one.program(), rows, 1) for one in (exact, made.network))
    found: list[Fraction] = np.abs(b - a).max(axis=0).tolist()
    return found


KNOBS = ("fp32 11", "fp16 12", "perf 121", "perf 124", "perf_fp16 156", "samp 232", "samp 236", "samp_fp16 269")


@pytest.mark.few(4)
@pytest.mark.parametrize("conv", KNOBS)
@pytest.mark.parametrize("rest", ["fp32 1", "fp16 12"])
def test_no_input_exceeds_a_bound(conv: str, rest: str) -> None:
    rng = np.random.default_rng(7)
    for seed in range(2):
        exact, made = under(network(seed, bits="INT8" if seed else "INT4"), conv, rest)
        kind = exact.tensors["x"].type
        low, high = kind.raw_min, kind.raw_max
        rows = np.concatenate([rng.integers(low, high + 1, (40, 16)), rng.choice([low, high], (40, 16))]) / 2
        bound = plain_bounds(exact, made)
        assert all(a <= b for a, b in zip(reached(exact, made, rows), bound, strict=True))
        apart = zip(exact.bounds("y"), made.network.bounds("y"), strict=True)
        intervals = [max(b[1] - a[0], a[1] - b[0]) for a, b in apart]
        assert all(a <= b for a, b in zip(bound, intervals, strict=True))
        if (conv, rest) == ("fp32 11", "fp32 1"):
            assert bound == (0, 0)


@pytest.mark.parametrize(
    ("first", "count"), [(30, 8), pytest.param(1000, 300, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_input_of_a_random_network_exceeds_a_bound(first: int, count: int) -> None:
    """Nor do differences that have one sign for all inputs, as where a quantiser saturates one of two values."""
    from support.approximated_networks import random_case

    aside = 0
    for seed in range(first, first + count):
        case = random_case(seed)
        a, b = (exact_outputs(one.program(), case.rows, 1) for one in (case.exact, case.other))
        pairs = output_differences(case.exact, case.other, case.applied)
        for output, pair in enumerate(pairs):
            for values, (lo, hi) in zip((a, b, b - a), (pair.exact, pair.other, pair.difference), strict=True):
                column = values[:, output]
                assert lo <= column.min() and column.max() <= hi, (seed, output)
            aside += bool(column.min() > 0 or column.max() < 0)
    assert aside >= count / 2


def saturated() -> tuple[Network, Network, dict[str, Applied]]:
    """Return a network in which a quantiser saturates one of two values that differ, and it under knob 231."""
    from support.onnx_networks import Build

    build = Build()
    far = build.node("Add", build.input("x", [1, 2, 1, 2]), build.constant([100.0]))
    swapped = np.zeros((2, 2, 1, 2))
    swapped[0, 0, 0, 1] = swapped[1, 1, 0, 0] = 1
    sums = build.node("Conv", far, build.constant(swapped))
    narrow = build.quantise(sums, 0, np.uint8)
    data = build.bytes(build.node("Conv", narrow, build.constant(np.array([1, -1]).reshape(1, 2, 1, 1))))
    kinds, applied = {"x": (0, 7, -3)}, {sums: Applied(ALL_KNOBS[231])}
    exact = dais_verif.networks.parse(data, inputs=kinds)
    return exact, dais_verif.networks.parse(data, inputs=kinds, approximation=Approximation(applied)), applied


def test_a_difference_that_saturates_is_bounded() -> None:
    exact, other, applied = saturated()
    (pair,) = output_differences(exact, other, applied)
    rows = np.array([[0, 24, 120, 0], [0, 120, 24, 0]], dtype=float)
    a, b = (exact_outputs(one.program(), rows, 1)[:, 0] for one in (exact, other))
    assert max(b - a) == 89 <= pair.difference[1] and pair.difference[0] <= min(b - a)


def test_bounds_below_what_is_reached_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the beginning nor when the search finds a larger difference."""
    with raises(AssertionError):
        Bounds((Fraction(1), Fraction(2)), (Fraction(1), Fraction(3)))
    exact, made = under(network(3), "perf 121")
    monkeypatch.setattr(bounds._Search, "reached", lambda self, output: Fraction(1 << 20))
    plain = Bounds(plain_bounds(exact, made), (Fraction(0),) * 2)
    with raises(AssertionError):
        sharpened(exact, made, plain, np.zeros((1, 16)), 5.0, lambda what: None)


def test_bounds_of_one_layer_are_reached() -> None:
    """If the error is a sum over inputs, the bound is the largest error that occurs over all inputs."""
    from onnx import TensorProto, helper, numpy_helper

    w = np.array([[[[1.0, -2.0, 3.0]]]], dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[0, 1, 0, 1])],
        "row",
        [helper.make_tensor_value_info("x", TensorProto.INT2, [1, 1, 1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w")],
    )
    graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    file = parse_configurations(b"+++++\nc 1 1 0 0\n1 gpu conv perf 122\n-----\n")
    kinds = {"x": (1, 1, 0)}
    exact, made = dais_verif.networks.parse(data, inputs=kinds), approximate(data, file, "c", inputs=kinds)
    every = np.array(list(itertools.product(range(-2, 2), repeat=4)), dtype=np.float64)
    assert plain_bounds(exact, made) == tuple(reached(exact, made, every))
    assert plain_bounds(exact, made)[0] == 0 < plain_bounds(exact, made)[1]


def test_a_difference_that_is_small_stays_small() -> None:
    """Half precision changes a sum a little, which changes a result by at most one quantiser step per weight."""
    exact, made = under(network(1, bits="INT8"), "fp16 12")
    bound = plain_bounds(exact, made)
    weights = np.array(exact.constant("m"), dtype=object).reshape(8, 2)
    assert tuple(np.abs(weights).sum(axis=0) / 2 * 32) > bound


@pytest.mark.parametrize("conv", ["perf 121", "samp 233"])
def test_the_solver_gets_to_what_some_input_reaches(conv: str) -> None:
    exact, made = under(network(10, size=2, bits="INT2"), conv)
    plain, start = plain_bounds(exact, made), np.zeros((4, 4))
    found = sharpened(exact, made, Bounds(plain, (Fraction(0),) * 2), start, 20.0, lambda what: None)
    assert found.unfinished == () and found.bound == found.reached
    assert all(a <= b for a, b in zip(found.bound, plain, strict=True)) and found.bound != plain


def test_without_time_the_bound_stays_and_says_so() -> None:
    exact, made = under(network(3), "perf 121")
    plain = plain_bounds(exact, made)
    found = sharpened(exact, made, Bounds(plain, (Fraction(0),) * 2), np.zeros((4, 16)), 1e-9, lambda what: None)
    assert found.bound == plain and found.unfinished == (0, 1)
    assert all(0 < a < b for a, b in zip(found.reached, plain, strict=True)), "the search needs no solver"


def test_a_solver_that_the_golden_model_contradicts_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.prover import distance_limit as widest

    monkeypatch.setattr(
        widest.Apart, "within", lambda self, output, limit, seconds: widest.Answer(False, (Fraction(0),) * 16)
    )
    monkeypatch.setattr(bounds._Search, "reached", lambda self, output: Fraction(0))
    exact, made = under(network(3), "perf 121")
    plain = Bounds(plain_bounds(exact, made), (Fraction(0),) * 2)
    with raises(AssertionError):
        sharpened(exact, made, plain, np.zeros((1, 16)), 5.0, lambda what: None)


def test_a_knob_of_the_second_convolution_of_digits_costs_less_than_intervals_say() -> None:
    data = (Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx").read_bytes()
    lines = [
        f"{n} gpu conv {knob} add fp32 1 relu fp32 1 pool_max fp32 1" for n, knob in ((1, "fp32 11"), (2, "perf 131"))
    ]
    text = "\n".join(["+++++", "c 1 1 0 0", *lines, "3 gpu mul fp32 1 add fp32 1", "-----", ""])
    exact, made = dais_verif.networks.parse(data), approximate(data, parse_configurations(text.encode()), "c")
    apart = zip(exact.bounds("scores"), made.network.bounds("scores"), strict=True)
    assert 1.5 * max(plain_bounds(exact, made)) < max(max(b[1] - a[0], a[1] - b[0]) for a, b in apart)
