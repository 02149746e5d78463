"""The RTL of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.record.project import ProjectInfo
from dais_verif.verdict import Verdict

__all__ = ["BitstreamFacts", "ProvedLink", "RtlFacts"]


@dataclass(frozen=True, kw_only=True)
class BitstreamFacts:
    """The bitstream of a run, and its pin file. ``device``: the given device; None: the default."""

    file: str
    sha256: str
    pins: str
    pins_sha256: str
    device: str | None = None


@dataclass(frozen=True, kw_only=True)
class RtlFacts:
    """The RTL of a simulation or sign-off.

    ``emitted``: whether it is our own. ``sha256``: the hash of each of ``files``. ``data``: the SHA-256 of each file
    that the RTL reads, by name. ``top`` is None for a board.

    ``widths``: the source of the port widths. ``face``: the ports, from ``DesignInterface.to_tree``. ``bits``: the
    number of bits of an output row, which evidence keeps instead of ports. ``project``: the given folder of program or
    RTL. ``bitstream``: the bitstream from which the RTL was read back, if any.
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


@dataclass(frozen=True, kw_only=True)
class ProvedLink:
    """The proof of a bitstream against the RTL of core, wrapper and link.

    ``core``: the verdict on the core's RTL, to which all fields of the record outside of ``link`` refer.

    ``link``: ``uart``, ``spi`` or ``fifo``. ``period``: the period of the link's clock, in ns. ``proved``: the
    bitstream and the RTL have the same outputs in every cycle from power-up; if not proved, ``why`` is the reason.
    ``registers``, ``logic_registers``: the numbers of register bits of the RTL and of the bitstream. ``classes``: the
    number of sets of two or more register bits that are always equal. ``columns``: the number of columns of block RAMs
    that implement a buffer. ``claims``: the number of proved claims. ``seconds``: the total time. ``board``: the
    verdict of a simulated board that runs the bitstream, with ``board_message``; None if there was no such board.
    ``hinted``: hints proposed the classes, which were proved like any others.
    """

    link: str
    period: float
    bitstream: BitstreamFacts
    core: Verdict
    proved: bool
    why: str
    registers: int
    logic_registers: int
    classes: int
    columns: int
    claims: int
    seconds: float
    board: Verdict | None = None
    board_message: str = ""
    hinted: bool = False
