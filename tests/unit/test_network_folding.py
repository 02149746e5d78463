"""Members of folded networks compute the network, whatever the shape of constants; nothing else is ever written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.hardware import stages as segments
from dais_verif.compile.networks.hardware.chain import Chain, chain_of
from dais_verif.compile.networks.hardware.stream import stream_chain
from dais_verif.compile.networks.hardware.unfold import unfold_chain
from dais_verif.verbs.diff import DiffRequest, diff
from dais_verif.verbs.networks import build as flow

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")

from support.onnx_networks import Build, Quant  # noqa: E402

#: As large as a window, so that a window of a constant image without its padding gives one element.
SIZE = 3


def conv(b: Build, x: str, filters: int, channels: int, size: int = 1, pad: int = 0, **said: list[int]) -> str:
    weights = np.random.default_rng(size).integers(-2, 3, size=(filters, channels, size, size))
    return b.node("Conv", x, b.constant(weights), b.constant(np.arange(filters)), **{"pads": [pad] * 4, **said})


def scaled(b: Build, x: str, axis: int, count: int) -> str:
    scale, zero = b.constant(2.0 ** np.arange(count)), b.constant([0] * count, np.int8)
    return b.node("DequantizeLinear", b.node("QuantizeLinear", x, scale, zero, axis=axis), scale, zero, axis=axis)


def ones(b: Build, x: str) -> str:
    """Return an image that depends on no input, by weights that are all 0."""
    return b.node("Conv", x, b.constant(np.zeros((1, 2, 1, 1))), b.constant([1.0]))


def pool(b: Build, x: str, pads: list[int], op: str = "MaxPool", **said: int) -> str:
    return b.node(op, x, kernel_shape=[2, 2], pads=pads, **said)


def batch_normal(b: Build, x: str) -> str:
    by_channel = [b.constant(one) for one in ([1, 2], [3, 4], [0, 1], [1, 1])]
    return b.node("BatchNormalization", x, *by_channel, epsilon=0.0)


def by_column(b: Build, x: str) -> str:
    constants = b.constant([1, 2, 4]), b.constant(0.0), b.constant(4.0)
    said = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND", "domain": Quant.op_domain}
    return b.node("Quant", x, *constants, **said)


def row(size: int) -> np.ndarray:
    return np.arange(1, size + 1)


#: Layers after a convolution ``y`` of the input ``x``, and whether each member computes only its own pixel of them.
CASES: dict[str, tuple[bool, Callable[[Build, str, str], str]]] = {
    "constants by channel": (True, lambda b, x, y: b.node("Add", y, b.constant([[[1]], [[2]]]))),
    "one constant": (True, lambda b, x, y: b.node("Mul", y, b.constant([3]))),
    "constants by column": (False, lambda b, x, y: b.node("Add", y, b.constant(row(SIZE)))),
    "constants by row": (False, lambda b, x, y: b.node("Mul", y, b.constant(row(SIZE)[:, None]))),
    "normalisation": (True, lambda b, x, y: batch_normal(b, y)),
    "scales by channel": (True, lambda b, x, y: scaled(b, y, -3, 2)),
    "scales by row": (False, lambda b, x, y: scaled(b, y, 2, SIZE)),
    "scales by column": (False, lambda b, x, y: scaled(b, y, -1, SIZE)),
    "scales of Quant by column": (False, lambda b, x, y: by_column(b, y)),
    "convolution of a constant": (False, lambda b, x, y: conv(b, ones(b, x), 1, 1, 3, pad=1)),
    "pool of a constant": (
        False,
        lambda b, x, y: pool(b, ones(b, x), [1, 1, 0, 0], "AveragePool", count_include_pad=1),
    ),
    "constant channel": (
        False,
        lambda b, x, y: b.node("Concat", y, b.constant(row(SIZE * SIZE).reshape(1, 1, SIZE, SIZE)), axis=1),
    ),
    "padded pool of tanh": (False, lambda b, x, y: b.quantise(pool(b, b.node("Tanh", y), [0, 0, 1, 1]), -6)),
    "padded above": (True, lambda b, x, y: conv(b, y, 1, 2, 2, pads=[1, 0, 0, 1])),
    "padded below": (True, lambda b, x, y: conv(b, y, 1, 2, 2, pads=[0, 1, 1, 0])),
    "pool of tanh": (True, lambda b, x, y: b.quantise(pool(b, b.node("Tanh", y), [0, 0, 0, 0]), -6)),
}


def network(name: str) -> bytes:
    b = Build()
    x = b.input("x", [1, 2, SIZE, SIZE])
    return b.bytes(CASES[name][1](b, x, conv(b, x, 2, 2)))


def read(name: str) -> Network:
    return parse(network(name), inputs={"x": (1, 2, 0)})


def is_network(chain: Chain, net: Network) -> bool:
    record = diff(DiffRequest(a=unfold_chain(chain), b=net.program(), vectors=200, unchecked=True))
    assert record.verdict in (Verdict.PASS, Verdict.PROGRAMS_DIFFER)
    return record.verdict is Verdict.PASS


def test_members_compute_the_network() -> None:
    """A member computes one pixel only if the operators have the same constants at each pixel."""
    for name, (by_pixel, _) in CASES.items():
        net = read(name)
        chain = chain_of([net])
        assert is_network(chain, net), name
        assert (min(one.instance.mapping.members for one in chain.stages(0)) > 1) is by_pixel, name
        try:
            streamed = stream_chain(net)
        except InputError:
            assert not by_pixel, name
        else:
            assert is_network(streamed, net), name


@pytest.mark.parametrize("form", ["memory", "stream"])
def test_members_that_compute_something_else_are_not_written(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = Build()
    x = b.input("x", [1, 2, SIZE, SIZE])
    quantised = b.quantise(x, 0)
    (tmp_path / "net.onnx").write_bytes(b.bytes(b.node("Add", conv(b, quantised, 2, 2), b.constant(row(SIZE)))))
    monkeypatch.setattr(segments, "_by_pixel", lambda network, node, name: True)
    monkeypatch.setattr(flow, "_COMPARED", 8)
    with pytest.raises(AssertionError, match="dais-verif"):
        dais_verif.emit(tmp_path / "net.onnx", form=form, output=tmp_path / "made")
    assert not (tmp_path / "made").exists()
