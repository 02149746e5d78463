"""Find folders of ``kernel build`` that are given in a request instead of a program."""

from __future__ import annotations

from pathlib import Path

from dais_verif.flows.programs import AnyProgram, is_folder
from dais_verif.kernels.folder import KernelFolder, read_folder

__all__ = ["find_kernel"]


def find_kernel(program: AnyProgram) -> KernelFolder | None:
    """Return the instance in a folder; None if ``program`` was not written by ``kernel build``.

    Raises ``InputError`` if the folder was changed since it was written.
    """
    return read_folder(Path(str(program))) if is_folder(program) else None
