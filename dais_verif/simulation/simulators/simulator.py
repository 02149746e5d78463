"""The common interface of simulators: one set of build options, one protocol, one table by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from dais_verif.dut.interface import MODEL_INP, MODEL_OUT
from dais_verif.simulation.simulators.simulation import Simulation
from dais_verif.stopwatch import Stopwatch

__all__ = ["DEFAULT", "BuildOptions", "Simulator"]


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Options of a build, the same for every simulator; a simulator ignores those that do not apply to it.

    ``ports``: what the bench drives or reads of the top module. ``signals``: names that it can read in any module, not
    the ports alone; it runs few vectors then. Icarus and GHDL let it read all. ``waves``: a run can record them.
    ``coverage``: runs count lines and toggles, in Verilator. ``timeout``: in seconds, without
    Verilator's runtime, which is built once a machine. ``inner``: ports of modules below the top, by module, that the
    bench looks at, too.
    """

    ports: tuple[str, ...] = (MODEL_INP, MODEL_OUT)
    signals: tuple[str, ...] | None = None
    waves: bool = False
    coverage: bool = False
    timeout: float | None = None
    watch: Stopwatch | None = None
    inner: tuple[tuple[str, str], ...] = ()


#: The ports of the modules that we emit, and nothing more.
DEFAULT: Final = BuildOptions()


class Simulator(Protocol):
    """The interface of a simulator module; the modules themselves are the simulators."""

    @property
    def OUTPUT(self) -> str | None:
        """The file that a build makes; None if it makes nothing that is worth keeping."""

    @property
    def LANGUAGE(self) -> Literal["verilog", "vhdl"]:
        """The language that it reads."""

    @property
    def WAVES(self) -> Mapping[bool, tuple[str, ...]]:
        """Options of a run with and without waves."""

    @property
    def WAVES_FILE(self) -> str:
        """The file in the folder of a run that holds its waves."""

    @property
    def TRUSTED_WRITES(self) -> bool:
        """True if its own inertial writes are right, and faster than cocotb's."""

    @property
    def FIRST_ERROR_COUNTS(self) -> bool:
        """True if the first error of a run explains its abort, not the last one."""

    @property
    def FASTEST(self) -> bool:
        """True if it runs all vectors where another one runs a part of them; it has a path for chunks in bulk."""

    @property
    def SHARE_BUDGET(self) -> int:
        """Ops times vectors that are worth a process: some seconds."""

    def identity(self, options: BuildOptions) -> list[str]:
        """Return all that a build depends on, save its sources and the name of the top module."""

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
