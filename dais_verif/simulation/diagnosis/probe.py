"""The cocotb testbench of a replay: drive the previous vector, then the failing one, and read named signals.

It drives two vectors, because a wave without a transition is of no use, and because a design with memory, such as a
latch, fails only after another vector. The answer omits signals that the design does not have.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from dais_verif.simulation.diagnosis.replay_job import HOLD, Question, Seen
from dais_verif.simulation.testbench.clocked import Clocked
from dais_verif.simulation.testbench.job import JOB_VARIABLE
from dais_verif.simulation.testbench.pins import PortHandles, read_named


async def _holder(dut: Any, pins: PortHandles, question: Question) -> Callable[[str], Awaitable[None]]:
    """Return a function that drives a row until its output is valid."""
    clocking = question.interface.clocking
    if clocking is None:

        async def drive(row: str) -> None:
            pins.write(row)
            await Timer(HOLD, unit="ns")

        return drive
    clocked = Clocked(dut, pins, clocking, seed=0)
    await clocked.begin(question.before)
    edges = (clocking.latency or 0) + 1
    return lambda row: clocked.hold(row, edges)


@cocotb.test()
async def read_signals(dut: Any) -> None:
    """Write the value of every signal that exists at the end of the failing vector."""
    question = Question.load(Path(os.environ[JOB_VARIABLE]))
    pins = PortHandles(dut, question.interface)
    hold = await _holder(dut, pins, question)
    await hold(question.before)
    start = int(get_sim_time("step"))
    await hold(question.vector)
    bits, ranges = read_named(dut, question.signals)
    Seen(pins.read(), bits, ranges, start, int(get_sim_time("step"))).save(Path(question.answer))
