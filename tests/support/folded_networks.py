"""A small network with three configurations, for tests of networks as machines, and edits that update the manifest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from support.onnx_networks import Build

__all__ = ["CONFIGURATIONS", "edit", "small_network"]

CONFIGURATIONS = b"""1.0
+++++
exact 1.0 1.0 98.0 0.0
1 gpu conv fp32 11 add fp32 11 relu fp32 11 pool_max fp32 11
2 gpu mul fp32 11
-----
+++++
rows 1.5 1.5 97.0 1.0
1 gpu conv perf 123 add fp32 11 relu fp32 11 pool_max fp32 11
2 gpu mul fp32 11
-----
+++++
kept 1.5 1.5 97.0 1.0
1 gpu conv samp 235 add fp32 11 relu fp32 11 pool_max fp32 11
2 gpu mul fp16 12
-----
"""


def small_network(seed: int = 3) -> bytes:
    """Return a convolution of two channels with bias and ReLU, a 2 by 2 max-pool, a quantiser and a dense layer."""
    rng, build = np.random.default_rng(seed), Build()
    x = build.quant(build.input("x", [1, 2, 4, 4]), -1, 3)
    w = build.constant(3 * rng.integers(-3, 4, size=(2, 2, 3, 3)) / 4)
    c = build.node("Conv", x, w, build.constant(rng.integers(-8, 8, size=2) / 4), pads=[1, 1, 1, 1])
    pooled = build.node("MaxPool", build.node("Relu", c), kernel_shape=[2, 2], strides=[2, 2])
    v = build.node("Flatten", build.quant(pooled, -1, 5, signed=0))
    return build.bytes(build.node("MatMul", v, build.constant(rng.integers(-4, 5, size=(8, 2)) / 2)))


def edit(folder: Path, name: str, data: bytes) -> None:
    """Write a file of a folder and its new hash into the manifest, so that the hash does not reveal the edit."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "network.json").read_bytes())
    manifest["files"][name] = hashlib.sha256(data).hexdigest()
    (folder / "network.json").write_text(json.dumps(manifest))
