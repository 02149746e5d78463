"""What users give in place of PROGRAM, before it is opened."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program

__all__ = ["AnyProgram", "CombLogic", "GivenProgram", "is_folder", "path_of"]

AnyProgram = Program | Machine | bytes | str | Path


class CombLogic(Protocol):
    """A program of da4ml or alkaid."""

    def save(self, path: Any, /) -> Any:
        """Write the program to the file ``path``."""


#: What the functions of ``dais_verif`` take as a program, as ``dais_verif.load`` does.
GivenProgram = AnyProgram | PathLike[str] | NDArray[np.int32] | CombLogic


def is_folder(program: AnyProgram) -> bool:
    """Return True if ``program`` is the path of a folder."""
    try:
        return isinstance(program, str | Path) and Path(program).is_dir()
    except (OSError, ValueError):  # a NUL in a name, which the file's reader will report
        return False


def path_of(program: AnyProgram, without: str = "PROGRAM") -> str:
    """Return the path of ``program``, or of the file that it was read from; ``without``: the text without a path."""
    if isinstance(program, Program | Machine):
        return program.origin.path or without
    return without if isinstance(program, bytes) else str(program)
