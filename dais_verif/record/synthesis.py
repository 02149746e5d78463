"""The record of ``synth``: the FPGA resources of a program, and its maximum clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo

__all__ = ["LogicDepth", "PlaceAndRoute", "SynthesisRecord", "SynthesizedRtl"]


@dataclass(frozen=True)
class SynthesizedRtl:
    """The synthesized module. ``emitted``: the module is our own, generated from the program."""

    top: str
    emitted: bool
    files: list[str]


@dataclass(frozen=True)
class LogicDepth:
    """The longest path between flip-flops. ``cells``: the number of its cells. ``kinds``: the same by kind of cell."""

    cells: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class PlaceAndRoute:
    """The result of nextpnr. ``verdict``: None on success, else the reason; the counts are valid in any case.

    ``fmax``: the maximum clock frequency in MHz. ``used``: the resources of the device, used and available, including
    the registers around the module.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("device", "fmax", "used", "seconds")

    verdict: Verdict | None
    message: str | None
    device: str | None = None
    fmax: float | None = None
    used: dict[str, tuple[int, int]] | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class SynthesisRecord(Record):
    """A run of ``synth``. ``counts``: the number of cells of each kind; ``cells``: the number of cells of each type.

    ``netlist``: the path of the netlist; ``verify``: the command that verifies the netlist; both are None if no folder
    was requested. ``pnr``: None if place and route was not requested.
    """

    SCHEMA: ClassVar = "dais-verif/synth/1"

    program: ProgramInfo
    rtl: SynthesizedRtl
    target: str
    top: str
    tools: dict[str, str]
    alumacc: bool
    counts: dict[str, int]
    cells: dict[str, int]
    depth: LogicDepth
    seconds: float
    netlist: str | None
    verify: str | None
    pnr: PlaceAndRoute | None

    @property
    def verdict(self) -> Verdict:
        """PASS, or why the requested place and route failed."""
        return (self.pnr and self.pnr.verdict) or Verdict.PASS

    @property
    def passed(self) -> bool:
        """True if the verdict is PASS."""
        return self.verdict is Verdict.PASS
