"""Read files of arrays, ``.npz`` and ``.npy``: damage is an error of one line, and sizes are checked before reading.

A few megabytes of an archive may unpack to gigabytes, and a header may claim any shape: what an array takes is known
before it is read, and must be what is there.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, VectorError
from dais_verif.base.files import open_plain, read_plain
from dais_verif.base.text import counted

__all__ = ["damage_of", "is_archive", "read_array", "read_arrays"]

_ZIP = b"PK"
_NPY = ".npy"
#: Bytes of all arrays of a file, unpacked: data sets of ten thousands of images fit.
_MOST_UNPACKED = 2 << 30
_MOST_MEMBERS = 10_000
_MOST_HEADER = 10_000


def is_archive(path: Path) -> bool:
    """Return True if the file ``path`` begins as archives do. Raises ``InputError`` if it cannot be read."""
    with open_plain(path, 1 << 62, advice="give a .npz, .npy or .csv file") as file:
        return file.read(len(_ZIP)) == _ZIP


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in the archive ``path``, by name. Raises ``InputError`` for anything else."""
    data = read_plain(path, _MOST_UNPACKED, advice="give a file of arrays, .npz")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [member.filename.removesuffix(_NPY) for member in members]
            unpacked = sum(member.file_size for member in members)
            if len(members) > _MOST_MEMBERS:
                raise VectorError(f"{path}: has {counted(len(members), 'array')}, must be at most {_MOST_MEMBERS}")
            if unpacked > _MOST_UNPACKED:
                raise VectorError(
                    f"{path}: its arrays take {unpacked:,} bytes unpacked, must be at most {_MOST_UNPACKED:,}; "
                    "give several files"
                )
            if len(set(names)) < len(names):
                raise VectorError(f"{path}: has two arrays of one name")
            # A member is never longer than its stated size: the archive's reader ends there.
            return {
                name: _array_of(archive.read(member), f"{path}: array {name!r}")
                for name, member in zip(names, members, strict=True)
            }
    except InputError:
        raise
    except Exception as error:  # the reader of archives and zlib raise various errors for damaged files
        raise VectorError(f"{path}: not a readable .npz file ({damage_of(error)}); numpy.savez writes one") from None


def read_array(path: Path, most: int = _MOST_UNPACKED, what: str = "file") -> NDArray[Any]:
    """Return the array in the ``.npy`` file ``path`` of at most ``most`` bytes. Raises ``InputError`` for others."""
    return _array_of(read_plain(path, most, what, "give an .npy file"), str(path))


def _array_of(data: bytes, where: str) -> NDArray[Any]:
    """Return the array that ``data`` holds in the format of ``numpy.save``."""
    file = io.BytesIO(data)
    try:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("ignore")  # Python's warnings about literals in a damaged header
            version = np.lib.format.read_magic(file)
            readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            if version not in readers:
                raise ValueError(f"it has version {'.'.join(map(str, version))} of the format, must be 1.0 or 2.0")
            shape, by_columns, dtype = readers[version](file, max_header_size=_MOST_HEADER)
            there = len(data) - file.tell()
            if dtype.hasobject or dtype.names is not None or any(size < 0 for size in shape):
                raise ValueError(f"it holds {dtype} of shape {shape}, must be numbers")
            if math.prod(shape) * dtype.itemsize != there:
                raise ValueError(f"it has {there} bytes for {dtype} of shape {shape}")
            array = np.frombuffer(data, dtype, offset=file.tell()) if there else np.empty(0, dtype)
            found: NDArray[Any] = array.reshape(shape, order="F" if by_columns else "C")
            return found
    except Exception as error:  # numpy's header parser raises various errors, from TokenError to TypeError
        raise VectorError(f"{where} is not a readable .npy array ({damage_of(error)}); numpy.save writes one") from None


def damage_of(error: Exception) -> str:
    """Return on one line what a reader of arrays found. Python's words for a bad header vary with its version."""
    if isinstance(error, (SyntaxError, TokenError)):
        return "its header is damaged"
    return " ".join(str(error).split())[:200] or type(error).__name__
