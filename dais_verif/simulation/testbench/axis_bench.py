"""The cocotb testbench of a core in its AXI4-Stream wrapper: compare every beat of every scenario.

Runs in the simulator's process. It drives the clock itself: set the inputs, wait, read, then the rising edge. So it
reads what a register would sample at that edge, in every simulator, and one clock costs two steps.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np

from dais_verif.simulation.testbench.axis_job import AXIS_JOB_VARIABLE, QUIET, AxisAnswer, AxisJob, Heard, Scenario
from dais_verif.simulation.testbench.axis_run import HALF, StreamRun, port_problem
from dais_verif.simulation.testbench.packed_rows import bits_of_row, row_words
from dais_verif.simulation.testbench.stream import NEVER, Beat


@cocotb.test()
async def every_beat_equals_golden_model(dut: Any) -> None:
    """In each scenario, all vectors pass the wrapper, every beat is as expected, and the protocol is kept."""
    job = AxisJob.load(Path(os.environ[AXIS_JOB_VARIABLE]))
    problem = port_problem(dut, job.widths, "the AXI4-Stream wrapper")
    if problem:
        AxisAnswer(port_error=problem).save(Path(job.answer))
        raise AssertionError(problem)
    inputs, expected = (
        _texts(Path(path), job.rows, bits)
        for path, bits in ((job.inputs, job.input_bits), (job.expected, job.output_bits))
    )
    for name in QUIET:
        if getattr(dut, name, None) is not None:
            getattr(dut, name).value = 0
    heard = []
    for number, scenario in enumerate(job.scenarios):
        idle = None if job.input_bits else number % 2
        heard.append(await _Run(dut, job, scenario, inputs, expected, idle).all())
    AxisAnswer(heard).save(Path(job.answer))
    problems = [f"{one.scenario}: {text}" for one in heard for text in one.problems]
    # Not ``assert``, which Python's optimisation removes.
    if problems:
        raise AssertionError(problems[0])
    if not all(one.compared and one.compared + one.dropped == job.rows for one in heard):
        raise AssertionError("no vector was compared")


class _Run(StreamRun):
    """One scenario. ``idle``: the first value of the unused, alternating input of a core without input bits."""

    def __init__(
        self, dut: Any, job: AxisJob, scenario: Scenario, inputs: list[str], expected: list[str], idle: int | None
    ) -> None:
        super().__init__(dut, scenario, job.seed, max(job.latency, 1) + 4)
        if idle is not None:
            inputs = [str((row + idle) & 1) for row in range(job.rows)]
        self.job, self.inputs, self.expected = job, inputs, expected

    async def all(self) -> Heard:
        rows, resets = self.job.rows, self.scenario.resets
        stops = sorted({rows * (k + 1) // (resets + 1) for k in range(resets)} - {0, rows})
        await self.reset(self.chance.randint(2, 4))
        idle = 0
        while (self.taken < rows or self.scoreboard.waiting) and idle < self.patience:
            before = (self.taken, self.scoreboard.waiting)
            await self.clock()
            idle = idle + 1 if before == (self.taken, self.scoreboard.waiting) else 0
            if stops and self.taken >= stops[0]:
                del stops[0]
                if self.stalled_reset:
                    await self.stall()
                await self.reset_in_stream()
                idle = 0
        if idle == self.patience:
            self.stuck()
        if self.taken < rows:
            self.scoreboard.problem(f"s_axis_tready stays 0: beat {self.taken} was never taken")
        clocks = self.last - self.first + 1
        wanted = rows + 1 + max(self.job.latency, 1)
        if self.scenario.free and not self.scoreboard.total and clocks != wanted:
            self.scoreboard.problem(
                f"{rows} beats took {clocks} clocks, must be {wanted}: one beat per clock, "
                f"{wanted - rows} clocks from s_axis to m_axis"
            )
        return await self.heard(clocks)

    async def stall(self) -> None:
        """Stop the sink until the design takes no more beats; the last beat is kept for the time after the reset."""
        self.holding = True
        for _ in range(2 * self.depth):
            await self.clock(stop=self.job.rows - 1)

    async def idle(self) -> None:
        """Run one clock in which the source sends nothing, and the sink is ready."""
        await self.clock(idle=True)

    async def clock(self, *, idle: bool = False, stop: int | None = None) -> None:
        """Run one clock: drive both sides, evaluate the signals at the edge. ``stop``: the first beat not to send."""
        dut, job, scenario = self.dut, self.job, self.scenario
        rows = job.rows
        self.accepting = idle or self.accepts(3 * self.scoreboard.compared >= rows)
        if not idle and not self.offering and self.taken < (rows if stop is None else stop):
            stands = self.source_stop.stands(3 * self.taken >= 2 * rows)
            self.offering = scenario.source.going(self.going, self.chance) and not stands
            if self.offering:
                self.beat = self.next_beat()
                dut.s_axis_tdata.value = self.beat.data
                dut.s_axis_tlast.value = int(self.beat.last)
                dut.s_axis_tuser.value = self.beat.user
        dut.s_axis_tvalid.value = int(self.offering)
        dut.m_axis_tready.value = int(self.accepting)
        dut.aclk.value = 0
        await HALF
        ready, valid = str(dut.s_axis_tready.value), str(dut.m_axis_tvalid.value)
        found = None
        if valid == "1":
            found = Beat(str(dut.m_axis_tdata.value), str(dut.m_axis_tlast.value), str(dut.m_axis_tuser.value))
        if self.sink.clock(self.clocks, valid, self.accepting, found):
            self.last = self.clocks
        self.going = self.offering
        if not idle and not scenario.resets and 0 < self.scoreboard.compared < job.rows:
            if valid == "0" and scenario.source == NEVER:
                self.scoreboard.problem(f"clock {self.clocks}: m_axis_tvalid is 0 though the source never pauses")
            if ready == "0" and scenario.sink == NEVER:
                self.scoreboard.problem(f"clock {self.clocks}: s_axis_tready is 0 though the sink never pauses")
        if ready not in "01":
            self.scoreboard.problem(f"clock {self.clocks}: s_axis_tready is {ready}")
        elif self.offering and ready == "1":
            if self.taken == 0:
                self.first = self.clocks
            self.scoreboard.expect(self.taken, self.passed_on(self.beat))
            self.taken += 1
            self.offering = False
        dut.aclk.value = 1
        await HALF
        self.clocks += 1

    def next_beat(self) -> Beat:
        """Return the next vector, with random pad bits, TLAST and TUSER."""
        job, chance = self.job, self.chance
        bits = max(job.input_bits, 1)
        pad = -bits % 8
        data = (format(chance.getrandbits(pad), f"0{pad}b") if pad else "") + self.inputs[self.taken]
        last = chance.randrange(self.scenario.packet) == 0 or self.taken == job.rows - 1
        user = format(chance.getrandbits(max(job.user_bits, 1)), f"0{max(job.user_bits, 1)}b")
        return Beat(data, str(int(last)), user)

    def passed_on(self, beat: Beat) -> Beat:
        """Return the expected output for ``beat``, which was just taken."""
        text = self.expected[self.taken]
        return Beat("0" * (-len(text) % 8) + text, beat.last, beat.user if self.job.user_bits else "0")


def _texts(path: Path, rows: int, bits: int) -> list[str]:
    """Return packed rows as strings, most significant bit first."""
    words = np.fromfile(path, dtype="<u8").reshape(rows, row_words(bits))
    return [bits_of_row(words, row, bits) for row in range(rows)]
