"""The cocotb testbench of a core in its AXI4-Stream wrapper: every beat of every scenario against the golden model.

Runs inside the simulator. It makes the clock itself: set the inputs, wait, read, then the rising edge. So what is
read is what a register would see at that edge, in every simulator, and one clock costs two steps.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from dais_verif.simulation.testbench.axis_job import AXIS_JOB_VARIABLE, QUIET, AxisAnswer, AxisJob, Heard, Scenario
from dais_verif.simulation.testbench.packing import bits_of_row, row_words
from dais_verif.simulation.testbench.stream import NEVER, Beat, Sink, StreamScoreboard

_HALF = Timer(1, unit="ns")


@cocotb.test()
async def every_beat_equals_golden_model(dut: Any) -> None:
    """All vectors pass the wrapper once a scenario, each beat is compared, the protocol is kept."""
    job = AxisJob.load(Path(os.environ[AXIS_JOB_VARIABLE]))
    problem = _port_problem(dut, job)
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
    for scenario in job.scenarios:
        heard.append(await _Run(dut, job, scenario, inputs, expected).all())
    AxisAnswer(heard).save(Path(job.answer))
    problems = [f"{one.scenario}: {text}" for one in heard for text in one.problems]
    # Not by ``assert``, which an optimised Python leaves out.
    if problems:
        raise AssertionError(problems[0])
    if not all(one.compared + one.dropped == job.rows > 0 for one in heard):
        raise AssertionError("no vector was compared")


class _Run:
    """One scenario."""

    def __init__(self, dut: Any, job: AxisJob, scenario: Scenario, inputs: list[str], expected: list[str]) -> None:
        self.dut, self.job, self.scenario = dut, job, scenario
        self.inputs, self.expected = inputs, expected
        self.chance = random.Random(f"{job.seed} {scenario.name}")
        self.scoreboard = StreamScoreboard()
        self.sink = Sink(self.scoreboard, "m_axis")
        self.clocks = self.taken = self.dropped = 0
        self.offering = self.going = self.accepting = False
        self.first = self.last = 0
        #: Clocks that any beat in the wrapper needs to come out.
        self.depth = max(job.latency, 1) + 4

    async def all(self) -> Heard:
        rows, resets = self.job.rows, self.scenario.resets
        stops = {rows * (k + 1) // (resets + 1) for k in range(resets)} - {0, rows}
        await self.reset()
        idle = 0
        while (self.taken < rows or self.scoreboard.waiting) and idle < 40 * self.depth + 400:
            before = (self.taken, self.scoreboard.waiting)
            await self.clock()
            idle = idle + 1 if before == (self.taken, self.scoreboard.waiting) else 0
            if self.taken in stops:
                stops.remove(self.taken)
                self.dropped += self.scoreboard.forget()
                await self.reset()
        if self.taken < rows:
            self.scoreboard.problem(f"s_axis_tready stays 0: beat {self.taken} was never taken")
        clocks = self.last - self.first + 1
        wanted = rows + 1 + max(self.job.latency, 1)
        if self.scenario.free and not self.scoreboard.total and clocks != wanted:
            self.scoreboard.problem(
                f"{rows} beats took {clocks} clocks, must be {wanted}: one beat a clock, "
                f"{wanted - rows} clocks from s_axis to m_axis"
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
            clocks=clocks,
            problems=board.problems,
            total_problems=board.total,
            unknown=board.unknown,
        )

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
        for _ in range(self.depth):
            await self.clock(idle=True)

    async def clock(self, *, idle: bool = False) -> None:
        """One clock: both sides decide, then what stands at the edge counts."""
        dut, job, scenario = self.dut, self.job, self.scenario
        self.accepting = idle or scenario.sink.going(self.accepting, self.chance)
        if not idle and not self.offering and self.taken < job.rows:
            self.offering = scenario.source.going(self.going, self.chance)
            if self.offering:
                self.beat = self.next_beat()
                dut.s_axis_tdata.value = self.beat.data
                dut.s_axis_tlast.value = int(self.beat.last)
                dut.s_axis_tuser.value = self.beat.user
        dut.s_axis_tvalid.value = int(self.offering)
        dut.m_axis_tready.value = int(self.accepting)
        dut.aclk.value = 0
        await _HALF
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
        await _HALF
        self.clocks += 1

    def next_beat(self) -> Beat:
        """The next vector, with random pad bits, TLAST and TUSER."""
        job, chance = self.job, self.chance
        bits = max(job.input_bits, 1)
        pad = -bits % 8
        data = (format(chance.getrandbits(pad), f"0{pad}b") if pad else "") + self.inputs[self.taken]
        last = chance.randrange(self.scenario.packet) == 0 or self.taken == job.rows - 1
        user = format(chance.getrandbits(max(job.user_bits, 1)), f"0{max(job.user_bits, 1)}b")
        return Beat(data, str(int(last)), user)

    def passed_on(self, beat: Beat) -> Beat:
        """What must come out for ``beat``, the one just taken."""
        text = self.expected[self.taken]
        return Beat("0" * (-len(text) % 8) + text, beat.last, beat.user if self.job.user_bits else "0")


def _texts(path: Path, rows: int, bits: int) -> list[str]:
    """Packed rows as strings, most significant bit first."""
    words = np.fromfile(path, dtype="<u8").reshape(rows, row_words(bits))
    return [bits_of_row(words, row, bits) for row in range(rows)]


def _port_problem(dut: Any, job: AxisJob) -> str | None:
    """Why the ports are not those of the wrapper, or None."""
    for name, bits in job.widths.items():
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; the AXI4-Stream wrapper needs it, with {bits} bits"
        if len(port) != bits:
            return f"port {name} of the design has {len(port)} bits, must be {bits}"
    return None
