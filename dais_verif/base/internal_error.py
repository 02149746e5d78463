"""Report an internal error: one line for the user, and the traceback in a file for its report."""

from __future__ import annotations

import os
import platform
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from dais_verif import __version__
from dais_verif.base.own_command import own_command

__all__ = ["told"]

#: The number of latest tracebacks that are kept.
_KEPT = 20


def told(error: BaseException, arguments: Sequence[str]) -> str:
    """Store the traceback of ``error`` in a file, and return the line for the user, which names the file."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    what = what if len(what) <= 200 else f"{what[:200]}…"
    kept = _keep(error, arguments)
    where = f"the traceback is in {kept}" if kept else "the traceback could not be kept"
    return f"a bug of dais-verif, which says nothing about the RTL ({what}); {where}: please report it"


def _keep(error: BaseException, arguments: Sequence[str]) -> Path | None:
    lines = [
        f"dais-verif {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"in {os.getcwd() if _has_folder() else 'a folder that is gone'}",
        own_command(arguments),
        "",
        *traceback.format_exception(error),
    ]
    data = "\n".join(lines).encode(errors="backslashreplace")
    try:
        path = _place()
        path.write_bytes(data)
        for old in sorted(path.parent.glob("traceback-*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _place() -> Path:
    """Return a new file for a traceback: in the cache folder, else among temporary files."""
    name = f"traceback-{time.strftime('%Y%m%d-%H%M%S')}-"
    try:
        from dais_verif.base.cache_folder import cache_dir

        folder = cache_dir() / "errors"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=name, suffix=".txt", dir=folder)
    except Exception:  # the original error may occur here, too
        handle, path = tempfile.mkstemp(prefix=f"dais-verif-{name}", suffix=".txt")
    os.close(handle)
    return Path(path)
