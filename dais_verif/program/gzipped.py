"""Unpack gzip within bounds: a small file must not cost gigabytes."""

from __future__ import annotations

import zlib

from dais_verif.errors import ProgramError

__all__ = ["beginning", "is_gzip", "unpacked"]

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
