"""The newer generation of the interface, tpc_lib_api: the same data under other names, converted both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from hashlib import sha256
from typing import Protocol, runtime_checkable

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.codes import TpcLibCode, code_to_tpc
from dais_verif.compile.kernels.data_types import PadValue, TensorType
from dais_verif.compile.kernels.library import KernelLibrary
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.printf import PrintfTap
from dais_verif.compile.kernels.structures import (
    API_VERSION,
    MAX_DIMS,
    NO_BUFFERS,
    AuxTensor,
    DeviceId,
    DeviceKernel,
    HabanaKernelInstantiation,
    HabanaKernelParams,
    ProgramFlags,
    QuantizationParams,
    Tensor,
    TensorGeometry,
    WrittenBack,
)

__all__ = [
    "DimIndexMapping",
    "GuidInfo",
    "KernelGuids",
    "KernelProperties",
    "TpcDeviceId",
    "TpcInstantiation",
    "TpcKernelLibrary",
    "TpcKernelParams",
    "TpcTensor",
    "TpcTensorAccessPattern",
    "get_kernel_guids",
    "get_shape_inference",
    "instantiate_tpc_kernel",
    "instantiation_from_tpc",
    "instantiation_to_tpc",
    "params_from_tpc",
    "params_to_tpc",
    "pattern_from_tpc",
    "pattern_to_tpc",
    "unsupported",
]


# The structures of the newer generation: one slope per dimension, no pads, variable sizes, absent tensors.


class TpcDeviceId(IntEnum):
    """Devices of the newer generation."""

    GAUDI = 1
    GRECO = 2
    GAUDI2 = 3
    GAUDI3 = 4


class KernelProperties(IntFlag):
    """The features that a kernel supports."""

    NONE = 0
    DYNAMIC_SHAPES = 1
    SIXTY_FOUR_BITS = 2


@dataclass(frozen=True)
class GuidInfo:
    """The name of a kernel. ``name_hash``: 56 bits of its SHA-256, above 8 bits for the library."""

    name: str
    name_hash: int = 0
    properties: KernelProperties = KernelProperties.NONE

    @classmethod
    def of(cls, name: str) -> GuidInfo:
        """Return the identification of a kernel called ``name``."""
        return cls(name, int.from_bytes(sha256(name.encode()).digest()[:7], "little") << 8)


@dataclass(frozen=True)
class KernelGuids:
    """The number of kernels, and their names if the caller has room for all names, else no names."""

    code: TpcLibCode
    number: int
    guids: tuple[GuidInfo, ...]


@dataclass(frozen=True)
class DimIndexMapping:
    """The pattern of one dimension: ``a * member + start_b`` to ``a * member + end_b``."""

    index_space_dim: int = 0
    a: float = 0.0
    start_b: float = 0.0
    end_b: float = 0.0
    all_required: bool = False


@dataclass(frozen=True)
class TpcTensorAccessPattern:
    """The pattern of a tensor. ``memset_value``: the value of the tensor before the first member runs, if it is set."""

    mapping: tuple[DimIndexMapping, ...] = ()
    all_required: bool = False
    memset_before_execution: bool = False
    memset_value: int = 0
    inputs_reusability: int = 0
    input_reusability_binding: bool = False
    sparse_access: bool = False
    no_rmw_access: bool = False
    fully_accessed_once: bool = False
    fully_written: bool = False


@dataclass(frozen=True)
class TpcTensor:
    """A tensor: ``max_sizes`` and ``min_sizes``, the fastest first; only the first ``dims`` are used."""

    dims: int = 0
    max_sizes: tuple[int, ...] = ()
    min_sizes: tuple[int, ...] = ()
    data_type: TensorType | None = None
    quantization: QuantizationParams = field(default_factory=QuantizationParams)
    reducible: bool = False
    null: bool = False
    data: bytes | None = None
    layout: str = ""


@dataclass(frozen=True)
class TpcKernelParams:
    """A request."""

    guid: GuidInfo
    input_tensors: tuple[TpcTensor, ...] = ()
    output_tensors: tuple[TpcTensor, ...] = ()
    node_params: bytes | None = None
    device_id: int = TpcDeviceId.GAUDI
    api_version: int = API_VERSION
    debug_flags: int = 0
    max_available_tpc: int = 1
    use_deterministic: bool = False
    unique_node_id: int = 0

    @property
    def valid_input_tensors(self) -> int:
        """The mask of inputs that are present."""
        return sum(1 << at for at, tensor in enumerate(self.input_tensors) if not tensor.null)

    @property
    def valid_output_tensors(self) -> int:
        """The mask of outputs that are present."""
        return sum(1 << at for at, tensor in enumerate(self.output_tensors) if not tensor.null)


@dataclass(frozen=True)
class TpcInstantiation:
    """An answer. ``no_init``: for each auxiliary tensor, whether it is scratch memory. The program is ``kernel_elf``.

    ``preferred_split_dim``: 0, or a dimension of the index space plus 1.
    """

    index_space_geometry: tuple[int, ...] = ()
    input_tensor_access_pattern: tuple[TpcTensorAccessPattern, ...] = ()
    output_tensor_access_pattern: tuple[TpcTensorAccessPattern, ...] = ()
    auxiliary_tensors: tuple[AuxTensor, ...] = ()
    no_init: tuple[bool, ...] = ()
    scalar_params: tuple[int, ...] = ()
    kernel_elf: bytes = b""
    elf_size: int = 0
    flags: ProgramFlags = ProgramFlags.NONE
    preferred_split_dim: int = 0
    written_back: WrittenBack = field(default_factory=WrittenBack)
    failure: str = ""
    taps: tuple[PrintfTap, ...] = ()

    @property
    def index_space_rank(self) -> int:
        """The number of dimensions of the index space."""
        return len(self.index_space_geometry)


# Convert requests, patterns and answers of one generation to the other.
#
# Content that one side cannot express is refused, never dropped, except pad values, which the newer generation lacks.


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


# The entry points of the newer generation, over any library.


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
