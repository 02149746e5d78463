"""Read a network, a file of configurations and labelled samples for a request, and evaluate networks on samples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.approx import ConfigurationFile
from dais_verif.arrays import is_archive, read_arrays
from dais_verif.counts import counted
from dais_verif.errors import ApproximationError, InputError
from dais_verif.files import read_plain
from dais_verif.flows.approximation.opened import open_configurations
from dais_verif.flows.progress import Progress
from dais_verif.networks import Network, parse

__all__ = ["Opened", "Samples", "open_network", "read_network", "read_samples"]

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
