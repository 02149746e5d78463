"""Read ONNX files: turn protocol buffers into plain tensors and nodes, within limits, before anything is computed.

This is the only module that uses the package ``onnx``, which is imported when a file is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import MissingPackage
from dais_verif.compile.networks.problems import NetworkError, shortened

__all__ = ["MOST_ELEMENTS", "Graph", "GraphInput", "GraphNode", "looks_like_onnx", "read_graph"]

#: The maximum number of elements of a tensor.
MOST_ELEMENTS = 1 << 22

#: Tags of the fields that can follow ``ir_version`` in a model: all have a length, except the integer of field 5.
_FIELDS = frozenset(field << 3 | 2 for field in (2, 3, 4, 6, 7, 8, 14, 20, 25)) | {5 << 3}


@dataclass(frozen=True)
class GraphInput:
    """An input in the file. ``shape``: None in place of a dimension without a number."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class GraphNode:
    """A node in the file; an input or output that is left out is ``""``."""

    name: str
    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Graph:
    """A graph in the file. ``constants``: its initializers. ``opset``: the version of ONNX's own operators."""

    inputs: tuple[GraphInput, ...]
    nodes: tuple[GraphNode, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, NDArray[Any]]
    opset: int


def looks_like_onnx(data: bytes) -> bool:
    """Return True if ``data`` looks like an ONNX model: a version below 128, a field of a model, and whole fields."""
    if len(data) < 4 or data[0] != 0x08 or not 1 <= data[1] < 0x80 or data[2] not in _FIELDS:
        return False
    at = 0
    while at < len(data):  # a DAIS binary is only mistaken for a model if it consists of whole fields by chance
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            _, at = _varint(data, at)
        elif tag & 7 == 2:
            length, at = _varint(data, at)
            at += length
        else:
            return False
    return at == len(data)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        number, at, shift = number | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return number, at
    return 7, len(data) + 1


def read_graph(data: bytes) -> Graph:
    """Return the graph of the model in ``data``. Raises ``NetworkError`` if it is damaged or refers to other files."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise MissingPackage(
            "reading networks needs the Python package onnx; install it with: pip install 'dais-verif[network]'"
        ) from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        raise NetworkError("it is not an ONNX model, or it is damaged: its protocol buffer cannot be decoded") from None
    if not model.HasField("graph") or not model.opset_import:
        raise NetworkError("it is not an ONNX model, or it is damaged: it has no graph or no version of operators")
    graph = model.graph
    if len(graph.sparse_initializer):
        raise NetworkError("sparse initializers are not supported; write them as dense ones")
    opsets = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
    constants = {_text(one.name): tensor_of(one, onnx) for one in graph.initializer}
    if len(constants) != len(graph.initializer):
        raise NetworkError("two initializers have the same name")
    inputs = tuple(_input(one, onnx) for one in graph.input if _text(one.name) not in constants)
    nodes = tuple(_node(number, one, onnx) for number, one in enumerate(graph.node))
    _require_order(inputs, constants, nodes)
    return Graph(inputs, nodes, tuple(_text(one.name) for one in graph.output), constants, max(opsets, default=0))


def _text(name: str | bytes) -> str:
    """Return a name from the file as text; bytes that are not UTF-8 are escaped."""
    return name if isinstance(name, str) else name.decode(errors="backslashreplace")


def tensor_of(tensor: Any, onnx: Any) -> NDArray[Any]:
    """Return a tensor of the file as an array. Raises ``NetworkError`` if it is damaged, or stored in another file."""
    name = shortened(_text(tensor.name))
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise NetworkError(f"tensor {name} lies in another file; save the model with its data in one file")
    if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > MOST_ELEMENTS:
        raise NetworkError(
            f"tensor {name} has shape {_shape(tensor.dims)}; at most {MOST_ELEMENTS} elements are supported"
        )
    try:
        array = np.asarray(onnx.numpy_helper.to_array(tensor))
    except Exception as error:  # the package raises exceptions of many types for damaged tensors
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise NetworkError(f"tensor {name} is damaged: {shortened(reason)}") from None
    if array.shape != tuple(tensor.dims):
        raise NetworkError(f"tensor {name} is damaged: it does not have the elements of its shape")
    return array


def _shape(sizes: Iterable[int]) -> str:
    text = "x".join(map(str, sizes)) or "of a single number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _input(value: Any, onnx: Any) -> GraphInput:
    tensor = value.type.tensor_type
    names = {number: name for name, number in onnx.TensorProto.DataType.items()}
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(one.dim_value if one.HasField("dim_value") else None for one in tensor.shape.dim)
    return GraphInput(_text(value.name), names.get(tensor.elem_type, "UNDEFINED"), shape)


def _node(number: int, node: Any, onnx: Any) -> GraphNode:
    name = _text(node.name) or f"node {number}"
    domain = "" if node.domain == "ai.onnx" else _text(node.domain)
    attributes: dict[str, Any] = {}
    for one in node.attribute:
        kinds = onnx.AttributeProto
        if one.type == kinds.TENSOR:
            attributes[one.name] = tensor_of(one.t, onnx)
        elif one.type in (kinds.INT, kinds.INTS, kinds.FLOAT, kinds.FLOATS, kinds.STRING):
            found = onnx.helper.get_attribute_value(one)
            attributes[one.name] = (
                found.decode(errors="replace")
                if isinstance(found, bytes)
                else tuple(found)
                if one.type in (kinds.INTS, kinds.FLOATS)
                else found
            )
        else:
            attributes[one.name] = None
    return GraphNode(
        name, _text(node.op_type), domain, tuple(map(_text, node.input)), tuple(map(_text, node.output)), attributes
    )


def _require_order(
    inputs: tuple[GraphInput, ...], constants: Mapping[str, NDArray[Any]], nodes: tuple[GraphNode, ...]
) -> None:
    """Raise ``NetworkError`` unless each tensor is written once, and before it is read."""
    known = {""} | set(constants)
    for one in inputs:
        if one.name in known:
            raise NetworkError(f"input {shortened(one.name)} is defined twice")
        known.add(one.name)
    later = {name for node in nodes for name in node.outputs}
    for node in nodes:
        for name in node.inputs:
            if name not in known:
                why = (
                    "which it or a later node writes: the nodes form a cycle, or are not sorted"
                    if name in later
                    else ("which no node writes")
                )
                raise NetworkError(f"{shortened(node.name)} reads {shortened(name)}, {why}")
        for name in node.outputs:
            if name and name in known:
                raise NetworkError(f"{shortened(node.name)} writes {shortened(name)}, which an earlier node writes")
            known.add(name)
