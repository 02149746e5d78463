"""The entry points of the newer generation, over any library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from dais_verif.kernels.codes import TpcLibCode, code_to_tpc
from dais_verif.kernels.library import KernelLibrary
from dais_verif.kernels.structures import NO_BUFFERS, DeviceId
from dais_verif.kernels.tpc_lib.conversion import (
    instantiation_from_tpc,
    instantiation_to_tpc,
    params_from_tpc,
    unsupported,
)
from dais_verif.kernels.tpc_lib.structures import (
    GuidInfo,
    KernelGuids,
    TpcDeviceId,
    TpcInstantiation,
    TpcKernelParams,
)

__all__ = ["TpcKernelLibrary", "get_kernel_guids", "get_shape_inference", "instantiate_tpc_kernel"]


@runtime_checkable
class TpcKernelLibrary(Protocol):
    """A library with its own entry point of the newer generation, which can return all codes of that generation."""

    def instantiate_tpc_kernel(
        self, params: TpcKernelParams, instance: TpcInstantiation, /
    ) -> tuple[TpcLibCode, TpcInstantiation]:
        """Answer a request for a kernel. ``instance`` has the sizes of the caller's buffers."""


def get_kernel_guids(library: KernelLibrary, device: int = TpcDeviceId.GAUDI, max_count: int = 0) -> KernelGuids:
    """Return the names of a library's kernels, like ``get_kernel_names``; all devices of the generation have them."""
    asked = DeviceId.GAUDI if device in tuple(TpcDeviceId) else -1
    code, number, names = library.get_kernel_names(asked, max_count)
    return KernelGuids(code_to_tpc(code), number, tuple(GuidInfo.of(name) for name in names))


def instantiate_tpc_kernel(
    library: KernelLibrary, params: TpcKernelParams, buffers: TpcInstantiation | None = None
) -> tuple[TpcLibCode, TpcInstantiation]:
    """Answer a request of the newer generation, by the library's glue code for this or for the older generation."""
    if isinstance(library, TpcKernelLibrary):
        return library.instantiate_tpc_kernel(params, buffers or TpcInstantiation())
    fault = unsupported(params)
    if fault is not None:
        return fault, TpcInstantiation()
    code, answer = library.habana_kernel(
        params_from_tpc(params), instantiation_from_tpc(buffers) if buffers else NO_BUFFERS
    )
    return code_to_tpc(code), instantiation_to_tpc(answer)


def get_shape_inference(
    library: KernelLibrary, params: TpcKernelParams
) -> tuple[TpcLibCode, Mapping[int, tuple[int, ...]]]:
    """Infer the sizes of the outputs from the sizes of the inputs, by a request for the kernel with outputs of size 0.

    If a kernel writes no sizes back, the result is SUCCESS without sizes, as in upstream's examples.
    """
    if not params.input_tensors:
        return TpcLibCode.SIF_NULL_PTR, {}
    outputs = tuple(replace(tensor, max_sizes=(0,) * tensor.dims, min_sizes=()) for tensor in params.output_tensors)
    code, answer = instantiate_tpc_kernel(library, replace(params, output_tensors=outputs))
    if code is TpcLibCode.NODE_NOT_FOUND:
        return TpcLibCode.INVALID_SHAPE_INFERENCE_ID, {}
    late = (
        TpcLibCode.INCOMPATIBLE_OUTPUT_SIZE,
        TpcLibCode.INSUFFICIENT_ELF_BUFFER,
        TpcLibCode.INSUFFICIENT_AUX_BUFFER_SIZE,
    )
    return (TpcLibCode.SUCCESS if code in late else code), answer.written_back.output_sizes
