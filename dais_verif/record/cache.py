"""The record of ``cache``: the builds and proofs kept on this machine, and the space that removing them has freed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dais_verif.record.base import to_tree

__all__ = ["CacheContents", "KeptBuild", "RemovedFromCache"]


@dataclass(frozen=True)
class KeptBuild:
    """A build. ``used``: when it was last taken, in seconds since 1970. ``facts``: what it was made of."""

    key: str
    bytes: int
    used: float
    facts: dict[str, object]


@dataclass(frozen=True)
class CacheContents:
    """All that is kept, ``builds`` last used first. ``runtime_bytes``: of what is compiled once per machine."""

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
    """Removed items. ``abandoned``: temporary folders of runs that were killed."""

    builds: int
    builds_bytes: int
    proofs_bytes: int
    runtime_bytes: int
    abandoned: int
