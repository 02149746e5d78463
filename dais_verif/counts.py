"""Counts with their nouns: 1 output, 2 outputs."""

from __future__ import annotations

__all__ = ["counted", "equal_text"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``count`` with ``noun``, or with ``plural`` (by default ``noun`` with an s) unless the count is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def equal_text(bits: int, vectors: int) -> str:
    """Return the message of a simulation in which all ``bits`` output bits of ``vectors`` vectors are right."""
    if bits == 1:
        return f"the only output bit of {counted(vectors, 'vector')} equals the golden model"
    return f"all {bits} output bits of {counted(vectors, 'vector')} equal the golden model"
