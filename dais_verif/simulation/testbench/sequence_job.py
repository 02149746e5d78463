"""Job and answer of a run of a machine's sequences, and its packed rows of bits as ``.npy``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation.testbench.packed_rows import Words

__all__ = [
    "UNKNOWN",
    "MachineAnswer",
    "MachineDifference",
    "MachineJob",
    "SequenceFiles",
    "SequenceRows",
    "differs",
    "text_of_rows",
]

#: In expected rows as text: a bit that depends on uninitialised state, so that any value matches.
UNKNOWN = "-"


@dataclass(frozen=True)
class SequenceRows:
    """A sequence from power-up: for each cycle one packed row of ``inputs``, and two of ``expected``, around its edge.

    ``known``: the known bits of ``expected``, None if all are known; unknown bits of ``expected`` are 0.
    """

    inputs: Words
    expected: Words
    known: Words | None = None

    def save(self, folder: Path) -> None:
        """Write into ``folder``, created if missing."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, words in (("inputs", self.inputs), ("expected", self.expected), ("known", self.known)):
            if words is not None:
                np.save(folder / f"{name}.npy", words)

    @classmethod
    def load(cls, folder: Path) -> SequenceRows:
        """Read what ``save`` wrote."""
        known = folder / "known.npy"
        inputs, expected = (np.load(folder / f"{name}.npy") for name in ("inputs", "expected"))
        return cls(inputs, expected, np.load(known) if known.exists() else None)


@dataclass(frozen=True)
class SequenceFiles:
    """Sequence ``number`` of a run: the folder of its rows, and its number of ``cycles``."""

    number: int
    folder: str
    cycles: int

    def rows(self) -> SequenceRows:
        """Read the rows."""
        return SequenceRows.load(Path(self.folder))


@dataclass(frozen=True)
class MachineJob:
    """``sequences``: only one if they go through the ports; with ``threads``, all go through the bulk path.

    With ``threads``, the first cycles of the first sequence also go through the ports.
    """

    interface: DesignInterface
    sequences: tuple[SequenceFiles, ...]
    threads: int = 0


@dataclass(frozen=True)
class MachineDifference:
    """Outputs that differ from the expected ones. ``after``: read after the edge of the cycle, else before it."""

    cycle: int
    after: bool
    expected: str
    found: str

    @property
    def unknown(self) -> bool:
        """True if a bit that should be known is X or Z."""
        return any(e != UNKNOWN and f not in "01" for e, f in zip(self.expected, self.found, strict=True))


@dataclass(frozen=True)
class MachineAnswer:
    """The result of the bench for a sequence. ``bulk``: how many of its ``cycles`` ran outside cocotb.

    ``mismatching``, ``unknown``: the number of cycles with a wrong bit, and with X or Z. ``digest``: the digest of the
    known bits of all found rows, from ``digest_of_sequence``. ``filled``: how many of ``unknown`` were found with other
    values for X. ``departures``: the differences in the first cycles, by number as text, over both rows of a cycle.
    """

    cycles: int = 0
    bits: int = 0
    mismatching: int = 0
    unknown: int = 0
    first: MachineDifference | None = None
    port_error: str | None = None
    bulk: int = 0
    digest: str = ""
    filled: int = 0
    departures: dict[str, str] = field(default_factory=dict)


def differs(expected: str, found: str) -> bool:
    """Return True if a bit of ``found`` differs from ``expected``."""
    if expected == found:
        return False
    if len(expected) != len(found):
        return True
    return any(e not in (f, UNKNOWN) for e, f in zip(expected, found, strict=True))


def text_of_rows(words: Words, bits: int, known: Words | None = None) -> Iterator[str]:
    """Yield each packed row as text, most significant bit first; a row without bits is one 0."""
    text = _bits_of(words, bits) + np.uint8(ord("0"))
    if known is not None and bits:
        text = np.where(_bits_of(known, bits) == 1, text, np.uint8(ord(UNKNOWN)))
    whole, width = text.tobytes().decode(), max(bits, 1)
    return (whole[at : at + width] for at in range(0, len(whole), width))


def _bits_of(words: Words, bits: int) -> NDArray[np.uint8]:
    little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.ascontiguousarray(np.unpackbits(little, axis=1, count=max(bits, 1), bitorder="little")[:, ::-1])
