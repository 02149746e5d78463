"""Job and answer of the bench that watches a machine: two JSON files in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface

__all__ = ["WatchAnswer", "WatchJob"]


@dataclass(frozen=True)
class WatchJob:
    """Drive ``rows`` from power-up, one per cycle; keep outputs before each edge at which bit ``valid`` is not 0."""

    interface: DesignInterface
    rows: tuple[str, ...]
    valid: int
    answer: str

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self) | {"interface": self.interface.to_tree()}).encode())

    @classmethod
    def load(cls, path: Path) -> WatchJob:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        interface = DesignInterface.from_tree(tree["interface"])
        return cls(interface, tuple(tree["rows"]), tree["valid"], tree["answer"])


@dataclass(frozen=True)
class WatchAnswer:
    """``cycles``: the number of cycles that ran; ``kept``: the kept cycles, each with its output row."""

    cycles: int
    kept: tuple[tuple[int, str], ...]
    port_error: str | None = None

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> WatchAnswer:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        return cls(tree["cycles"], tuple((cycle, row) for cycle, row in tree["kept"]), tree["port_error"])
