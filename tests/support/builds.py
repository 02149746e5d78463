"""Builds that tests put into a cache of builds, and queries of that cache."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from dais_verif.base.toolchain import build_cache

NAMES = ("simulation", "build.log")
FACTS = {"simulator": "icarus", "top": "model", "version": "11.0"}
KEY = "0123456789abcdef" * 2
#: The labels by which tests call keys.
_LABELS: dict[str, str] = {}


def built(folder: Path, text: str = "built", size: int = 0) -> Path:
    """Write the files of a build into ``folder``, with an executable of at least ``size`` bytes; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    (folder / "simulation").write_bytes(text.encode().ljust(size, b"."))
    (folder / "simulation").chmod(0o755)
    (folder / "build.log").write_text(f"log of {text}")
    return folder


def key_called(label: str) -> str:
    """Return the key that tests call ``label``: itself, if it is a key."""
    key = label if re.fullmatch("[0-9a-f]{32}", label) else build_cache.key_of([label])
    _LABELS[key] = label
    return key


def put(label: str, folder: Path, *, size: int = 0, used: float | None = None) -> None:
    key = key_called(label)
    build_cache.put(key, NAMES, built(folder / "built", label, size), FACTS)
    if used is not None:
        os.utime(build_cache.home() / key, (used, used))


def keys() -> list[str]:
    return [_LABELS.get(entry.key, entry.key) for entry in build_cache.entries()]


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def every_name(*sources: Path) -> list[str]:
    """Return all words in Verilog sources, to be passed as ``signals`` to builds in which every signal is readable."""
    return sorted({name for source in sources for name in re.findall(r"[A-Za-z_]\w*", source.read_text())})
