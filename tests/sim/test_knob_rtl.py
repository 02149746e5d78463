"""Convolutions under knobs as RTL: equal to exact vectors in both simulators, and proved for all inputs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.places import HPVM

import dais_verif
from dais_verif.approx import KNOBS
from dais_verif.networks.knobs import Applied, Approximation
from dais_verif.program import write_binary

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
VECTORS = json.loads(gzip.decompress((HPVM / "conv_vectors.json.gz").read_bytes()))
KNOB_NUMBERS = (12, 121, 124, 127, 129, 133, 138, 152, 231, 233, 265)


def case_of(knob: int) -> dict[str, Any]:
    """The smallest case of exact vectors whose sums and weights DAIS can say: no weight times 4/3."""
    cases = [case for case in VECTORS["cases"] if case["knob"] == knob and case["rule"] == "exact"]
    found: dict[str, Any] = min(
        (case for case in cases if case["groups"] == 1), key=lambda case: np.prod(case["y_shape"]) * len(case["w"])
    )
    return found


def program_of(case: dict[str, Any], folder: Path) -> Path:
    """The convolution of ``case`` under its knob as a program, for inputs of as many bits as the case has."""
    from onnx import TensorProto, helper, numpy_helper

    shapes = {name: tuple(case[f"{name}_shape"]) for name in ("x", "w")}
    arrays = {"w": np.array(case["w"]).reshape(shapes["w"])}
    if case["bias"] is not None:
        arrays["b"] = np.array(case["bias"])
    rows, columns = (case[name] if isinstance(case[name], list) else [case[name]] * 2 for name in ("stride", "pad"))
    node = helper.make_node("Conv", ["x", *arrays], ["y"], strides=rows, pads=columns * 2)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shapes["x"]))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    bits = max(int(max(max(case["x"]), -min(case["x"]))).bit_length(), 1)
    approximation = Approximation({"y": Applied(KNOBS[case["knob"]], KNOBS[11])}, grid=8)
    network = dais_verif.networks.parse(data, inputs={"x": (1, bits, 0)}, approximation=approximation)
    (folder / "one.bin").write_bytes(write_binary(network.program(), "v1"))
    np.save(folder / "x.npy", np.array(case["x"], dtype=np.float64).reshape(1, -1))
    return folder / "one.bin"


def right(knob: int, tmp_path: Path, simulators: list[str]) -> None:
    case = case_of(knob)
    program = program_of(case, tmp_path)
    found = np.asarray(dais_verif.run(str(program), np.load(tmp_path / "x.npy"))) * case["scale"]
    assert found.ravel().tolist() == case["y"], "the golden model has the vector's numbers"
    record = dais_verif.simulate(str(program), inputs=tmp_path / "x.npy", vectors=100, simulators=simulators)
    assert record.passed and all(one.bits_compared for one in record.simulators)
    proof = dais_verif.prove(str(program))
    assert proof.verdict.value == "PASS" and len(proof.proved_outputs) == found[0].size


@pytest.mark.parametrize("knob", [121, 152])
def test_a_perforated_convolution_is_right_in_rtl(knob: int, tmp_path: Path) -> None:
    right(knob, tmp_path, ["icarus"])


@pytest.mark.slow
@pytest.mark.parametrize("knob", KNOB_NUMBERS)
def test_ten_knobs_are_right_in_both_simulators(knob: int, tmp_path: Path) -> None:
    right(knob, tmp_path, ["icarus", "verilator"])
