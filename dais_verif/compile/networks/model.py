"""A network: a graph of nodes between tensors, each tensor with its shape and the exact type of its elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import NDArray

from dais_verif.base.errors import RequestError
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks.arithmetic import Arithmetic, bounds_of, type_of
from dais_verif.compile.networks.call import MOST_STEPS
from dais_verif.compile.networks.data import Data
from dais_verif.compile.networks.knobs import Approximation
from dais_verif.compile.networks.problems import NetworkError, Refusal, shortened
from dais_verif.compile.networks.reals import NO_FIXED_POINT, Real
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.model import Origin

__all__ = ["Lowered", "Network", "Node", "Tensor"]


class Tensor(NamedTuple):
    """A tensor between nodes. ``type``: the smallest type that holds all elements. ``kind``: ONNX's type of elements.

    ``type`` is None if elements, such as results of Tanh, are not fixed-point numbers until a quantiser rounds them.
    """

    name: str
    shape: tuple[int, ...]
    type: FixedType | None
    kind: str


@dataclass(frozen=True)
class Node:
    """A node: its operator, the names of tensors that it reads (``""``: left out) and writes, and its attributes.

    ``domain``: the domain of its operator, empty for ONNX's own.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    domain: str = ""


@dataclass(frozen=True, eq=False)
class Network:
    """A network, made by ``read`` or ``parse``, and never changed afterwards.

    ``inputs``, ``outputs``: names, in the file's order. ``nodes``: in topological order. ``tensors``: by name,
    including the constants that nodes read. ``opset``: the version of ONNX's operators. ``approximation``: the
    approximations of nodes, if any. ``arrays``: the constants of the file. ``steps``: the multiplications, comparisons,
    roundings and elements of inputs of the unrolled program.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    tensors: Mapping[str, Tensor]
    origin: Origin
    opset: int
    approximation: Approximation | None
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    steps: int
    _ranges: Mapping[str, Data] = field(repr=False)
    _lowered: Callable[[], Lowered] = field(repr=False)
    _under: Callable[[Approximation], Network] = field(repr=False)

    def under(self, approximation: Approximation) -> Network:
        """Return the network under an approximation. Raises ``NetworkError`` if it cannot be applied."""
        return self._under(approximation)

    def constant(self, name: str) -> tuple[Fraction, ...] | None:
        """Return the numbers of tensor ``name`` in NumPy's order; None if it is computed, or does not exist."""
        return tuple(self._ranges[name].elements.ravel().tolist()) if self.is_constant(name) else None

    def is_constant(self, name: str) -> bool:
        """Return True if tensor ``name`` consists of constants."""
        return name in self._ranges and self._ranges[name].constant

    def bounds(self, name: str) -> list[tuple[Fraction, Fraction]]:
        """Return the smallest and the largest possible value of each element of ``name``, by interval arithmetic."""
        data = self._ranges[name]
        values = [bounds_of(one) for one in data.values]
        return [values[code] for code in data.codes.ravel().tolist()]

    def types(self, name: str) -> list[FixedType]:
        """Return the type of each element of ``name``, which consists of fixed-point numbers."""
        data = self._ranges[name]
        values = [type_of([one]) for one in data.values]
        return [values[code] for code in data.codes.ravel().tolist()]

    def data(self, name: str) -> Data:
        """Return tensor ``name``: its constants, or one value for each range of its elements."""
        return self._ranges[name]

    @property
    def unrolls(self) -> bool:
        """True if the network is small enough for one unrolled program."""
        return self.steps <= MOST_STEPS

    def program(self, outputs: Sequence[str] | None = None) -> Program:
        """Return the network as one unrolled program, from all elements of inputs to all elements of outputs.

        Tensors follow one another, each with its elements in NumPy's order. ``outputs``: names of tensors to output
        instead of the network's own outputs. Raises ``RequestError`` for unknown tensors, ``NetworkError`` if the
        network is too large to unroll, if a tensor does not consist of fixed-point numbers, or has a constant that does
        not fit an op.
        """
        names = self.outputs if outputs is None else outputs
        for name in names:
            self.require_numbers(name)
        if not self.unrolls:
            raise NetworkError(
                f"the network is too large to unroll: its program would take {self.steps} steps, and at most"
                f" {MOST_STEPS} are supported; `show`, `run` and `approx measure` compute it on tensors instead"
            )
        lowered = self._lowered()
        values = [one for name in names for one in values_of(lowered.ops, name, lowered.tensors[name])]
        return replace(lowered.ops.builder.build(values), origin=self.origin)

    def require_numbers(self, name: str) -> None:
        """Raise ``RequestError`` if there is no tensor ``name``, ``NetworkError`` if it is no fixed-point numbers."""
        if name not in self._ranges:
            raise RequestError(f"the network has no tensor {name!r}; it has {', '.join(list(self.tensors)[:20])}")
        if self.tensors[name].type is None:
            real = next(one for one in self._ranges[name].values if isinstance(one, Real))
            raise NetworkError(f"{shortened(name)} is {real}, {NO_FIXED_POINT}")


def values_of(ops: Arithmetic, name: str, data: Data) -> list[Value]:
    """Return elements of the output ``name``. Raises ``NetworkError`` for a constant that does not fit an op."""
    try:
        return [ops.value(one) for one in data.elements.ravel().tolist()]
    except Refusal as reason:
        raise NetworkError(f"{shortened(name)} is {reason}") from None


class Lowered(NamedTuple):
    """The block of the unrolled program, the tensors with their lowered elements, and the steps that it took."""

    ops: Arithmetic
    tensors: Mapping[str, Data]
    steps: int
