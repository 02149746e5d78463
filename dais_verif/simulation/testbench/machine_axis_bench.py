"""The cocotb testbench of a machine behind AXI4-Stream: all beats that come out, in order, against the golden model.

It knows the ports of the streams alone. What goes in is said when it is taken, and what must come out is known before,
since neither pauses nor resets may change it; how many beats that are is for the machine to say. The clock is made
here, as in the bench of programs: set the inputs, wait, read, then the rising edge.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from dais_verif.simulation.testbench.axis_job import AxisAnswer, Heard, Scenario
from dais_verif.simulation.testbench.machine_axis_job import MACHINE_AXIS_JOB_VARIABLE, MachineAxisJob, Stretch
from dais_verif.simulation.testbench.stream import Beat, Sink, StreamScoreboard

_HALF = Timer(1, unit="ns")


@cocotb.test()
async def every_beat_equals_golden_model(dut: Any) -> None:
    """All beats pass the wrapper once a scenario, each one that comes out is compared, the protocol is kept."""
    job = MachineAxisJob.load(Path(os.environ[MACHINE_AXIS_JOB_VARIABLE]))
    problem = _port_problem(dut, job)
    if problem:
        AxisAnswer(port_error=problem).save(Path(job.answer))
        raise AssertionError(problem)
    heard = [await _Run(dut, job, scenario).all() for scenario in job.scenarios]
    AxisAnswer(heard).save(Path(job.answer))
    problems = [f"{one.scenario}: {text}" for one in heard for text in one.problems]
    # Not by ``assert``, which an optimised Python leaves out.
    if problems:
        raise AssertionError(problems[0])


class _Run:
    """One scenario."""

    def __init__(self, dut: Any, job: MachineAxisJob, scenario: Scenario) -> None:
        self.dut, self.job, self.scenario = dut, job, scenario
        self.chance = random.Random(f"{job.seed} {scenario.name}")
        self.scoreboard = StreamScoreboard()
        self.sink = Sink(self.scoreboard, "m_axis")
        self.clocks = self.taken = self.dropped = 0
        self.offering = self.going = self.accepting = False
        self.first = self.last = 0

    async def all(self) -> Heard:
        stretches = self.job.of(self.scenario)
        for stretch in stretches:
            await self.reset()
            await self.send(stretch)
            if stretch is not stretches[-1]:
                self.dropped += self.scoreboard.forget()
        if self.scenario.free and not self.scoreboard.total:
            clocks, wanted = self.last - self.first + 1, stretches[-1].last + 3
            if clocks != wanted:
                self.scoreboard.problem(
                    f"{self.taken} beats took {clocks} clocks, must be {wanted}: a cycle of the machine a clock, "
                    "and two clocks more from s_axis to m_axis"
                )
        self.scoreboard.finish()
        self.scoreboard.forget()
        await self.silence()
        board = self.scoreboard
        return Heard(
            self.scenario.name,
            sent=self.taken,
            compared=board.compared,
            dropped=self.dropped,
            clocks=self.last - self.first + 1,
            problems=board.problems,
            total_problems=board.total,
            unknown=board.unknown,
        )

    async def send(self, stretch: Stretch) -> None:
        """The beats of ``stretch``; of the last one, until all has come out that must."""
        self.taken = stretch.start
        for number, data in enumerate(stretch.expected):
            self.scoreboard.expect(number, Beat(self.padded(data), "0", "0"))
        last = stretch.stop == len(self.job.inputs)
        idle, most = 0, 40 * self.job.depth + 400
        while (self.taken < stretch.stop or (last and self.scoreboard.waiting)) and idle < most:
            before = (self.taken, self.scoreboard.waiting)
            await self.clock(stretch.stop)
            idle = idle + 1 if before == (self.taken, self.scoreboard.waiting) else 0
        if self.taken < stretch.stop:
            self.scoreboard.problem(f"s_axis_tready stays 0: beat {self.taken} was never taken")
            self.taken = stretch.stop

    async def reset(self) -> None:
        """Some clocks of reset, after which nothing may come out, not even much later."""
        dut = self.dut
        dut.aresetn.value = 0
        dut.s_axis_tvalid.value = 0
        self.offering = False
        self.sink.reset()
        for k in range(self.chance.randint(2, 4)):
            dut.m_axis_tready.value = self.chance.randint(0, 1)
            dut.aclk.value = 0
            await _HALF
            if k and (valid := str(dut.m_axis_tvalid.value)) != "0":
                self.scoreboard.problem(f"clock {self.clocks}: m_axis_tvalid is {valid} in reset")
            dut.aclk.value = 1
            await _HALF
            self.clocks += 1
        dut.aresetn.value = 1
        await self.silence()

    async def silence(self) -> None:
        """Time for any beat that should not be there to come out."""
        for _ in range(self.job.depth):
            await self.clock(0)

    async def clock(self, stop: int) -> None:
        """One clock: both sides decide, then what stands at the edge counts. ``stop``: beats before that may go in."""
        dut, scenario = self.dut, self.scenario
        self.accepting = not stop or scenario.sink.going(self.accepting, self.chance)
        if not self.offering and self.taken < stop:
            self.offering = scenario.source.going(self.going, self.chance)
            if self.offering:
                dut.s_axis_tdata.value = self.padded(self.job.inputs[self.taken], self.chance)
        dut.s_axis_tvalid.value = int(self.offering)
        dut.m_axis_tready.value = int(self.accepting)
        dut.aclk.value = 0
        await _HALF
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
        await _HALF
        self.clocks += 1

    def padded(self, data: str, chance: random.Random | None = None) -> str:
        """``data`` as TDATA, above it zeros or what ``chance`` says."""
        pad = -len(data) % 8
        return (format(chance.getrandbits(pad) if chance else 0, f"0{pad}b") if pad else "") + data


def _port_problem(dut: Any, job: MachineAxisJob) -> str | None:
    """Why the ports are not those of the wrapper, or None."""
    for name, bits in job.widths.items():
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; a machine behind AXI4-Stream needs it, with {bits} bits"
        if len(port) != bits:
            return f"port {name} of the design has {len(port)} bits, must be {bits}"
    return None
