"""Tanh, Sigmoid, Softmax and means of 9, which are not fixed-point, give the rounded exact value once quantised."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from support.onnx_networks import Build, compare, random_inputs, reference
from support.said import as_recorded

from dais_verif.compile.networks import Network, NetworkError, parse
from dais_verif.compile.networks.rounding import FUNCTIONS, exp
from dais_verif.golden.run_any import run

MODES = ["ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", ["Tanh", "Sigmoid"])
def test_tables_are_those_of_onnx_on_all_inputs(op: str, mode: str) -> None:
    """All 256 inputs are tried, also 0, where the value is a whole number of steps; ONNX gets them as one row."""
    b = Build()
    y = b.quant(b.node(op, b.quantise(b.input("x", [256]), -5)), -6, 7, 1, 0, mode)
    network, x = parse(b.bytes(y)), np.arange(-128, 128) / 32
    got = run(network.program(), x[None]).ravel()
    expected = reference(b.model(y), network, x, [y])
    assert got.tolist() == expected.tolist() and len(set(got.tolist())) > 40


def decided(value: float, tolerance: float = 1e-9) -> bool:
    """Return whether the double ``value`` is far enough from multiples of half a step to decide the rounding."""
    return abs(2 * value - round(2 * value)) > tolerance * max(1.0, abs(value))


@pytest.mark.parametrize("bits", [8, 15, 24])
def test_functions_are_rounded_as_their_exact_values(bits: int) -> None:
    rng, count = random.Random(bits), 0
    functions = {**FUNCTIONS, "exp": exp}
    doubles: dict[str, Callable[[float], float]] = {
        "Tanh": math.tanh,
        "Sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "exp": math.exp,
    }
    for _ in range(500):
        x = Fraction(rng.randint(-(2**12), 2**12), 2 ** rng.randint(9, 12))
        for name, function in doubles.items():
            value = function(float(x)) * 2.0**bits
            if decided(value):
                count += 1
                assert math.floor(2 * functions[name](x, -bits)) == math.floor(2 * value)
    assert count > 1200


def test_far_from_0_the_values_are_next_to_their_limits() -> None:
    for x in (40, 10**6, 2**4000):
        assert [FUNCTIONS["Tanh"](Fraction(sign * x), -8) for sign in (1, -1)] == [
            Fraction(1023, 4),
            Fraction(-1023, 4),
        ]
        assert [FUNCTIONS["Sigmoid"](Fraction(sign * x), -8) for sign in (1, -1)] == [Fraction(1023, 4), Fraction(1, 4)]
    assert FUNCTIONS["Tanh"](Fraction(0), -8) == 0 and FUNCTIONS["Sigmoid"](Fraction(0), 1) == Fraction(1, 4)


def softmax(count: int, exponent: int, dtype: type, shift: int = -4) -> tuple[Build, str, Network]:
    b = Build()
    y = b.quantise(b.node("Softmax", b.quantise(b.input("x", [1, count]), shift)), exponent, dtype)
    return b, y, parse(b.bytes(y))


@pytest.mark.parametrize(("count", "exponent", "dtype"), [(1, -8, np.uint8), (2, -6, np.int8), (5, -8, np.uint8)])
def test_softmax_is_that_of_onnx(count: int, exponent: int, dtype: type) -> None:
    b, y, network = softmax(count, exponent, dtype)
    rng = np.random.default_rng(1)
    close = rng.integers(-30, 30, (40, count)) / 16
    x = np.concatenate([random_inputs(network, 20, 0), close, np.zeros((1, count)), np.eye(count)])
    got = run(network.program(), x)
    expected = [reference(b.model(y), network, row, [y]).tolist() for row in x]
    assert got.tolist() == expected and (count == 1 or len(np.unique(expected)) > 20)


@pytest.mark.parametrize(("mode", "expected"), [("ROUND", 0.0), ("HALF_UP", 0.25), ("HALF_DOWN", 0.0), ("UP", 0.25)])
def test_a_tie_of_softmax_is_one(mode: str, expected: float) -> None:
    """A tie of softmax is rounded as one: each of 8 equal numbers gives an eighth, which is half a step."""
    b = Build()
    y = b.quant(b.node("Softmax", b.quantise(b.input("x", [1, 8]), -4)), -2, 8, 1, 0, mode)
    assert run(parse(b.bytes(y)).program(), np.ones((1, 8))).tolist() == [[expected] * 8]


@pytest.mark.parametrize(("mode", "expected"), [("UP", [1.0, 0.25, 0.25]), ("DOWN", [0.75, 0.0, 0.0])])
def test_results_of_softmax_are_neither_0_nor_1(mode: str, expected: list[float]) -> None:
    """Before rounding, the results for 15.875, -16 and -16 are 1 - 3e-14 and 1.4e-14, not 1 and 0."""
    b = Build()
    y = b.quant(b.node("Softmax", b.quantise(b.input("x", [1, 3]), -3)), -2, 8, 1, 0, mode)
    assert run(parse(b.bytes(y)).program(), [[15.875, -16.0, -16.0]]).tolist() == [expected]


@pytest.mark.parametrize("opset", [11, 21])
def test_axes_of_softmax_are_those_of_the_version(opset: int) -> None:
    b = Build(opset)
    y = b.quantise(b.node("Softmax", b.quantise(b.input("x", [2, 2, 2]), -4), axis=1), -6)
    model = b.model(y)
    if opset == 11:  # the reference knows only the newer definition
        b = Build()
        flat = b.node("Reshape", b.quantise(b.input("x", [2, 2, 2]), -4), b.constant([2, 4], np.int64))
        z = b.quantise(b.node("Reshape", b.node("Softmax", flat), b.constant([2, 2, 2], np.int64)), -6)
        network, newer = parse(model.SerializeToString()), parse(b.bytes(z))
        rows = random_inputs(network, 6, 0)
        assert run(network.program(), rows).tolist() == run(newer.program(), rows).tolist()
    else:
        compare(model, parse(model.SerializeToString()), [y])


@pytest.mark.parametrize("mode", MODES)
def test_means_of_any_number_are_those_of_onnx(mode: str) -> None:
    b = Build()
    x = b.quantise(b.input("x", [1, 1, 3, 4]), -4)
    mean = b.quant(b.node("AveragePool", x, kernel_shape=[3, 3], pads=[0, 1, 0, 0]), -4, 6, 1, 1, mode)
    y = b.quant(b.node("GlobalAveragePool", x), -5, 8, 1, 0, mode)
    compare(b.model(mean, y), parse(b.bytes(mean, y)), [mean, y], rows=15)


def test_of_constants_they_are_constants() -> None:
    """Softmax and mean of constants are constants: 1/3 and 2/3 are not dyadic, but no op has to divide."""
    b = Build()
    x = b.node("Mul", b.quantise(b.input("x", [1, 1, 1, 3]), -4), b.constant(0))
    equal = b.quant(b.node("Softmax", b.node("Add", x, b.constant(1))), -2, 4)
    mean = b.quant(b.node("AveragePool", b.node("Add", x, b.constant([0.0, 0.0, 2.0])), kernel_shape=[1, 3]), -2, 4)
    half = b.quant(b.node("Sigmoid", x), -2, 4)
    network = parse(b.bytes(equal, mean, half))
    compare(b.model(equal, mean, half), network, [equal, mean, half], rows=3)
    assert network.constant(equal) == (Fraction(1, 4),) * 3 and network.constant(mean) == (Fraction(3, 4),)


def test_what_moves_and_compares_takes_them() -> None:
    """Ops that move and compare values take those of tanh, which increases with its argument; HPVM pools after tanh."""
    b = Build()
    x = b.quantise(b.input("x", [1, 1, 4, 4]), -4)
    a = b.node("MaxPool", b.node("Tanh", x), kernel_shape=[2, 2], strides=[2, 2])
    flat = b.quantise(b.node("Flatten", b.node("Concat", b.node("Identity", a), a, axis=1)), -7)
    means = b.node("MaxPool", b.node("AveragePool", x, kernel_shape=[3, 1]), kernel_shape=[2, 2])
    y = b.quantise(means, -4)
    network = parse(b.bytes(flat, y))
    compare(b.model(flat, y), network, [flat, y], rows=8)
    assert network.tensors[a].type is None and network.tensors[y].type == (1, 3, 4)


def refused(make: Callable[[Build, str], str]) -> str:
    b = Build()
    y = make(b, b.quantise(b.input("x", [1, 1, 4, 4]), -2))
    with pytest.raises(NetworkError) as caught:
        parse(b.bytes(y))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_nothing_else_computes_with_them() -> None:
    assert all(
        part in refused(lambda b, x: b.node("Tanh", x))
        for part in ("result of Tanh", "fixed-point number", "QuantizeLinear")
    )
    said = refused(lambda b, x: b.node("Add", b.node("Tanh", x), x))
    assert "fixed-point number" in said
    as_recorded(said)
    as_recorded(refused(lambda b, x: b.node("AveragePool", x, kernel_shape=[1, 3])))
    mixed = refused(
        lambda b, x: b.quantise(
            b.node("MaxPool", b.node("Concat", b.node("Tanh", x), x, axis=3), kernel_shape=[1, 8]), 0
        )
    )
    assert "result of Tanh" in mixed
    as_recorded(mixed)
    wide = refused(lambda b, x: b.quantise(b.node("Sigmoid", b.node("Mul", x, b.node("Mul", x, x))), -7))
    assert "22 bits" in wide and "16" in wide
    as_recorded(wide)
    said = refused(lambda b, x: b.node("Relu", b.node("Sigmoid", x)))
    assert "QuantizeLinear" in said
    as_recorded(said)
