"""Watch the files of a design, which must not change during a run: a verdict is about one design only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import FileError
from dais_verif.record.rtl import BitstreamFacts
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.toolchain.sources import digests

__all__ = ["WatchedFiles"]


@dataclass(frozen=True)
class WatchedFiles:
    """The sources and the data files of ``design``, and the SHA-256 of each, sources first.

    ``bitstream``: facts about the bitstream from which the sources were read back; None: there is no bitstream.
    """

    design: RtlDesign
    sha256: tuple[str, ...]
    bitstream: BitstreamFacts | None = None

    @classmethod
    def of(cls, design: RtlDesign, bitstream: BitstreamFacts | None = None) -> WatchedFiles:
        """Return the files of ``design`` with their current digests."""
        return cls(design, _sha256(design), bitstream)

    @property
    def of_sources(self) -> list[str]:
        """The SHA-256 of each source."""
        return list(self.sha256[: len(self.design.sources)])

    @property
    def of_data(self) -> dict[str, str]:
        """The SHA-256 of each data file, by its name in the RTL."""
        names = (file.name for file in self.design.data)
        return dict(zip(names, self.sha256[len(self.design.sources) :], strict=True))

    def require_unchanged(self, what: str) -> None:
        """Raise ``InputError`` if a file has changed. ``what``: a participle that says what was done to the RTL."""
        for path, before, after in zip(_paths(self.design), self.sha256, _sha256(self.design), strict=True):
            if before != after:
                raise FileError(f"RTL file {str(path)!r} was changed while it was {what}; run again")


def _paths(design: RtlDesign) -> list[Path]:
    return [*design.sources, *(file.path for file in design.data)]


def _sha256(design: RtlDesign) -> tuple[str, ...]:
    return tuple(digest.hex() for digest in digests(_paths(design)))
