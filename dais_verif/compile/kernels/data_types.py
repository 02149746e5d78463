"""Types of tensors: the C structures' types with their numbers in both generations, and fixed-point types of DAIS."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from enum import Enum

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.spec.program.types import LIMIT, FixedType

__all__ = ["DataType", "PadValue", "TensorType", "bits_of", "pattern_text", "read_pattern", "read_type", "text_of_dims"]


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


# Types and patterns as text: ``s6.2``; ``2*[0] - 1..1`` for elements -1 to 1 around every second element.


_TYPE = re.compile(r"([su])(\d{1,5})\.(-?\d{1,5})", re.ASCII)
_PATTERN = re.compile(
    r"(?:(?P<a>\d{1,9}) ?\* ?)?\[(?P<dim>\d)\](?: ?(?P<sign>[+-]) ?(?P<start>\d{1,9})(?: ?\.\. ?(?P<end>-?\d{1,9}))?)?",
    re.ASCII,
)


def read_type(text: str) -> FixedType:
    """Parse ``text`` as a type: ``s6.2`` is signed, of 6 bits, 2 of them fractional. Raises ``InputError``."""
    found = _TYPE.fullmatch(text)
    if not found:
        raise KernelError(
            f"{text!r} is not a type; an example is s6.2: signed or unsigned (u), 6 bits, 2 of them fractional"
        )
    k, width, f = int(found[1] == "s"), int(found[2]), int(found[3])
    if width > LIMIT or abs(f) > LIMIT or abs(width - k - f) > LIMIT:
        raise KernelError(
            f"type {text} exceeds a limit: its width, integer and fractional bits must be at most {LIMIT}"
        )
    return FixedType(k, width - k - f, f)


def read_pattern(text: str) -> DimPattern:
    """Parse ``text`` as the pattern of a dimension. Raises ``InputError`` for other texts.

    ``all``: each member touches the whole dimension. ``[1]``: one element, the coordinate in dimension 1 of the index
    space. ``4*[0] + 0..3``: four elements. ``[0] - 1..1``: three elements, the middle one at the coordinate of the
    member.
    """
    if text == "all":
        return DimPattern(all_required=True)
    found = _PATTERN.fullmatch(text)
    if not found:
        raise KernelError(f"{text!r} is not a pattern; examples are 'all', '[0]', '4*[0] + 0..3' or '[1] - 1..1'")
    start = int(found["start"] or 0) * (-1 if found["sign"] == "-" else 1)
    end = start if found["end"] is None else int(found["end"])
    a = int(found["a"] or 1)
    if a < 1 or end < start:
        raise KernelError(
            f"{text!r}: a slope must be at least 1 ('all' means 0), and the first element must not be after the last"
        )
    pattern = DimPattern.affine(int(found["dim"]), a, start, end)
    if (pattern.start_a, pattern.start_b, pattern.end_b) != (a, start, end):
        raise KernelError(f"{text!r}: one of its numbers does not fit binary32, which patterns use")
    return pattern


def pattern_text(pattern: DimPattern) -> str:
    """Return the text of a pattern, which ``read_pattern`` can read back if its numbers are integers."""
    if pattern.all_required or min(pattern.start_a, pattern.end_a) < 1:
        return "all"
    slope = "" if pattern.start_a == 1 else f"{pattern.start_a:g}*"
    if pattern.start_a != pattern.end_a:
        return f"{slope}[{pattern.dim}] + {pattern.start_b:g}..{pattern.end_a:g}*[{pattern.dim}] + {pattern.end_b:g}"
    text = f"{slope}[{pattern.dim}]"
    if pattern.start_b == pattern.end_b == 0:
        return text
    sign = "-" if pattern.start_b < 0 else "+"
    end = "" if pattern.start_b == pattern.end_b else f"..{pattern.end_b:g}"
    return f"{text} {sign} {abs(pattern.start_b):g}{end}"


def text_of_dims(pattern: AccessPattern) -> str:
    """Return the texts of all dimensions, the fastest first."""
    return "all" if pattern.all_required else ", ".join(map(pattern_text, pattern.dims))
