"""A core on a board in simulation: vectors through the link, as ``hil`` drives them, and the verdict."""

from __future__ import annotations

from pathlib import Path

from dais_verif.hil.emulator import core_link
from dais_verif.hil.identity import require_fits
from dais_verif.hil.journal import Journal
from dais_verif.hil.session import Session
from dais_verif.hil.verify import Run
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.simulation.task import SimulationWatcher
from dais_verif.simulation.verify import Finding
from dais_verif.stimulus import Vectors

__all__ = ["run_core"]


def run_core(
    program: Program,
    vectors: Vectors,
    link: str,
    folder: Path,
    *,
    core: str,
    latency: int = 0,
    check: bool = True,
    timeout: float = 10.0,
) -> Finding:
    """Return what a board behind ``link`` makes of ``vectors`` whose module ``model`` has the text ``core``.

    ``latency``: of that module, in clocks. ``timeout``: seconds without an answer after which the board is given up.
    Raises ``ToolError`` if it cannot be built, or does not say what it runs.
    """
    with core_link(program, link, folder / "board", core, latency) as opened:
        session = Session(opened, timeout)
        identity = session.identify()
        require_fits(identity, program, ports_of(program), opened.name)
        journal = Journal(folder, {}, resume=False)
        return Run(program, vectors, session, identity, journal, folder, SimulationWatcher(), check=check).finding()
