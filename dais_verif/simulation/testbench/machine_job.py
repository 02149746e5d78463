"""What the bench of machines is asked and what it answers: JSON, and rows of bits as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from dais_verif.dut.interface import DesignInterface
from dais_verif.files import write_atomically

__all__ = [
    "MACHINE_JOB_VARIABLE",
    "UNKNOWN",
    "MachineAnswer",
    "MachineDifference",
    "MachineJob",
    "differs",
    "write_rows",
]

#: Environment variable that names the job file.
MACHINE_JOB_VARIABLE = "DAIS_VERIF_MACHINE_JOB"

#: In expected rows: a bit that depends on what nothing initialises, so that any value will do.
UNKNOWN = "-"


@dataclass(frozen=True)
class MachineJob:
    """A sequence from power-up. ``inputs``: a file with a row a cycle, most significant bit first.

    ``expected``: a file with two rows of outputs a cycle: before its edge, and after it with the same inputs.
    """

    interface: DesignInterface
    inputs: str
    expected: str
    answer: str
    cycles: int

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps({**asdict(self), "interface": self.interface.to_tree()}).encode())

    @classmethod
    def load(cls, path: Path) -> MachineJob:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        return cls(**{**tree, "interface": DesignInterface.from_tree(tree["interface"])})

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Inputs, outputs before the edge and outputs after it, of each cycle."""
        with open(self.inputs, encoding="ascii") as inputs, open(self.expected, encoding="ascii") as expected:
            for line in inputs:
                yield line.rstrip("\n"), next(expected).rstrip("\n"), next(expected).rstrip("\n")


@dataclass(frozen=True)
class MachineDifference:
    """Outputs that are not those expected. ``after``: they were read after the edge of the cycle, else before it."""

    cycle: int
    after: bool
    expected: str
    found: str

    @property
    def unknown(self) -> bool:
        """Whether a bit that should be known is X or Z."""
        return any(e != UNKNOWN and f not in "01" for e, f in zip(self.expected, self.found, strict=True))


@dataclass(frozen=True)
class MachineAnswer:
    """What the bench found. ``mismatching``, ``unknown``: cycles with a wrong bit, with X or Z in place of a bit."""

    cycles: int = 0
    bits: int = 0
    mismatching: int = 0
    unknown: int = 0
    first: MachineDifference | None = None
    port_error: str | None = None

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> MachineAnswer:
        """Read what ``save`` wrote."""
        tree = json.loads(path.read_text())
        first = tree.pop("first")
        return cls(**tree, first=None if first is None else MachineDifference(**first))


def differs(expected: str, found: str) -> bool:
    """Whether a bit of ``found`` is not the one that is expected."""
    if expected == found:
        return False
    if len(expected) != len(found):
        return True
    return any(e not in (f, UNKNOWN) for e, f in zip(expected, found, strict=True))


def write_rows(path: Path, rows: Iterable[str]) -> None:
    """Write ``rows``, a line each."""
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{row}\n" for row in rows)
