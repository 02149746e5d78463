"""The structures of the newer generation: one slope per dimension, no pads, variable sizes, absent tensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from hashlib import sha256

from dais_verif.kernels.codes import TpcLibCode
from dais_verif.kernels.data_types import TensorType
from dais_verif.kernels.printf_taps import PrintfTap
from dais_verif.kernels.structures import API_VERSION, AuxTensor, ProgramFlags, QuantizationParams, WrittenBack

__all__ = [
    "DimIndexMapping",
    "GuidInfo",
    "KernelGuids",
    "KernelProperties",
    "TpcDeviceId",
    "TpcInstantiation",
    "TpcKernelParams",
    "TpcTensor",
    "TpcTensorAccessPattern",
]


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
