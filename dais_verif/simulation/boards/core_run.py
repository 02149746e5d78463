"""Run a core on a board in simulation: send vectors over the link, as ``hil`` does, and return the verdict."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.errors import ToolError
from dais_verif.base.verdict import Verdict
from dais_verif.simulation.boards.compare import Run
from dais_verif.simulation.boards.emulator import started_link
from dais_verif.simulation.boards.identity import require_fits
from dais_verif.simulation.boards.session import Journal, Session
from dais_verif.simulation.task import SimulationWatcher
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Vectors

__all__ = ["run_core"]


def run_core(
    program: Program, vectors: Vectors, link: str, board: Path, folder: Path, *, check: bool = True, timeout: float
) -> Finding:
    """Return the result of running ``vectors`` on the executable ``board`` with the given ``link``.

    ``folder``: for temporary files. ``check``: check the promises of the program. ``timeout``: the seconds without an
    answer after which the result is TOOL_FAILURE, as for every board that does not answer.
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
