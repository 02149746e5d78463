"""The record of ``synth``: what a program costs on an FPGA, and the clock that it allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

__all__ = ["LogicDepth", "PlaceAndRoute", "SynthesisRecord", "SynthesizedRtl"]


@dataclass(frozen=True)
class SynthesizedRtl:
    """The module that was synthesized. ``emitted``: it is ours, made of the program."""

    top: str
    emitted: bool
    files: list[str]


@dataclass(frozen=True)
class LogicDepth:
    """The longest path that crosses no flip-flop, counted in ``cells`` of any kind; ``kinds``: what it consists of."""

    cells: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class PlaceAndRoute:
    """The result of nextpnr. ``verdict``: None on success, else the reason; the counts are valid in any case.

    ``fmax``: MHz. ``used``: resources of the device, used and available, registers around the module included.
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
    """A run of ``synth``. ``counts``: cells of each kind; ``cells``: of each type.

    ``netlist``: where it was kept, and ``verify``: the command that verifies it; None where no folder was asked for.
    ``pnr``: None where place and route was not asked for.
    """

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
        """PASS, or why there was no place and route although it was asked for."""
        return (self.pnr and self.pnr.verdict) or Verdict.PASS

    @property
    def passed(self) -> bool:
        """True if the verdict is PASS."""
        return self.verdict is Verdict.PASS
