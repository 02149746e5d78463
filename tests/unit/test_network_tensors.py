"""The model on tensors equals the unrolled program bit for bit: every operator and knob, and numbers of any width."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.approximated_networks import random_case
from support.onnx_networks import LAYERS, MODES, Build, cnn, random_inputs, random_network, weights

from dais_verif.base.errors import VectorError
from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.arithmetic import bounds_of, raw_of
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.reals import Mapped, Quotient
from dais_verif.compile.networks.tensors import TensorModel
from dais_verif.compile.networks.tensors.numbers import _bits_of
from dais_verif.golden import Golden
from dais_verif.spec.program.numbers import Batch

FAMILIES = (11, 12, *range(121, 139), *range(151, 169), *range(231, 240), *range(261, 270))


def unrolled(network: Network, vectors: np.ndarray, names: Sequence[str]) -> tuple[list[list[int]], list[int]]:
    """Return the columns of the program's outputs, and the fractional bits of each."""
    program = network.program(names)
    columns = Golden(program).run_raw(Batch.of(vectors, program.n_in), check=True, jobs=1)
    return [column.tolist() for column in columns], [kind.f for kind in program.output_types]


def require_ranges(network: Network) -> None:
    """Assert that reading finds the ranges, points and number of steps of the unrolled program's elements."""
    lowered = network._lowered()
    assert lowered.steps == network.steps
    for name, data in lowered.tensors.items():
        read = network.data(name)
        assert (read.shape, read.dtype, read.constant) == (data.shape, data.dtype, data.constant), name
        pairs = zip(read.elements.ravel().tolist(), data.elements.ravel().tolist(), strict=True)
        assert all(described(a) == described(b) for a, b in pairs), name


def described(element: Any) -> Any:
    """Return what later nodes can see of an element: its range and its point."""
    if isinstance(element, Mapped):
        return element.name, element.half, described(element.argument)
    if isinstance(element, Quotient):
        parts = element.numerator, element.denominator, element.least
        return element.what, element.most, element.line, [described(one) for one in parts]
    return (*bounds_of(element), raw_of(element)[1] if isinstance(element, Fraction) else point(element))


def point(value: Value) -> int | None:
    return None if value.op is None else value.f - value.shift


def require_equal(network: Network, names: Sequence[str] | None = None, rows: int = 12, seed: int = 0) -> None:
    """Assert that both models compute the same integers for the tensors ``names``."""
    names = list(network.outputs if names is None else names)
    vectors = random_inputs(network, rows, seed)
    found = TensorModel(network, names).run(Batch.of(vectors, vectors.shape[1]))
    columns, points = unrolled(network, vectors, names)
    f = max([found.f, *points])
    wanted = [[raw << (f - point) for raw in column] for column, point in zip(columns, points, strict=True)]
    assert [[raw << (f - found.f) for raw in column] for column in found.raw.T.tolist()] == wanted
    require_ranges(network)


def typed(build: Build, network: Network) -> list[str]:
    """Return the tensors that consist of fixed-point numbers."""
    return [one for node in build.nodes for one in node.output if network.tensors[one].type is not None]


def test_every_node_of_a_cnn_is_that_of_the_program() -> None:
    build, names = cnn()
    require_equal(parse(build.bytes(*names)), names)


def test_layers() -> None:
    for name, layer in LAYERS.items():
        build = Build()
        y = layer(build, build.quantise(build.input("x", [1, 1, 4, 4]), -2))
        require_equal(parse(build.bytes(y)), [y], seed=len(name))


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_networks(first: int) -> None:
    for seed in range(100 + first, 110 + first):
        build = random_network(seed)
        network = parse(build.bytes(build.nodes[-1].output[0]))
        require_equal(network, typed(build, network), rows=6, seed=seed)


def test_random_networks_under_knobs() -> None:
    for seed in range(40):
        case = random_case(seed)
        names = [name for name in case.other.outputs if case.other.tensors[name].type is not None]
        vectors = case.rows[:100]
        for network in (case.exact, case.other):
            found = TensorModel(network, names).run(Batch.of(vectors, vectors.shape[1]))
            columns, points = unrolled(network, vectors, names)
            f = max([found.f, *points])
            wanted = [[raw << (f - point) for raw in column] for column, point in zip(columns, points, strict=True)]
            assert [[raw << (f - found.f) for raw in column] for column in found.raw.T.tolist()] == wanted, seed
            require_ranges(network)


