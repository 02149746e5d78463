"""Build a design for Icarus Verilog: slow, four-state, the simulator that shows X and Z."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.sim import tools
from dais_verif.sim.process import Session
from dais_verif.sim.simulation import Simulation
from dais_verif.sim.sources import include_folders
from dais_verif.stopwatch import Stopwatch

__all__ = ["OUTPUT", "build", "identity", "simulation"]

#: The file that a build makes.
OUTPUT = "simulation.vvp"

_LANGUAGE = "-g2012"

#: For sources that state none, so that a bench may wait for nanoseconds in either simulator.
_TIMESCALE = "+timescale+1ns/1ps\n"

#: A second root that records everything below the first, into the folder in which the run takes place, if the run
#: is started so that it records at all.
_DUMP = """\
module dais_verif_dump;
  initial begin
    $dumpfile("waves.fst");
    $dumpvars(0, \\{top} );
  end
endmodule
"""


def identity(*, ports: Sequence[str], signals: bool, waves: bool, coverage: bool) -> list[str]:
    """All that a build depends on, save its sources and the name of the top module."""
    del ports, signals, waves, coverage
    return [tools.icarus().version, str(tools.icarus().iverilog), _LANGUAGE, _TIMESCALE, _DUMP]


def build(
    sources: Sequence[Path],
    top: str,
    build_dir: Path,
    *,
    ports: Sequence[str] = (),
    signals: bool = False,
    waves: bool = False,
    coverage: bool = False,
    timeout: float | None = None,
    watch: Stopwatch | None = None,
) -> Simulation:
    """Compile ``sources`` anew, whatever their dates; ``timeout`` is in seconds.

    ``ports``, ``signals`` and ``waves`` change nothing: every signal can be read, and each run decides whether it
    records.
    """
    del ports, signals, waves, coverage
    found = tools.icarus()
    build_dir = build_dir.absolute()
    session = Session(build_dir / "build.log", cwd=build_dir, timeout=timeout)
    (build_dir / OUTPUT).unlink(missing_ok=True)
    (build_dir / "timescale.f").write_text(_TIMESCALE, encoding="ascii")
    files = [str(source.absolute()) for source in sources]
    (build_dir / "dump.v").write_text(_DUMP.format(top=top), encoding="ascii")
    files.append("dump.v")
    roots = ["-s", top, "-s", "dais_verif_dump"]
    folders = include_folders(sources)
    options = [_LANGUAGE, "-f", "timescale.f", "-o", OUTPUT, *roots, *folders]
    with (watch or Stopwatch()).stage("icarus compile"):
        session.check("iverilog", [str(found.iverilog), *options, *files])
    return simulation(top, build_dir, waves=True)


def simulation(top: str, build_dir: Path, *, waves: bool) -> Simulation:
    """What was built in ``build_dir``."""
    del waves
    found = tools.icarus()
    library = tools.cocotb_library("icarus")
    return Simulation(
        simulator="icarus",
        version=found.version,
        top=top,
        command=(str(found.vvp), "-n", "-m", str(library), str(build_dir / OUTPUT)),
        build_dir=build_dir,
        waves=True,
    )
