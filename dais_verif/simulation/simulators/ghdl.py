"""Build a design for GHDL: VHDL-2008, with all nine values of std_logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import private_files, tools
from dais_verif.base.toolchain.process import Session
from dais_verif.simulation.simulators.simulator import DEFAULT, BuildOptions, Simulation

__all__ = [
    "FASTEST",
    "FIRST_ERROR_COUNTS",
    "LANGUAGE",
    "ONES_FOR_X",
    "OUTPUT",
    "SHARE_BUDGET",
    "TRUSTED_WRITES",
    "WAVES",
    "WAVES_FILE",
    "build",
    "identity",
    "simulation",
]

#: Nothing is worth caching: GHDL with the common mcode backend generates code again in each run, and a build leaves
#: only a list of design units and their files, which takes a tenth of a second to make.
OUTPUT = None

#: Properties for callers: see ``Simulator``.
LANGUAGE: Final = "vhdl"
WAVES: Mapping[bool, tuple[str, ...]] = {True: ("--vcd=waves.vcd",), False: ()}  # GHDL's FST has no scopes
ONES_FOR_X: tuple[str, ...] = ()
WAVES_FILE = "waves.vcd"
TRUSTED_WRITES, FIRST_ERROR_COUNTS, FASTEST = True, True, False
SHARE_BUDGET = 100_000

_STANDARD = "--std=08"
#: Makes std_logic_unsigned and its siblings visible, which are no part of the standard.
_SYNOPSYS = "-fsynopsys"

_EXECUTABLE = "simulation"
#: GHDL's list of design units.
_LIBRARY = "work-obj08.cf"

#: Without this option, each sum with an X writes a message to the log whenever it is computed. Relevant X are not lost,
#: since they reach the outputs.
_QUIET = "--ieee-asserts=disable"


def identity(options: BuildOptions) -> list[str]:
    """Return all that a build depends on except sources and top module; builds are not cached."""
    del options
    return [tools.ghdl().version, _STANDARD, _SYNOPSYS]


def build(
    sources: Sequence[Path],
    top: str,
    build_dir: Path,
    options: BuildOptions = DEFAULT,
    *,
    texts: Sequence[bytes] | None = None,
) -> Simulation:
    """Analyse ``sources`` again, in any order. ``texts``: their bytes, if known.

    Of ``options``, only the timeout applies: every signal is readable, and each run decides whether it records waves.
    """
    found = tools.ghdl()
    build_dir = build_dir.absolute()
    session = Session(build_dir / "build.log", cwd=build_dir, timeout=options.timeout)
    for left_over in (*build_dir.glob("*.cf"), build_dir / _EXECUTABLE):
        left_over.unlink(missing_ok=True)
    files = [str(source) for source in private_files.copied(sources, build_dir, texts).sources]
    output = () if found.mcode else ("-o", _EXECUTABLE)
    with (options.watch or Stopwatch()).stage("ghdl analyse"):
        # The first command only finds the units; the second analyses those that the top needs, in dependency order.
        session.check("ghdl", [str(found.ghdl), "-i", _STANDARD, _SYNOPSYS, *files], made=[_LIBRARY])
        session.check("ghdl", [str(found.ghdl), "-m", _STANDARD, _SYNOPSYS, *output, top], made=output[1:])
    return simulation(top, build_dir, waves=True)


def simulation(top: str, build_dir: Path, *, waves: bool) -> Simulation:
    """Return the simulation built in ``build_dir``."""
    del waves
    found = tools.ghdl()
    run: tuple[str, ...] = (str(build_dir / _EXECUTABLE),)
    if found.mcode:
        run = (str(found.ghdl), "-r", _STANDARD, _SYNOPSYS, f"--workdir={build_dir}", top)
    return Simulation(
        simulator="ghdl",
        version=found.version,
        # VHDL is not case-sensitive, and GHDL shows all names in lower case.
        top=top.lower(),
        command=(*run, f"--vpi={tools.cocotb_library('ghdl')}", _QUIET),
        build_dir=build_dir,
        waves=True,
    )
