"""The record of ``build``: the bitstream, its program and device, its resources and timing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo

__all__ = ["BUILD_RECORD", "BuildRecord", "BuildTiming"]

#: The file of the record, in the folder of a build.
BUILD_RECORD = "build.json"


@dataclass(frozen=True)
class BuildTiming:
    """``required``: the requested MHz, if any. ``registers``: the MHz that paths between registers allow, by nextpnr.

    ``path``: the delay of the longest path that icetime finds in the bitstream, including paths from and to pins, in
    ns. ``registers`` or ``path`` is None if there is no such path.
    """

    required: float | None
    registers: float | None
    path: float | None

    @property
    def allowed(self) -> float | None:
        """The clock in MHz that ``registers`` and ``path`` both allow; None if there is no path."""
        found = [self.registers] if self.registers is not None else []
        found += [1000 / self.path] if self.path else []
        return min(found, default=None)

    @property
    def met(self) -> bool:
        """True if the requested clock is allowed."""
        return self.required is None or self.allowed is None or self.allowed >= self.required


@dataclass(frozen=True, kw_only=True)
class BuildRecord(Record):
    """A run of ``build``. The verification of the bitstream does not rely on this record.

    ``wrap``: ``none``, or the link in front of the core; ``clock_port``: the clock port of module ``top``, if it has
    one. ``design_options``: the options of ``sim`` and ``prove`` for the pins of a bare pipeline. ``pins``: the pin of
    each bit of each port; ``pins_chosen``: whether the pins were assigned automatically. ``counts``: the number of
    cells of each kind, before packing. ``used``: the resources of the device by nextpnr's names, used and available.
    ``stages``, ``max_depth``, ``delay_model``: the options of a pipeline. ``bram``: whether tables may become block
    RAMs; ``dsp``: whether products may become DSPs. ``files``: the SHA-256 of each file in ``folder``, by relative
    name.
    """

    SCHEMA: ClassVar = "dais-verif/build/1"

    program: ProgramInfo
    device: str
    wrap: str
    top: str
    clock_port: str | None
    design_options: list[str]
    seed: int
    pins: dict[str, str]
    pins_chosen: bool
    counts: dict[str, int]
    used: dict[str, tuple[int, int]]
    timing: BuildTiming
    tools: dict[str, str]
    folder: str
    files: dict[str, str]
    stages: int | None = None
    max_depth: float | None = None
    delay_model: str | None = None
    bram: bool | None = None
    dsp: bool | None = None

    @property
    def verdict(self) -> Verdict:
        """PASS, since a failed build leaves no record. The verdict does not state what the bitstream computes."""
        return Verdict.PASS
