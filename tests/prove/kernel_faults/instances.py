"""Ten small kernel instances, in both forms where both are possible."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
from support.kernel_instances import instance

from dais_verif.base.errors import DaisError
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.folder import KernelFolder
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance, fitted
from dais_verif.compile.kernels.mapping import MappedTensor, Mapping
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE as CONV
from dais_verif.compile.kernels.shipped.moves import AXIS, PERMUTATION
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.shipped.softmax import STRUCTURE as SOFTMAX
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import FixedType

__all__ = ["instances", "kernel_of", "machine_of", "targets"]

S3 = FixedType(1, 1, 1)
#: The properties of a stream that a kernel folder records.
_OF_STREAM = ("interval", "beats", "latency", "flush", "line_bits", "window_bits")
_WINDOW = {"pad_w": 1, "pad_h": 1, "stride_w": 2, "stride_h": 1, "dilation_w": 1, "dilation_h": 1}


def _fir(outputs: int) -> KernelInstance:
    """Return a user-defined filter of three taps, with -1 before the signal; ``outputs`` is the number per member."""
    taps = [[0] * n + [1, 2, -3] + [0] * (outputs - 1 - n) for n in range(outputs)]
    block = instance("dense", [Tensor.of(S3, outputs + 2), constant_tensor(S3, taps)], (outputs,)).block
    reads = AccessPattern((DimPattern.affine(0, outputs, -2, outputs - 1),))
    writes = AccessPattern((DimPattern.affine(0, outputs, 0, outputs - 1),))
    mapping = Mapping((6 // outputs,), (MappedTensor("x", (6,), reads),), (MappedTensor("y", (6,), writes),))
    return fitted(KernelInstance("fir", block, mapping, (S3,), (FixedType(1, 6, 3),), (-2,)))


@cache
def instances(form: str) -> dict[str, KernelInstance]:
    """Return the instances by name; windows of streams move by one pixel, since stride 2 has no stream form."""
    size, stride = (3, 1) if form == "stream" else (2, 2)
    wide, high = (4, 3) if form == "stream" else (3, 4)
    weights = constant_tensor(S3, np.random.default_rng(5).integers(-4, 4, size=(2, 1, size, size)))
    image = Tensor.of(S3, 4, 3, 1)
    window = {**_WINDOW, "stride_w": stride}
    pool = {**window, "kernel_w": size, "kernel_h": size, "reciprocal_bits": 4}
    soft = {"axis": 0, "exp_bits": 4, "sum_bits": 2, "reciprocal_bits": 4}
    return {
        "relu": instance("relu", [Tensor.of(S3, 3, 2)], (3, 2)),
        "add": instance("add", [Tensor.of(S3, 3, 2)] * 2, (3, 2)),
        "dense": instance("dense", [Tensor.of(S3, 2, 3), constant_tensor(S3, [[1, -2], [3, -3]])], (2, 3)),
        "conv2d": instance("conv2d", [image, weights], (wide, high, 2), CONV.pack({**window, "groups": 1})),
        "max_pool": instance("max_pool", [image], (wide, high, 1), POOL.pack(pool)),
        "avg_pool": instance("avg_pool", [image], (wide, high, 1), POOL.pack(pool)),
        "softmax": instance("softmax", [Tensor.of(S3, 2, 3)], (2, 3), SOFTMAX.pack(soft)),
        "transpose": instance(
            "transpose", [Tensor.of(S3, 3, 2)], (2, 3), PERMUTATION.pack({"source_0": 1, "source_1": 0})
        ),
        "concat": instance("concat", [Tensor.of(S3, 3, 2), Tensor.of(S3, 1, 2)], (4, 2), AXIS.pack({})),
        "fir": _fir(1 if form == "stream" else 2),
    }


def machine_of(one: KernelInstance, form: str) -> tuple[Machine, dict[str, int]]:
    """Return the machine of an instance, and its facts; raise ``InputError`` if the form is not possible."""
    if form == "memory":
        memory = memory_form(one)
        return memory.machine, asdict(memory.facts)
    stream = stream_form(one)
    return stream.machine, {key: getattr(stream, key) for key in _OF_STREAM}


def kernel_of(one: KernelInstance, form: str) -> KernelFolder:
    """Return an instance as a ``KernelFolder``, whose folder does not exist."""
    names = [tensor.name for tensor in (*one.mapping.inputs, *one.mapping.outputs)]
    count = len(one.mapping.inputs)
    machine, facts = machine_of(one, form)
    folder = KernelFolder(Path(one.name), one, form, facts, tuple(names[:count]), tuple(names[count:]))
    folder.__dict__["machine"] = machine  # its file does not exist
    return folder


def targets() -> list[tuple[str, str]]:
    """Return the name and form of all instances that can be built."""
    found = []
    for form in ("memory", "stream"):
        for name, one in instances(form).items():
            try:
                machine_of(one, form)
            except DaisError:
                continue
            found.append((name, form))
    return found
