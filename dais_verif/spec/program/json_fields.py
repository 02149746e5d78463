"""Fields of programs in JSON, each read with its own error: integers, lists, intervals as types."""

from __future__ import annotations

import math
import zlib
from fractions import Fraction
from reprlib import repr as _short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ProgramError
from dais_verif.base.text import counted
from dais_verif.spec.program.types import LIMIT, FixedType, type_of_interval

__all__ = ["as_int32", "as_integer", "as_integers", "as_list", "as_type", "beginning", "is_gzip", "unpacked"]


def as_list(value: Any, name: str) -> list[Any]:
    """Return ``value``, which must be a list. Raises a ``ProgramError`` that contains ``name``."""
    if not isinstance(value, list):
        raise ProgramError(f"JSON {name}: must be a list, not {_short(value)}")
    return value


def as_integer(value: Any, where: str) -> int:
    """Return an integer that a 64-bit word can hold, signed or not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or not -(1 << 63) <= value < 1 << 64:
        raise ProgramError(f"JSON {where} is {_short(value)}, must be a 64-bit integer")
    return int(value)


def as_int32(value: Any, where: str) -> int:
    """Return an integer that a word of a binary can hold."""
    number = as_integer(value, where)
    if not -(1 << 31) <= number < 1 << 31:
        raise ProgramError(f"JSON {where} is {number}, must be an int32")
    return number


def as_integers(value: Any, name: str, count: int) -> NDArray[np.int64]:
    """Return a list of ``count`` integers, each an int32, as an int64 array."""
    items = as_list(value, name)
    if len(items) != count:
        raise ProgramError(f"JSON {name}: {counted(len(items), 'value')}, must be {count}")
    return np.array([as_int32(item, f"{name}[{j}]") for j, item in enumerate(items)], dtype=np.int64)


def as_type(
    value: Any, index: int, *, on_grid: bool = False, where: str = "JSON op"
) -> tuple[FixedType, tuple[int, int]]:
    """Return the smallest type that holds ``[min, max, step]`` of op ``index``, and its raw interval.

    da4ml writes [0, 0, Infinity] for a column of zeros: the constant 0 has no step. ``on_grid``: both ends must be
    multiples of the step; if False, they are rounded outwards to multiples. ``where``: how errors call the place.
    """
    numbers = value if isinstance(value, list) and len(value) == 3 else [None]
    if numbers == [0, 0, math.inf] and not any(isinstance(v, bool) for v in numbers):
        return FixedType(0, 0, 0), (0, 0)
    if not all(isinstance(v, int) or (isinstance(v, float) and math.isfinite(v)) for v in numbers):
        raise ProgramError(
            f"{where} {index}: interval must be three finite numbers [min, max, step], not {_short(value)}"
        )
    low, high, step = map(Fraction, numbers)
    if low > high:
        raise ProgramError(
            f"{where} {index}: interval minimum {_short(numbers[0])} is above its maximum {_short(numbers[1])}"
        )
    if low == high == 0:
        return FixedType(0, 0, 0), (0, 0)
    f = exponent(step)
    if f is None or abs(f) > LIMIT:
        raise ProgramError(
            f"{where} {index}: step is {_short(numbers[2])}, must be a power of two within 2**-{LIMIT}..2**{LIMIT}"
        )
    lo, hi = math.floor(low / step), math.ceil(high / step)
    if on_grid and (lo * step != low or hi * step != high):
        end = numbers[0] if lo * step != low else numbers[1]
        raise ProgramError(f"{where} {index}: the interval ends at {end}, must be a multiple of its step {numbers[2]}")
    return type_of_interval(lo, hi, f), (lo, hi)


def exponent(step: Fraction) -> int | None:
    """Return ``-log2(step)`` if ``step`` is a power of two, else None."""
    if step <= 0 or (step.numerator & (step.numerator - 1)) or (step.denominator & (step.denominator - 1)):
        return None
    return step.denominator.bit_length() - step.numerator.bit_length()


# Unpack gzip within bounds: a small file must not cost gigabytes.


#: The magic number, and the number of deflate, the only method.
_MAGIC = b"\x1f\x8b\x08"
#: Decompressed data is refused if it exceeds both limits: this many bytes, and this many times the size of the file.
#: Real programs compress eight to one in JSON, and up to thirty to one in binary, where every op repeats its type.
_ALWAYS_ALLOWED, _RATIO = 16 << 20, 100


def is_gzip(data: bytes) -> bool:
    """Return True if ``data`` begins as gzip does."""
    return data.startswith(_MAGIC)


def beginning(data: bytes) -> bytes:
    """Return the first unpacked bytes of the gzip ``data``; empty if they are damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:4096], 64)
    except zlib.error:
        return b""


def unpacked(data: bytes) -> bytes:
    """Decompress the gzip ``data``. Raises ``ProgramError`` if it is damaged, or too large when unpacked."""
    limit = max(_ALWAYS_ALLOWED, _RATIO * len(data))
    try:
        unzip = zlib.decompressobj(wbits=31)
        content = unzip.decompress(data, limit)
    except zlib.error as error:
        raise ProgramError(f"gzip: {error}; the file is damaged") from None
    if unzip.unconsumed_tail:
        raise ProgramError(f"gzip: the content is longer than {limit >> 20} MiB; decompress the file yourself")
    if not unzip.eof:
        raise ProgramError("gzip: the stream ends early; the file is truncated")
    if unzip.unused_data:
        raise ProgramError(f"gzip: {len(unzip.unused_data)} bytes follow the end of the stream; the file is damaged")
    return content
