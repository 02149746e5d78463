"""Writing files so that nothing the user had is lost: to a temporary file beside it, then renamed."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from pathlib import Path

from dais_verif.errors import InputError

__all__ = ["link_or_copy", "make_folder", "write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file ``path``, or what it links to, by ``data`` in one step.

    A device or a pipe is written to as it is. Raises ``InputError`` if it cannot be written.
    """
    try:
        if path.is_dir():
            raise InputError(f"cannot write {str(path)!r}: it is a folder; name a file with -o")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # /dev/null must stay what it is
            return
        target = path.resolve()
        # A name of our own: the user's may be as long as the file system allows.
        temporary = target.with_name(f".dais-verif.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {str(path)!r}: {reason}; choose another place with -o") from None


def make_folder(path: Path) -> None:
    """Create ``path`` and its parents. Raises ``InputError`` if that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the folder {str(path)!r}: {error.strerror}; choose another place with -o"
        ) from None


def link_or_copy(source: Path, target: Path) -> None:
    """``target`` becomes ``source``: the same file where the file system permits it, else a copy."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copy2(source, target)
