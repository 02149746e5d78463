"""Random requests for every shipped kernel, with input values; they are small, since hardware is built from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.constants import constant_tensor, has_content
from dais_verif.compile.kernels.instance import KernelInstance, instance_of
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE as CONV
from dais_verif.compile.kernels.shipped.dense import STRUCTURE as DENSE
from dais_verif.compile.kernels.shipped.moves import AXIS, PERMUTATION
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.shipped.softmax import STRUCTURE as SOFTMAX
from dais_verif.compile.kernels.structures import HabanaKernelParams, Tensor
from dais_verif.spec.program import FixedType

__all__ = ["SHIPPED", "Asked", "Ints", "asked", "quantised", "random_type"]

Ints = NDArray[Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Asked:
    """A request, its private parameters by name, its instance, and raw integers of all inputs, including constant ones.

    The first axis of inputs that are not constant is the axis of samples.
    """

    params: HabanaKernelParams
    given: Any
    instance: KernelInstance
    raw: tuple[Ints, ...]

    @property
    def samples(self) -> list[Ints]:
        """The values of inputs that are not constant."""
        return [x for x, tensor in zip(self.raw, self.params.input_tensors, strict=True) if not has_content(tensor)]

    @property
    def fractions(self) -> list[int]:
        """Fractional bits of the inputs."""
        return [tensor.data_type.f for tensor in self.params.input_tensors]  # type: ignore[union-attr]


def random_type(rng: Rng, most: int = 5, *, signed: bool = False) -> FixedType:
    """Return a small type with at least one bit, and with less than ``most`` integer bits, not counting the sign."""
    k, i = int(rng.integers(signed, 2)), int(rng.integers(1, most))
    return FixedType(k, i, max(int(rng.integers(-1, 4)), 1 - k - i))


def quantised(raw: Ints, f: int, kind: FixedType) -> Ints:
    """Convert exact numbers ``raw * 2**-f`` to another type: floored, high bits cut off."""
    raw = raw.astype(object)
    moved = raw * (1 << kind.f - f) if kind.f >= f else raw // (1 << f - kind.f)
    low = moved % (1 << kind.width)
    return np.where(low > kind.raw_max, low - (1 << kind.width), low)


def _raw(rng: Rng, kind: FixedType, shape: Sequence[int]) -> Ints:
    return rng.integers(kind.raw_min, kind.raw_max + 1, size=tuple(shape))


def _number(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1))


Made = tuple[list[tuple[int, ...]], list[tuple[int, ...]], tuple[int, ...], bytes | None]


def _pixelwise(inputs: int) -> Callable[[Rng, str], Made]:
    def make(rng: Rng, name: str) -> Made:
        shape = tuple(_number(rng, 1, 3) for _ in range(_number(rng, 1, 4)))
        given = None
        if name in ("leaky_relu", "clipped_relu"):
            low = -9 if name == "leaky_relu" else 0
            given = np.array([_number(rng, low, 9), _number(rng, 0, 3)], dtype="<i4").tobytes()
        return [shape] * inputs, [], shape, given

    return make


def _batch_norm(rng: Rng, name: str) -> Made:
    shape = tuple(_number(rng, 1, 3) for _ in range(_number(rng, 3, 4)))
    return [shape], [shape[-3:-2]] * 2, shape, None


def _dense(rng: Rng, name: str) -> Made:
    n_in, n_out = _number(rng, 1, 4), _number(rng, 1, 3)
    rest = tuple(_number(rng, 1, 3) for _ in range(_number(rng, 0, 2)))
    given = DENSE.pack({"activation": _number(rng, 0, 2), "most": _number(rng, 0, 9), "fraction": _number(rng, 0, 2)})
    constants = [(n_out, n_in), (n_out,)][: _number(rng, 1, 2)]
    return [(*rest, n_in)], constants, (*rest, n_out), given


def _window(rng: Rng) -> tuple[dict[str, int], list[int], list[int], list[int]]:
    """Return parameters, and the sizes of the image, the window and the output, as height and width."""
    while True:
        sizes, window = [_number(rng, 1, 5) for _ in "hw"], [_number(rng, 1, 3) for _ in "hw"]
        given = {f"stride_{d}": _number(rng, 1, 2) for d in "hw"} | {f"dilation_{d}": _number(rng, 1, 2) for d in "hw"}
        given |= {f"pad_{d}": _number(rng, 0, 2) for d in "hw"}
        spans = [
            n + 2 * given[f"pad_{d}"] - given[f"dilation_{d}"] * (k - 1) - 1
            for n, k, d in zip(sizes, window, "hw", strict=True)
        ]
        if min(spans) >= 0:
            out = [span // given[f"stride_{d}"] + 1 for span, d in zip(spans, "hw", strict=True)]
            return given, sizes, window, out


def _conv2d(rng: Rng, name: str) -> Made:
    given, sizes, window, out = _window(rng)
    groups, per_group, per_output = _number(rng, 1, 2), _number(rng, 1, 2), _number(rng, 1, 2)
    given |= {
        "groups": groups,
        "activation": _number(rng, 0, 2),
        "most": _number(rng, 0, 9),
        "fraction": _number(rng, 0, 2),
    }
    outputs, samples = groups * per_output, tuple(_number(rng, 1, 2) for _ in range(_number(rng, 0, 1)))
    constants = [(outputs, per_group, *window), (outputs,)][: _number(rng, 1, 2)]
    return [(*samples, groups * per_group, *sizes)], constants, (*samples, outputs, *out), CONV.pack(given)


def _pool(rng: Rng, name: str) -> Made:
    given, sizes, window, out = _window(rng)
    given |= {"kernel_h": window[0], "kernel_w": window[1], "reciprocal_bits": _number(rng, 0, 8)}
    rest = tuple(_number(rng, 1, 2) for _ in range(_number(rng, 0, 2)))
    return [(*rest, *sizes)], [], (*rest, *out), POOL.pack(given)


def _softmax(rng: Rng, name: str) -> Made:
    shape = tuple(_number(rng, 1, 4) for _ in range(_number(rng, 1, 3)))
    given = {"axis": _number(rng, 0, len(shape) - 1), "exp_bits": _number(rng, 4, 10), "sum_bits": _number(rng, 1, 4)}
    return [shape], [], shape, SOFTMAX.pack({**given, "reciprocal_bits": _number(rng, 2, 10)})


def _transpose(rng: Rng, name: str) -> Made:
    shape = tuple(_number(rng, 1, 3) for _ in range(_number(rng, 1, 4)))
    sources = rng.permutation(len(shape)).tolist()
    out = tuple(shape[::-1][d] for d in sources)[::-1]
    return [shape], [], out, PERMUTATION.pack({f"source_{d}": source for d, source in enumerate(sources)})


def _concat(rng: Rng, name: str) -> Made:
    shape = [_number(rng, 1, 3) for _ in range(_number(rng, 1, 3))]
    at, more = _number(rng, 0, len(shape) - 1), _number(rng, 1, 3)
    other, both = list(shape), list(shape)
    other[at], both[at] = more, shape[at] + more
    return [tuple(shape), tuple(other)], [], tuple(both), AXIS.pack({"axis": len(shape) - 1 - at})


_MAKERS: dict[str, Callable[[Rng, str], Made]] = {
    **dict.fromkeys(("abs", "relu", "cast", "leaky_relu", "clipped_relu", "tanh", "sigmoid"), _pixelwise(1)),
    **dict.fromkeys(("add", "sub", "mul"), _pixelwise(2)),
    "batch_norm": _batch_norm,
    "dense": _dense,
    "conv2d": _conv2d,
    **dict.fromkeys(("max_pool", "min_pool", "avg_pool"), _pool),
    "softmax": _softmax,
    "transpose": _transpose,
    "concat": _concat,
}
#: Names of all shipped kernels.
SHIPPED = tuple(kernel.name for kernel in LIBRARY.kernels)


def asked(name: str, seed: int, samples: int = 2) -> Asked:
    """Return a random request for kernel ``name``; the output's type is random, too."""
    rng = np.random.default_rng([SHIPPED.index(name), seed])
    shapes, constants, out, node_params = _MAKERS[name](rng, name)
    # For unsigned inputs, leaky_relu has no effect.
    kinds = [random_type(rng, signed=name == "leaky_relu") for _ in (*shapes, *constants)]
    raw = [_raw(rng, kind, (samples, *shape)) for kind, shape in zip(kinds, shapes, strict=False)]
    fixed = [_raw(rng, kind, shape) for kind, shape in zip(kinds[len(shapes) :], constants, strict=True)]
    inputs = (
        *(Tensor.of(kind, *shape[::-1]) for kind, shape in zip(kinds, shapes, strict=False)),
        *(constant_tensor(kind, x) for kind, x in zip(kinds[len(shapes) :], fixed, strict=True)),
    )
    params = HabanaKernelParams(name, inputs, (Tensor.of(random_type(rng, 8), *out[::-1]),), node_params)
    structure = next(kernel.structure for kernel in LIBRARY.kernels if kernel.name == name)
    given = structure.unpack(node_params) if structure and node_params else None
    return Asked(params, given, instance_of(params, instantiate(LIBRARY, params)), (*raw, *fixed))
