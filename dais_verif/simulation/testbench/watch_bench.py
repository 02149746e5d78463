"""The cocotb testbench that watches a machine: drive a sequence from power-up, keep outputs where a bit is not 0."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from dais_verif.simulation.testbench.machine_job import MACHINE_JOB_VARIABLE
from dais_verif.simulation.testbench.pins import PortHandles, handle_of, problem_with
from dais_verif.simulation.testbench.watch_job import WatchAnswer, WatchJob


@cocotb.test()
async def watch_machine(dut: Any) -> None:
    """Write the outputs of the cycles in which the valid bit is not 0; this module does not check their values."""
    job = WatchJob.load(Path(os.environ[MACHINE_JOB_VARIABLE]))
    problem = problem_with(dut, job.interface)
    if problem:
        WatchAnswer(0, (), f"the design does not fit the machine: {problem}").save(Path(job.answer))
        return
    ports, wait, clocking = PortHandles(dut, job.interface), Timer(1, unit="ns"), job.interface.clocking
    clock = None if clocking is None else handle_of(dut, clocking.clock)
    kept = []
    for cycle, row in enumerate(job.rows):
        if clock is not None:
            clock.value = 0
        ports.write(row)
        await wait
        found = ports.read()
        if found[len(found) - 1 - job.valid] != "0":
            kept.append((cycle, found))
        if clock is not None:
            clock.value = 1
        await wait
    WatchAnswer(len(job.rows), tuple(kept)).save(Path(job.answer))
