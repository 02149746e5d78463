"""Networks under knobs compute what the reference of each knob does; configurations of other networks are refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import as_recorded, raises

import dais_verif
from dais_verif.compile.approximation import KNOBS, convolve
from dais_verif.compile.approximation import read as read_configurations
from dais_verif.compile.approximation.problems import ConfigurationError
from dais_verif.compile.networks.approximate import approximate
from dais_verif.compile.networks.knobs import Applied, Approximation, half_element
from dais_verif.compile.networks.problems import NetworkError, Refusal

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
FAMILIES = (11, 12, *range(121, 139), *range(151, 169), *range(231, 240), *range(261, 270))


def convolution(w: np.ndarray, b: np.ndarray | None, shape: tuple[int, ...], stride: int, pad: int) -> bytes:
    """Return a network of a single convolution."""
    from onnx import TensorProto, helper, numpy_helper

    arrays = {"w": w} if b is None else {"w": w, "b": b}
    node = helper.make_node("Conv", ["x", *arrays], ["y"], strides=[stride] * 2, pads=[pad] * 4)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()],
    )
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    return data


def computed(data: bytes, x: np.ndarray, knob: int, bias: int = 11, **more: Any) -> np.ndarray:
    """Return the outputs of the network for ``x``; inputs are multiples of 1/4 with 12 bits."""
    approximation = Approximation({"y": Applied(KNOBS[knob], KNOBS[bias])}, **more)
    network = dais_verif.networks.parse(data, inputs={"x": (1, 9, 2)}, approximation=approximation)
    return np.array(dais_verif.run(network.program(), x.reshape(1, -1))[0])


@pytest.mark.parametrize("knob", FAMILIES)
def test_each_knob_is_its_reference(knob: int) -> None:
    """Networks compute what the reference of each knob does.

    Numbers need more than 11 bits, so half precision rounds; weights are multiples of 3/8, so their products with 4/3
    are exact.
    """
    rng = np.random.default_rng(knob)
    shape = (1, 2, *rng.integers(3, 6, size=2).tolist())
    x = rng.integers(-(1 << 11), 1 << 11, size=shape) / 4
    w = 3 * rng.integers(-8, 8, size=(2, 2, *rng.integers(1, 4, size=2).tolist())) / 8
    b = rng.integers(-100, 100, size=2) / 16
    stride, pad = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    wanted = convolve(x, w, b, stride=stride, pad=pad, knob=knob)
    found = computed(convolution(w, b, shape, stride, pad), x, knob)
    assert found.tolist() == [float(value) for value in wanted.ravel()]


@pytest.mark.parametrize("f", [0, 3, 24, -2])
def test_binary16_is_numpys(f: int) -> None:
    """All integers of 13 bits, with several numbers of fractional bits, are rounded as NumPy rounds them."""
    from dais_verif.compile.networks.arithmetic import Arithmetic
    from dais_verif.spec.program import FixedType

    ops = Arithmetic()
    rounded = half_element(ops, ops.builder.input(FixedType(1, 13 - f, f)))
    program = ops.builder.build([ops.value(rounded)])
    values = np.arange(-(1 << 13), 1 << 13) * 2.0**-f
    assert np.array_equal(dais_verif.run(program, values[:, None])[:, 0], values.astype(np.float16).astype(np.float64))


def test_what_half_precision_has_not_is_refused() -> None:
    from dais_verif.compile.networks.arithmetic import Arithmetic
    from dais_verif.spec.program import FixedType

    ops = Arithmetic()
    for kind, said in ((FixedType(1, 16, 0), ""), (FixedType(1, 1, 25), "")):
        with raises(Refusal, match=said):
            half_element(ops, ops.builder.input(kind))
    with raises(Refusal):
        half_element(ops, Fraction(65520))


def test_a_grid_is_declared() -> None:
    w = np.ones((1, 1, 2, 2))
    data = convolution(w, None, (1, 1, 2, 2), 1, 0)
    notes: list[str] = []
    found = computed(data, np.ones((1, 1, 2, 2)), 236, grid=3, notes=notes)
    assert found.tolist() == [3 * 1.375]
    (note,) = notes
    assert "0.0417" in note
    as_recorded(note)


CONFIGURATION = """0.0
+++++
exact 1.0 1.0 97.0 0.0
1 gpu conv fp32 11 add fp32 1 relu fp32 1 pool_max fp32 1
2 gpu conv fp32 11 add fp32 1 relu fp32 1 pool_max fp32 1
3 gpu mul fp32 11 add fp32 1
-----
+++++
quick 1.5 1.0 96.0 1.0
1 gpu conv perf 121 add fp32 1 relu fp32 1 pool_max fp32 1
2 gpu conv samp 231 add fp32 1 relu fp32 1 pool_max fp32 1
3 gpu mul fp16 12 add fp16 12
-----
"""


def configurations(tmp_path: Path, text: str = CONFIGURATION) -> Any:
    (tmp_path / "confs.txt").write_text(text)
    return read_configurations(tmp_path / "confs.txt")


def test_a_configuration_is_applied_node_by_node(tmp_path: Path) -> None:
    file, data = configurations(tmp_path), DIGITS.read_bytes()
    exact, quick = (approximate(data, file, name).network for name in ("exact", "quick"))
    assert exact.program().hash == dais_verif.networks.parse(data).program().hash
    assert quick.program().n_ops < exact.program().n_ops
    held = np.load(DIGITS.with_name("held_back.npz"))
    x = held["image"][:50]
    weights, bias = (np.array(exact.constant(name), dtype=object) for name in ("w1_real_out", "b1_real_out"))
    wanted = convolve(x, weights.reshape(8, 1, 3, 3), bias, pad=1, knob=121)
    found = dais_verif.run(quick.program(["conv1_out"]), x.reshape(50, -1))
    assert np.array_equal(found, wanted.astype(float).reshape(50, -1))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("3 gpu mul fp32 11 add fp32 1\n", "", r"3.* add"),
        ("1 gpu conv fp32 11 add", "1 gpu conv fp32 11 add fp32 1 add", ""),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = configurations(tmp_path, CONFIGURATION.replace(old, new, 1))
    with raises(ConfigurationError, match=said):
        approximate(DIGITS.read_bytes(), file, "exact")


def test_what_cannot_be_applied_is_named() -> None:
    w = np.full((1, 1, 1, 1), 1000.0)
    with raises(NetworkError):
        computed(convolution(w, None, (1, 1, 1, 1), 1, 0), np.zeros((1, 1, 1, 1)), 12)
    with raises(NetworkError):
        computed(convolution(w, None, (1, 1, 1, 1), 1, 0), np.zeros((1, 1, 1, 1)), 121)


@pytest.mark.parametrize(("layer", "bias"), [(12, 11), (11, 12), (12, 12)])
def test_a_dense_layer_and_its_bias_may_differ_in_precision(layer: int, bias: int) -> None:
    """The operation in half precision rounds its operands and results; sums need more than 11 bits."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(layer)
    w, c = rng.integers(-200, 200, (6, 4)), rng.integers(-3000, 3000, 4) / 4
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "c"], ["y"], beta=0.5)],
        "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in (("w", w), ("c", c))],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    approximation = Approximation({"y": Applied(KNOBS[layer], KNOBS[bias])})
    network = dais_verif.networks.parse(data, inputs={"x": (1, 4, 2)}, approximation=approximation)
    x = rng.integers(-64, 64, (20, 6)) / 4

    def half(values: np.ndarray, knob: int) -> np.ndarray:
        return values.astype(np.float16).astype(np.float64) if knob == 12 else values

    product = half(x @ w.astype(float), layer)
    wanted = half(half(product, bias) + half(c / 2, bias), bias)
    assert np.array_equal(dais_verif.run(network.program(), x), wanted)
    assert not np.array_equal(wanted, x @ w + c / 2), "something was rounded"