@pytest.mark.parametrize("bias", [11, 12])
def test_every_knob_of_a_convolution(bias: int) -> None:
    """Numbers need more than 11 bits, and weights are no multiples of 3, so each knob rounds."""
    for knob in FAMILIES:
        rng = np.random.default_rng(knob)
        build = Build()
        size = [1, 2, *rng.integers(4, 6, size=2).tolist()]
        w = rng.integers(-8, 8, size=(2, 2, *rng.integers(2, 4, size=2).tolist())) * 2.0**-3
        added = build.constant(rng.integers(-100, 100, size=2) / 16)
        y = build.node("Conv", build.input("x", size), build.constant(w), added, strides=[1, 2], pads=[1, 0, 1, 1])
        approximation = Approximation({y: Applied(KNOBS[knob], KNOBS[bias])}, None if knob % 2 else 4)
        require_equal(parse(build.bytes(y), inputs={"x": (1, 9, 2)}, approximation=approximation), seed=knob)


@pytest.mark.parametrize(("layer", "bias"), [(11, 12), (12, 11), (12, 12), (12, None)])
def test_a_dense_layer_and_its_bias_in_half_precision(layer: int, bias: int | None) -> None:
    rng, build = np.random.default_rng(layer), Build()
    w, c = rng.integers(-200, 200, (6, 4)), rng.integers(-3000, 3000, 4) / 4
    y = build.node("Gemm", build.input("x", [2, 6]), build.constant(w), build.constant(c), beta=0.5, alpha=0.25)
    approximation = Approximation({y: Applied(KNOBS[layer], None if bias is None else KNOBS[bias])})
    require_equal(parse(build.bytes(y), inputs={"x": (1, 4, 2)}, approximation=approximation))


def test_real_numbers_in_half_precision_and_of_several_kinds() -> None:
    """Numbers that are rounded by their quantiser come from several tensors, and from padding."""
    build = Build()
    x = build.input("x", [1, 1, 2, 4])
    curve, other = build.node("Tanh", x), build.node("Sigmoid", x)
    pool = build.node("MaxPool", curve, kernel_shape=[1, 2], pads=[0, 1, 0, 0])
    padded = build.node("Pad", other, build.constant([0, 0, 0, 1, 0, 0, 0, 0], np.int64), build.constant(0.375))
    third = build.node("AveragePool", x, kernel_shape=[1, 3], pads=[0, 1, 0, 1])
    joined = build.node("Concat", pool, other, third, build.constant(np.full((1, 1, 2, 4), 0.3125)), x, axis=1)
    turned = build.node("Transpose", joined, perm=[0, 2, 3, 1])
    scales = build.constant([0.5, 2.0**-12, 2.0**-3, 2.0**-5, 0.25])
    first = build.node("QuantizeLinear", turned, scales, build.constant([0] * 5, np.int16), axis=-1)
    second = build.quant(padded, -9, 12, mode="HALF_DOWN")
    applied = {one: Applied(KNOBS[12]) for one in (curve, pool)}
    for approximation in (None, Approximation(applied)):
        network = parse(build.bytes(first, second), inputs={"x": (1, 2, 6)}, approximation=approximation)
        require_equal(network, [first, second], rows=40)


def test_rounding_in_every_mode() -> None:
    for mode in MODES:
        build = Build()
        x = build.node("Identity", build.input("x", [5]))
        scales = build.constant([4.0, 1.0, 0.5, 0.125, 2.0**-70])
        constants = scales, build.constant(0.0), build.constant(5.0)
        y = build.node("Quant", x, *constants, signed=1, narrow=1, rounding_mode=mode, domain="qonnx.custom_op.general")
        require_equal(parse(build.bytes(y), inputs={"x": (1, 4, 3)}), rows=200)


