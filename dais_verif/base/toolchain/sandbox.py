"""Run tools in a bubblewrap sandbox: without network and other processes, and with write access only to given folders.

The option ``--sandbox`` of a command, or ``DAIS_VERIF_SANDBOX=1``, selects the sandbox for all tools that the command
starts, and for the commands of a sign-off.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from dais_verif.base.errors import SimulatorFailure

__all__ = ["SANDBOX", "confined", "wanted"]

SANDBOX = "DAIS_VERIF_SANDBOX"

_ISOLATED = ("--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--new-session")
#: Everything is readable, since tools, packages and libraries may be in any folder.
_VISIBLE = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")


def wanted() -> bool:
    """Return True if tools must run in a sandbox."""
    return os.environ.get(SANDBOX, "0") not in ("", "0")


def confined(command: Sequence[str], cwd: Path, writable: Sequence[Path] = ()) -> list[str]:
    """Return ``command`` in a sandbox in which only ``cwd`` and ``writable`` can be written.

    Raises ``ToolError`` if bubblewrap is missing.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SimulatorFailure.of(
            "{sandbox} needs bubblewrap (bwrap), which was not found on PATH; install it (Debian: apt-get install "
            "bubblewrap), or leave {sandbox} out"
        )
    places = [str(path.absolute()) for path in (*writable, cwd)]
    binds = [word for place in dict.fromkeys(places) for word in ("--bind", place, place)]
    return [bwrap, *_ISOLATED, *_VISIBLE, *binds, "--chdir", str(cwd.absolute()), "--", *command]
