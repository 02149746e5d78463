"""A network: a graph of nodes between tensors, each tensor with its shape and the exact type of its elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import NDArray

from dais_verif.base.errors import RequestError
from dais_verif.compile.kernels.blocks import Value
from dais_verif.compile.networks.arithmetic import Arithmetic, bounds_of
from dais_verif.compile.networks.call import Data
from dais_verif.compile.networks.knobs import Approximation
from dais_verif.compile.networks.problems import NetworkError, Refusal, shortened
from dais_verif.compile.networks.reals import NO_FIXED_POINT, Real
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.model import Origin

__all__ = ["Network", "Node", "Tensor"]


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
    approximations of nodes, if any. ``arrays``: the constants of the file.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    tensors: Mapping[str, Tensor]
    origin: Origin
    opset: int
    approximation: Approximation | None
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    _elements: Mapping[str, Data] = field(repr=False)
    _ops: Arithmetic = field(repr=False)

    def constant(self, name: str) -> tuple[Fraction, ...] | None:
        """Return the numbers of tensor ``name`` in NumPy's order; None if it is computed, or does not exist."""
        data = self._elements.get(name)
        return tuple(data.elements.ravel().tolist()) if data is not None and data.constant else None

    def bounds(self, name: str) -> list[tuple[Fraction, Fraction]]:
        """Return the smallest and the largest possible value of each element of ``name``, by interval arithmetic."""
        return [bounds_of(one) for one in self._elements[name].elements.ravel().tolist()]

    def data(self, name: str) -> Data:
        """Return tensor ``name`` with its lowered elements."""
        return self._elements[name]

    def program(self, outputs: Sequence[str] | None = None) -> Program:
        """Return the network as one unrolled program, from all elements of inputs to all elements of outputs.

        Tensors follow one another, each with its elements in NumPy's order. ``outputs``: names of tensors to output
        instead of the network's own outputs. Raises ``RequestError`` for unknown tensors, ``NetworkError`` if one does
        not consist of fixed-point numbers, or has a constant that does not fit an op.
        """
        values: list[Value] = []
        for name in self.outputs if outputs is None else outputs:
            if name not in self._elements:
                raise RequestError(f"the network has no tensor {name!r}; it has {', '.join(list(self.tensors)[:20])}")
            values += self._values(name)
        return replace(self._ops.builder.build(values), origin=self.origin)

    def _values(self, name: str) -> list[Value]:
        elements = self._elements[name].elements.ravel().tolist()
        try:
            if self.tensors[name].type is None:
                raise Refusal(f"{next(one for one in elements if isinstance(one, Real))}, {NO_FIXED_POINT}")
            return [self._ops.value(one) for one in elements]
        except Refusal as reason:
            raise NetworkError(f"{shortened(name)} is {reason}") from None