def curve(op: str, exponent: int, after: str = "") -> bytes:
    """Return a network of ``op`` of each of two numbers, quantised; ``after``: an operator in between."""
    from onnx import TensorProto, helper

    nodes = [helper.make_node(op, ["x"], ["t"])]
    if after:
        nodes.append(helper.make_node(after, ["t"], ["u"], kernel_shape=[1, 2]))
    nodes.append(helper.make_node("QuantizeLinear", [nodes[-1].output[0], "s", "z"], ["y"]))
    zero = helper.make_tensor("z", TensorProto.INT16, [], [0])
    graph = helper.make_graph(
        nodes,
        "curve",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 2])],
        [helper.make_tensor_value_info("y", TensorProto.INT16, None)],
        [helper.make_tensor("s", TensorProto.FLOAT, [], [2.0**exponent]), zero],
    )
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    return data


@pytest.mark.few(1)
@pytest.mark.parametrize("op", ["Tanh", "Sigmoid"])
@pytest.mark.parametrize("pooled", [False, True])
def test_a_table_of_numbers_in_half_precision(op: str, pooled: bool) -> None:
    """The argument is rounded to binary16, then the value, then the quantiser rounds; a pool may come in between."""
    data = curve(op, -14, "MaxPool" if pooled else "")
    applied = {"t": Applied(KNOBS[12]), **({"u": Applied(KNOBS[12])} if pooled else {})}
    made = dais_verif.networks.parse(data, inputs={"x": (1, 3, 10)}, approximation=Approximation(applied))
    x = np.arange(-(2**13), 2**13)[:, None] * 2.0**-10
    rows = np.concatenate([x, x[::-1] if pooled else x], axis=1)
    read = x.astype(np.float16).astype(np.float64)
    exact = np.tanh(read) if op == "Tanh" else 1 / (1 + np.exp(-read))
    value = np.maximum(exact, exact[::-1]) if pooled else exact
    wanted = np.clip(np.rint(value.astype(np.float16).astype(np.float64) * 2**14), -(2**15), 2**15 - 1)
    assert np.array_equal(dais_verif.run(made.program(), rows)[:, :1], wanted)
    plain = np.clip(np.rint(value * 2**14), -(2**15), 2**15 - 1)
    assert (wanted != plain).any()


def test_a_quotient_is_not_rounded_to_half_precision() -> None:
    """Means of 3 or 9 elements are neither fixed-point numbers nor in tables."""
    from onnx import TensorProto, helper

    zero = helper.make_tensor("z", TensorProto.INT8, [], [0])
    graph = helper.make_graph(
        [
            helper.make_node("AveragePool", ["x"], ["t"], kernel_shape=[1, 3]),
            helper.make_node("QuantizeLinear", ["t", "s", "z"], ["y"]),
        ],
        "mean",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, None)],
        [helper.make_tensor("s", TensorProto.FLOAT, [], [2**-6]), zero],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    with raises(NetworkError):
        dais_verif.networks.parse(data, inputs={"x": (1, 3, 2)}, approximation=Approximation({"t": Applied(KNOBS[12])}))
