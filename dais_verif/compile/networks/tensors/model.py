"""Evaluate a network on batches of samples, tensor by tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import VectorError
from dais_verif.compile.networks.model import Network, Node
from dais_verif.compile.networks.model import Tensor as Described
from dais_verif.compile.networks.problems import NetworkError, shortened
from dais_verif.compile.networks.reals import NO_FIXED_POINT
from dais_verif.compile.networks.tensors.exact import Exact, Integers, compact, exact_of_array, scaled_up
from dais_verif.compile.networks.tensors.numbers import Tables, Tensor
from dais_verif.compile.networks.tensors.operators import Step, result_of
from dais_verif.spec.program.numbers import Batch, doubles_of_raw

__all__ = ["Outputs", "TensorModel"]

#: Entries of tables found so far, for all networks: configurations of one network read the same ones.
_TABLES: Tables = {}
#: The most elements of a tensor, or of all windows of a layer, in one piece of a batch.
_PIECE = 1 << 24


class Outputs(NamedTuple):
    """The elements of output tensors: ``raw * 2**-f``, one row per sample, one column per element."""

    raw: Integers
    f: int


class TensorModel:
    """The exact results of ``network``. ``outputs``: names of tensors; None: the network's outputs.

    Constants are computed once.
    """

    def __init__(self, network: Network, outputs: Sequence[str] | None = None) -> None:
        self._network = network
        self.outputs = tuple(network.outputs if outputs is None else outputs)
        self._constants: dict[str, Tensor] = {}
        self._nodes: list[Node] = []
        computed = set(network.inputs)
        for node in network.nodes:
            if computed & set(node.inputs):
                computed.update(node.outputs)
                self._nodes.append(node)
            elif node.op == "Constant" and not node.domain:
                self._constants[node.outputs[0]] = exact_of_array(_value_of(node))
            else:
                self._constants[node.outputs[0]] = self._result(node, self._constants)
        self._last = {name: at for at, node in enumerate(self._nodes) for name in node.inputs}
        for name in self.outputs:
            if network.tensors[name].type is None:
                raise NetworkError(f"{shortened(name)} is {NO_FIXED_POINT}")

    @property
    def n_in(self) -> int:
        """The number of elements of all inputs."""
        return sum(math.prod(self._network.tensors[name].shape) for name in self._network.inputs)

    def run(self, batch: Batch) -> Outputs:
        """Return the outputs for each row of ``batch``. Raises ``VectorError`` for values no input can hold."""
        if not batch.rows:
            count = sum(math.prod(self._network.tensors[name].shape) for name in self.outputs)
            return Outputs(np.zeros((0, count), dtype=np.int64), 0)
        pieces = [self._piece(rows) for rows in self._pieces(batch)]
        f = max((one.f for piece in pieces for one in piece), default=0)
        parts = [
            np.concatenate([scaled_up(one.raw, f - one.f).reshape(one.shape[0], -1) for one in piece], axis=1)
            for piece in pieces
        ]
        return Outputs(np.concatenate(parts), f)

    def doubles(self, x: Any) -> NDArray[np.float64]:
        """Return all outputs for inputs ``x`` as float64: one row per sample, one column per element.

        ``x``: an array of numbers (samples, elements of all inputs). Raises ``VectorError`` for a number that an input
        cannot hold, and for an output that float64 cannot hold.
        """
        found = self.run(Batch.of(x, self.n_in))
        return np.stack([doubles_of_raw(column, found.f, at) for at, column in enumerate(found.raw.T)], axis=1)

    def _pieces(self, batch: Batch) -> Iterator[dict[str, Tensor]]:
        """Yield inputs for as many samples as the largest tensor allows."""
        rows = max(1, _PIECE // self._largest())
        described = [self._network.tensors[name] for name in self._network.inputs]
        for start in range(0, batch.rows, rows):
            piece, at = batch.slice(start, start + rows), 0
            found: dict[str, Tensor] = {}
            for one in described:
                count = math.prod(one.shape)
                found[one.name] = _input(one, piece, at, start)
                at += count
            yield found

    def _largest(self) -> int:
        tensors = self._network.tensors
        sizes = [math.prod(tensors[name].shape) for name in self._network.inputs]
        for node in self._nodes:
            size = math.prod(tensors[node.outputs[0]].shape)
            windows = (
                math.prod(tensors[node.inputs[1]].shape[1:]) * size // tensors[node.outputs[0]].shape[1]
                if node.op == "Conv"
                else 0
            )
            sizes.append(max(size, windows * node.attributes.get("group", 1)))
        return max(sizes, default=1)

    def _piece(self, known: dict[str, Tensor]) -> list[Exact]:
        samples = max((one.shape[0] for one in known.values() if isinstance(one, Exact)), default=1)
        known = {**self._constants, **known}
        for at, node in enumerate(self._nodes):
            known[node.outputs[0]] = self._result(node, known)
            for name in node.inputs:
                if name and self._last[name] == at and name not in self.outputs:
                    known.pop(name, None)
        found = []
        for name in self.outputs:
            one = known[name] if name in known else self._constant(name)
            assert isinstance(one, Exact)  # the network has a type for it
            found.append(Exact(np.broadcast_to(one.raw, (samples, *one.shape[1:])), one.f))
        return found

    def _result(self, node: Node, known: dict[str, Tensor]) -> Tensor:
        network = self._network
        approximation = network.approximation
        written = network.tensors[node.outputs[0]]
        operands = tuple(
            (known[name] if name in known else self._constant(name)) if name else None for name in node.inputs
        )
        step = Step(
            node,
            operands,
            tuple(network.tensors[name].kind if name else "" for name in node.inputs),
            written.shape,
            written.kind,
            network.opset,
            None if approximation is None else approximation.nodes.get(node.outputs[0]),
            None if approximation is None else approximation.grid,
            _TABLES,
        )
        return result_of(step)

    def _constant(self, name: str) -> Tensor:
        """Return a constant of the file, which is kept."""
        if name not in self._constants:
            self._constants[name] = exact_of_array(self._network.arrays[name])
        return self._constants[name]


def _value_of(node: Node) -> NDArray[Any]:
    for name, dtype in (
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        if node.attributes.get(name) is not None:
            return np.asarray(node.attributes[name], dtype=dtype)
    return np.asarray(node.attributes["value"])


def _input(one: Described, piece: Batch, at: int, start: int) -> Exact:
    """Return the elements of input ``one``, which begin at column ``at``."""
    kind, count = one.type, math.prod(one.shape)
    assert kind is not None
    if piece.doubles is not None:
        scaled = np.ldexp(piece.doubles[:, at : at + count], kind.f)
        wrong = (scaled != np.floor(scaled)) | (scaled < kind.raw_min) | (scaled > kind.raw_max)
        _require_held(one, wrong, start)
        if kind.width < 62:
            return Exact(scaled.astype(np.int64).reshape(-1, *one.shape), kind.f)
    raw = np.empty((piece.rows, count), dtype=object)
    for number, column in enumerate(piece.columns[at : at + count]):
        up = column.exponent + kind.f
        raw[:, number] = [int(value) << up if up >= 0 else _divided(int(value), -up) for value in column.mantissa]
    wrong = np.vectorize(lambda value: value is None or not kind.raw_min <= value <= kind.raw_max, otypes=[bool])(raw)
    _require_held(one, wrong, start)
    return Exact(compact(raw).reshape(-1, *one.shape), kind.f)


def _divided(value: int, bits: int) -> int | None:
    return value >> bits if not value & ((1 << bits) - 1) else None


def _require_held(one: Described, wrong: NDArray[np.bool_], start: int) -> None:
    if wrong.any():
        row, number = (int(n) for n in np.argwhere(wrong)[0])
        raise VectorError(
            f"sample {start + row}: element {number} of {shortened(one.name)} is no number of its type {one.type}"
        )
