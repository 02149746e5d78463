"""The cocotb testbench of a machine: a sequence from power-up, every output bit before and after every edge.

Runs inside the simulator. It makes the clock itself: clock low and inputs, wait, read; the rising edge, wait, read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from dais_verif.simulation.testbench.machine_job import (
    MACHINE_JOB_VARIABLE,
    UNKNOWN,
    MachineAnswer,
    MachineDifference,
    MachineJob,
    differs,
)
from dais_verif.simulation.testbench.pins import PortHandles, handle_of, problem_with


@cocotb.test()
async def outputs_equal_golden_model(dut: Any) -> None:
    """Every known output bit of every cycle equals the golden model's."""
    job = MachineJob.load(Path(os.environ[MACHINE_JOB_VARIABLE]))
    problem = problem_with(dut, job.interface)
    if problem:
        answer = MachineAnswer(port_error=f"the design does not fit the machine: {problem}")
    else:
        answer = await _run(dut, job)
    answer.save(Path(job.answer))
    problem = answer.port_error or _problem(answer, job)
    # Not by ``assert``, which an optimised Python leaves out.
    if problem:
        raise AssertionError(problem)


def _problem(answer: MachineAnswer, job: MachineJob) -> str | None:
    if not answer.cycles == job.cycles > 0:
        return "not every cycle was compared"
    if answer.first is not None:
        return f"{answer.mismatching + answer.unknown} cycles differ from the golden model"
    return None if answer.bits else "no bit was compared"


async def _run(dut: Any, job: MachineJob) -> MachineAnswer:
    ports, wait = PortHandles(dut, job.interface), Timer(1, unit="ns")
    clocking = job.interface.clocking
    clock = None if clocking is None else handle_of(dut, clocking.clock)
    cycles = bits = mismatching = unknown = 0
    first: MachineDifference | None = None
    for given, before, after in job.rows():
        found = []
        for level in (0, 1):
            if clock is not None:
                clock.value = level
            if level == 0:
                ports.write(given)
            await wait
            found.append(ports.read())
        wrong = [
            MachineDifference(cycles, number == 1, expected, seen)
            for number, (expected, seen) in enumerate(zip((before, after), found, strict=True))
            if differs(expected, seen)
        ]
        if wrong:
            first = first or wrong[0]
            if any(one.unknown for one in wrong):
                unknown += 1
            else:
                mismatching += 1
        bits += len(before) + len(after) - before.count(UNKNOWN) - after.count(UNKNOWN)
        cycles += 1
    return MachineAnswer(cycles, bits, mismatching, unknown, first)
