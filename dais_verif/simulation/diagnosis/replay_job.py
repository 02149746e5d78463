"""Question and answer of a replay: two small JSON files in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface

__all__ = ["HOLD", "Question", "Seen"]

#: Nanoseconds for which each of the two vectors is held.
HOLD = 10


@dataclass(frozen=True)
class Question:
    """Drive ``before``, then ``vector`` (rows of ``interface``, most significant bit first), then read ``signals``."""

    interface: DesignInterface
    before: str
    vector: str
    signals: list[str]
    answer: str

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Question:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        return cls(**{**tree, "interface": DesignInterface.from_tree(tree["interface"])})


@dataclass(frozen=True)
class Seen:
    """The signals of the top module at the end of the vector, without those that do not exist.

    ``found``: the output row; ``bits``: the bits of each signal; both most significant first. ``ranges``: the declared
    bounds, left and right; a scalar has none. ``start``, ``end``: the times at which the vector begins and ends, in
    time units of the waves.
    """

    found: str
    bits: dict[str, str]
    ranges: dict[str, tuple[int, int]]
    start: int
    end: int

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Seen:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        tree["ranges"] = {name: (left, right) for name, (left, right) in tree["ranges"].items()}
        return cls(**tree)
