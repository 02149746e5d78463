"""Read programs from files of any kind: networks are unrolled, other files are read directly."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.applied_folder import applied_program
from dais_verif.errors import InputError
from dais_verif.program import Program, load

if TYPE_CHECKING:
    from dais_verif.networks import Network

__all__ = ["load_program", "read_network"]

#: The first bytes of every ONNX model; few programs begin with a count that contains them.
_BEGIN = b"\x08"
_MOST_BYTES = 1 << 28


def read_network(source: str | Path | bytes, layout: str | None = None) -> Network | None:
    """Return the network in a file, or in its bytes; None if it is not a network.

    A file called ``.onnx`` is a network, or is refused. Raises ``NetworkError``, which names everything unsupported,
    ``ToolError`` without the package ``onnx``, ``InputError`` if ``layout`` is given, which does not apply to networks.
    """
    if not _is_network(source):
        return None
    from dais_verif.networks import parse, read

    if layout is not None:
        raise InputError.of("an ONNX network is not read as {layout_given}; leave {layout} out", layout_given=layout)
    return parse(source) if isinstance(source, bytes) else read(source)


def load_program(source: str | Path | bytes, layout: str | None = None) -> Program:
    """Return the program in a file of any kind, in the bytes of one, or in a folder of ``approx apply``.

    Raises the errors of the reader of the file.
    """
    if isinstance(source, str | Path) and (applied := _applied(source)) is not None:
        source = applied
    network = read_network(source, layout)
    if network is not None:
        return network.program()
    return load(source, layout=layout)


def _applied(source: str | Path) -> Path | None:
    try:
        return applied_program(Path(source))
    except (OSError, ValueError):  # the file's reader will report it
        return None


def _is_network(source: str | Path | bytes) -> bool:
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
    from dais_verif.networks import looks_like_onnx

    return looks_like_onnx(data)
