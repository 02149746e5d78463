"""Small instances of the kernels that the package ships, with every kind of access."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.shipped.moves import AXIS
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.spec.program import FixedType

__all__ = ["OUT", "S5", "WINDOW", "instance", "instances"]

S5, OUT = FixedType(1, 2, 2), FixedType(1, 6, 3)
WINDOW = {"pad_w": 1, "pad_h": 2, "stride_w": 2, "stride_h": 1, "dilation_w": 1, "dilation_h": 2}


def instance(name: str, inputs: Sequence[Tensor], output: Sequence[int], given: bytes | None = None) -> KernelInstance:
    params = HabanaKernelParams(name, tuple(inputs), (Tensor.of(OUT, *output),), given)
    return instance_of(params, instantiate(LIBRARY, params))


def instances() -> dict[str, KernelInstance]:
    rng = np.random.default_rng(21)
    weights = constant_tensor(S5, rng.integers(-16, 16, size=(2, 2, 3, 3)))
    image = Tensor.of(S5, 5, 4, 2)
    pooled = POOL.pack({**WINDOW, "kernel_w": 3, "kernel_h": 3})
    return {
        "mul": instance("mul", [Tensor.of(S5, 2, 3)] * 2, (2, 3)),
        "tanh": instance("tanh", [Tensor.of(S5, 4)], (4,)),
        "dense": instance("dense", [Tensor.of(S5, 2, 3), constant_tensor(S5, [[1, -2], [3, 5]])], (2, 3)),
        "conv2d": instance("conv2d", [image, weights], (3, 4, 2), STRUCTURE.pack({**WINDOW, "groups": 1})),
        "max_pool": instance("max_pool", [image], (3, 4, 2), pooled),
        "min_pool": instance("min_pool", [image], (3, 4, 2), pooled),
        "concat": instance("concat", [Tensor.of(S5, 3, 2), Tensor.of(S5, 1, 2)], (4, 2), AXIS.pack({})),
    }
