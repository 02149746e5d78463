"""The RTL of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.record.project import ProjectInfo
from dais_verif.verdict import Verdict

__all__ = ["BitstreamFacts", "ProvedLink", "RtlFacts"]


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
    """The RTL of a simulation or sign-off.

    ``emitted``: it is our own. ``sha256``: of ``files``; ``data``: that of each file that the RTL reads, by name.
    ``top`` is None of a board.

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


@dataclass(frozen=True, kw_only=True)
class ProvedLink:
    """The proof of a bitstream against the RTL of core, wrapper and link.

    ``core``: the verdict on the core's RTL, which all other fields of the record speak of.

    ``link``: ``uart``, ``spi`` or ``fifo``; ``period``: of its clock, in ns. ``proved``: both have the same outputs in
    every cycle from power-up; else ``why`` not. ``registers``, ``logic_registers``: bits of the RTL's and of the
    bitstream's, ``classes``: of such as always hold the same, of more than one. ``columns``: of block RAMs that hold
    a buffer; ``claims``: that were proved; ``seconds``: for all of it. ``board``: the verdict of a simulated
    board that the bitstream was; None: there was none. ``board_message``: what it said. ``hinted``: the classes were
    proposed by hints, and proved as any others.
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