def old_opset(build: Build, x: str) -> list[str]:
    image = build.node("Pad", x, mode="constant", pads=[0, 0, 1, 0, 0, 0, 0, 2], value=-0.75)
    clip = build.node("Clip", image, min=-1.5, max=2.25)
    soft = build.node("Softmax", x, axis=2)
    return [clip, build.quant(soft, -7, 8, 0)]


def wide(build: Build, x: str) -> list[str]:
    """Sums beyond 53 and beyond 63 bits, of weights whose binary points lie far apart."""
    rng = np.random.default_rng(3)
    w = rng.standard_normal((3, 1, 2, 2)) * 2.0 ** rng.integers(-40, 1, (3, 1, 2, 2))
    a = build.node("Conv", x, build.constant(w))
    b = build.node("Conv", a, build.constant(rng.standard_normal((2, 3, 2, 2))), build.constant([0.1, -0.3]))
    return [a, b, build.node("LeakyRelu", a), build.quant(a, 0, 6)]


def computed_weights(build: Build, x: str) -> list[str]:
    a = build.node("Conv", x, build.node("Relu", x), pads=[1, 1, 1, 1])
    rows = build.node("Reshape", x, build.constant([4, 4], np.int64))
    turned = build.node("MatMul", rows, build.node("Transpose", rows))
    return [a, turned, build.node("Gemm", rows, turned, rows, transA=1)]


def constants(build: Build, x: str) -> list[str]:
    """Values that are computed from constants alone, and results that do not depend on inputs."""
    w = build.quantise(build.constant(weights(random.Random(2), 2, 1, 3, 3) * 5), -2)
    none = build.node("Mul", x, build.constant(0.0))
    return [build.node("Conv", x, w), none, build.node("Relu", build.node("Sub", none, build.constant(1.0))), w]


@pytest.mark.parametrize("case", [old_opset, wide, computed_weights, constants])
def test_unusual_networks(case: Callable[[Build, str], list[str]]) -> None:
    build = Build(10 if case is old_opset else 21)
    names = case(build, build.quantise(build.input("x", [1, 1, 4, 4]), -3) if case is not old_opset else quant(build))
    require_equal(parse(build.bytes(*names)), names)


def quant(build: Build) -> Any:
    return build.quant(build.input("x", [1, 1, 4, 4]), -3, 8)


def test_bits_of_integers() -> None:
    """Integers beside powers of two, which binary64 would round to the next one from 54 bits on."""
    edges = [sign * ((1 << bits) + apart) for bits in range(62) for apart in (-1, 0, 1) for sign in (1, -1)]
    wanted = [abs(one).bit_length() for one in edges]
    assert _bits_of(np.array(edges)).tolist() == _bits_of(np.array(edges, dtype=object)).tolist() == wanted


def test_batches_are_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    build, names = cnn()
    network = parse(build.bytes(*names))
    vectors = random_inputs(network, 9, 1)
    model, batch = TensorModel(network, names), Batch.of(vectors, vectors.shape[1])
    whole = model.run(batch)
    monkeypatch.setattr("dais_verif.compile.networks.tensors.model._PIECE", 1000)
    cut = model.run(batch)
    assert cut.f == whole.f and cut.raw.tolist() == whole.raw.tolist()
    assert model.run(batch.slice(0, 0)).raw.shape == (0, whole.raw.shape[1])


def test_values_that_an_input_cannot_hold_are_refused() -> None:
    build = Build()
    network = parse(build.bytes(build.quantise(build.input("x", [1, 3]), -2)))
    for value in (0.125, 32.0, -32.25):
        with pytest.raises(VectorError, match="sample 1: element 2"):
            TensorModel(network).run(Batch.of(np.array([[0.0, 1, 2], [1, 2, value]]), 3))


def test_a_wrong_model_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself fails if one weight is a step too large."""
    import dais_verif.compile.networks.tensors.operators as operators

    build, names = cnn()
    network, product = parse(build.bytes(*names)), operators.product_in
    monkeypatch.setattr(operators, "product_in", lambda kind, a, b: product(kind, a, b) + (a.shape[-1] == 9))
    with pytest.raises(AssertionError):
        require_equal(network, names)
