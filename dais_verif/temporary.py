"""Temporary folders that show whether their run is alive, so that folders of killed runs can be removed.

A folder belongs to the process that holds the lock on the file in it; the system releases the lock when a process ends,
however it ends. A folder that is kept for the user no longer has such a file, and is never removed.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TemporaryFolder", "remove_abandoned", "temporary_folder"]

_PREFIX = "dais-verif-"
_OWNER = ".owner"
#: The largest number removed at once, to bound the delay of a run.
_MOST = 100


@dataclass
class TemporaryFolder:
    """A folder at ``path``, removed at the end unless it is to be ``kept``."""

    path: Path
    kept: bool = False


@contextmanager
def temporary_folder() -> Iterator[TemporaryFolder]:
    """Make a folder for this process, after removing those that killed processes left."""
    remove_abandoned()
    folder = TemporaryFolder(Path(tempfile.mkdtemp(prefix=_PREFIX)))
    lock = _own(folder.path)
    try:
        yield folder
    finally:
        if folder.kept:
            (folder.path / _OWNER).unlink(missing_ok=True)
        else:
            shutil.rmtree(folder.path, ignore_errors=True)
        os.close(lock)


def _own(folder: Path) -> int:
    """Make the file that says who owns ``folder``, locked from the moment that it has its name."""
    fresh = folder / f"{_OWNER}.new"
    lock = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with suppress(OSError):  # a file system without locks: then nothing is ever removed, see below
        os.write(lock, _mark())
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(folder / _OWNER)
    return lock


def _mark() -> bytes:
    """Return the content of the file: locks of other machines on a shared disk may be invisible here."""
    return f"a temporary folder of dais-verif on {platform.node()}\n".encode()


def remove_abandoned() -> int:
    """Remove the temporary folders of this user whose run is dead, at most 100, and return how many there were."""
    removed = 0
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if removed == _MOST:
                break
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    removed += _remove_if_abandoned(Path(entry.path))
    return removed


def _remove_if_abandoned(folder: Path) -> bool:
    if folder.stat().st_uid != os.getuid():
        return False
    lock = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(lock)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or os.read(lock, 1000) != _mark():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError while its run lives
        if (folder / _OWNER).stat().st_ino != found.st_ino:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()
    finally:
        os.close(lock)
