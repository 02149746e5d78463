"""Counts with their nouns, as people write them: 1 output, 2 outputs."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``count`` with ``noun``, or with ``plural`` (by default ``noun`` with an s) unless the count is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
