"""Build a simulation of a design, or take it from the cache."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dais_verif.base.errors import SimulatorError, ToolError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import build_cache, private_files
from dais_verif.base.toolchain.rtl_files import DataFile, is_vhdl, read_others
from dais_verif.base.version import VERSION
from dais_verif.hardware.ports.interface import MODEL_INP, MODEL_OUT, Dut
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.simulators.simulator import BuildOptions, Simulation

__all__ = ["SIMULATORS", "VHDL_SIMULATORS", "RtlDesign", "build", "simulators_for"]

#: The simulators that "both" denotes, for Verilog.
SIMULATORS = ("icarus", "verilator")
VHDL_SIMULATORS = ("ghdl",)

_LOG = "build.log"


@dataclass(frozen=True)
class RtlDesign:
    """The RTL under test. ``data``: files that it reads during simulation.

    ``dut``: its ports; None: those of our emitted modules. ``path_of``: the path of an op's signal from the top module;
    None: as in our emitted combinational modules.
    """

    sources: tuple[Path, ...]
    top: str
    data: tuple[DataFile, ...] = ()
    dut: Dut | None = None
    path_of: Callable[[int], str] | None = None
    #: Ports of modules below the top that the bench also reads: (module, port).
    inner: tuple[tuple[str, str], ...] = ()

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports that a bench drives or reads."""
        return self.dut.interface.ports if self.dut else (MODEL_INP, MODEL_OUT)


def simulators_for(choice: str | None, sources: Sequence[Path]) -> tuple[str, ...]:
    """Return the simulators for ``choice``: a name, "both" or None. Empty ``sources``: our emitted RTL.

    Raises ``InputError`` if no simulator, or not the chosen one, accepts all sources.
    """
    vhdl = [source for source in sources if is_vhdl(source)]
    verilog = [source for source in sources if not is_vhdl(source)]
    if vhdl and verilog:
        raise SimulatorError(
            f"RTL in two languages: {str(vhdl[0])!r} is VHDL, {str(verilog[0])!r} is Verilog, and no supported"
            " simulator reads both; give files of one language (.vhd and .vhdl are VHDL)"
        )
    if choice in VHDL_SIMULATORS and not vhdl:
        what = f"{str(verilog[0])!r} is Verilog" if verilog else "the RTL that dais-verif emits is Verilog"
        raise SimulatorError.of(
            "GHDL simulates VHDL, and {what}; give VHDL with {rtl}, or use {simulators} icarus, verilator or both",
            what=what,
        )
    if choice not in (None, *VHDL_SIMULATORS) and vhdl:
        raise SimulatorError.of(
            "{simulators} {choice} is for Verilog, and {vhdl!r} is VHDL; leave {simulators} out, or use {simulators} "
            "ghdl",
            choice=choice,
            vhdl=str(vhdl[0]),
        )
    if choice in (None, "both"):
        return VHDL_SIMULATORS if vhdl else SIMULATORS
    return (choice,)


def build(
    simulator: str,
    design: RtlDesign,
    folder: Path,
    *,
    signals: Sequence[str] | None = None,
    waves: bool = False,
    coverage: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
    cached: bool = True,
) -> Simulation:
    """Return a simulation of ``design`` in ``folder``, with the log of its build. Raises ``ToolError``.

    ``signals``: the bench can read signals with these names in any module, in addition to ports, and runs few vectors;
    in Icarus and GHDL, it can read all signals. ``waves``: runs can record waves. ``coverage``: runs count lines and
    toggles of the RTL, in Verilator. The cache is used if ``cached``, unless sources include other files, which only
    the simulator knows.
    """
    module = KNOWN[simulator]
    options = BuildOptions(
        ports=design.ports,
        signals=None if signals is None else tuple(signals),
        waves=waves,
        coverage=coverage,
        timeout=timeout,
        watch=watch,
        inner=design.inner,
    )
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)

    texts = [private_files.read(source) for source in design.sources]

    def compiled() -> Simulation:
        try:
            built = module.build(design.sources, design.top, folder, options, texts=texts)
        except ToolError as error:
            raise type(error)(private_files.shown(str(error), design.sources)) from None
        return replace(built, data=design.data)

    if not cached or module.OUTPUT is None or build_cache.limit() == 0 or read_others(texts):
        return compiled()
    read = [*texts, *(file.path.read_bytes() for file in design.data)]
    names = [
        str(len(design.sources)),
        *(private_files.plain_name(source, k) for k, source in enumerate(design.sources)),
    ]
    names += [file.name for file in design.data]
    hashes = [hashlib.sha256(text).digest() for text in read]
    key = build_cache.key_of([VERSION, simulator, design.top, *module.identity(options), *names, *hashes])
    files = (module.OUTPUT, _LOG)
    # Files of an earlier run that have the same names would block links, or be mistaken for files of this run.
    shutil.rmtree(folder / "design", ignore_errors=True)

    def fetched() -> Simulation | None:
        if not build_cache.fetch(key, files, folder):
            return None
        found = module.simulation(design.top, folder, waves=waves)
        return replace(found, cached=True, data=design.data)

    found = fetched()
    if found is not None:
        return found
    with build_cache.turn(key, timeout):
        found = fetched()  # another run may have built the design in the meantime
        if found is not None:
            return found
        simulation = compiled()
        if not simulation.also_read:  # else the key does not cover all sources
            build_cache.put(
                key, files, folder, {"simulator": simulator, "top": design.top, "version": simulation.version}
            )
    return simulation
