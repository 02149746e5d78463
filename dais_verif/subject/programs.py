"""Read programs from whatever holds one: networks are unrolled, folders are searched, other files are read directly."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dais_verif.base.errors import NetworkInputError, RequestError
from dais_verif.compile.network_folder import holds_network
from dais_verif.hardware.ports.project_folder import read_project
from dais_verif.spec.program import Program, load
from dais_verif.subject.applied_folder import applied_program

if TYPE_CHECKING:
    from dais_verif.compile.networks import Network

__all__ = ["SOURCES", "ProgramSource", "is_foreign_program", "is_network", "load_program", "parse_network"]

#: The first bytes of every ONNX model; few programs begin with a count that contains them.
_BEGIN = b"\x08"
_MOST_BYTES = 1 << 28


def parse_network(source: str | Path | bytes, layout: str | None = None) -> Network:
    """Return the network in a file, or in its bytes, for which ``is_network`` is true.

    Raises ``NetworkError``, which names everything unsupported, ``ToolError`` without the package ``onnx``,
    ``InputError`` if ``layout`` is given, which does not apply to networks.
    """
    from dais_verif.compile.networks import parse, read

    if layout is not None:
        raise NetworkInputError.of(
            "an ONNX network is not read as {layout_given}; leave {layout} out", layout_given=layout
        )
    return parse(source) if isinstance(source, bytes) else read(source)


def load_program(source: Any, layout: str | None = None) -> Program:
    """Return the program in ``source``, whatever the command line takes as a program.

    ``source``: a path or the bytes of a file of any kind; a folder of da4ml or alkaid, of ``approx apply``, or with a
    network as hardware, whose first configuration counts; the array of ``to_binary()``, or a ``CombLogic`` of da4ml or
    alkaid. ``layout``: the layout of a file (``published``, ``headerless``, ``v1``, ``json`` or ``alir``), if it is not
    to be detected. Raises ``ProgramError`` if there is no valid program, ``InputError`` for unreadable files.
    """
    if isinstance(source, Program):
        if layout is not None:
            raise RequestError.of("{layout} {value} is for reading a file, but a Program was given.", value=layout)
        return source
    if not isinstance(source, str | PathLike | bytes):
        source = _bytes_of(source)
    if not isinstance(source, bytes) and (folder := _folder(source)) is not None:
        if holds_network(folder):
            return _of_hardware(folder, layout)
        source = applied_program(folder) or read_project(folder).require_model()
    for kind in SOURCES:
        if kind.holds(source):
            return kind.read(source, layout)
    return load(source, layout=layout)


class ProgramSource(NamedTuple):
    """A kind of file that a program is made from: whether a file, or its bytes, is one; and the program in it."""

    holds: Callable[[str | PathLike[str] | bytes], bool]
    read: Callable[[Any, str | None], Program]


def _unrolled(source: Any, layout: str | None) -> Program:
    return parse_network(source, layout).program()


def _of_hardware(folder: Path, layout: str | None) -> Program:
    """Return the network in a folder with a network as hardware, under its first configuration."""
    from dais_verif.compile.networks.hardware.folder import read_folder

    if layout is not None:
        raise NetworkInputError.of("a network is not read as {layout_given}; leave {layout} out", layout_given=layout)
    found = read_folder(folder)
    assert found is not None  # it has a manifest
    return found.under(None).program()


def _folder(source: str | PathLike[str]) -> Path | None:
    """Return ``source`` if it is a folder."""
    try:
        path = Path(source)
        return path if path.is_dir() else None
    except (OSError, ValueError):  # the file's reader will report it
        return None


def is_foreign_program(given: object) -> bool:
    """Return True for an array of words, and for a ``CombLogic`` of da4ml or alkaid."""
    return isinstance(given, np.ndarray) or (
        type(given).__name__ == "CombLogic" and callable(getattr(given, "save", None))
    )


def _bytes_of(given: Any) -> bytes:
    """Return the file that an array of words holds, or that a program of da4ml or alkaid writes of itself."""
    if isinstance(given, np.ndarray):
        if given.ndim == 1 and given.dtype == np.int32:
            return given.astype("<i4").tobytes()
        raise RequestError(
            f"an array of a program has one dimension and int32, as to_binary() returns it, not "
            f"{given.ndim} dimensions and {given.dtype}."
        )
    if is_foreign_program(given):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "comb.json"
            given.save(path)
            return path.read_bytes()
    raise RequestError(
        "a program is read from a path, the bytes of a file, an int32 array or a CombLogic, not from a "
        f"{type(given).__name__}."
    )


def is_network(source: str | PathLike[str] | bytes) -> bool:
    """Return True for a file with a network, or its bytes; a file called ``.onnx`` is one, or is refused later."""
    if isinstance(source, bytes):
        return source.startswith(_BEGIN) and _looks_like_onnx(source)
    if not isinstance(source, str | PathLike):  # the reader reports it
        return False
    path = Path(source)
    if path.suffix.lower() == ".onnx":
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            begin = file.read(1)
            return begin == _BEGIN and _looks_like_onnx(begin + file.read(_MOST_BYTES))
    except (OSError, ValueError):  # the reader reports it
        return False


def _looks_like_onnx(data: bytes) -> bool:
    from dais_verif.compile.networks import looks_like_onnx

    return looks_like_onnx(data)


#: The kinds of files that programs are made from. A further kind is a module with these two functions, and a row here.
SOURCES: list[ProgramSource] = [ProgramSource(is_network, _unrolled)]
