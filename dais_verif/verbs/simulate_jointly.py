"""Run many small simulations in one build and one run. Only passes are reported; other requests must be run alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from dais_verif.base.errors import DaisError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.verdict import Verdict
from dais_verif.simulation.joint_builds import MOST_OPS, verify_jointly
from dais_verif.simulation.task import SimulationWatcher, Task
from dais_verif.stimulus import Stimulus, Vectors
from dais_verif.subject import open_subject
from dais_verif.verbs.progress import SILENT
from dais_verif.verbs.simulate import (
    BegunRun,
    OpenedRequest,
    Simulated,
    begun_run,
    ended_run,
    opened_request,
    simulation_options,
    with_rtl_conditions,
)
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.work_folder import WorkFolder, work_folder

__all__ = ["simulate_jointly"]


@dataclass(frozen=True)
class _Begun:
    number: int
    given: OpenedRequest
    run: BegunRun
    stimulus: Stimulus
    folder: WorkFolder
    watch: Stopwatch

    @property
    def task(self) -> tuple[Task, Vectors]:
        options = simulation_options(self.given, self.stimulus.rows)
        watcher = SimulationWatcher()
        task = Task(self.given.program, self.run.design, self.folder.path, options, watcher, self.watch)
        return task, self.stimulus


def simulate_jointly(requests: Sequence[SimulationRequest]) -> list[Simulated | None]:
    """Simulate ``requests`` together; return the result of ``simulate`` for each that passes, None for the others.

    None does not mean a failure: the caller must run that request with ``simulate``. Builds and logs of passing
    requests are not kept, and the simulator seconds of each request are a share of the total.
    """
    found: list[Simulated | None] = [None] * len(requests)
    with ExitStack() as folders:
        begun = [each for number, one in enumerate(requests) if (each := _begun(number, one, folders)) is not None]
        for simulators in dict.fromkeys(each.given.simulators for each in begun):
            same = [each for each in begun if each.given.simulators == simulators]
            for each, simulated in zip(same, _simulated(same), strict=True):
                found[each.number] = simulated
    return found


def _simulated(begun: Sequence[_Begun]) -> list[Simulated | None]:
    with temporary_folder() as shared:
        findings = verify_jointly([each.task for each in begun], shared.path)
    found: list[Simulated | None] = []
    for each, finding in zip(begun, findings, strict=True):
        try:
            record = None if finding is None else ended_run(each.given, each.run, finding, each.watch, SILENT)
        except DaisError:
            record = None
        if record is None or record.verdict is not Verdict.PASS:
            found.append(None)
            continue
        each.folder.keep(record)
        found.append(Simulated(record, each.given.program, each.folder.path if each.folder.kept else None))
    return found


def _begun(number: int, request: SimulationRequest, folders: ExitStack) -> _Begun | None:
    """Return the run before simulators start, or None if the request must go to ``simulate``."""
    design, covering = request.design, request.covering
    covered = covering.coverage or covering.rtl_coverage
    if covered or request.waves or request.printf or design.of_bits or design.pipeline:
        return None
    watch = Stopwatch()
    try:
        if open_subject(request.program, request.layout).machine is not None:
            return None
        given = opened_request(request, watch, SILENT)
        if given.opened.design.wrapped is not None or given.program.n_ops > MOST_OPS:
            return None
        folder = folders.enter_context(work_folder(request.output))
        run, stimulus = with_rtl_conditions(
            given, begun_run(given, folder.path, watch, SILENT), given.stimulus, watch, SILENT
        )
        return _Begun(number, given, run, stimulus, folder, watch)
    except DaisError:
        return None
