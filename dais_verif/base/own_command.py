"""Return command lines that call this installation of ``dais-verif`` from any folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from dais_verif.base.text import command_line

__all__ = ["NO_DEFAULTS", "own_command"]

#: The environment of commands whose line is complete: no file of a project sets further options.
NO_DEFAULTS = {"DAIS_VERIF_DEFAULTS": "none"}


def own_command(words: Iterable[str]) -> str:
    """Return a shell command that calls this installation with ``words``.

    ``dais-verif`` may not be on the path, and ``python`` may be an interpreter without the required packages.
    """
    script = Path(sys.executable).absolute().parent / "dais-verif"
    command = [str(script)] if script.is_file() else [sys.executable, "-m", "dais_verif"]
    return command_line([*command, *words])
