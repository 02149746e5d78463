"""Damaged files of arrays: an error of one line from every reader, and no more memory than a file may take."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.programs import every_opcode

from dais_verif.base.arrays import read_array, read_arrays
from dais_verif.base.errors import InputError, VectorError
from dais_verif.stimulus.files import read_batch
from dais_verif.stimulus.machines import read_sequences
from dais_verif.verbs.approximation.opened import _arrays as labelled


def _npy(descr: str, shape: str, data: bytes = b"\0" * 48, version: int = 1) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header + data


def _zip(member: bytes, name: str = "x.npy", twice: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, member)
        if twice:
            archive.writestr(name.removesuffix(".npy"), member)
    return file.getvalue()


def _edited(at: int, to: int, mark: bytes, also: int | None = None) -> bytes:
    """Return an archive with a byte of its directory replaced, counted from ``mark``, and one of the entry."""
    data = bytearray(_zip(_npy("'<f8'", "(2, 3)")))
    data[data.find(mark) + at] = to
    if also is not None:
        data[also] = to
    return bytes(data)


_DAMAGED = {
    "no array": _zip(b"hello", "x"),
    "unended header": _zip(b"\x93NUMPY\x01\x00" + struct.pack("<H", 20) + b"{'descr': '<f8', (((\n" + b"\0" * 50),
    "type": _zip(_npy("5", "(2, 3)")),
    "shape beyond memory": _zip(_npy("'<f8'", "(1152921504606846976, 16)")),
    "shape beyond the data": _zip(_npy("'<f8'", "(2000000000, 16)")),
    "negative shape": _zip(_npy("'<f8'", "(-1, 3)")),
    "no shape": _zip(_npy("'<f8'", "{}")),
    "version": _zip(_npy("'<f8'", "(2, 3)", version=7)),
    "structure": _zip(_npy("[('a', '<f8')]", "(2, 3)")),
    "objects": _zip(_npy("'|O'", "(2, 3)", b"\x80\x04K\x01.")),
    "name twice": _zip(_npy("'<f8'", "(2, 3)"), twice=True),
    "compression": _edited(10, 99, b"PK\x01\x02", also=8),
    "encrypted": _edited(8, 1, b"PK\x01\x02", also=6),
    "cut": _zip(_npy("'<f8'", "(2, 3)"))[:-30],
    "content": _zip(_npy("'<f8'", "(2, 3)", b"\1" * 48)).replace(b"\x01\x02", b"\xff\xff", 1)[:-40],
}


_READERS: dict[str, Callable[[Path], object]] = {
    "arrays": read_arrays,
    "vectors": lambda path: read_batch(path, every_opcode().n_in),
    "sequences": lambda path: read_sequences(path, {"x": 3}),
    "samples": labelled,
}


@pytest.mark.parametrize("damage", _DAMAGED)
def test_damage_is_one_line_in_every_reader(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(_DAMAGED[damage])
    for reader in _READERS.values():
        with pytest.raises(InputError) as caught:
            reader(path)
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_the_unpacked_size_is_limited_before_anything_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)))
    monkeypatch.setattr("dais_verif.base.arrays._MOST_UNPACKED", 1_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(VectorError, match=r"8,000,1.. bytes.*1,000,000"):
        read_arrays(path)


def test_whole_files_are_read(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "c": np.float32(3)}
    np.savez(tmp_path / "x.npz", **arrays, d=np.empty((0, 4)), e=np.arange(3, dtype=">i4"))
    found = read_arrays(tmp_path / "x.npz")
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
    assert found["d"].shape == (0, 4) and found["e"].tolist() == [0, 1, 2]
    np.save(tmp_path / "x.npy", arrays["b"])
    assert np.array_equal(read_array(tmp_path / "x.npy"), arrays["b"])
