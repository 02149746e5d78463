"""The stages of networks with memories compute the network in every configuration, and so do their machines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.said import raises

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.kernels.mapping_laws import check_mapping
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.hardware.chain import Chain, chain_of
from dais_verif.compile.networks.hardware.frame import memory_frame
from dais_verif.compile.networks.hardware.memory import MemoryNetwork, memory_network
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.problems import NetworkError
from dais_verif.golden.members import run_instance
from dais_verif.spec.machine import Machine
from dais_verif.verbs.diff import DiffRequest, diff

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
#: Perforation of rows and columns with every period, at its first and last offset; sampling; half precision.
SHOWN = (121, 122, 123, 125, 127, 128, 131, 134, 135, 138, 152, 168, 232, 239, 264, 12)


def network_bytes(seed: int = 3, size: int = 6) -> bytes:
    """Return a network of a convolution with bias and ReLU, a 2 by 2 max pool, a quantiser and a dense layer."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    pooled = (size // 2) ** 2
    arrays = {
        "w": 3 * rng.integers(-3, 4, size=(3, 2, 3, 3)) / 4,
        "b": rng.integers(-8, 8, size=3) / 4,
        "d": rng.integers(-4, 5, size=(3 * pooled, 2)) / 2,
        "s": np.array(0.5),
    }
    constants = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    constants.append(numpy_helper.from_array(np.array(0, dtype=np.uint8), "z"))
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("QuantizeLinear", ["p", "s", "z"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["v"], name="v"),
        helper.make_node("Flatten", ["v"], ["f"], name="flat"),
        helper.make_node("MatMul", ["f", "d"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants,
    )
    data: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    return data


def network(knob: int = 11, size: int = 6) -> Network:
    approximation = Approximation({"c": Applied(KNOBS[knob], KNOBS[11])})
    return parse(network_bytes(size=size), inputs={"x": (1, 2, 1)}, approximation=approximation)


def by_stages(chain: Chain, configuration: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return real outputs for random samples, computed stage by stage with the golden model, and the samples."""
    rng = np.random.default_rng(1)
    values: dict[str, np.ndarray] = {}
    given = []
    for name, kind in chain.inputs.items():
        storage = chain.storage[name]
        count = storage.words * storage.channels
        values[name] = rng.integers(kind.raw_min, kind.raw_max + 1, size=(samples, count))
        given.append(values[name] / 2.0**kind.f)
    for stage in chain.stages(configuration):
        mapped = stage.instance.mapping.inputs
        tensors = [
            values[name].reshape(samples, *one.sizes[::-1]) for name, one in zip(stage.inputs, mapped, strict=True)
        ]
        values[stage.output] = run_instance(stage.instance, tensors)[0].reshape(samples, -1)
    outputs = [values[name] / 2.0**kind.f for name, kind in chain.outputs.items()]
    return np.concatenate(outputs, axis=1), np.concatenate(given, axis=1)


@pytest.mark.parametrize("knob", [11, *SHOWN])
@pytest.mark.parametrize("size", [4, 5])
def test_stages_compute_the_network(knob: int, size: int) -> None:
    """The stages compute the network; perforated layers have members for groups of positions, also at the edges.

    At the edges, a position that is left out has only one neighbour.
    """
    one = network(knob, size)
    chain = chain_of([one])
    found, x = by_stages(chain, 0, 20)
    assert np.array_equal(found, dais_verif.run(one.program(), x))
    for stage in chain.stages(0):
        assert check_mapping(stage.instance.mapping).verdict is Verdict.PASS
    assert np.array_equal(found, dais_verif.run(unfold_chain(chain), x))


def test_a_fused_node_may_be_one_member() -> None:
    one = network()
    chain = chain_of([one], unrolled=[1])
    assert [stage.instance.mapping.members for stage in chain.stages(0)] == [1, 1]
    found, x = by_stages(chain, 0, 20)
    assert np.array_equal(found, dais_verif.run(one.program(), x))


def compared(machine: Machine, chain: Chain, made: MemoryNetwork, configuration: int, folder: Path) -> Verdict:
    frame = folder / "frame.toml"
    frame.write_text(memory_frame(chain, made.latency, configuration))
    members = unfold_chain(chain, configuration)
    return diff(DiffRequest(a=machine, b=members, prove=True, frame=frame)).verdict


@pytest.fixture(scope="module")
def chosen() -> tuple[Chain, MemoryNetwork]:
    """Return a machine of three configurations, two of which share nothing of the convolution."""
    chain = chain_of([network(knob, 4) for knob in (11, 123, 235)])
    return chain, memory_network(chain)


@pytest.mark.parametrize(
    "configuration", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)]
)
def test_a_frame_computes_the_configuration_that_it_began_with(
    chosen: tuple[Chain, MemoryNetwork], configuration: int, tmp_path: Path
) -> None:
    """The proof covers all inputs, frames and resets, and changes of ``config`` while the frame runs."""
    chain, made = chosen
    assert compared(made.machine, chain, made, configuration, tmp_path) is Verdict.PASS


def test_rows_that_are_left_out_save_cycles(chosen: tuple[Chain, MemoryNetwork]) -> None:
    exact, perforated, sampled = chosen[1].latency
    assert perforated < exact == sampled


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv_sums_in0_word", "pool_2_start", "out0"])
def test_a_wrong_machine_is_found(chosen: tuple[Chain, MemoryNetwork], name: str, tmp_path: Path) -> None:
    """The proof fails if a word is never read, a stage starts with the first stage, or nothing is written."""
    chain, made = chosen
    machine = made.machine
    left = tuple(one for one in machine.connections if one.target.signal != name)
    if name == "pool_2_start":
        moved = [replace(one, source=machine.whole("start")) for one in machine.connections if one not in left]
        left = (*left, *moved)
    assert left != machine.connections
    assert compared(replace(machine, connections=left), chain, made, 1, tmp_path) is not Verdict.PASS


def test_all_members_together_are_proved_to_be_the_network() -> None:
    """All members together are proved equal to the network, with stages of different widths and padded windows."""
    one = network()
    assert diff(DiffRequest(a=unfold_chain(chain_of([one])), b=one.program(), prove=True)).verdict is Verdict.PASS


@pytest.mark.slow
def test_members_side_by_side_take_fewer_cycles(tmp_path: Path) -> None:
    chain = chain_of([network()])
    one, two = memory_network(chain), memory_network(chain, 2)
    assert two.latency[0] < one.latency[0]
    assert compared(two.machine, chain, two, 0, tmp_path) is Verdict.PASS


@pytest.mark.slow
def test_the_digits_are_proved_in_every_frame(tmp_path: Path) -> None:
    chain = chain_of([dais_verif.networks.read(DIGITS)])
    made = memory_network(chain)
    assert made.latency == (834,)
    assert compared(made.machine, chain, made, 0, tmp_path) is Verdict.PASS


def test_an_output_that_nothing_computes_is_refused() -> None:
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Flatten", ["x"], ["y"], name="flat")],
        "none",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 2, 2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    with raises(NetworkError):
        chain_of([parse(data)])
