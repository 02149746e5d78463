"""Seeded faults of a network in a folder with its hardware: two weights are swapped."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dais_verif.base.errors import DaisError, NetworkInputError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.compile.network_folder import MANIFEST, NETWORK, verified_files
from dais_verif.golden import Golden
from dais_verif.spec.program import Program
from dais_verif.stimulus import generate_common

__all__ = ["poison_network"]

_MOST_BYTES = 1 << 30
#: The number of pairs of weights to try per constant, and of vectors, one of which must show the fault.
_PAIRS, _VECTORS = 4, 200


def poison_network(folder: Path, target: Path) -> tuple[bytes, int]:
    """Write ``folder`` with a changed network into ``target``; return the network's bytes, and a changed output.

    Ports keep their types: only values differ, in the first configuration. Raises ``InputError`` if no swap of two
    weights changes an output.
    """
    from dais_verif.compile.networks.hardware.folder import read_folder

    shutil.rmtree(target, ignore_errors=True)
    make_folder(target)
    for path in verified_files(folder):
        write_atomically(target / path.name, read_plain(path, _MOST_BYTES))
    manifest = json.loads(read_plain(folder / MANIFEST, _MOST_BYTES))
    right = read_folder(folder)
    assert right is not None  # its manifest was read above
    for data in _changed(read_plain(folder / NETWORK, _MOST_BYTES)):
        manifest["files"][NETWORK] = hashlib.sha256(data).hexdigest()
        write_atomically(target / NETWORK, data)
        write_atomically(target / MANIFEST, json.dumps(manifest, indent=2).encode())
        try:
            found = read_folder(target)
            assert found is not None
            number = _differs(right.under(None).program(), found.under(None).program())
        except DaisError:  # the changed network has another type, which does not fit the hardware
            continue
        if number is not None:
            return data, number
    raise NetworkInputError(f"{str(folder)!r}: no exchange of two weights of its network changes an output")


def _differs(a: Program, b: Program) -> int | None:
    """Return the first output that differs on random vectors."""
    vectors = generate_common([a, b], _VECTORS, 0)
    pairs = zip(*(Golden(program).run_raw(vectors, check=False) for program in (a, b)), strict=True)
    return next((number for number, (x, y) in enumerate(pairs) if not np.array_equal(x, y)), None)


def _changed(data: bytes) -> Iterator[bytes]:
    """Yield the network with two neighbouring weights of a constant swapped, the largest constants first."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load_model_from_string(data)
    weights = [one for one in model.graph.initializer if np.prod(one.dims) > 1]
    for one in sorted(weights, key=lambda one: -np.prod(one.dims)):
        array = numpy_helper.to_array(one)
        flat = array.ravel()
        places = np.flatnonzero(flat[:-1] != flat[1:])
        kept = one.SerializeToString()
        for at in places[:: max(len(places) // _PAIRS, 1)][:_PAIRS].tolist():
            other = flat.copy()
            other[at], other[at + 1] = flat[at + 1], flat[at]
            one.CopyFrom(numpy_helper.from_array(other.reshape(array.shape), one.name))
            yield model.SerializeToString()
        one.ParseFromString(kept)
