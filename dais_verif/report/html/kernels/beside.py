"""The picture of a kernel, stored next to its machine."""

from __future__ import annotations

from pathlib import Path

from dais_verif.errors import DaisError
from dais_verif.files import read_plain
from dais_verif.machine import Machine
from dais_verif.record.kernel_picture import KernelPicture

__all__ = ["picture_beside"]

#: The file name of the picture in the folder of a kernel.
_PICTURE = "picture.json"
_MOST_BYTES = 1 << 24


def picture_beside(machine: Machine | None) -> KernelPicture | None:
    """Return the picture of the kernel ``machine``; None if no picture of it is next to its file."""
    if machine is None or machine.origin.path is None:
        return None
    try:
        picture = KernelPicture.from_json(read_plain(Path(machine.origin.path).parent / _PICTURE, _MOST_BYTES))
    except DaisError:
        return None
    return picture if picture.machine == machine.origin.file_sha256 else None
