"""Writing files so that nothing the user had is lost: to a temporary file beside it, then renamed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from dais_verif.errors import InputError

__all__ = ["make_folder", "write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step. Raises ``InputError`` if it cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        try:
            temporary.write_bytes(data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}; choose another place with -o") from None


def make_folder(path: Path) -> None:
    """Create ``path`` and its parents. Raises ``InputError`` if that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(path)!r}: {error.strerror}") from None
