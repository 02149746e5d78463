"""The record of ``cache``: the cached builds and proofs on this machine, and the space that removing them frees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dais_verif.record.base import Record

__all__ = ["CacheContents", "KeptBuild", "RemovedFromCache"]


@dataclass(frozen=True)
class KeptBuild:
    """A cached build. ``used``: the time of its last use, in seconds since 1970. ``facts``: its sources and tools."""

    key: str
    bytes: int
    used: float
    facts: dict[str, Any]


@dataclass(frozen=True)
class CacheContents(Record):
    """The whole cache, the last used builds first. ``runtime_bytes``: the size of parts compiled once per machine."""

    SCHEMA: ClassVar = "dais-verif/cache/1"

    folder: str
    limit_bytes: int
    runtime_bytes: int
    builds_bytes: int
    proofs_bytes: int
    builds: list[KeptBuild]


@dataclass(frozen=True)
class RemovedFromCache:
    """The removed items. ``abandoned``: the number of temporary folders of killed runs."""

    builds: int
    builds_bytes: int
    proofs_bytes: int
    runtime_bytes: int
    abandoned: int
