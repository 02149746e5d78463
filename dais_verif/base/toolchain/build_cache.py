"""The cache of built simulations on this machine, which all runs share.

An entry is a folder whose name is the hash of everything on which the build depends. The folder is renamed into place
when it is complete, and a run links its files into the folder of the run. Therefore a run never simulates a broken
build, even if another run is killed, if two runs build the same entry, or if an entry in use is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.base.errors import SimulatorError
from dais_verif.base.files import link_or_copy
from dais_verif.base.toolchain import process, tools

__all__ = ["Entry", "clear", "entries", "fetch", "home", "key_of", "limit", "put", "turn"]

_LIMIT_VARIABLE = "DAIS_VERIF_CACHE_MB"
_DEFAULT_LIMIT_MB = 2000

_FACTS = "entry.json"
#: The prefix of incomplete or discarded entries. Entries that a killed run leaves are removed after an hour.
_PASSING = ".passing-"
_PASSING_SECONDS = 3600
#: Names of entries: anything else in the folder is not ours, and is never removed.
_ENTRY, _UNFINISHED = re.compile("[0-9a-f]{32}"), re.compile(re.escape(_PASSING) + "[0-9a-f]{16}")


class Entry(NamedTuple):
    """A build. ``bytes``: its size. ``used``: its last use, in seconds since 1970. ``facts``: information for users."""

    key: str
    bytes: int
    used: float
    facts: dict[str, Any]


def home() -> Path:
    """Return the folder of the builds."""
    return tools.cache_dir() / "builds"


def limit() -> int:
    """Return the limit of the size of all builds in bytes, from ``DAIS_VERIF_CACHE_MB``; 0: there is no cache.

    Raises ``InputError`` if the variable is not a number.
    """
    text = os.environ.get(_LIMIT_VARIABLE, str(_DEFAULT_LIMIT_MB))
    if not text.isdecimal() or len(text) > 12:
        raise SimulatorError(f"{_LIMIT_VARIABLE} is {text!r}; it must be a number of megabytes, 0 for no cache")
    return int(text) * 1_000_000


def key_of(parts: Iterable[str | bytes]) -> str:
    """Return the hash of the list ``parts``, including lengths, so that different lists have different hashes."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def fetch(key: str, names: Sequence[str], folder: Path) -> bool:
    """Link the files ``names`` of entry ``key`` into ``folder``; return False if there is no such entry.

    An entry with changed files is removed, and counts as missing.
    """
    entry = home() / key
    try:
        for name in names:
            link_or_copy(entry / name, folder / name)
        hashes = json.loads((entry / _FACTS).read_text(encoding="utf-8"))["sha256"]
        if all(hashes[name] == _digest(folder / name) for name in names):
            with contextlib.suppress(OSError):  # the cache may belong to another user
                os.utime(entry)
            return True
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is no entry, it is being removed, or the cache is not usable: the caller builds
    for name in names:
        (folder / name).unlink(missing_ok=True)
    if entry.is_dir():
        _remove(entry)
    return False


@contextlib.contextmanager
def turn(key: str, timeout: float | None = None) -> Iterator[None]:
    """Wait at most ``timeout`` seconds while another run builds entry ``key``, so that it is built only once.

    Waiting only saves time, since two runs may build the same entry. Raises ``ToolError`` if the run is stopped.
    """
    import filelock  # imported late: slow to load, and not needed if the entry exists

    lock = filelock.FileLock(home() / f"{key}.lock")
    deadline = None if timeout is None else time.monotonic() + timeout
    with contextlib.suppress(OSError):
        home().mkdir(parents=True, exist_ok=True)
        while not lock.is_locked and (deadline is None or time.monotonic() < deadline):
            with contextlib.suppress(filelock.Timeout):
                lock.acquire(timeout=0.1, poll_interval=0.02)
            process.raise_if_stopping("the build")
    try:
        yield
    finally:
        if lock.is_locked:
            with contextlib.suppress(OSError):
                (home() / f"{key}.lock").unlink()
            lock.release()


def put(key: str, names: Sequence[str], folder: Path, facts: dict[str, str]) -> None:
    """Store the files ``names`` of ``folder`` as entry ``key``, and remove the least recently used entries.

    Failures to write the cache are ignored, since the run already has its files.
    """
    if limit() == 0:
        return
    unfinished = home() / f"{_PASSING}{secrets.token_hex(8)}"
    try:
        unfinished.mkdir(parents=True)
        for name in names:
            link_or_copy(folder / name, unfinished / name)
        whole = {**facts, "sha256": {name: _digest(unfinished / name) for name in names}}
        (unfinished / _FACTS).write_text(json.dumps(whole), encoding="utf-8")
        unfinished.rename(home() / key)
        _shrink(keep=key)
    except OSError:  # for example, another run has stored the entry
        shutil.rmtree(unfinished, ignore_errors=True)


def entries() -> list[Entry]:
    """Return all entries, the most recently used first."""
    found = []
    for folder in _folders(passing=False):
        with contextlib.suppress(OSError, ValueError, TypeError):
            facts = dict(json.loads((folder / _FACTS).read_text(encoding="utf-8")))
            size = sum(path.stat().st_size for path in folder.iterdir())
            found.append(Entry(folder.name, size, folder.stat().st_mtime, facts))
    return sorted(found, key=lambda entry: -entry.used)


def clear() -> int:
    """Remove all builds, and return their size in bytes. Running simulations are not affected."""
    size = sum(entry.bytes for entry in entries())
    for folder in [*_folders(passing=False), *_folders(passing=True)]:
        _remove(folder)
    return size


def _shrink(keep: str) -> None:
    total = 0
    for entry in entries():
        total += entry.bytes
        if total > limit() and entry.key != keep:
            _remove(home() / entry.key)
    now = time.time()
    for folder in _folders(passing=True):
        with contextlib.suppress(OSError):
            if now - folder.stat().st_mtime > _PASSING_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove an entry. It is renamed first, so that no run sees a partly removed one."""
    doomed = folder.with_name(f"{_PASSING}{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _folders(*, passing: bool) -> list[Path]:
    with contextlib.suppress(OSError):
        form = _UNFINISHED if passing else _ENTRY
        there = [f for f in home().iterdir() if form.fullmatch(f.name) and f.is_dir() and not f.is_symlink()]
        return [f for f in there if passing or (f / _FACTS).is_file()]
    return []


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
