"""What a build hands to a run, the same for every simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.toolchain.data_files import DataFile

__all__ = ["Simulation"]


@dataclass(frozen=True)
class Simulation:
    """An executable simulation of one design. It may be run any number of times, also at once."""

    #: "icarus", "verilator" or "ghdl".
    simulator: str
    #: What the tool says of itself, for records; never taken apart.
    version: str
    #: The module that the test bench drives.
    top: str
    #: What starts it; ``launch`` adds the options of one run.
    command: tuple[str, ...]
    build_dir: Path
    #: Built so that a run can record a waveform.
    waves: bool = False
    #: Taken from the cache, not built for this run.
    cached: bool = False
    #: What the design reads in the folder of a run.
    data: tuple[DataFile, ...] = ()
    #: Files that the build read and that are none of the design's sources: included, or found by the simulator.
    also_read: tuple[Path, ...] = ()
