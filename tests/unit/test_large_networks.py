"""Networks that are too large to unroll are read, shown, run and measured on tensors."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.onnx_networks import Build
from support.real_networks import lenet

import dais_verif
from dais_verif.base.errors import VectorError
from dais_verif.compile.networks import NetworkError, fuse, parse
from dais_verif.compile.networks.tensors import TensorModel
from dais_verif.record.program import ProgramInfo
from dais_verif.verbs.approximation.measure import MeasureRequest, measure_configurations
from dais_verif.verbs.evaluate import EvaluationRequest, evaluate
from dais_verif.verbs.show import ListingRequest, show

HPVM = Path(__file__).parents[1] / "hpvm"
CONFIGURATIONS = """1
+++++
exact 1 1 100 0
1 gpu conv fp32 11 add fp32 1 relu fp32 1 pool_mean fp32 1
2 gpu mul fp32 11 add fp32 1
-----
+++++
columns 2 2 99 1
1 gpu conv perf 122 add fp32 1 relu fp32 1 pool_mean fp32 1
2 gpu mul fp32 11 add fp32 1
-----
+++++
half 2 2 99 1
1 gpu conv samp_fp16 261 add fp16 1 relu fp16 1 pool_mean fp16 1
2 gpu mul fp32 11 add fp16 1
-----
"""


class Large:
    """A convolution, a pool by its dense layer, and the results that numpy computes in integers."""

    def __init__(self) -> None:
        rng = np.random.default_rng(4)
        self.w, self.b = rng.integers(-8, 8, (48, 1, 5, 5)), rng.integers(-99, 99, 48)
        self.v, self.c = rng.integers(-8, 8, (48, 3)), rng.integers(-99, 99, 3)
        build = Build()
        x = build.quantise(build.input("x", ["N", 1, 32, 32]), 0)
        sums = build.node("Conv", x, build.constant(self.w), build.constant(self.b), pads=[2, 2, 2, 2])
        image = build.node("AveragePool", build.node("Relu", sums), kernel_shape=[32, 32])
        flat = build.node("Flatten", image)
        self.data = build.bytes(build.node("Gemm", flat, build.constant(self.v), build.constant(self.c)))
        self.x = rng.integers(-128, 128, (5, 1, 32, 32))

    def outputs(self, perforated: bool = False) -> NDArray[np.float64]:
        """Return the results. ``perforated``: odd columns are means of their neighbours; the last one has only one."""
        padded = np.pad(self.x[:, 0], ((0, 0), (2, 2), (2, 2)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))
        sums = np.einsum("nyxij,fij->nfyx", windows, self.w[:, 0]).astype(np.float64)
        if perforated:
            sums[..., 1:-1:2] = (sums[..., :-2:2] + sums[..., 2::2]) / 2
            sums[..., -1] = sums[..., -2]
        means = np.maximum(sums + self.b[:, None, None], 0).mean(axis=(2, 3))
        found: NDArray[np.float64] = means @ self.v + self.c
        return found


@pytest.fixture(scope="module")
def large() -> Large:
    return Large()


@pytest.fixture
def file(large: Large, tmp_path: Path) -> Path:
    (tmp_path / "large.onnx").write_bytes(large.data)
    (tmp_path / "conf.txt").write_text(CONFIGURATIONS)
    labels = large.outputs().argmax(axis=1)
    np.savez(tmp_path / "samples.npz", x=large.x, labels=labels)
    return tmp_path / "large.onnx"


def test_a_large_network_is_run_in_python(large: Large) -> None:
    network = parse(large.data)
    assert not network.unrolls and network.steps > 32 * 32 * 48 * 25
    assert np.array_equal(TensorModel(network).doubles(large.x.reshape(5, -1)), large.outputs())
    with pytest.raises(NetworkError, match=str(network.steps)):
        network.program()
    with pytest.raises(VectorError):
        TensorModel(network).doubles(np.full((1, 1024), 0.5))


def test_a_small_network_gives_the_same_in_both_ways() -> None:
    network = dais_verif.networks.read(Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx")
    x = np.random.default_rng(0).integers(0, 16, (20, 64)) * 2.0 ** -network.tensors[network.inputs[0]].type.f
    assert network.unrolls and np.array_equal(TensorModel(network).doubles(x), dais_verif.run(network.program(), x))


def test_a_large_network_is_shown(file: Path) -> None:
    listing = show(ListingRequest(program=file))
    assert listing.network is not None and not listing.network.unrolls
    assert listing.text.splitlines()[-1].startswith(f"unrolled: {listing.network.steps} steps, ")
    assert listing.kind == "network of 7 nodes"


@pytest.mark.parametrize("raw", [False, True])
def test_a_large_network_is_run(file: Path, large: Large, raw: bool) -> None:
    done = evaluate(EvaluationRequest(program=file, inputs=file.parent / "samples.npz", raw=raw))
    points = [kind.f for kind in parse(large.data).types(parse(large.data).outputs[0])]
    assert done.record.engine == "tensors" and done.record.program == ProgramInfo.of_network(
        dais_verif.networks.read(file).origin, 1024, 3
    )
    wanted = large.outputs() * (2.0 ** np.array(points) if raw else 1)
    assert np.array_equal(np.stack(done.columns, axis=1), wanted)


def test_raw_inputs_of_a_large_network(file: Path, large: Large) -> None:
    np.save(file.parent / "raw.npy", large.x.reshape(5, -1))
    done = evaluate(EvaluationRequest(program=file, inputs=file.parent / "raw.npy", raw_inputs=True))
    assert np.array_equal(np.stack(done.columns, axis=1), large.outputs())
    with pytest.raises(NetworkError):
        evaluate(EvaluationRequest(program=file, inputs=file.parent / "raw.npy", engine="exact"))


@pytest.mark.slow
def test_a_large_network_is_measured(file: Path, large: Large) -> None:
    request = MeasureRequest(network=file, configurations=file.parent / "conf.txt", data=file.parent / "samples.npz")
    exact, columns, half = measure_configurations(request).measured
    assert (exact.correct, exact.total, exact.largest, exact.ops, exact.cycles) == (5, 5, 0.0, None, None)
    found, wanted = large.outputs(perforated=True), large.outputs()
    assert columns.largest == np.abs(found - wanted).max() > 0
    assert columns.correct == (found.argmax(axis=1) == wanted.argmax(axis=1)).sum()
    assert half.refused is not None and "65504" in half.refused
    for one in (exact, columns):
        assert one.bound is not None and one.largest is not None and one.bound >= one.largest
        assert any("too large" in note for note in one.notes)


def test_what_needs_the_program_is_refused_at_once(file: Path) -> None:
    files = {"network": file, "configurations": file.parent / "conf.txt", "data": file.parent / "samples.npz"}
    with pytest.raises(NetworkError, match="steps"):
        measure_configurations(MeasureRequest(**files, bound=True))


@pytest.mark.slow
def test_lenet_under_all_its_configurations() -> None:
    """The network of the file is read in a moment, and every configuration is applied to it and computed."""
    from dais_verif.compile.approximation import read as read_configurations
    from dais_verif.compile.networks.approximate import approximate

    start = time.process_time()
    network = parse(lenet())
    assert time.process_time() - start < 15
    assert sum(op.cost for node in fuse(network) for op in node.ops) == 13_883_904
    file = read_configurations(HPVM / "lenet_mnist.txt")
    x = np.random.default_rng(0).integers(-128, 128, (2, 784)) / 128
    exact = TensorModel(network).doubles(x)
    seen = [TensorModel(approximate(network, file, one.name).network).doubles(x) for one in file.configurations]
    assert len(seen) == 51 and np.array_equal(seen[0], exact)
    assert any(not np.array_equal(one, exact) for one in seen)
