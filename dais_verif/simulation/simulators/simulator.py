"""The common interface of simulators: one set of build options, one protocol, one table by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain.rtl_files import DataFile
from dais_verif.hardware.ports.interface import MODEL_INP, MODEL_OUT

__all__ = ["BuildOptions", "DEFAULT", "Simulation", "Simulator"]


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Options of a build, the same for every simulator; a simulator ignores options that do not apply to it.

    ``ports``: ports of the top module that the bench drives or reads. ``signals``: names of signals that the bench can
    read in any module, in addition to ports; it then runs few vectors. In Icarus and GHDL, it can read all signals.
    ``waves``: runs can record waves. ``coverage``: runs count lines and toggles, in Verilator. ``timeout``: the time
    limit in seconds, not counting Verilator's runtime, which is built once per computer. ``inner``: ports of modules
    below the top that the bench also reads: (module, port).
    """

    ports: tuple[str, ...] = (MODEL_INP, MODEL_OUT)
    signals: tuple[str, ...] | None = None
    waves: bool = False
    coverage: bool = False
    timeout: float | None = None
    watch: Stopwatch | None = None
    inner: tuple[tuple[str, str], ...] = ()


#: Only the ports of our emitted modules.
DEFAULT: Final = BuildOptions()


class Simulator(Protocol):
    """The interface of a simulator module; the modules themselves are the simulators."""

    @property
    def OUTPUT(self) -> str | None:
        """The file that a build makes; None if it makes nothing worth caching."""

    @property
    def LANGUAGE(self) -> Literal["verilog", "vhdl"]:
        """The language that it reads."""

    @property
    def WAVES(self) -> Mapping[bool, tuple[str, ...]]:
        """Command-line options of a run, with and without waves."""

    @property
    def WAVES_FILE(self) -> str:
        """The file in the folder of a run that holds its waves."""

    @property
    def ONES_FOR_X(self) -> tuple[str, ...]:
        """Command-line options of a run in which all that is X is 1 instead of 0, if the simulator has no X."""

    @property
    def TRUSTED_WRITES(self) -> bool:
        """True if the simulator's own inertial writes are correct, and faster than cocotb's."""

    @property
    def FIRST_ERROR_COUNTS(self) -> bool:
        """True if the first error of a run explains why it broke off; False if the last one does."""

    @property
    def FASTEST(self) -> bool:
        """True if the simulator has a bulk path, and runs all vectors where other simulators run only some."""

    @property
    def SHARE_BUDGET(self) -> int:
        """The number of ops times vectors that justifies a separate process, since it takes a few seconds."""

    def identity(self, options: BuildOptions) -> list[str]:
        """Return all that a build depends on except sources and top module."""

    def build(
        self,
        sources: Sequence[Path],
        top: str,
        build_dir: Path,
        options: BuildOptions = ...,
        *,
        texts: Sequence[bytes] | None = None,
    ) -> Simulation:
        """Compile ``sources`` again, whatever their dates. ``texts``: their bytes, if known. Raises ``ToolError``."""

    def simulation(self, top: str, build_dir: Path, *, waves: bool) -> Simulation:
        """Return the simulation built in ``build_dir``."""


# The result of a build and the input of a run, in the same form for every simulator.


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
