"""Replay a failing vector: one build with readable signals, and waves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.dut.interface import DesignInterface
from dais_verif.errors import SimulatorFailure
from dais_verif.simulation import launch
from dais_verif.simulation.diagnosis.replay_job import Question, Seen
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.testbench.job import JOB_VARIABLE

__all__ = ["replay"]


def replay(
    simulator: str,
    design: RtlDesign,
    interface: DesignInterface,
    before: str,
    vector: str,
    signals: Sequence[str],
    folder: Path,
    *,
    timeout: float | None = None,
) -> tuple[Seen, Path | None]:
    """Return the values of ``signals`` after ``before`` and then ``vector``, and the waves. Raises ``ToolError``.

    Vectors are rows of ``interface``, whose latency is known, most significant bit first. Waves are None if the
    simulator wrote none.
    """
    folder = folder.absolute()
    answer, waves, question = folder / "signals.json", folder / KNOWN[simulator].WAVES_FILE, folder / "probe.json"
    # For a signal in a scope or an array, the build takes the last part of the name only.
    leaves = list(dict.fromkeys(name.partition("[")[0].rpartition(".")[2] for name in signals))
    simulation = build(simulator, design, folder / "build", signals=leaves, waves=True, timeout=timeout)
    answer.unlink(missing_ok=True)
    waves.unlink(missing_ok=True)
    Question(interface, before, vector, list(signals), str(answer)).save(question)
    env = {JOB_VARIABLE: str(question)}
    launch.run(simulation, "dais_verif.simulation.diagnosis.probe", folder, env=env, waves=True, timeout=timeout)
    if not answer.is_file():
        raise SimulatorFailure(f"the {simulator} replay gave no result (full output: {folder / 'simulation.log'})")
    seen = Seen.load(answer)
    if not waves.is_file():
        return seen, None
    if waves.suffix == ".vcd":
        # The VCD of simulators ends with the last change: viewers would show the failing vector with zero width.
        with waves.open("a", encoding="ascii") as file:
            file.write(f"#{seen.end}\n")
    return seen, waves
