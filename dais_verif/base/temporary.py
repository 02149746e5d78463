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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TemporaryFolder", "remove_abandoned", "temporary_folder"]

_PREFIX = "dais-verif-"
_OWNER = ".owner"
#: The largest number of folders removed at once, to limit the delay of a run.
_MOST = 100
#: When this process last looked for such folders, and the seconds until it looks again.
_looked, _LOOK_SECONDS = [float("-inf")], 60.0


@dataclass
class TemporaryFolder:
    """A folder at ``path``, removed at the end unless it is to be ``kept``."""

    path: Path
    kept: bool = False


@contextmanager
def temporary_folder() -> Iterator[TemporaryFolder]:
    """Yield a new folder for this process, after removing folders of killed processes, at most once a minute."""
    if time.monotonic() - _looked[0] > _LOOK_SECONDS:
        _looked[0] = time.monotonic()
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
    """Create the owner's file in ``folder``, and lock it before it gets its final name; return the lock."""
    fresh = folder / f"{_OWNER}.new"
    lock = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with suppress(OSError):  # if locks fail, there is no owner's file, and the folder is not removed
        os.write(lock, _mark())
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(folder / _OWNER)
    return lock


def _mark() -> bytes:
    """Return the content of the owner's file, with the host, since locks of other hosts may not be visible here."""
    return f"a temporary folder of dais-verif on {platform.node()}\n".encode()


def remove_abandoned() -> int:
    """Remove the temporary folders of this user's killed runs, at most 100, and return their number."""
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
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError while the run is alive
        if (folder / _OWNER).stat().st_ino != found.st_ino:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()
    finally:
        os.close(lock)
