"""The structures of the seed's interface, gcapi, as immutable values: requests to glue code, and its answers.

C's counts are the lengths of tuples. What C writes into the caller's structures is a ``WrittenBack``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from types import SimpleNamespace
from typing import Any

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.data_types import DataType, PadValue, TensorType
from dais_verif.compile.kernels.patterns import AccessPattern
from dais_verif.compile.kernels.printf import PrintfTap
from dais_verif.spec.program.types import LIMIT, FixedType

__all__ = [
    "API_VERSION",
    "AuxTensor",
    "DeviceId",
    "DeviceKernel",
    "HabanaKernelInstantiation",
    "HabanaKernelParams",
    "MAX_DIMS",
    "MAX_NAME_BYTES",
    "MAX_SCALARS",
    "MAX_TENSORS",
    "NO_BUFFERS",
    "PrivateStructure",
    "ProgramFlags",
    "QuantizationParams",
    "Tensor",
    "TensorGeometry",
    "WrittenBack",
    "apply_written",
]


#: The version of the interface that is documented here, and that kernels which check ``api_version`` accept.
API_VERSION = 1
#: The most input tensors, and the most output tensors.
MAX_TENSORS = 16
#: Dimensions of tensors and of index spaces.
MAX_DIMS = 5
#: Dwords of scalar parameters.
MAX_SCALARS = 32
#: Bytes of a name, without the NUL that ends it.
MAX_NAME_BYTES = 63


class DeviceId(IntEnum):
    """Devices of the seed's interface."""

    GOYA = 0
    GAUDI = 1


class ProgramFlags(IntFlag):
    """The features that a program uses."""

    NONE = 0
    PRINTF_USED = 1
    SPECIAL_FUNCTIONS_USED = 2


