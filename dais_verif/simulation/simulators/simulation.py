"""The result of a build and the input of a run, in the same form for every simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.toolchain.data_files import DataFile

__all__ = ["Simulation"]


@dataclass(frozen=True)
class Simulation:
    """An executable simulation of one design. It may run any number of times, also in parallel."""

    #: "icarus", "verilator" or "ghdl".
    simulator: str
    #: The tool's own version text, for records; never parsed.
    version: str
    #: The module that the test bench drives.
    top: str
    #: The command; ``launch`` adds the options of one run.
    command: tuple[str, ...]
    build_dir: Path
    #: Whether a run can record waves.
    waves: bool = False
    #: Whether the simulation comes from the cache.
    cached: bool = False
    #: Files that the design reads in the folder of a run.
    data: tuple[DataFile, ...] = ()
    #: Files that the build read in addition to the design's sources: included, or found by the simulator.
    also_read: tuple[Path, ...] = ()
