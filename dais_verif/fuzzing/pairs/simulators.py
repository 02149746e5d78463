"""Compare emitted Verilog in a simulator with the golden model: many cases in one build, or one alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.dut.interface import Clocking
from dais_verif.dut.placement import packed
from dais_verif.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged, Pair
from dais_verif.fuzzing.pairs.needs import require_comparable
from dais_verif.simulation.jointly.verify import verify_jointly
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.task import SimulationOptions, SimulationWatcher, Task
from dais_verif.simulation.verify import verify
from dais_verif.stopwatch import Stopwatch
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["in_simulator", "judged_in", "passing_in", "pipelined"]

#: Seconds for a build and for a run of one case, after which it counts as hung.
_SECONDS = 60.0
#: The largest number of stages of a pipeline, which is derived from the program's hash.
_MOST_STAGES = 5


def in_simulator(name: str) -> Pair:
    """Return the judge that compares simulator ``name`` with the golden model, in a separate build for each case."""

    def judge(case: Case) -> Disagreement | None:
        require_comparable(case, name)
        with temporary_folder() as folder:
            return judged_in(case, _emitted(case, folder.path), folder.path, name, name)

    return judge


def passing_in(name: str, cases: Sequence[Case]) -> list[bool]:
    """Return which of ``cases`` agree in simulator ``name``, all in one build; the results of others are unknown."""
    found = [False] * len(cases)
    with temporary_folder() as folder:
        tasks, numbers = [], []
        for number, case in enumerate(cases):
            own = Path(folder.path, str(number))
            own.mkdir()
            try:
                require_comparable(case, name)
                tasks.append((_task(case, _emitted(case, own), own, name), case.batch))
            except Exception:
                continue
            numbers.append(number)
        for number, finding in zip(numbers, verify_jointly(tasks, Path(folder.path, "all"), cached=False), strict=True):
            found[number] = finding is not None
    return found


def pipelined(case: Case) -> Disagreement | None:
    """Compare a pipeline of the program in Icarus with the golden model; its number of stages depends on the case."""
    require_comparable(case, "icarus")
    stages = 1 + int(case.program.hash[:4], 16) % _MOST_STAGES
    made = emit_pipeline(case.program, "model", PipelineOptions(stages=stages, reset=True, enable=True, valid=True))
    pins = Clocking("clk", made.latency, "rst", False, "en", "in_valid", "out_valid")
    with temporary_folder() as folder:
        source = Path(folder.path, "model.v")
        source.write_text(made.text)
        design = RtlDesign((source,), "model", dut=packed(case.program, pins), path_of=made.path_of)
        return judged_in(case, design, folder.path, "icarus", "pipelines")


def _emitted(case: Case, folder: Path) -> RtlDesign:
    source = folder / "model.v"
    source.write_text(emit_verilog(case.program))
    return RtlDesign((source,), "model")


def _options(name: str) -> SimulationOptions:
    return SimulationOptions((name,), check=False, timeout=_SECONDS, jobs=1)


def _task(case: Case, design: RtlDesign, folder: Path, name: str) -> Task:
    return Task(case.program, design, folder, _options(name), SimulationWatcher(), Stopwatch())


def judged_in(case: Case, design: RtlDesign, folder: Path, name: str, pair: str) -> Disagreement | None:
    """Return the result of simulator ``name`` for ``design``, as a finding of ``pair``.

    Raises ``NotJudged`` if nothing was compared.
    """
    finding = verify(case.program, case.batch, design, folder, _options(name))
    if finding.verdict is Verdict.PASS:
        return None
    if finding.verdict is Verdict.NOT_RUN:
        raise NotJudged(finding.message)
    return Disagreement(pair, finding.verdict.value, finding.message.replace(str(folder), ""))
