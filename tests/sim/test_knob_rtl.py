"""Convolutions under knobs as RTL equal the exact vectors in both simulators, and are proved for all inputs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.frames import held_in, results
from support.places import HPVM

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.hardware.chain import chain_of
from dais_verif.compile.networks.hardware.frame import memory_frame, stream_frame
from dais_verif.compile.networks.hardware.memory import memory_network
from dais_verif.compile.networks.hardware.stream import build
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.diff import DiffRequest, diff

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
VECTORS = json.loads(gzip.decompress((HPVM / "conv_vectors.json.gz").read_bytes()))
KNOB_NUMBERS = (12, 121, 124, 127, 129, 133, 138, 152, 231, 233, 265)


def case_of(knob: int, scanned: bool = False) -> dict[str, Any]:
    """Return the smallest case of exact vectors with sums and weights that DAIS can represent (no weight times 4/3).

    ``scanned``: consider only cases that the stream form accepts: in each dimension, the outputs, each a stride after
    the previous one, fit into the input.
    """
    cases = [case for case in VECTORS["cases"] if case["knob"] == knob and case["rule"] == "exact"]
    chosen = [case for case in cases if case["groups"] == 1 and (not scanned or fits(case))]
    found: dict[str, Any] = min(chosen, key=lambda case: np.prod(case["y_shape"]) * len(case["w"]))
    return found


def fits(case: dict[str, Any]) -> bool:
    """Return whether the stream form accepts a case."""
    sizes, outputs = case["x_shape"][2:], case["y_shape"][2:]
    return all(a * (b - 1) < size for a, b, size in zip(case["stride"], outputs, sizes, strict=True))


def network_of(case: dict[str, Any]) -> Network:
    """Return the convolution of ``case`` under its knob, for inputs with the bits of the case."""
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
    return parse(data, inputs={"x": (1, bits, 0)}, approximation=approximation)


def program_of(case: dict[str, Any], folder: Path) -> Path:
    """Write the network of ``case`` as a program, and its inputs; return the program's file."""
    (folder / "one.bin").write_bytes(write_binary(network_of(case).program(), "v1"))
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


@pytest.mark.few(1)
@pytest.mark.parametrize("knob", [121, 152])
def test_a_perforated_convolution_is_right_in_rtl(knob: int, tmp_path: Path) -> None:
    right(knob, tmp_path, ["icarus"])


@pytest.mark.slow
@pytest.mark.parametrize("knob", KNOB_NUMBERS)
def test_ten_knobs_are_right_in_both_simulators(knob: int, tmp_path: Path) -> None:
    right(knob, tmp_path, ["icarus", "verilator"])


def of_memories(network: Network, folder: Path) -> tuple[Machine, Path, Program]:
    """Return the machine with memories, the file of its frame, and the program of all its members."""
    chain = chain_of([network])
    made = memory_network(chain)
    (folder / "frame.toml").write_text(memory_frame(chain, made.latency))
    return made.machine, folder / "frame.toml", unfold_chain(chain)


def of_streams(network: Network, folder: Path) -> tuple[Machine, Path, Program]:
    """Return the machine of streams, the file of its frame, and the program of all its members."""
    made = build(network)
    (folder / "frame.toml").write_text(stream_frame(made))
    return made.machine, folder / "frame.toml", unfold_chain(made.chain)


Fold = Callable[[Network, Path], tuple[Machine, Path, Program]]


def driven_right(fold: Fold, knob: int, folder: Path, simulators: list[str]) -> tuple[Network, Machine, Path, Program]:
    """Check that a folded convolution gives the outputs of the vector and of the golden model, in simulators, too."""
    case = case_of(knob, fold is of_streams)
    network = network_of(case)
    machine, frame, members = fold(network, folder)
    program = network.program()
    kind = network.tensors["x"].type
    assert kind is not None and kind.f == 0
    lo, hi = kind.raw_min, kind.raw_max
    x = np.array([case["x"], *np.random.default_rng(knob).integers(lo, hi + 1, size=(2, program.n_in))], dtype=float)
    found = results(machine, frame, x)
    assert (found[0] * case["scale"]).tolist() == case["y"], "the first frame has the vector's numbers"
    assert np.array_equal(found, dais_verif.run(program, x))
    record = dais_verif.simulate(machine, inputs=held_in(folder, machine, frame, x), vectors=0, simulators=simulators)
    assert record.passed and len(record.simulators) == len(simulators)
    assert all(one.bits_compared for one in record.simulators)
    return network, machine, frame, members


def folded_right(fold: Fold, knob: int, folder: Path) -> None:
    """Check that the RTL equals the machine, each of its frames equals all members, and these equal the network."""
    network, machine, frame, members = driven_right(fold, knob, folder, ["icarus", "verilator"])
    assert dais_verif.prove(machine).verdict is Verdict.PASS
    assert diff(DiffRequest(a=machine, b=members, prove=True, frame=frame)).verdict is Verdict.PASS
    assert diff(DiffRequest(a=members, b=network.program(), prove=True)).verdict is Verdict.PASS


FOLDS = {"memories": of_memories, "streams": of_streams}


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FOLDS)
def test_a_folded_perforated_convolution_is_right_in_rtl(form: str, tmp_path: Path) -> None:
    driven_right(FOLDS[form], 124, tmp_path, ["icarus"])


@pytest.mark.slow
@pytest.mark.parametrize("knob", KNOB_NUMBERS)
@pytest.mark.parametrize("form", FOLDS)
def test_ten_knobs_of_folded_networks_are_right_in_both_simulators(form: str, knob: int, tmp_path: Path) -> None:
    folded_right(FOLDS[form], knob, tmp_path)
