"""Find the files to which a user's file refers and which are read with it: blocks, programs, contents of tensors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dais_verif.base.errors import DaisError
from dais_verif.base.files import read_plain, read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.compile.kernels.folder import MANIFEST
from dais_verif.compile.network_folder import MANIFEST as OF_NETWORK
from dais_verif.spec.program.machine_begin import begins_machine

__all__ = ["referred_files"]

#: Larger files are not searched for references: texts written by users are smaller.
_MOST_BYTES = 1 << 26
#: Maximum depth of references between files: a manifest names machines, and these name blocks.
_DEEPEST = 3


def referred_files(path: Path) -> frozenset[Path]:
    """Return the existing files to which ``path`` refers, directly or through other files.

    These are blocks in a machine's text, every file that a TOML file names, and the files listed in the manifest of a
    folder of ``kernel build``, or of a folder with a network. Errors are ignored: the reader of a file reports them.
    """
    found, latest = set[Path](), {path}
    for _ in range(_DEEPEST):
        latest = {other for one in latest for other in _named(one)} - found - {path}
        found |= latest
    return frozenset(found)


def _named(path: Path) -> Iterator[Path]:
    folder = path if path.is_dir() else path.parent
    try:
        names = list(_names(path))
    except (OSError, ValueError, TypeError, LookupError, RecursionError, DaisError):
        return  # the content does not match the name, which the file's reader will report
    for name in names:
        try:
            if (folder / name).is_file():
                yield folder / name
        except (OSError, ValueError):  # not a valid file name: too long, or with NUL
            continue


def _names(path: Path) -> Iterator[str]:
    if path.is_dir():
        for manifest in (MANIFEST, OF_NETWORK):
            if (path / manifest).is_file():
                yield manifest
                yield from json.loads(read_plain(path / manifest, _MOST_BYTES))["files"]
    elif path.suffix.lower() == ".toml":
        yield from _texts(parse_toml(read_toml(path, _MOST_BYTES, "a file")))
    elif path.is_file():
        data = read_plain(path, _MOST_BYTES)
        if begins_machine(data):
            yield from _blocks(data, str(path))


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a tree."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _blocks(data: bytes, name: str) -> Iterator[str]:
    # Imported when needed, since this import takes as long as everything else.
    from dais_verif.spec.machine.parse import read_statements

    for block in read_statements(data.decode(), name).blocks.values():
        if block.file is not None:
            yield str(json.loads(block.file.text))
