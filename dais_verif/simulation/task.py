"""The input of a verification: program, design, vectors, a folder, options, and listeners."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import Dut, packed
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.watcher import SimulationWatcher
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Ports

__all__ = ["SimulationOptions", "Task", "SimulationWatcher"]


@dataclass(frozen=True)
class SimulationOptions:
    """Options of a verification. ``timeout``: seconds per build and per run. ``jobs``: parallel processes or threads.

    ``bulk``: let simulators that can run vectors outside cocotb do so; the first vectors still go through the ports.
    ``keep``: leave all vectors in the folder. ``exhaustive_rows``: the number of additional vectors that may run to
    check outputs on all values of the inputs on which they depend, if these have at most ``exhaustive_bits`` bits.
    """

    simulators: tuple[str, ...] = ("icarus", "verilator")
    check: bool = True
    waves: bool = False
    seed: int = 0
    timeout: float | None = None
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    bulk: bool = True
    keep: bool = False
    exhaustive_rows: int = 0
    exhaustive_bits: int = 24
    #: Keep inputs within the intervals that the program's source declares.
    declared: bool = True
    #: The number of sampled vectors, in whole chunks, for Icarus in addition to Verilator. None: it continues until
    #: Verilator has ended, and compares at least ``LEAST_IN_ICARUS`` vectors.
    icarus_rows: int | None = None


@dataclass(frozen=True)
class Task:
    """One verification. ``folder`` receives builds, logs and waves."""

    program: Program
    design: RtlDesign
    folder: Path
    options: SimulationOptions
    watcher: SimulationWatcher
    watch: Stopwatch

    @property
    def paired(self) -> bool:
        """True if Icarus runs in addition to Verilator, which is much faster and compares all vectors."""
        return {"icarus", "verilator"} <= set(self.options.simulators)

    @cached_property
    def dut(self) -> Dut:
        """The mapping of the program to the design."""
        return self.design.dut or packed(self.program)

    @property
    def ports(self) -> Ports:
        """The positions of the program's elements in packed rows."""
        return self.dut.ports

    @cached_property
    def golden(self) -> Golden:
        """The golden model of the program."""
        return Golden(self.program)
