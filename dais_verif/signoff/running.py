"""Run stages side by side where they do not need each other; their results are told in the order of the stages.

Only the commands of stages overlap: what stages do in this process, they do in turn.

A stage may reach a limit of time or memory only because another one runs beside it. If its result is open, it is
therefore run again alone, so that no answer depends on what ran beside it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import copy_context
from threading import Lock

from dais_verif.base.toolchain.process import workers
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import StageResult
from dais_verif.signoff.context import Context, SignOffStage
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.verbs import in_turn

__all__ = ["run_stages"]

#: A simulation keeps two CPUs busy only in parts, and most proofs only one.
_AT_ONCE = 2

#: The results that a limit of time or memory may cause.
_OPEN = (Verdict.UNKNOWN, Verdict.TOOL_FAILURE, Verdict.NOT_SIGNED_OFF)

#: Runs a stage and judges it, given the results of stages that have ended, among them all that it needs.
Run = Callable[[SignOffStage, Sequence[StageResult]], StageResult]


def run_stages(
    stages: Sequence[SignOffStage],
    context: Context,
    run: Run,
    tell: Callable[[StageResult], None],
    listener: SignOffListener,
) -> None:
    """Run ``stages``, and tell each result when all stages before it have ended.

    At most two run side by side, and one if the sign-off may take only one CPU. If this ends early, as with Ctrl-C, the
    commands of all stages are stopped first.
    """
    at_once = min(_AT_ONCE, context.jobs or len(os.sched_getaffinity(0)))
    waiting, alone = list(stages), list[SignOffStage]()
    running: dict[Future[StageResult], SignOffStage] = {}
    beside = set[str]()
    ended: dict[str, StageResult] = {}
    turn = Lock()

    def begin(stage: SignOffStage, before: Sequence[StageResult]) -> StageResult:
        with in_turn(turn):
            return run(stage, before)

    def ready() -> SignOffStage | None:
        """Take the next stage that can be started."""
        if len(running) == at_once or (alone and running):
            return None
        if alone:
            return alone.pop(0)
        found = next((stage for stage in waiting if ended.keys() >= set(stage.needs)), None)
        if found is not None:
            waiting.remove(found)
        return found

    with workers(at_once) as pool:
        for number, told in enumerate(stages, 1):
            listener.stage_begins(told.name, number, len(stages))
            while told.folder not in ended:
                while (stage := ready()) is not None:
                    running[pool.submit(copy_context().run, begin, stage, list(ended.values()))] = stage
                    if len(running) > 1:
                        beside.update(one.folder for one in running.values())
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    stage, result = running.pop(future), future.result()
                    if result.verdict in _OPEN and stage.folder in beside:
                        beside.remove(stage.folder)
                        shutil.rmtree(context.folder / stage.folder, ignore_errors=True)
                        alone.append(stage)
                    else:
                        ended[stage.folder] = result
            listener.stage_ends(ended[told.folder])
            tell(ended[told.folder])
