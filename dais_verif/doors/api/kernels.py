"""Libraries of kernels: list, describe and build kernels."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.base.packages import name_missing_packages
from dais_verif.verbs.arguments import path_from, paths_from
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.record.kernel_picture import KernelPicture
    from dais_verif.record.kernels import KernelBuild, KernelInfo, KernelListing

__all__ = ["build_kernel", "draw_kernel", "list_kernels", "show_kernel"]

_Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


@name_missing_packages
def list_kernels(libraries: _Paths | None = None) -> KernelListing:
    """Return the kernels of all libraries: installed packages, including dais-verif, and Python files.

    ``libraries``: the Python files. A broken library is left out and reported.
    """
    from dais_verif.verbs.kernels.libraries import list_kernels as flow

    return flow(paths_from("libraries", libraries) or ())


@name_missing_packages
def show_kernel(name: str, libraries: _Paths | None = None, *, progress: Progress | None = None) -> KernelInfo:
    """Return the arguments of kernel ``name``, from all libraries that ``list_kernels`` finds.

    Raises ``InputError`` if no library has the kernel, or if several have it; ``library/name`` selects one of them.
    """
    from dais_verif.verbs.kernels.libraries import show_kernel as flow

    return flow(name, paths_from("libraries", libraries) or (), progress=listener(progress))


@name_missing_packages
def draw_kernel(
    path: str | PathLike[str], *, member: Sequence[int] | None = None, libraries: _Paths | None = None
) -> KernelPicture:
    """Return pictures, as data, of the elements that members of an instance read and write, and when.

    ``path``: the TOML file of a request or of a user kernel, or a folder of ``build_kernel``. ``member``: the
    coordinates of the member to show, fastest dimension first; None: the middle member. Raises ``InputError`` for a
    member that does not exist, or another path.
    """
    from dais_verif.verbs.kernels.libraries import draw_kernel as flow

    found = path_from("path", path)
    assert found is not None
    return flow(found, paths_from("libraries", libraries) or (), member)


@name_missing_packages
def build_kernel(
    name: str | PathLike[str],
    params: str | PathLike[str] | None = None,
    *,
    output: str | PathLike[str],
    libraries: _Paths | None = None,
    form: str = "memory",
    parallel: int = 1,
    printf: bool = False,
) -> KernelBuild:
    """Write an instance of kernel ``name`` as a machine into the folder ``output``, for use by other verbs.

    ``form``: ``memory``, with tensors in memories, or ``stream``, with one pixel per cycle. ``parallel``: the number of
    parallel members in the form ``memory``. ``printf``: add outputs that show what members print.

    ``params``: the TOML file of a request; without it, ``name`` is that file, or the TOML file of a user kernel. Raises
    ``InputError`` for a refused request, or a mapping that breaks a law.
    """
    from dais_verif.verbs.kernels.build import build_kernel as flow

    folder, named = path_from("output", output), name if isinstance(name, str) else path_from("name", name)
    assert folder is not None and named is not None
    found = paths_from("libraries", libraries) or ()
    return flow(str(named), path_from("params", params), folder, found, form, parallel, printf)
