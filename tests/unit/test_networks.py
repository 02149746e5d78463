"""Networks as programs equal onnx.reference, which shares no code with them, number for number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto
from support.onnx_networks import LAYERS, Build, cnn, compare, random_network, reference

from dais_verif.compile.networks import Network, parse, read
from dais_verif.compile.networks.rounding import ROUNDINGS
from dais_verif.golden.run_any import run


def test_every_node_of_a_cnn_is_equal() -> None:
    b, names = cnn()
    model = b.model(names[-2], names[-1])
    network = parse(model.SerializeToString())
    compare(model, network, names, rows=10)
    compare(model, network, network.outputs, rows=10, seed=1)


@pytest.mark.parametrize("seed", range(20))
def test_random_networks_are_equal_at_every_node(seed: int) -> None:
    b = random_network(seed)
    model = b.model(b.nodes[-1].output[0])
    network = parse(model.SerializeToString())
    names = [node.output[0] for node in b.nodes if network.tensors[node.output[0]].type is not None]
    compare(model, network, names, rows=6, seed=seed)


@pytest.mark.parametrize("mode", [*ROUNDINGS, "half_even"])
@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_quantisers_of_qonnx_on_all_inputs(mode: str, signed: int, narrow: int) -> None:
    """All 256 inputs include negative ones, ties and saturation; HALF_EVEN is another name of ROUND."""
    b = Build()
    y = b.quant(b.node("Identity", b.input("x", [1])), 0, 3, signed, narrow, mode)
    network = parse(b.bytes(y), inputs={"x": (1, 4, 3)})
    oracle = Build()
    names = mode.upper().replace("HALF_EVEN", "ROUND")
    z = oracle.quant(oracle.node("Identity", oracle.input("x", [1])), 0, 3, signed, narrow, names)
    x = np.arange(-128, 128).reshape(-1, 1) / 8
    got = run(network.program(), x).ravel()
    expected = [float(reference(oracle.model(z), network, row, [z])[0]) for row in x]
    assert got.tolist() == expected and len(set(expected)) == 8 - narrow


@pytest.mark.parametrize("dtype", ["INT2", "UINT2", "INT4", "UINT4", "INT8", "UINT8", "INT16", "UINT16"])
def test_quantise_linear_saturates_and_rounds_to_even(dtype: str) -> None:
    bits, signed = int(dtype.removeprefix("U").removeprefix("INT")), not dtype.startswith("U")
    b = Build(25 if bits == 2 else 21)
    x = b.node("Identity", b.input("x", [1]))
    y = b.node("QuantizeLinear", x, b.constant(0.5), output_dtype=int(TensorProto.DataType.Value(dtype)))
    network = parse(b.bytes(y), inputs={"x": (1, 17, 3)})
    raw = np.array([*range(-40, 41), *(s * (2**bits * 4 + d) for s in (1, -1) for d in range(-20, 9))])
    raw = np.concatenate([raw, [-(2**20), 2**20 - 1]])
    got = run(network.program(), (raw / 8).reshape(-1, 1)).ravel()
    lo, hi = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    assert got.tolist() == np.clip(np.rint(raw / 4), lo, hi).tolist()
    assert network.tensors[y].type == (int(signed), bits - int(signed), 0)


def test_types_and_shapes_are_those_of_the_tensors(tmp_path: Path) -> None:
    b = Build()
    q = b.quantise(b.input("x", [1, 3]), -2)
    y = b.node("MatMul", q, b.constant([[1], [0.5], [-2]]))
    (tmp_path / "net.onnx").write_bytes(b.bytes(y))
    network = read(tmp_path / "net.onnx")
    assert isinstance(network, Network) and network.inputs == ("x",) and network.outputs == (y,)
    assert network.tensors["x"][1:] == ((1, 3), (1, 5, 2), "FLOAT") and network.tensors[y][1:3] == ((1, 1), (1, 7, 3))
    assert [node.op for node in network.nodes] == ["QuantizeLinear", "DequantizeLinear", "MatMul"]
    program = network.program()
    assert program.origin.layout == "onnx" and program.origin.path == str(tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("shapes", "inner"),
    [([[3], [3]], []), ([[2, 3], [3]], [2]), ([[3], [3, 2]], [2]), ([[2, 1, 2, 3], [4, 3, 1]], [2, 4, 2, 1])],
    ids=["dot", "vector", "row", "batches"],
)
def test_products_of_two_computed_tensors(shapes: list[list[int]], inner: list[int]) -> None:
    b = Build()
    y = b.node("MatMul", *(b.quantise(b.input(name, shape), -1) for name, shape in zip("ab", shapes, strict=True)))
    network = parse(b.bytes(y))
    assert list(network.tensors[y].shape) == inner
    compare(b.model(y), network, [y])


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_equal(name: str) -> None:
    b = Build()
    y = LAYERS[name](b, b.quantise(b.input("x", [1, 1, 4, 4]), -2))
    compare(b.model(y), parse(b.bytes(y)), [y])
