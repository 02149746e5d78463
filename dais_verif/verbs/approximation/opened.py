"""Read a file of configurations for a request, and describe its content for the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.arrays import is_archive, read_arrays
from dais_verif.base.errors import ApproximationError, InputError
from dais_verif.base.files import read_plain
from dais_verif.base.text import counted
from dais_verif.compile.approximation import (
    KNOBS,
    Configuration,
    ConfigurationFile,
    Knob,
    Node,
    pareto,
    read,
    read_knobs,
)
from dais_verif.compile.networks import Network, parse
from dais_verif.record.approximation import ConfigurationInfo, NodeInfo, OpInfo
from dais_verif.verbs.progress import Progress

__all__ = [
    "Opened",
    "Samples",
    "count_of",
    "describe",
    "open_configurations",
    "open_network",
    "read_network",
    "read_samples",
    "words_of_knobs",
]


def open_configurations(
    path: Path, strict: bool, knobs: Path | None, progress: Progress
) -> tuple[ConfigurationFile, list[str]]:
    """Return the file and the warnings of reading it, which are also sent to ``progress``.

    The same notice for many lines is one warning. Raises ``ConfigurationError`` if the file cannot be read.
    """
    file = read(path, strict, knobs=KNOBS if knobs is None else read_knobs(knobs))
    lines: dict[str, list[int]] = {}
    for notice in file.notices:
        lines.setdefault(notice.text, []).append(notice.line)
    warnings = [f"line {found[0]}{_more(len(found) - 1)}: {text}" for text, found in lines.items()]
    warnings += _shape_warnings(file)
    for warning in warnings:
        progress.warning(warning)
    return file, warnings


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _shape_warnings(file: ConfigurationFile) -> list[str]:
    """Return the reasons why the file cannot be applied to any network."""
    first = file.configurations[0]
    other = next((one for one in file.configurations if _shape(one) != _shape(first)), None)
    if other is not None:
        return [
            f"line {other.line}: {other.name!r} is not for the same network as {first.name!r}: its nodes or ops differ"
        ]
    ids = [node.id for node in first.nodes]
    if ids != list(range(1, len(ids) + 1)):
        return [f"line {first.nodes[0].line}: nodes are numbered {ids[0]}, ... and not 1, 2, 3, ..., as in any network"]
    return []


def _shape(one: Configuration) -> list[tuple[int, tuple[str, ...]]]:
    return [(node.id, tuple(op.op for op in node.ops)) for node in one.nodes]


def describe(file: ConfigurationFile) -> tuple[list[ConfigurationInfo], list[str]]:
    """Return the record entry of every configuration, and the names of the configurations on the curve."""
    curve = pareto(file)
    kept = frozenset(curve)
    return [_info(one, one.name in kept, file.knobs) for one in file.configurations], curve


def _info(one: Configuration, on_curve: bool, knobs: Mapping[int, Knob]) -> ConfigurationInfo:
    return ConfigurationInfo(
        name=one.name,
        line=one.line or 0,
        speedup=float(one.speedup),
        energy=float(one.energy),
        accuracy=float(one.accuracy),
        loss=float(one.loss),
        extra=list(map(float, one.extra)),
        on_curve=on_curve,
        nodes=[_node(node, knobs) for node in one.nodes],
    )


def _node(node: Node, knobs: Mapping[int, Knob]) -> NodeInfo:
    ops = []
    for op in node.ops:
        knob = op.meant(knobs)
        ops.append(OpInfo(op=op.op, approximation=op.approximation, knob=op.knob, half=knob.half, skips=knob.axis))
    return NodeInfo(id=node.id, device=node.device, ops=ops)


def count_of(configurations: Sequence[object]) -> str:
    """Return the number of ``configurations``, in words."""
    return counted(len(configurations), "configuration")


def words_of_knobs(file: ConfigurationFile, shown: list[ConfigurationInfo]) -> dict[int, str]:
    """Return the meaning of the knobs in ``shown`` that skip computation, by number."""
    numbers = sorted({op.knob for one in shown for _, op in one.skipping})
    return {number: file.knobs[number].words for number in numbers}


# Read a network, a file of configurations and labelled samples for a request, and evaluate networks on samples.


_MOST_BYTES = 1 << 30
#: Names of the array of labels: for each sample, the number of the output that must be the largest.
_LABELS = ("label", "labels", "target", "targets")


@dataclass(frozen=True)
class Opened:
    """The inputs of a request. ``exact``: the network without approximation."""

    data: bytes
    exact: Network
    file: ConfigurationFile
    sha256: dict[str, str]
    warnings: list[str]


@dataclass(frozen=True)
class Samples:
    """``vectors``: one row per sample, with the elements of all inputs. ``labels``: the output that must be largest."""

    vectors: NDArray[np.float64]
    labels: NDArray[np.int64]


def open_network(network: Path, configurations: Path, knobs: Path | None, progress: Progress) -> Opened:
    """Read both files. Raises ``NetworkError`` or ``ConfigurationError`` with the place and the reason."""
    file, warnings = open_configurations(configurations, False, knobs, progress)
    data, exact, hashes = read_network(network)
    hashes["configurations"] = hashlib.sha256(read_plain(configurations, _MOST_BYTES)).hexdigest()
    return Opened(data, exact, file, hashes, warnings)


def read_network(path: Path) -> tuple[bytes, Network, dict[str, str]]:
    """Return the bytes of an ONNX file, the network in it, and its SHA-256. Raises ``NetworkError``."""
    data = read_plain(path, _MOST_BYTES, advice="give the path of an ONNX file")
    try:
        exact = parse(data)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None
    return data, exact, {"network": hashlib.sha256(data).hexdigest()}


def read_samples(path: Path, network: Network) -> Samples:
    """Return the samples of an ``.npz`` file: one array per input, and one of labels.

    Raises ``InputError`` for missing arrays, wrong shapes, labels without an output, and numbers that the type of an
    input cannot hold.
    """
    arrays = _arrays(path)
    columns, count = [], None
    for name in network.inputs:
        if name not in arrays:
            raise ApproximationError(
                f"{path}: has no array {name!r}, an input of the network; it has {', '.join(arrays)}"
            )
        array, tensor = arrays[name], network.tensors[name]
        shape = tensor.shape[1:] if tensor.shape[:1] == (1,) else tensor.shape
        if array.shape[1:] not in (shape, tensor.shape) or array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            raise ApproximationError(
                f"{path}: {name} has shape {array.shape}, {array.dtype}; must be numbers, (samples, *{shape})"
            )
        if count not in (None, len(array)):
            raise ApproximationError(
                f"{path}: {name} has {counted(len(array), 'sample')}, but the inputs before it have {count}"
            )
        count = len(array)
        if not count:
            raise ApproximationError(f"{path}: has no samples")
        columns.append(array.reshape(count, -1).astype(np.float64))
        _require_held(path, name, columns[-1], tensor.type)
    labels = next((arrays[name] for name in _LABELS if name in arrays), None)
    outputs = sum(int(np.prod(network.tensors[name].shape)) for name in network.outputs)
    if labels is None or labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise ApproximationError(f"{path}: must have an array of {count} integers called {' or '.join(_LABELS[:2])}")
    if int(labels.min()) < 0 or int(labels.max()) >= outputs:
        raise ApproximationError(
            f"{path}: labels are {int(labels.min())} to {int(labels.max())}, must be 0 to {outputs - 1}, the outputs"
        )
    return Samples(np.concatenate(columns, axis=1), labels.astype(np.int64))


def _require_held(path: Path, name: str, values: NDArray[np.float64], kind: Any) -> None:
    scaled = np.ldexp(values, kind.f)
    wrong = ~np.isfinite(scaled) | (scaled != np.floor(scaled)) | (scaled < kind.raw_min) | (scaled > kind.raw_max)
    if wrong.any():
        sample, element = (int(n) for n in np.argwhere(wrong)[0])
        value = values[sample, element]
        raise ApproximationError(
            f"{path}: {name} has {value!r} in sample {sample}, which its type {kind} does not hold"
        )


def _arrays(path: Path) -> Mapping[str, NDArray[Any]]:
    if not is_archive(path):
        raise ApproximationError(f"{path}: must be an .npz file with inputs and labels")
    return read_arrays(path)
