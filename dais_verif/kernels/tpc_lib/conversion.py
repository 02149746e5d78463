"""Convert requests, patterns and answers of one generation to the other.

Content that one side cannot express is refused, never dropped, except pad values, which the newer generation lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.errors import KernelError
from dais_verif.kernels.codes import TpcLibCode
from dais_verif.kernels.data_types import PadValue
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.kernels.structures import (
    MAX_DIMS,
    DeviceKernel,
    HabanaKernelInstantiation,
    HabanaKernelParams,
    Tensor,
    TensorGeometry,
)
from dais_verif.kernels.tpc_lib.structures import (
    DimIndexMapping,
    GuidInfo,
    TpcInstantiation,
    TpcKernelParams,
    TpcTensor,
    TpcTensorAccessPattern,
)

__all__ = [
    "instantiation_from_tpc",
    "instantiation_to_tpc",
    "params_from_tpc",
    "params_to_tpc",
    "pattern_from_tpc",
    "pattern_to_tpc",
    "unsupported",
]


def unsupported(params: TpcKernelParams) -> TpcLibCode | None:
    """Return why the older generation does not support this request, or None if it does."""
    tensors = (*params.input_tensors, *params.output_tensors)
    if any(tensor.dims > MAX_DIMS for tensor in tensors):
        return TpcLibCode.UNSUPPORTED_LAYER_CONFIGURATION
    if any(tensor.min_sizes and tensor.min_sizes != tensor.max_sizes for tensor in tensors):
        return TpcLibCode.UNSUPPORTED_DYNAMIC_SHAPE
    if any(size >= 1 << 32 for tensor in tensors for size in tensor.max_sizes):
        return TpcLibCode.UNSUPPORTED_HUGE_TENSORS
    return None


def params_to_tpc(params: HabanaKernelParams) -> TpcKernelParams:
    """Return a request in the newer generation."""
    return TpcKernelParams(
        guid=GuidInfo.of(params.node_name),
        input_tensors=tuple(map(_tensor_to_tpc, params.input_tensors)),
        output_tensors=tuple(map(_tensor_to_tpc, params.output_tensors)),
        node_params=params.node_params,
        device_id=params.device_id,
        api_version=params.api_version,
        debug_flags=params.debug_flags,
        max_available_tpc=params.max_available_tpc,
    )


def params_from_tpc(params: TpcKernelParams) -> HabanaKernelParams:
    """Return a request in the older generation; absent tensors at the end are left out.

    Raises ``InputError`` if the older generation cannot express the request: more than five dimensions, sizes that vary
    or have more than 32 bits, an absent tensor before a present one.
    """
    if unsupported(params) is not None:
        raise KernelError(
            "in the older generation, a tensor has up to five dimensions, each of a single size of up to 32 bits"
        )
    return HabanaKernelParams(
        node_name=params.guid.name,
        input_tensors=_tensors_from_tpc(params.input_tensors),
        output_tensors=_tensors_from_tpc(params.output_tensors),
        node_params=params.node_params,
        device_id=params.device_id,
        api_version=params.api_version,
        debug_flags=params.debug_flags,
        max_available_tpc=params.max_available_tpc,
    )


def _tensor_to_tpc(tensor: Tensor) -> TpcTensor:
    return TpcTensor(
        tensor.dims,
        tensor.sizes,
        tensor.sizes,
        tensor.data_type,
        tensor.quantization,
        reducible=tensor.reducible,
        data=tensor.data,
    )


def _tensors_from_tpc(tensors: Sequence[TpcTensor]) -> tuple[Tensor, ...]:
    there = [tensor for tensor in tensors if not tensor.null]
    if any(tensor.null for tensor in tensors[: len(there)]):
        raise KernelError("an absent tensor comes before a present one, which the older generation does not support")
    return tuple(map(_tensor_from_tpc, there))


def _tensor_from_tpc(tensor: TpcTensor) -> Tensor:
    if tensor.data_type is None:
        raise KernelError("a tensor of a request must have a type")
    return Tensor(
        TensorGeometry(tensor.dims, tensor.max_sizes[:MAX_DIMS]),
        tensor.data_type,
        tensor.quantization,
        reducible=tensor.reducible,
        data=tensor.data,
    )


def pattern_to_tpc(pattern: AccessPattern, memset: PadValue | None = None) -> TpcTensorAccessPattern:
    """Return a pattern in the newer generation. Raises ``InputError`` for slopes of start and end that differ."""
    for d, dim in enumerate(pattern.dims):
        if dim.start_a != dim.end_a:
            raise KernelError(
                f"dimension {d} starts with slope {dim.start_a} and ends with slope {dim.end_a}, but "
                "the newer generation of the interface has a single slope"
            )
    return TpcTensorAccessPattern(
        mapping=tuple(DimIndexMapping(d.dim, d.start_a, d.start_b, d.end_b, d.all_required) for d in pattern.dims),
        all_required=pattern.all_required,
        memset_before_execution=pattern.memset_before_execution,
        memset_value=memset.bits if memset else 0,
        inputs_reusability=pattern.inputs_reusability,
        input_reusability_binding=pattern.input_reusability_binding,
        sparse_access=pattern.sparse_access,
        no_rmw_access=pattern.no_rmw_access,
    )


def pattern_from_tpc(pattern: TpcTensorAccessPattern) -> AccessPattern:
    """Return a pattern in the older generation, with the same slope for start and end."""
    return AccessPattern(
        dims=tuple(
            DimPattern.affine(d.index_space_dim, d.a, d.start_b, d.end_b, all_required=d.all_required)
            for d in pattern.mapping
        ),
        all_required=pattern.all_required,
        memset_before_execution=pattern.memset_before_execution,
        inputs_reusability=pattern.inputs_reusability,
        input_reusability_binding=pattern.input_reusability_binding,
        sparse_access=pattern.sparse_access,
        no_rmw_access=pattern.no_rmw_access,
    )


def instantiation_to_tpc(answer: HabanaKernelInstantiation) -> TpcInstantiation:
    """Return an answer in the newer generation, without pad values. Raises the errors of ``pattern_to_tpc``."""
    memsets = [*answer.output_memset_values, *[None] * len(answer.output_tensor_access_pattern)]
    return TpcInstantiation(
        index_space_geometry=answer.index_space_geometry.shape,
        input_tensor_access_pattern=tuple(map(pattern_to_tpc, answer.input_tensor_access_pattern)),
        output_tensor_access_pattern=tuple(
            pattern_to_tpc(pattern, memset)
            for pattern, memset in zip(answer.output_tensor_access_pattern, memsets, strict=False)
        ),
        auxiliary_tensors=answer.auxiliary_tensors,
        no_init=tuple(bool(answer.aux_not_requiring_init >> at & 1) for at in range(len(answer.auxiliary_tensors))),
        scalar_params=answer.kernel.scalar_params,
        kernel_elf=answer.kernel_elf,
        elf_size=answer.elf_size,
        flags=answer.flags,
        written_back=answer.written_back,
        failure=answer.failure,
        taps=answer.taps,
    )


def instantiation_from_tpc(answer: TpcInstantiation) -> HabanaKernelInstantiation:
    """Return an answer in the older generation, where all pad values are 0."""
    outputs = answer.output_tensor_access_pattern
    memsets = tuple(PadValue(pattern.memset_value) for pattern in outputs)
    return HabanaKernelInstantiation(
        index_space_geometry=TensorGeometry.of(answer.index_space_geometry),
        input_tensor_access_pattern=tuple(map(pattern_from_tpc, answer.input_tensor_access_pattern)),
        output_tensor_access_pattern=tuple(map(pattern_from_tpc, outputs)),
        input_pad_values=(PadValue(),) * len(answer.input_tensor_access_pattern),
        auxiliary_tensors=answer.auxiliary_tensors,
        kernel=DeviceKernel(answer.scalar_params),
        flags=answer.flags,
        kernel_elf=answer.kernel_elf,
        elf_size=answer.elf_size,
        output_memset_values=memsets if any(pad.bits for pad in memsets) else (),
        aux_not_requiring_init=sum(1 << at for at, scratch in enumerate(answer.no_init) if scratch),
        written_back=answer.written_back,
        failure=answer.failure,
        taps=answer.taps,
    )
