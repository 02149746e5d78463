"""List the kernels of all libraries that are found, or say what one of them takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.flows.progress import SILENT, Progress
from dais_verif.kernels.discovery import FoundLibrary, Libraries, find_libraries
from dais_verif.kernels.library import Library
from dais_verif.kernels.structures import DeviceId
from dais_verif.record.kernels import KernelInfo, KernelListing, LeftOut

__all__ = ["list_kernels", "show_kernel"]


def list_kernels(libraries: Sequence[Path] = ()) -> KernelListing:
    """Return the kernels of ``libraries``, Python files, and of installed packages, ours among them.

    A library that is broken is left out, and told of. Raises ``InputError`` for a file that is not there.
    """
    found = find_libraries(libraries)
    names = found.get_kernel_names(DeviceId.GAUDI, found.get_kernel_names().number).names
    return KernelListing(
        [_info(found, name) for name in names],
        [LeftOut(one.name, one.where, one.why) for one in found.broken],
    )


def show_kernel(name: str, libraries: Sequence[Path] = (), *, progress: Progress = SILENT) -> KernelInfo:
    """Return what a kernel takes. Raises ``InputError`` if no library has it, or several have."""
    found = find_libraries(libraries)
    for one in found.broken:
        progress.warning(str(one))
    return _info(found, name)


def _info(libraries: Libraries, name: str) -> KernelInfo:
    at, plain = libraries.find(name)
    return _declared(name, at, plain) or KernelInfo(name, at.name, at.where)


def _declared(name: str, at: FoundLibrary, plain: str) -> KernelInfo | None:
    kernel = at.library.kernel(plain) if isinstance(at.library, Library) else None
    if kernel is None:
        return None
    return KernelInfo(
        name,
        at.name,
        at.where,
        kernel.about or None,
        kernel.inputs,
        kernel.optional_inputs,
        kernel.outputs,
        dict(kernel.structure.fields) if kernel.structure else {},
        list(kernel.input_names),
        dict(kernel.defaults),
        {name: dict(words) for name, words in kernel.words.items()},
    )
