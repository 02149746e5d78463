"""Describe the first difference of a run: the output, the vector, and the op, named by a replay."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.base.errors import DaisError, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.golden import oracle
from dais_verif.record.simulation import Blame, InputValue, Mismatch
from dais_verif.simulation.diagnosis.blame import replay_mismatch, value_of_bits
from dais_verif.simulation.simulate import SimulatorOutcome
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.simulation.task import Task
from dais_verif.simulation.testbench.idle import filled_row
from dais_verif.simulation.testbench.job import Difference
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, unpack_element
from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["describe", "first_difference", "replay_in_simulators"]


def first_difference(
    outcomes: dict[str, SimulatorOutcome | ToolError], verdict: Verdict
) -> tuple[str, Difference] | None:
    """Return the simulator and row to show for the verdict, Icarus first."""
    if verdict not in (Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE, Verdict.RTL_MISMATCH):
        return None
    for name, outcome in outcomes.items():
        if isinstance(outcome, SimulatorOutcome):
            unknown, mismatch = outcome.answer.first_unknown, outcome.answer.first_mismatch
            difference = unknown if verdict is Verdict.X_IN_OUTPUT else mismatch
            if verdict is Verdict.SIMULATORS_DISAGREE:  # even if every wrong row has X
                difference = mismatch or unknown
            if difference is not None:
                return name, difference
    return None


def describe(task: Task, batch: Batch, name: str, difference: Difference) -> Mismatch:
    """Return the first differing output of a row in words and bits; ``batch`` holds only this row."""
    ports = task.ports
    output = 0
    for j, element in enumerate(ports.outputs):
        if unpack_element(difference.found, element) != unpack_element(difference.expected, element):
            output = j
            break
    kind, element = task.dut.output_types[output], ports.outputs[output]
    inputs = [
        InputValue(j, oracle.show(value), unpack_element(difference.inputs, ports.inputs[j]))
        for j, value in enumerate(batch.row(0))
    ]
    return Mismatch(
        simulator=name,
        row=difference.row,
        output=output,
        expected=value_of_bits(unpack_element(difference.expected, element) or "0", kind),
        found=value_of_bits(unpack_element(difference.found, element) or "0", kind),
        inputs=inputs,
        cone=_inputs_of(task.program, output),
    )


def _inputs_of(program: Program, output: int) -> list[int]:
    """Return the inputs that ``output`` depends on."""
    index = program.outputs[output][0]
    ops = (program.ops[i] for i in cone(program, [index] if index >= 0 else []))
    return sorted({op.id0 for op in ops if op.code == INPUT})


def replay_in_simulators(
    task: Task, batch: Batch, before: Batch | None, difference: Difference, mismatch: Mismatch, latency: int | None
) -> tuple[Mismatch, dict[str, str]]:
    """Replay the failing vector, to name the op and leave waves; if the replay fails, the mismatch states why.

    Returns the mismatch with the result of the replay, and the output row of each replay, by simulator.

    ``before``: the previous vector; ``latency``: that of a clocked design. For Verilog, Icarus runs first, since it
    builds a design with readable signals in a tenth of the time; but only a replay that repeats the mismatch bit for
    bit counts.
    """
    ports = task.ports
    interface, earlier = task.dut.interface, None
    if before is not None:
        row = bits_of_row(pack_inputs(before, ports), 0, ports.input_bits)
        same = bits_of_row(pack_inputs(batch, ports), 0, ports.input_bits)
        phase = int(difference.inputs != filled_row(same, interface, difference.row, 0))
        earlier = filled_row(row, interface, difference.row - 1, phase)
    blame = None
    found: dict[str, str] = {}
    sooner = ["icarus"] if mismatch.simulator in SIMULATORS and tools.has_icarus() else []
    for name in dict.fromkeys((*sooner, mismatch.simulator)):
        again = "" if name == "icarus" else f", rebuilt to show the signals that output {mismatch.output} depends on"
        task.watcher.notice(f"replaying vector {mismatch.row} in {name}{again}")
        own = task.folder / f"replay_{name}"
        try:
            own.mkdir(parents=True, exist_ok=True)
            with task.watch.stage(f"{name} replay"):
                replay = replay_mismatch(
                    task.program,
                    task.design,
                    name,
                    batch,
                    0,
                    difference.inputs,
                    mismatch.output,
                    own,
                    before=earlier,
                    latency=latency,
                    timeout=task.options.timeout,
                )
        except (DaisError, OSError) as error:
            task.watcher.notice(f"{name}: the replay failed")
            blame = Blame("unknown", f"the replay failed: {error}", replayed_in=name)
            continue
        blame, found[name] = replay.blame, replay.found
        if replay.found == difference.found or name == mismatch.simulator:
            views = [str(view) for view in replay.views]
            waves = str(replay.waves) if replay.waves else None
            return replace(mismatch, blame=blame, waves=waves, views=views), found
    return replace(mismatch, blame=blame), found
