"""Read the instance that a file describes: a user's kernel, or a request for a kernel of a library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.errors import KernelError
from dais_verif.files import read_toml
from dais_verif.kernels.caller import instantiate
from dais_verif.kernels.discovery import find_libraries
from dais_verif.kernels.instance import KernelInstance, instance_of
from dais_verif.kernels.own import read_own_kernel
from dais_verif.kernels.params_file import printed_by, read_params
from dais_verif.toml import parse_toml

__all__ = ["read_instance"]

_MOST_BYTES = 1 << 20


def read_instance(path: Path, libraries: Sequence[Path] = ()) -> KernelInstance:
    """Return the instance of the TOML file ``path``: a request if it names a ``kernel``, else a user's own kernel.

    Raises ``InputError`` for a file that is neither, and for a request that is refused.
    """
    if not is_request(path):
        return read_own_kernel(path)
    found = find_libraries(libraries)
    params = read_params(path, found)
    return printed_by(path, instance_of(params, instantiate(found, params)))


def is_request(path: Path) -> bool:
    """Return True if the TOML file ``path`` names a kernel. Raises ``InputError`` if it is not valid TOML."""
    try:
        return "kernel" in parse_toml(read_toml(path, _MOST_BYTES, "the kernel"))
    except ValueError as error:
        raise KernelError(f"kernel {str(path)!r} is not valid TOML: {error}") from None
