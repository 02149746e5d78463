"""Question and answer of a machine's replay: two JSON files in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface

__all__ = ["Look", "MachineQuestion", "MachineSeen", "Register"]


@dataclass(frozen=True)
class Register:
    """The expected value of a register at power-up and after each edge: bits, most significant first, ``-``: unknown.

    ``paths``: its possible paths, each of a vector, or of an array whose word 0 has the least significant bits.
    """

    paths: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """Read ``signals``, each by the first of its paths that exists, in ``cycle``, ``after`` the edge or before it."""

    cycle: int
    after: bool
    signals: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class MachineQuestion:
    """Drive ``rows`` from power-up, one per cycle, compare ``registers``, and ``look`` once."""

    interface: DesignInterface
    rows: tuple[str, ...]
    registers: tuple[Register, ...]
    look: Look | None
    answer: str

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self) | {"interface": self.interface.to_tree()}).encode())

    @classmethod
    def load(cls, path: Path) -> MachineQuestion:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        return cls(
            DesignInterface.from_tree(tree["interface"]),
            tuple(tree["rows"]),
            tuple(Register(tuple(r["paths"]), tuple(r["expected"])) for r in tree["registers"]),
            None if tree["look"] is None else Look(**tree["look"]),
            tree["answer"],
        )


@dataclass(frozen=True)
class MachineSeen:
    """``outputs``: the last two rows, before the last edge and after it.

    ``wrong``: the first edge after which registers are wrong, -1 for power-up, and the values of the wrong registers,
    by number. ``there``: the numbers of the registers that the design has. ``seen``: bits of each signal that was read,
    and its path. ``ranges``: the declared bounds of each, by path. ``start``, ``end``: the times at which the inspected
    cycle begins and ends, in time units of the waves.
    """

    outputs: tuple[str, str]
    wrong: tuple[int, dict[int, str]] | None = None
    there: tuple[int, ...] = ()
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> MachineSeen:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        wrong = tree["wrong"] and (tree["wrong"][0], {int(n): bits for n, bits in tree["wrong"][1].items()})
        seen = {name: (bits, called) for name, (bits, called) in tree["seen"].items()}
        ranges = {name: (left, right) for name, (left, right) in tree["ranges"].items()}
        there = tuple(tree["there"])
        return cls(tuple(tree["outputs"]), wrong, there, seen, ranges, tree["start"], tree["end"])
