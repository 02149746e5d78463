"""List the kernels of all libraries that are found, or show the parameters of one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.base.errors import KernelError, RequestError
from dais_verif.compile.kernels.discovery import FoundLibrary, Libraries, find_libraries
from dais_verif.compile.kernels.folder import MANIFEST, read_folder
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.structures import DeviceId
from dais_verif.record.kernel_picture import KernelPicture
from dais_verif.record.kernels import KernelInfo, KernelListing, LeftOut
from dais_verif.verbs.kernels.build import read_instance
from dais_verif.verbs.kernels.picture import picture_of
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["draw_kernel", "list_kernels", "show_any", "show_kernel"]


def list_kernels(libraries: Sequence[Path] = ()) -> KernelListing:
    """Return the kernels of ``libraries``, Python files, and of installed packages, including dais-verif.

    A broken library is left out and reported. Raises ``InputError`` for a file that does not exist.
    """
    found = find_libraries(libraries)
    names = found.get_kernel_names(DeviceId.GAUDI, found.get_kernel_names().number).names
    return KernelListing(
        [_info(found, name) for name in names],
        [LeftOut(one.name, one.where, one.why) for one in found.broken],
    )


def show_kernel(name: str, libraries: Sequence[Path] = (), *, progress: Progress = SILENT) -> KernelInfo:
    """Return the parameters of a kernel. Raises ``InputError`` unless exactly one library has it."""
    found = find_libraries(libraries)
    for one in found.broken:
        progress.warning(str(one))
    return _info(found, name)


def show_any(
    name: str,
    libraries: Sequence[Path] = (),
    member: str | None = None,
    *,
    page: bool = False,
    progress: Progress = SILENT,
) -> KernelInfo | KernelPicture:
    """Return the parameters of kernel ``name``; for a TOML file or a folder, pictures of its instance.

    ``member``: coordinates of the member to show, such as ``3,2``; ``page``: the result is for a web page. Both need an
    instance: raises ``RequestError`` if ``name`` is only the name of a kernel.
    """
    if name.endswith(".toml") or Path(name).is_dir():
        return draw_kernel(Path(name), libraries, None if member is None else read_member(member))
    if page:
        raise RequestError("A page shows an instance: name a .toml file, or a folder of `kernel build`.")
    if member is not None:
        raise RequestError.of("{member} is for instances: name a .toml file, or a folder of `kernel build`.")
    return show_kernel(name, libraries, progress=progress)


def read_member(text: str) -> tuple[int, ...]:
    """Parse coordinates of a member, such as ``3,2``, the fastest dimension first. Raises ``InputError``."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and word.isascii() and len(word) < 12 for word in words):
        raise KernelError.of("{member} is {text!r}, must be coordinates from 0 on, such as 3,2", text=text)
    return tuple(map(int, words))


def draw_kernel(path: Path, libraries: Sequence[Path] = (), member: Sequence[int] | None = None) -> KernelPicture:
    """Return pictures of the instance at ``path``: a TOML file, or a folder of ``kernel build``, shown in its form.

    ``member``: coordinates of the member to show, the fastest dimension first; None: the middle member.
    """
    if not path.is_dir():
        return picture_of(read_instance(path, libraries), member)
    folder = read_folder(path)
    if folder is None:
        raise KernelError(f"{str(path)!r} is not a folder of `kernel build`: it has no {MANIFEST}")
    return picture_of(folder.instance, member, [folder.form], folder.facts.get("parallel", 1))


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
