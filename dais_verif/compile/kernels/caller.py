"""The caller's side of the interface: request a kernel repeatedly until its buffers are large enough."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from dais_verif.base.errors import KernelLibraryError
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import bits_of
from dais_verif.compile.kernels.library import KernelLibrary
from dais_verif.compile.kernels.structures import (
    MAX_SCALARS,
    NO_BUFFERS,
    AuxTensor,
    HabanaKernelInstantiation,
    HabanaKernelParams,
)

__all__ = ["MOST_CALLS", "GlueError", "instantiate"]

#: The number of calls after which a caller gives up: sizes of auxiliary tensors and of the program need one call
#: each, the other calls allow for glue code that changes its answer.
MOST_CALLS = 5

#: Codes after which the caller makes its buffers larger and calls again.
_BUFFERS = (
    GlueCode.INSUFICIENT_AUX_BUFFER_SIZE,
    GlueCode.INSUFICIENT_ELF_BUFFER,
    GlueCode.INSUFICIENT_ISA_BUFFER,
)


class GlueError(KernelLibraryError):
    """Glue code refused a request with ``glue_code``. ``instance.written_back``: the values that it requires."""

    def __init__(self, text: str, code: GlueCode, instance: HabanaKernelInstantiation) -> None:
        super().__init__(text)
        self.glue_code, self.instance = code, instance

    def __reduce__(self) -> tuple[type[GlueError], tuple[str, GlueCode, HabanaKernelInstantiation]]:
        """Support pickling, which process pools need for exceptions."""
        return type(self), (str(self), self.glue_code, self.instance)


def instantiate(library: KernelLibrary, params: HabanaKernelParams) -> HabanaKernelInstantiation:
    """Return the kernel that ``params`` request, with its program and auxiliary tensors.

    Raises ``GlueError`` if glue code refuses it, and ``InputError`` for answers that break the interface: a buffer that
    is never large enough, an auxiliary tensor whose bytes are not those of its geometry, too many scalar parameters.
    """
    buffers = NO_BUFFERS
    for _ in range(MOST_CALLS):
        code, answer = library.habana_kernel(params, buffers)
        if code is GlueCode.SUCCESS:
            _look_at(params.node_name, answer)
            return answer
        if code not in _BUFFERS:
            raise GlueError(_refusal(params.node_name, code, answer), code, answer)
        larger = _buffers_of(answer)
        if larger == buffers:
            raise KernelLibraryError(f"{params.node_name}: {code.title}, but it requires the size that it was given")
        buffers = larger
    raise KernelLibraryError(f"{params.node_name}: it asked for larger buffers {MOST_CALLS} times")


def _buffers_of(answer: HabanaKernelInstantiation) -> HabanaKernelInstantiation:
    """Return only the buffers, with the sizes that an answer requires."""
    return replace(
        NO_BUFFERS,
        elf_size=answer.elf_size,
        kernel=replace(NO_BUFFERS.kernel, binary_size=answer.kernel.binary_size),
        auxiliary_tensors=tuple(AuxTensor(buffer_size=one.buffer_size) for one in answer.auxiliary_tensors),
    )


def _refusal(name: str, code: GlueCode, answer: HabanaKernelInstantiation) -> str:
    written = answer.written_back
    wants = [f"{field} {value}" for field, value in vars(written).items() if value not in (None, {}, frozenset())]
    why = f": {answer.failure}" if answer.failure else ""
    tail = f"; it requires {', '.join(wants)}" if wants else ""
    return f"kernel {name!r} answers {code.title} ({int(code)}){why}{tail}"


def _look_at(name: str, answer: HabanaKernelInstantiation) -> None:
    for at, one in enumerate(answer.auxiliary_tensors):
        expected = prod(one.geometry.shape) * bits_of(one.data_type) // 8
        if one.buffer_size != expected or len(one.data) != expected:
            raise KernelLibraryError(
                f"{name}: auxiliary tensor {at} of {list(one.geometry.shape)} x {one.data_type} has {len(one.data)} "
                f"bytes, not {expected}"
            )
    if len(answer.kernel.scalar_params) > MAX_SCALARS:
        raise KernelLibraryError(
            f"{name}: {len(answer.kernel.scalar_params)} scalar parameters; there are up to {MAX_SCALARS}"
        )
