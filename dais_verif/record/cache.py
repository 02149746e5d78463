"""The record of ``cache``: the cached builds and proofs on this machine, and the space that removing them frees."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dais_verif.record.base import to_tree

__all__ = ["CacheContents", "KeptBuild", "RemovedFromCache"]


@dataclass(frozen=True)
class KeptBuild:
    """A cached build. ``used``: the time of its last use, in seconds since 1970. ``facts``: its sources and tools."""

    key: str
    bytes: int
    used: float
    facts: dict[str, object]


@dataclass(frozen=True)
class CacheContents:
    """The whole cache, the last used builds first. ``runtime_bytes``: the size of parts compiled once per machine."""

    folder: str
    limit_bytes: int
    runtime_bytes: int
    builds_bytes: int
    proofs_bytes: int
    builds: list[KeptBuild]

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(to_tree(self), indent=2)


@dataclass(frozen=True)
class RemovedFromCache:
    """The removed items. ``abandoned``: the number of temporary folders of killed runs."""

    builds: int
    builds_bytes: int
    proofs_bytes: int
    runtime_bytes: int
    abandoned: int
