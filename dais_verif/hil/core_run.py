"""A core on a board in simulation: vectors through the link, as ``hil`` drives them, and the verdict."""

from __future__ import annotations

from pathlib import Path

from dais_verif.errors import ToolError
from dais_verif.hil.emulator import started_link
from dais_verif.hil.identity import require_fits
from dais_verif.hil.journal import Journal
from dais_verif.hil.session import Session
from dais_verif.hil.verify import Run
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.simulation.task import SimulationWatcher
from dais_verif.simulation.verify import Finding
from dais_verif.stimulus import Vectors
from dais_verif.verdict import Verdict

__all__ = ["run_core"]


def run_core(
    program: Program, vectors: Vectors, link: str, board: Path, folder: Path, *, check: bool = True, timeout: float
) -> Finding:
    """Return the result of running ``vectors`` on the executable ``board`` behind ``link``.

    ``folder``: for files on the way. ``timeout``: seconds without an answer after which the board is given up:
    TOOL_FAILURE, as for any that does not answer.
    """
    try:
        with started_link(board, f"sim://{link}") as opened:
            session = Session(opened, timeout)
            identity = session.identify()
            require_fits(identity, program, ports_of(program), opened.name)
            journal = Journal(folder, {}, resume=False)
            return Run(program, vectors, session, identity, journal, folder, SimulationWatcher(), check=check).finding()
    except ToolError as error:
        return Finding(Verdict.TOOL_FAILURE, str(error), [])
