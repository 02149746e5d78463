"""Read a network from a file: lower every node, in order, and report all unsupported nodes in one error."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import NetworkInputError, ProgramError
from dais_verif.base.files import read_plain
from dais_verif.compile.networks.arithmetic import Arithmetic, type_of
from dais_verif.compile.networks.call import FLOATS, Budget, Call
from dais_verif.compile.networks.data import Data
from dais_verif.compile.networks.knobs import Approximation
from dais_verif.compile.networks.model import Lowered, Network, Node, Tensor, values_of
from dais_verif.compile.networks.onnx_file import MOST_ELEMENTS, Graph, GraphInput, GraphNode, read_graph
from dais_verif.compile.networks.operators import TAKE_REALS, operator_of
from dais_verif.compile.networks.operators.approximated import under_knobs
from dais_verif.compile.networks.operators.quantisers import INTEGERS, quantised_type
from dais_verif.compile.networks.problems import NetworkError, Problem, Refusal, shortened
from dais_verif.compile.networks.ranges import Ranges
from dais_verif.compile.networks.reals import NO_FIXED_POINT, Real
from dais_verif.spec.program.model import Origin
from dais_verif.spec.program.types import LIMIT, FixedType

__all__ = ["parse", "read"]

_MOST_BYTES = 1 << 28
_QUANTISERS = ("QuantizeLinear", "Quant")


def read(
    path: str | Path,
    *,
    inputs: Mapping[str, tuple[int, int, int]] | None = None,
    approximation: Approximation | None = None,
) -> Network:
    """Return the network in the ONNX file ``path``. ``approximation``: the knobs of some of its nodes.

    ``inputs``: types ``(k, i, f)`` of inputs that are real numbers; an input that is not named has the type to which
    its quantiser rounds. Raises ``NetworkError``, which names all unsupported nodes with their reasons, or the fault of
    the file; ``InputError`` if the file cannot be read; ``ToolError`` without the package ``onnx``.
    """
    data = read_plain(Path(path), _MOST_BYTES, advice="give the path of an ONNX file")
    try:
        return _network(data, inputs, approximation, str(path))
    except NetworkError as error:
        named = NetworkError(f"{path}: {error}")
        named.problems = error.problems
        raise named from None


def parse(
    data: bytes,
    *,
    inputs: Mapping[str, tuple[int, int, int]] | None = None,
    approximation: Approximation | None = None,
) -> Network:
    """Return the network in ``data``, the bytes of an ONNX file; see ``read``."""
    return _network(data, inputs, approximation, None)


def _network(
    data: bytes,
    inputs: Mapping[str, tuple[int, int, int]] | None,
    approximation: Approximation | None,
    path: str | None,
) -> Network:
    types = {name: FixedType(*kind) for name, kind in (inputs or {}).items()}
    origin = Origin(layout="onnx", file_sha256=hashlib.sha256(data).hexdigest(), path=path)
    return _Source(read_graph(data), types, origin).network(approximation)


@dataclass(frozen=True, eq=False)
class _Source:
    """A file, and the given types of its inputs. ``constants``: exact values of initializers read so far."""

    graph: Graph
    types: Mapping[str, FixedType]
    origin: Origin
    constants: dict[str, Data] = field(default_factory=dict)

    def network(self, approximation: Approximation | None) -> Network:
        """Return the network under an approximation."""
        reading = _Reading(self, approximation, Ranges(), Budget(None))
        reading.read()

        @cache
        def lowered() -> Lowered:
            """Read the network again, with ops in place of ranges."""
            # Notes are discarded: the network has them already.
            again = None if approximation is None else replace(approximation, notes=[])
            lowering = _Reading(self, again, Arithmetic(), Budget())
            lowering.read()
            return Lowered(lowering.ops, lowering.known, lowering.budget.taken)

        nodes = [
            Node(one.name, one.op, one.inputs, one.outputs, MappingProxyType(dict(one.attributes)), one.domain)
            for one in self.graph.nodes
        ]
        found = Network(
            tuple(one.name for one in self.graph.inputs),
            self.graph.outputs,
            tuple(nodes),
            MappingProxyType(dict(reading.tensors)),
            self.origin,
            self.graph.opset,
            approximation,
            MappingProxyType(dict(self.graph.constants)),
            reading.budget.taken,
            MappingProxyType(dict(reading.known)),
            lowered,
            self.network,
        )
        for name in found.outputs:
            found.require_numbers(name)
            values_of(reading.ops, name, reading.known[name])
        return found

    def constant(self, name: str) -> Data | None:
        """Return the exact value of the initializer ``name``; None if there is none."""
        if name not in self.constants and name in self.graph.constants:
            self.constants[name] = _exact(self.graph.constants[name])
        return self.constants.get(name)


class _Reading:
    """The tensors that are known so far, and the problems found."""

    def __init__(self, source: _Source, approximation: Approximation | None, ops: Arithmetic, budget: Budget) -> None:
        self._source, self._graph, self._types = source, source.graph, source.types
        self._approximation, self.ops, self.budget = approximation, ops, budget
        self.known: dict[str, Data] = {}
        self.tensors: dict[str, Tensor] = {}
        self._problems: list[Problem] = []
        strange = set(self._types) - {one.name for one in self._graph.inputs}
        if strange:
            raise NetworkInputError(
                f"a type is given for {shortened(min(strange))}, which is not an input of the network"
            )

    def read(self) -> None:
        """Compute all tensors. Raises ``NetworkError`` if a node cannot be computed, or an output is missing."""
        inputs: list[tuple[GraphInput, FixedType, tuple[int, ...]]] = []
        # Types of inputs follow from quantisers, whose scales may be computed by nodes from constants.
        for node in self._graph.nodes:
            if not set(node.inputs) & {one.name for one in self._graph.inputs}:
                self._try(node)
        for one in self._graph.inputs:
            try:
                kind, shape = self._type_of_input(one), _shape_of_input(one)
                self.budget.take(math.prod(shape))
                inputs.append((one, kind, shape))
            except Refusal as reason:
                self._problems.append(Problem(shortened(one.name), "input", str(reason)))
        for one, kind, shape in inputs:
            self._learn(one.name, self.ops.input(kind, shape, one.dtype))
        for node in self._graph.nodes:
            self._lower(node)
        if self._problems:
            raise NetworkError.of_problems(tuple(self._problems))
        for name in self._graph.outputs:
            try:
                known = name in self.tensors or self._constant(name) is not None
            except Refusal as reason:
                raise NetworkError(f"output {shortened(name)}: {reason}") from None
            if not known:
                raise NetworkError(f"no node writes the output {shortened(name)}")
        if not self._graph.outputs:
            raise NetworkError("the network has no output")

    def _learn(self, name: str, data: Data) -> None:
        """Record a tensor. Raises ``Refusal`` if its elements exceed a limit of programs."""
        kind = None if any(isinstance(one, Real) for one in data.values) else type_of(data.values)
        if kind is not None and max(kind.width, abs(kind.i), abs(kind.f)) > LIMIT:
            raise Refusal(f"its result has numbers of {kind.width} bits; at most {LIMIT} are supported")
        self.known[name] = self.ops.seen(data)
        self.tensors[name] = Tensor(name, data.shape, kind, data.dtype)

    def _constant(self, name: str) -> Data | None:
        """Return the exact value of the initializer ``name``; None if there is none."""
        found = self._source.constant(name)
        if found is None:
            return None
        self._learn(name, found)
        return self.known[name]

    def _operands(self, node: GraphNode) -> list[Data | None] | None:
        """Return the operands of a node; None if one is unknown because of a problem that is already reported."""
        found: list[Data | None] = []
        for name in node.inputs:
            data = None if not name else self.known.get(name) or self._constant(name)
            if name and data is None:
                return None
            found.append(data)
        return found

    def _call(self, node: GraphNode, operands: list[Data | None]) -> Call:
        approximation = self._approximation
        applied = None if approximation is None else approximation.nodes.get(node.outputs[0])
        return Call(
            node.op,
            tuple(operands),
            node.attributes,
            self._graph.opset,
            self.ops,
            self.budget,
            applied,
            approximation,
        )

    def _try(self, node: GraphNode) -> None:
        """Lower a node if it reads only constants."""
        if all(name in self.known or name in self._graph.constants or not name for name in node.inputs):
            self._lower(node)

    def _lower(self, node: GraphNode) -> None:
        """Compute the output of a node, or record the reason why that is impossible."""
        where, said = shortened(node.name), f"{node.domain}.{node.op}" if node.domain else node.op
        if (node.outputs and node.outputs[0] in self.known) or any(one.node == where for one in self._problems):
            return
        operator = operator_of(node.op, node.domain)
        try:
            if (node.op, node.domain) == ("Constant", ""):
                found = _constant_node(node)
            elif operator is None:
                raise Refusal("the operator is not supported")
            elif len([name for name in node.outputs if name]) != 1:
                raise Refusal("it has several outputs, or none; one is supported")
            else:
                operands = self._operands(node)
                if operands is None:
                    return
                self._require_fixed_point(node)
                found = under_knobs(operator, self._call(node, operands))
            self._learn(node.outputs[0], found)
        except (Refusal, ProgramError) as reason:
            self._problems.append(Problem(where, shortened(said)[1:-1], str(reason)))

    def _require_fixed_point(self, node: GraphNode) -> None:
        """Raise ``Refusal`` if ``node`` computes with numbers that are not quantised yet."""
        for name in node.inputs:
            if node.op not in TAKE_REALS and name and self.tensors[name].type is None:
                raise Refusal(f"it reads {shortened(name)}, {NO_FIXED_POINT}")

    def _type_of_input(self, one: GraphInput) -> FixedType:
        """Return the type of an input: that of its integers, the one that the user gave, or that of its quantisers."""
        if one.dtype in INTEGERS:
            signed, bits = INTEGERS[one.dtype]
            return FixedType(signed, bits - signed, 0)
        if one.dtype not in FLOATS:
            raise Refusal(f"inputs of kind {one.dtype} are not supported; FLOAT, DOUBLE, {', '.join(INTEGERS)} are")
        if one.name in self._types:
            kind = self._types[one.name]
            if kind.k not in (0, 1) or not 0 < kind.width <= LIMIT or max(abs(kind.i), abs(kind.f)) > LIMIT:
                raise Refusal(f"the type {tuple(kind)} that is given does not have 1 to {LIMIT} bits")
            return kind
        readers = [node for node in self._graph.nodes if one.name in node.inputs]
        types = {self._made_by(node) if node.inputs[0] == one.name else None for node in readers}
        kind_or_none = types.pop() if len(types) == 1 else None
        if kind_or_none is None:
            raise Refusal(
                "its real numbers have no type: let a single QuantizeLinear or Quant with one scale be its only "
                "reader, "
                "or give its type (k, i, f) with inputs="
            )
        return kind_or_none

    def _made_by(self, node: GraphNode) -> FixedType | None:
        """Return the type to which a node quantises; None if it is not a quantiser with one type."""
        if node.op not in _QUANTISERS or operator_of(node.op, node.domain) is None:
            return None
        try:
            operands = [self.known.get(name) or self._constant(name) if name else None for name in node.inputs[1:]]
            made = quantised_type(self._call(node, [None, *operands]))
        except Refusal:
            return None
        return None if made is None else FixedType(made[0], made[1] - made[0] + made[2], -made[2])


def _shape_of_input(one: GraphInput) -> tuple[int, ...]:
    """Return the shape of an input; a first dimension without a number is the size of a batch, and becomes 1."""
    if one.shape is None:
        raise Refusal("it has no shape")
    shape = tuple(1 if size is None and at == 0 else size for at, size in enumerate(one.shape))
    sizes = [size for size in shape if size is not None]
    if len(sizes) > 16 or len(sizes) != len(shape) or any(size < 1 for size in sizes):
        raise Refusal(
            "its shape must have at most 16 sizes, all above 0; only the first may be left open, and is then 1"
        )
    if math.prod(sizes) > MOST_ELEMENTS:
        raise Refusal(f"it has more than {MOST_ELEMENTS} elements")
    return tuple(sizes)


def _exact(array: NDArray[Any]) -> Data:
    """Return an array as exact numbers. Raises ``Refusal`` if an element is not finite."""
    names = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bool": "BOOL"}
    dtype = names.get(str(array.dtype), str(array.dtype).upper())
    try:
        real = dtype in (*FLOATS, "FLOAT16")
        if real:
            array = array.astype(np.float64)
        elif array.dtype.kind not in "iub":
            array = np.array([int(one) for one in array.ravel()], dtype=object).reshape(array.shape)
        distinct, codes = np.unique(array.ravel(), return_inverse=True)
        found = tuple(Fraction(one) if real else Fraction(int(one)) for one in distinct.tolist())
    except (OverflowError, ValueError, TypeError):
        raise Refusal("a constant that it reads does not consist of finite numbers") from None
    return Data(codes.reshape(array.shape), found, dtype)


def _constant_node(node: GraphNode) -> Data:
    value = node.attributes.get("value")
    if isinstance(value, np.ndarray):
        return _exact(value)
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64)):
        if node.attributes.get(name) is not None:
            return _exact(np.asarray(node.attributes[name], dtype=dtype))
    if node.attributes.get("value_ints") is not None:
        return _exact(np.asarray(node.attributes["value_ints"], dtype=np.int64))
    raise Refusal("its value is not a dense tensor of numbers")
