"""Types of tensors: the C structures' types with their numbers in both generations, and fixed-point types of DAIS."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import Enum

from dais_verif.errors import KernelError
from dais_verif.program.types import FixedType

__all__ = ["DataType", "PadValue", "TensorType", "bits_of"]


class DataType(Enum):
    """A type of elements: name, number in gcapi (-1: none), bit in tpc_lib_api, and width in bits."""

    F32 = "f32", 0, 4096, 32
    F16 = "f16", 1, 512, 16
    I32 = "i32", 2, 1024, 32
    I16 = "i16", 3, 64, 16
    I8 = "i8", 4, 4, 8
    U8 = "u8", 5, 8, 8
    BF16 = "bf16", 6, 256, 16
    U16 = "u16", 7, 128, 16
    U32 = "u32", 8, 2048, 32
    I4 = "i4", 9, 1, 4
    U4 = "u4", 10, 2, 4
    F8_152 = "f8_152", 11, 16, 8
    F8_143 = "f8_143", 12, 32, 8
    I64 = "i64", -1, 8192, 64
    U64 = "u64", -1, 16384, 64

    def __init__(self, title: str, gcapi: int, tpc_lib: int, bits: int) -> None:
        self.title, self.gcapi, self.tpc_lib, self.bits = title, gcapi, tpc_lib, bits

    @classmethod
    def named(cls, title: str) -> DataType:
        """Return the type with the name ``title``."""
        for kind in cls:
            if kind.title == title:
                return kind
        raise KernelError(f"there is no tensor type {title!r}; known types are {', '.join(k.title for k in cls)}")

    def __str__(self) -> str:
        return self.title


#: The element type of a tensor; DAIS's types are exact and have no number in the C structures.
TensorType = DataType | FixedType


def bits_of(kind: TensorType) -> int:
    """Return the width of an element, in bits."""
    return kind.bits if isinstance(kind, DataType) else kind.width


#: Formats of ``struct`` of the types that can be written into a dword.
_FORMATS = {
    DataType.F32: "<f",
    DataType.F16: "<e",
    DataType.I32: "<i",
    DataType.I16: "<h",
    DataType.I8: "<b",
    DataType.U8: "<B",
    DataType.U16: "<H",
    DataType.U32: "<I",
}


@dataclass(frozen=True)
class PadValue:
    """The value read outside a tensor: the pattern of one element, interpreted by the tensor's type.

    ``bits``: the pattern of a C type, at most 32 bits, or the raw integer of a fixed-point type.
    """

    bits: int = 0

    @classmethod
    def of(cls, kind: TensorType, value: float) -> PadValue:
        """Return the pad of ``value``. Raises ``InputError`` if the type cannot hold it exactly, or has no pads."""
        if isinstance(kind, FixedType):
            raw = math.ldexp(value, kind.f)
            if raw != int(raw) or not kind.raw_min <= raw <= kind.raw_max:
                raise KernelError(f"{kind} does not hold the pad value {value!r}")
            return cls(int(raw))
        if kind is DataType.BF16:
            return cls(int.from_bytes(struct.pack("<f", value), "little") >> 16)
        if kind not in _FORMATS:
            raise KernelError(f"tensors of {kind} have no pad value")
        number = value if kind in (DataType.F32, DataType.F16) else int(value)
        try:
            return cls(int.from_bytes(struct.pack(_FORMATS[kind], number), "little"))
        except (struct.error, OverflowError):
            raise KernelError(f"{kind} does not hold the pad value {value!r}") from None

    @classmethod
    def lowest(cls, kind: TensorType) -> PadValue:
        """Return the pad that never wins a maximum."""
        if isinstance(kind, FixedType):
            return cls(kind.raw_min)
        return cls.of(
            kind, -math.inf if kind.title[0] in "bf" else -(1 << kind.bits - 1) if kind.title[0] == "i" else 0
        )

    @classmethod
    def highest(cls, kind: TensorType) -> PadValue:
        """Return the pad that never wins a minimum."""
        if isinstance(kind, FixedType):
            return cls(kind.raw_max)
        return cls.of(kind, math.inf if kind.title[0] in "bf" else (1 << kind.bits - (kind.title[0] == "i")) - 1)

    def dword(self, kind: DataType) -> int:
        """Return the pad as a 32-bit word of hardware: 8-bit values are repeated four times, 16-bit values twice."""
        if kind.bits not in (8, 16, 32):
            raise KernelError(f"tensors of {kind} have no pad value")
        return sum((self.bits & ((1 << kind.bits) - 1)) << at for at in range(0, 32, kind.bits))
