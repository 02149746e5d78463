"""Libraries of kernels, and the two entry points of the interface over one library or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from dais_verif.base.errors import KernelLibraryError
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.glue import Answer, Kernel
from dais_verif.compile.kernels.structures import NO_BUFFERS, DeviceId, HabanaKernelInstantiation, HabanaKernelParams

__all__ = ["KernelLibrary", "KernelNames", "Library", "names_that_fit"]


class KernelNames(NamedTuple):
    """The number of kernels, and their names if the caller has room for all names, else no names."""

    code: GlueCode
    number: int
    names: tuple[str, ...]


def names_that_fit(names: Sequence[str], max_count: int) -> KernelNames:
    """Return the answer to a caller with room for ``max_count`` names: all names, or only their number."""
    return KernelNames(GlueCode.SUCCESS, len(names), tuple(names) if len(names) <= max_count else ())


@runtime_checkable
class KernelLibrary(Protocol):
    """The interface of a library: the two entry points. A module with these two functions is a library, too."""

    def get_kernel_names(self, device: int, max_count: int) -> KernelNames:
        """Return the names of the library's kernels for a device."""

    def habana_kernel(self, params: HabanaKernelParams, instance: HabanaKernelInstantiation = ..., /) -> Answer:
        """Answer a request for a kernel."""


@dataclass(frozen=True)
class Library:
    """A library of declared kernels. Raises ``InputError`` if two kernels have the same name."""

    name: str
    kernels: tuple[Kernel, ...]
    version: int = 1
    #: Devices for which the library has kernels.
    devices: frozenset[int] = field(default=frozenset(DeviceId))

    def __post_init__(self) -> None:
        names = [kernel.name for kernel in self.kernels]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise KernelLibraryError(
                f"library {self.name} has two kernels that are called {twice[0]}; names must be unique"
            )

    def kernel(self, name: str) -> Kernel | None:
        """Return the kernel with exactly this ``name``."""
        return next((kernel for kernel in self.kernels if kernel.name == name), None)

    def get_kernel_names(self, device: int = DeviceId.GAUDI, max_count: int = 0) -> KernelNames:
        """Return the names of the kernels for a device: their number, and all names if ``max_count`` is enough.

        For a device without kernels the number is 0, which is not an error.
        """
        offered = [
            kernel.name
            for kernel in self.kernels
            if kernel.listed and device in (self.devices if kernel.devices is None else kernel.devices)
        ]
        return names_that_fit(offered, max_count)

    def habana_kernel(self, params: HabanaKernelParams, instance: HabanaKernelInstantiation = NO_BUFFERS, /) -> Answer:
        """Answer a request. ``instance`` has the sizes of the caller's buffers, none by default.

        The device of the request is ignored. An exception in a kernel's own functions gives FAILED, with the reason in
        ``failure`` of the answer.
        """
        kernel = self.kernel(params.node_name)
        if kernel is None:
            return GlueCode.NODE_NOT_FOUND, HabanaKernelInstantiation()
        try:
            return kernel.instantiate(params, instance)
        except Exception as error:  # an exception of a library's code must not end its caller
            said = f"{self.name}/{kernel.name}: {type(error).__name__}: {error}"
            return GlueCode.FAILED, HabanaKernelInstantiation(failure=said)
