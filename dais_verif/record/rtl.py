"""Which RTL a run was of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.record.project import ProjectInfo

__all__ = ["BitstreamFacts", "RtlFacts"]


@dataclass(frozen=True, kw_only=True)
class BitstreamFacts:
    """The bitstream that a run was of, and the file of its pins. ``device``: that was named; None: the usual one."""

    file: str
    sha256: str
    pins: str
    pins_sha256: str
    device: str | None = None


@dataclass(frozen=True, kw_only=True)
class RtlFacts:
    """The RTL of a simulation or sign-off. ``emitted``: it is our own. ``sha256``: of ``files``; ``data``: that of each
    file that the RTL reads, by name. ``top`` is None of a board.

    ``widths``: what tells those of the ports; ``face``: the ports, as ``DesignInterface.to_tree`` gives them. ``bits``:
    of a row of outputs, which evidence keeps in their place. ``project``: the folder that was given for program or RTL.
    ``bitstream``: of which the RTL was read back.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("data", "widths", "face", "bits", "project", "bitstream")

    top: str | None = None
    emitted: bool = False
    files: list[str] = field(default_factory=list)
    sha256: list[str] = field(default_factory=list)
    data: dict[str, str] | None = None
    widths: str | None = None
    face: dict[str, Any] | None = None
    bits: int | None = None
    project: ProjectInfo | None = None
    bitstream: BitstreamFacts | None = None