@dataclass(frozen=True)
class TensorGeometry:
    """Sizes of a tensor or an index space: always five, the fastest first; only the first ``dims`` are used."""

    dims: int = 0
    sizes: tuple[int, ...] = (1,) * MAX_DIMS

    def __post_init__(self) -> None:
        if not 0 <= self.dims <= MAX_DIMS or len(self.sizes) > MAX_DIMS:
            raise KernelError(f"a geometry can have up to {MAX_DIMS} dimensions, not {max(self.dims, len(self.sizes))}")
        if any(not 0 <= size < 1 << 32 for size in self.sizes):
            raise KernelError(f"sizes of a geometry must be unsigned numbers of 32 bits, not {list(self.sizes)}")
        object.__setattr__(self, "sizes", (*self.sizes, *(1,) * (MAX_DIMS - len(self.sizes))))

    @classmethod
    def of(cls, sizes: Sequence[int]) -> TensorGeometry:
        """Return a geometry with as many dimensions as there are ``sizes``."""
        return cls(len(sizes), tuple(sizes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions in use."""
        return self.sizes[: self.dims]


@dataclass(frozen=True)
class QuantizationParams:
    """The meaning of an integer: ``scale * (value - zero_point)``."""

    scale: float = 1.0
    zero_point: int = 0


@dataclass(frozen=True)
class Tensor:
    """A tensor of a request. ``data``: its content if it is constant."""

    geometry: TensorGeometry = field(default_factory=TensorGeometry)
    data_type: TensorType = DataType.F32
    quantization: QuantizationParams = field(default_factory=QuantizationParams)
    contiguous: bool = True
    reducible: bool = False
    sram: bool = False
    data: bytes | None = None
    permutation: tuple[int, ...] = tuple(range(MAX_DIMS))

    def __post_init__(self) -> None:
        kind = self.data_type
        if isinstance(kind, FixedType) and not (0 <= kind.width <= LIMIT and max(abs(kind.i), abs(kind.f)) <= LIMIT):
            raise KernelError(f"{kind!r} is not a type: its width, integer and fractional bits must be at most {LIMIT}")

    @classmethod
    def of(cls, data_type: TensorType, *sizes: int) -> Tensor:
        """Return a tensor of ``sizes``, the fastest dimension first."""
        return cls(TensorGeometry.of(sizes), data_type)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The five sizes of the tensor."""
        return self.geometry.sizes

    @property
    def dims(self) -> int:
        """The number of dimensions in use."""
        return self.geometry.dims


@dataclass(frozen=True)
class HabanaKernelParams:
    """A request for a kernel. ``node_params``: its private structure, byte by byte; None if there is none."""

    node_name: str
    input_tensors: tuple[Tensor, ...] = ()
    output_tensors: tuple[Tensor, ...] = ()
    node_params: bytes | None = None
    device_id: int = DeviceId.GAUDI
    api_version: int = API_VERSION
    kernel_type: int = 0
    debug_flags: int = 0
    max_available_tpc: int = 1

    def __post_init__(self) -> None:
        for side, tensors in (("inputs", self.input_tensors), ("outputs", self.output_tensors)):
            if len(tensors) > MAX_TENSORS:
                raise KernelError(f"a request can have up to {MAX_TENSORS} {side}, not {len(tensors)}")


@dataclass(frozen=True)
class AuxTensor:
    """An auxiliary tensor: a table that belongs to the program. ``buffer_size``: bytes of the caller's buffer.

    ``note`` describes the content if only its size is known.
    """

    geometry: TensorGeometry = field(default_factory=TensorGeometry)
    data_type: TensorType = DataType.F32
    data: bytes = b""
    buffer_size: int = 0
    note: str = ""


@dataclass(frozen=True)
class DeviceKernel:
    """The scalar parameters of the program, in dwords; and the program in its older form."""

    scalar_params: tuple[int, ...] = ()
    kernel_binary: bytes = b""
    binary_size: int = 0


@dataclass(frozen=True)
class WrittenBack:
    """The data that glue code writes into the structures of its caller.

    Sizes, types and ``quantization`` are stored by tensor number. ``require_reducible``, ``require_contiguous``:
    numbers of the inputs whose flag glue code sets. ``aux_buffer_sizes``, ``elf_size`` and ``isa_size``: sizes in
    bytes.
    """

    input_count: int | None = None
    output_count: int | None = None
    input_sizes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    output_sizes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    input_types: Mapping[int, TensorType] = field(default_factory=dict)
    output_types: Mapping[int, TensorType] = field(default_factory=dict)
    input_quantization: Mapping[int, QuantizationParams] = field(default_factory=dict)
    require_reducible: frozenset[int] = frozenset()
    require_contiguous: frozenset[int] = frozenset()
    aux_count: int | None = None
    aux_buffer_sizes: Mapping[int, int] = field(default_factory=dict)
    elf_size: int | None = None
    isa_size: int | None = None


@dataclass(frozen=True)
class HabanaKernelInstantiation:
    """An answer; as an argument of a call, the caller's buffers: sizes of program and auxiliary tensors, in bytes.

    ``aux_not_requiring_init``: a mask of auxiliary tensors that are scratch memory. ``failure``: why a request is
    refused, for users, if glue code gives a reason. With codes 9 and 18 the answer is incomplete: only use its sizes.
    ``taps``: the messages that the program prints, which are part of the program in C.
    """

    index_space_geometry: TensorGeometry = field(default_factory=TensorGeometry)
    input_tensor_access_pattern: tuple[AccessPattern, ...] = ()
    output_tensor_access_pattern: tuple[AccessPattern, ...] = ()
    input_pad_values: tuple[PadValue, ...] = ()
    auxiliary_tensors: tuple[AuxTensor, ...] = ()
    kernel: DeviceKernel = field(default_factory=DeviceKernel)
    flags: ProgramFlags = ProgramFlags.NONE
    kernel_elf: bytes = b""
    elf_size: int = 0
    output_memset_values: tuple[PadValue, ...] = ()
    aux_not_requiring_init: int = 0
    written_back: WrittenBack = field(default_factory=WrittenBack)
    failure: str = ""
    taps: tuple[PrintfTap, ...] = ()


#: The buffers of a call without buffers; the answer has the required sizes.
NO_BUFFERS = HabanaKernelInstantiation()


def apply_written(params: HabanaKernelParams, written: WrittenBack) -> HabanaKernelParams:
    """Return the request with the values that glue code wrote back.

    Tensors beyond the count are removed, and missing ones are added without a geometry. Sizes beyond those that were
    written are 1.
    """
    inputs = _side(params.input_tensors, written.input_count, written.input_sizes, written.input_types)
    outputs = _side(params.output_tensors, written.output_count, written.output_sizes, written.output_types)
    flagged = (
        replace(
            tensor,
            quantization=written.input_quantization.get(at, tensor.quantization),
            reducible=tensor.reducible or at in written.require_reducible,
            contiguous=tensor.contiguous or at in written.require_contiguous,
        )
        for at, tensor in enumerate(inputs)
    )
    return replace(params, input_tensors=tuple(flagged), output_tensors=outputs)


def _side(
    tensors: tuple[Tensor, ...],
    count: int | None,
    sizes: Mapping[int, tuple[int, ...]],
    types: Mapping[int, TensorType],
) -> tuple[Tensor, ...]:
    if count is not None:
        tensors = (*tensors, *(Tensor() for _ in range(count - len(tensors))))[:count]
    return tuple(
        replace(
            tensor,
            geometry=TensorGeometry(tensor.dims, sizes[at]) if at in sizes else tensor.geometry,
            data_type=types.get(at, tensor.data_type),
        )
        for at, tensor in enumerate(tensors)
    )


# Private structures of kernels: the bytes of a request that one kind of kernel understands.


#: Letters of fields: signed, unsigned, binary32; each is a dword.
_FIELDS = {"i": int, "u": int, "f": float}


@dataclass(frozen=True)
class PrivateStructure:
    """A structure of dwords. ``fields``: ``name:letter``, where ``i`` is signed, ``u`` unsigned and ``f`` binary32."""

    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> PrivateStructure:
        """Return the structure that ``text`` lists, as in ``"pad_w:i scale:f"``."""
        fields = tuple((name, letter) for name, _, letter in (word.partition(":") for word in text.split()))
        for name, letter in fields:
            if not name.isidentifier() or letter not in _FIELDS:
                raise KernelError(f"a field of a structure must be a name and :i, :u or :f, not {name}:{letter}")
        return cls(fields)

    @property
    def size(self) -> int:
        """The size of the structure in bytes."""
        return 4 * len(self.fields)

    def pack(self, values: Mapping[str, float]) -> bytes:
        """Return the bytes of ``values``; fields that are left out are 0."""
        unknown = set(values) - {name for name, _ in self.fields}
        if unknown:
            names = ", ".join(name for name, _ in self.fields) or "none"
            raise KernelError(f"there is no field {min(unknown)}; known fields are {names}")
        try:
            dwords = [_FIELDS[letter](values.get(name, 0)) for name, letter in self.fields]
            return struct.pack(self._format, *dwords)
        except (struct.error, OverflowError, ValueError, TypeError):
            raise KernelError(f"values {dict(values)} do not fit the fields {self}") from None

    def unpack(self, data: bytes) -> Any:
        """Return a namespace of the fields in the first bytes of ``data``. Raises ``InputError`` if it is too short."""
        if len(data) < self.size:
            raise KernelError(f"the structure {self} has {self.size} bytes, not {len(data)}")
        values = struct.unpack(self._format, data[: self.size])
        return SimpleNamespace(**dict(zip((name for name, _ in self.fields), values, strict=True)))

    @property
    def _format(self) -> str:
        return "<" + "".join({"u": "I"}.get(letter, letter) for _, letter in self.fields)

    def __str__(self) -> str:
        return " ".join(f"{name}:{letter}" for name, letter in self.fields) or "(empty)"
