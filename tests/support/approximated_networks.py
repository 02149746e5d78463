"""Random small networks under random knobs, whose values lie far from 0 or beyond what later ops let through."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.compile.approximation import KNOBS
from dais_verif.compile.networks import Network, parse
from dais_verif.compile.networks.knobs import Applied, Approximation
from dais_verif.compile.networks.problems import NetworkError
from support.onnx_networks import Build

__all__ = ["Case", "random_case"]

#: Bounds of a Clip, some of which are rounded to binary16.
_LIMITS = (-40, -3.0009765625, 0, 5.0029296875, 30.0078125, 60, 100.03125)
_SAMPLED, _PERFORATED = (231, 232, 233, 236, 261), (121, 122, 125, 123, 151, 154)


class Case(NamedTuple):
    """The exact network, the one under knobs, the knobs, and all vectors of inputs (or many, if they are too many)."""

    exact: Network
    other: Network
    applied: Mapping[str, Applied]
    rows: NDArray[np.float64]


def random_case(seed: int) -> Case:
    """Return the first case from ``seed`` on whose knobs can be applied."""
    rng = random.Random(seed)
    while True:
        try:
            return _case(rng)
        except NetworkError:
            continue


def _case(rng: random.Random) -> Case:
    build, applied = Build(), dict[str, Applied]()
    channels, columns = rng.choice(((1, 3), (2, 2), (1, 4), (3, 1)))
    bits = rng.choice((1, 2, 3)) if channels * columns > 3 else rng.choice((2, 3, 4))
    signed = rng.randint(0, 1)
    x = build.node("Mul", build.input("x", [1, channels, 1, columns]), build.constant(2.0 ** rng.randint(0, 4)))
    names = [_moved(build, rng, x)]
    half = lambda: KNOBS[rng.choice((11, 11, 11, 12))]  # noqa: E731
    for _ in range(rng.randint(2, 4)):
        kind = rng.choice(("conv", "conv", "act", "act", "quant", "quant", "pool", "add"))
        if kind == "conv":
            filters = rng.randint(1, 3)
            width = rng.choice((1, 2)) if columns > 1 else 1
            weights = np.array([rng.choice((-2, -1, -0.5, 0, 1, 1, 2)) for _ in range(filters * channels * width)])
            inputs = [build.constant(weights.reshape(filters, channels, 1, width))]
            bias = rng.random() < 0.5
            inputs += [build.constant([rng.choice((0, -90, 100, 7.5)) for _ in range(filters)])] if bias else []
            names.append(build.node("Conv", names[-1], *inputs))
            numbers = (*_SAMPLED, *_PERFORATED, 11, 12)
            applied[names[-1]] = Applied(KNOBS[rng.choice(numbers)], half() if bias else None)
            channels, columns = filters, columns - width + 1
        elif kind == "act":
            op = rng.choice(("Relu", "LeakyRelu", "Clip", "Clip"))
            said: dict[str, Any] = {"alpha": rng.choice((0.25, 1.0, 2.0, 0.0))} if op == "LeakyRelu" else {}
            ends = sorted(rng.choice(_LIMITS) for _ in range(2))
            limits = [build.constant(one) for one in ends] if op == "Clip" else []
            names.append(build.node(op, names[-1], *limits, **said))
            applied[names[-1]] = Applied(half())
        elif kind == "quant":
            mode = rng.choice(("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"))
            names.append(build.quant(names[-1], rng.randint(-2, 3), rng.randint(2, 8), rng.randint(0, 1), 0, mode))
            if rng.random() < 0.3:
                names.append(build.quantise(names[-1], rng.randint(-1, 2), rng.choice((np.int8, np.uint8))))
        elif kind == "pool" and columns > 1:
            names.append(build.node("MaxPool", names[-1], kernel_shape=[1, 2], pads=[0, 0, 0, rng.randint(0, 1)]))
            columns = 0  # read from the network below
            applied[names[-1]] = Applied(half())
        else:
            names.append(_moved(build, rng, names[-1]))
            if rng.random() < 0.5:
                names.append(build.node("Sub", names[-1], names[-2]))
                applied[names[-1]] = Applied(half())
        if columns == 0:
            columns = _columns(build, names[-1], signed, bits)
    return _made(build, names, signed, bits, applied, rng)


def _moved(build: Build, rng: random.Random, name: str) -> str:
    """Return a tensor far from 0, in most cases."""
    return build.node("Add", name, build.constant(rng.choice((0, 100, 90.25, -110, 40, -7))))


def _columns(build: Build, name: str, signed: int, bits: int) -> int:
    return parse(build.bytes(name), inputs={"x": (signed, bits, 0)}).tensors[name].shape[3]


def _made(
    build: Build, names: list[str], signed: int, bits: int, applied: dict[str, Applied], rng: random.Random
) -> Case:
    data, kinds = build.bytes(*names), {"x": (signed, bits, 0)}
    exact = parse(data, inputs=kinds)
    other = parse(data, inputs=kinds, approximation=Approximation(applied))
    count, width = int(np.prod(exact.tensors["x"].shape)), bits + signed
    values = range(-(1 << bits) if signed else 0, 1 << bits)
    if count * width <= 11:
        rows = np.array(list(itertools.product(values, repeat=count)), dtype=np.float64)
    else:
        ends = (values[0], values[-1])
        rows = np.array([[rng.choice((rng.choice(values), *ends)) for _ in range(count)] for _ in range(1500)]) * 1.0
    return Case(exact, other, applied, rows)
