"""The folder of kept cases: one folder per cause, whose name depends on the cause only."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from dais_verif.base.errors import FuzzingError
from dais_verif.campaigns.fuzzing.files import CASE_NAME, KeptCase

__all__ = ["cases_in", "folder_name"]

_MOST_NAMED = 3


def folder_name(kept: KeptCase) -> str:
    """Return the name of the folder for cases of the same cause: the same pair, kind and opcodes."""
    cause = "\0".join((kept.pair, kept.kind, *kept.opcodes))
    words = "-".join((kept.pair, *kept.opcodes[:_MOST_NAMED]))
    return f"{re.sub('[^a-z0-9_]+', '-', words.lower())}-{hashlib.sha256(cause.encode()).hexdigest()[:8]}"


def cases_in(folder: Path) -> list[Path]:
    """Return ``folder`` if it is a case, else the cases in it, by name. Raises ``InputError`` if there is none."""
    if (folder / CASE_NAME).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{CASE_NAME}"))
    if not found:
        raise FuzzingError(
            f"{str(folder)!r} holds no case: neither {CASE_NAME} nor folders with one; fuzz -o writes them"
        )
    return found
