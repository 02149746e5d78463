"""The cocotb testbench of a machine wrapped in AXI4-Stream: compare all output beats, in order.

It uses the stream ports only. The expected beats are known beforehand, since pauses must not change them; the machine
determines their number. The bench drives the clock as the bench of programs does: set the inputs, wait, read, then the
rising edge.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb

from dais_verif.simulation.testbench.axis_job import AxisAnswer, Heard, Scenario
from dais_verif.simulation.testbench.axis_run import HALF, StreamRun, port_problem
from dais_verif.simulation.testbench.machine_axis_job import MACHINE_AXIS_JOB_VARIABLE, MachineAxisJob, Stretch
from dais_verif.simulation.testbench.stream import Beat

#: The number of beats before a reset at which the sink stops, so that a beat waits at the reset.
_HELD = 4


@cocotb.test()
async def every_beat_equals_golden_model(dut: Any) -> None:
    """In each scenario, all beats pass the wrapper, every output beat is as expected, and the protocol is kept."""
    job = MachineAxisJob.load(Path(os.environ[MACHINE_AXIS_JOB_VARIABLE]))
    problem = port_problem(dut, job.widths, "a machine behind AXI4-Stream")
    if problem:
        AxisAnswer(port_error=problem).save(Path(job.answer))
        raise AssertionError(problem)
    heard = [await _Run(dut, job, scenario).all() for scenario in job.scenarios]
    AxisAnswer(heard).save(Path(job.answer))
    problems = [f"{one.scenario}: {text}" for one in heard for text in one.problems]
    # Not ``assert``, which Python's optimisation removes.
    if problems:
        raise AssertionError(problems[0])


class _Run(StreamRun):
    """The run of one scenario."""

    def __init__(self, dut: Any, job: MachineAxisJob, scenario: Scenario) -> None:
        super().__init__(dut, scenario, job.seed, job.depth)
        self.job, self.beats = job, len(job.of(scenario)[-1].expected)

    async def all(self) -> Heard:
        stretches = self.job.of(self.scenario)
        await self.reset(self.chance.randint(2, 4))
        for stretch in stretches:
            await self.send(stretch)
            if stretch is not stretches[-1]:
                await self.reset_in_stream()
        clocks = self.last - self.first + 1
        if self.scenario.free and not self.scoreboard.total and clocks != (wanted := stretches[-1].last + 3):
            self.scoreboard.problem(
                f"{self.taken} beats took {clocks} clocks, must be {wanted}: one cycle of the machine per clock, "
                "plus two clocks from s_axis to m_axis"
            )
        return await self.heard(clocks, stretches[-1].spare)

    async def send(self, stretch: Stretch) -> None:
        """Send the beats of ``stretch``; after the last one, wait until every output beat that must come has come.

        If the following reset must come while an output beat waits, the design may have no room for the last input
        beats, which are then not sent.
        """
        self.taken = stretch.start
        for number, data in enumerate(stretch.expected):
            self.scoreboard.expect(number, Beat(self.padded(data), "0", "0"))
        last = stretch.stop == len(self.job.inputs)
        idle, stalled = 0, 0
        most = stretch.spare if last else len(stretch.expected)
        while (self.taken < stretch.stop or self.scoreboard.waiting > most) and idle < self.patience:
            before = (self.taken, self.scoreboard.waiting)
            self.holding = not last and self.stalled_reset and self.taken >= stretch.stop - _HELD
            await self.clock(stretch.stop)
            idle = idle + 1 if before == (self.taken, self.scoreboard.waiting) else 0
            stalled += self.holding and self.sink.stalled is not None
            if stalled > 2 * _HELD:
                self.taken = stretch.stop
        for _ in range(self.depth if self.holding and self.sink.stalled is None else 0):
            await self.clock(stretch.stop)
        if idle == self.patience:
            self.stuck()
        if self.taken < stretch.stop:
            self.scoreboard.problem(f"s_axis_tready stays 0: beat {self.taken} was never taken")
            self.taken = stretch.stop

    async def idle(self) -> None:
        """Run one clock in which the source sends nothing, and the sink is ready."""
        await self.clock(0)

    async def clock(self, stop: int) -> None:
        """Run one clock: drive both sides, evaluate the signals at the edge. ``stop``: the first beat not to send."""
        dut, scenario = self.dut, self.scenario
        self.accepting = not stop or self.accepts(3 * self.scoreboard.compared >= self.beats)
        if not self.offering and self.taken < stop:
            stands = self.source_stop.stands(3 * self.taken >= 2 * len(self.job.inputs))
            self.offering = scenario.source.going(self.going, self.chance) and not stands
            if self.offering:
                dut.s_axis_tdata.value = self.padded(self.job.inputs[self.taken], self.chance)
        dut.s_axis_tvalid.value = int(self.offering)
        dut.m_axis_tready.value = int(self.accepting)
        dut.aclk.value = 0
        await HALF
        ready, valid = str(dut.s_axis_tready.value), str(dut.m_axis_tvalid.value)
        found = Beat(str(dut.m_axis_tdata.value), "0", "0") if valid == "1" else None
        if self.sink.clock(self.clocks, valid, self.accepting, found):
            self.last = self.clocks
        self.going = self.offering
        if ready not in "01":
            self.scoreboard.problem(f"clock {self.clocks}: s_axis_tready is {ready}")
        elif self.offering and ready == "1":
            if self.taken == 0:
                self.first = self.clocks
            self.taken += 1
            self.offering = False
        dut.aclk.value = 1
        await HALF
        self.clocks += 1

    def padded(self, data: str, chance: random.Random | None = None) -> str:
        """Return ``data`` as TDATA, padded with zeros or with random bits from ``chance``."""
        pad = -len(data) % 8
        return (format(chance.getrandbits(pad) if chance else 0, f"0{pad}b") if pad else "") + data
