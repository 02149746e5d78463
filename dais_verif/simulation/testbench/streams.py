"""Drive a design behind AXI4-Stream: compare every output beat of every scenario, and check the protocol.

The driver runs the clock itself: set the inputs, wait, read, then the rising edge. So it reads what a register would
sample at that edge, in every simulator, and one clock costs two steps.

Requirements of the protocol are checked: TVALID does not wait for TREADY, holds until TREADY, and is 0 in reset. What
the protocol leaves open is not checked: TREADY in reset, and TREADY that depends on TVALID combinationally.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from cocotb.triggers import Timer

from dais_verif.base.text import counted
from dais_verif.simulation.testbench.axis_job import (
    QUIET,
    AxisAnswer,
    AxisJob,
    Heard,
    MachineBeats,
    Scenario,
    Stretch,
    VectorBeats,
)
from dais_verif.simulation.testbench.packed_rows import bits_of_row, row_words
from dais_verif.simulation.testbench.stream import NEVER, Beat, Side, Sink, StreamScoreboard

JOB = AxisJob

#: The number of beats of a machine before a reset at which the sink stops, so that a beat waits at the reset.
_HELD = 4


async def drive(dut: Any, job: AxisJob) -> tuple[AxisAnswer, str | None]:
    """Return what was heard in each scenario, and why the test does not pass."""
    problem = _port_problem(
        dut, job.widths, "the AXI4-Stream wrapper" if job.vectors else "a machine behind AXI4-Stream"
    )
    if problem:
        return AxisAnswer(port_error=problem), problem
    heard = [await run.all() for run in _runs(dut, job)]
    problems = [f"{one.scenario}: {text}" for one in heard for text in one.problems]
    if (
        not problems
        and job.vectors
        and not all(one.compared and one.compared + one.dropped == job.vectors.rows for one in heard)
    ):
        problems = ["no vector was compared"]
    return AxisAnswer(heard), problems[0] if problems else None


def _runs(dut: Any, job: AxisJob) -> Iterator[_Vectors | _Machine]:
    """Yield the run of each scenario."""
    if job.machine is not None:
        yield from (_Machine(dut, job, job.machine, scenario) for scenario in job.scenarios)
    if job.vectors is not None:
        for name in QUIET:
            if getattr(dut, name, None) is not None:
                getattr(dut, name).value = 0
        rows = job.vectors.rows
        inputs = _texts(job.vectors.inputs, rows, job.input_bits)
        expected = _texts(job.vectors.expected, rows, job.output_bits)
        for number, scenario in enumerate(job.scenarios):
            # A core without input bits has an unused input, which alternates.
            own = inputs if job.input_bits else [str((row + number) & 1) for row in range(rows)]
            yield _Vectors(dut, job, job.vectors, scenario, own, expected)


_HALF = Timer(1, unit="ns")


class _Run:
    """The run of one scenario. ``depth``: the clocks in which everything in the design comes out, without pauses.

    ``inputs``, ``outputs``: the number of beats.
    """

    def __init__(self, dut: Any, scenario: Scenario, seed: int, depth: int, inputs: int, outputs: int) -> None:
        self.dut, self.scenario, self.depth = dut, scenario, depth
        self.inputs, self.outputs = inputs, outputs
        self.chance = random.Random(f"{seed} {scenario.name}")
        self.scoreboard = StreamScoreboard()
        self.sink = Sink(self.scoreboard, "m_axis")
        self.clocks = self.taken = self.dropped = self.resets = 0
        self.offering = self.going = self.accepting = False
        #: The sink accepts nothing, so that the due reset comes while a beat waits.
        self.holding = False
        self.first = self.last = 0
        self.sender = Side(scenario.source, scenario.still, self.chance)
        self.receiver = Side(scenario.sink, scenario.still, self.chance)

    @property
    def patience(self) -> int:
        """The number of clocks without a transfer after which the stream counts as stuck."""
        return 40 * self.depth + 400

    def accepts(self, due: bool) -> bool:
        """Return True if the sink is ready in the next clock. ``due``: the sink's long stop is due."""
        waits = self.sink.stalled is not None
        active = self.receiver.active(self.accepting, due, counts=waits)
        return active and not self.holding and (waits or not self.scenario.patient)

    @property
    def stalled_reset(self) -> bool:
        """True if the next reset in mid-stream must come while a beat waits, as every second one does."""
        return self.resets % 2 == 0

    async def reset_in_stream(self) -> None:
        """Reset the design, after which the stream goes on.

        A reset while a beat waits lasts one clock, in which the sink is not ready. After the second such reset, both
        sides continue at once.
        """
        stalled, self.holding = self.stalled_reset, False
        self.dropped += self.scoreboard.forget()
        await self.reset(1 if stalled else self.chance.randint(1, 4), ready=not stalled, silent=self.resets != 2)
        self.resets += 1

    async def reset(self, clocks: int, *, ready: bool = True, silent: bool = True) -> None:
        """Reset the design for some clocks; if ``silent``, check for some time that nothing comes out afterwards.

        ``ready``: m_axis_tready is 1 in some of these clocks, at random.
        """
        dut = self.dut
        dut.aresetn.value = 0
        dut.s_axis_tvalid.value = 0
        self.offering = False
        self.sink.reset()
        for k in range(clocks):
            dut.m_axis_tready.value = self.chance.randint(0, 1) if ready else 0
            dut.aclk.value = 0
            await _HALF
            if k and (valid := str(dut.m_axis_tvalid.value)) != "0":
                self.scoreboard.problem(f"clock {self.clocks}: m_axis_tvalid is {valid} in reset")
            dut.aclk.value = 1
            await _HALF
            self.clocks += 1
        dut.aresetn.value = 1
        if silent:
            await self.silence(self.depth)

    async def silence(self, clocks: int) -> None:
        """Run this many clocks without input, in which any beat that should not exist comes out."""
        for _ in range(clocks):
            await self.clock(0)

    async def clock(self, stop: int) -> None:
        """Run one clock: drive both sides, evaluate the signals at the edge.

        ``stop``: the first beat not to send; 0: the source sends nothing, and the sink is ready.
        """
        dut = self.dut
        self.accepting = not stop or self.accepts(3 * self.scoreboard.compared >= self.outputs)
        if not self.offering and self.taken < stop:
            self.offering = self.sender.active(self.going, 3 * self.taken >= 2 * self.inputs)
            if self.offering:
                self.offer()
        dut.s_axis_tvalid.value = int(self.offering)
        dut.m_axis_tready.value = int(self.accepting)
        dut.aclk.value = 0
        await _HALF
        ready, valid = str(dut.s_axis_tready.value), str(dut.m_axis_tvalid.value)
        if self.sink.clock(self.clocks, valid, self.accepting, self.seen() if valid == "1" else None):
            self.last = self.clocks
        self.going = self.offering
        if stop:
            self.watch(ready, valid)
        if ready not in "01":
            self.scoreboard.problem(f"clock {self.clocks}: s_axis_tready is {ready}")
        elif self.offering and ready == "1":
            if self.taken == 0:
                self.first = self.clocks
            self.took()
            self.taken += 1
            self.offering = False
        dut.aclk.value = 1
        await _HALF
        self.clocks += 1

    def offer(self) -> None:
        """Drive the data of the next beat."""
        raise NotImplementedError

    def seen(self) -> Beat:
        """Return the output beat."""
        raise NotImplementedError

    def took(self) -> None:
        """Note that the design took the beat."""

    def watch(self, ready: str, valid: str) -> None:
        """Check the signals of a clock in which the stream runs."""

    def stuck(self) -> None:
        """Report a stuck stream if the sink is not ready, because it waits for TVALID."""
        if not self.accepting and self.scoreboard.waiting and self.sink.stalled is None:
            self.scoreboard.problem(
                f"clock {self.clocks}: m_axis_tvalid stays 0 while m_axis_tready is 0: TVALID must not wait for TREADY"
            )

    async def heard(self, clocks: int, spare: int = 0) -> Heard:
        """Return the results, after a last check that nothing more comes out, even much later.

        ``spare``: the number of beats that may still come out, or stay in the design.
        """
        board = self.scoreboard
        if board.waiting > spare:
            board.finish()
            board.forget()
        await self.silence(max(self.depth, self.scenario.still))
        self.dropped += board.forget()
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


def _port_problem(dut: Any, widths: dict[str, int], what: str) -> str | None:
    """Return why the ports do not match those of ``what``, or None."""
    for name, bits in widths.items():
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; {what} needs it, with {counted(bits, 'bit')}"
        if len(port) != bits:
            return f"port {name} of the design has {counted(len(port), 'bit')}, must be {bits}"
    return None


class _Vectors(_Run):
    """One scenario of a program: its input data, and the expected data of each beat."""

    def __init__(
        self, dut: Any, job: AxisJob, beats: VectorBeats, scenario: Scenario, inputs: list[str], expected: list[str]
    ) -> None:
        super().__init__(dut, scenario, job.seed, max(beats.latency, 1) + 4, beats.rows, beats.rows)
        self.data, self.expected, self.latency = inputs, expected, max(beats.latency, 1)
        self.data_bits, self.user_bits = max(job.input_bits, 1), job.user_bits or 0

    async def all(self) -> Heard:
        rows, resets = self.inputs, self.scenario.resets
        stops = sorted({rows * (k + 1) // (resets + 1) for k in range(resets)} - {0, rows})
        await self.reset(self.chance.randint(2, 4))
        idle = 0
        while (self.taken < rows or self.scoreboard.waiting) and idle < self.patience:
            before = (self.taken, self.scoreboard.waiting)
            await self.clock(rows)
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
        wanted = rows + 1 + self.latency
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
            await self.clock(self.inputs - 1)

    def offer(self) -> None:
        """Drive the next vector, with random pad bits, TLAST and TUSER."""
        dut, chance, user = self.dut, self.chance, max(self.user_bits, 1)
        pad = -self.data_bits % 8
        data = (format(chance.getrandbits(pad), f"0{pad}b") if pad else "") + self.data[self.taken]
        last = chance.randrange(self.scenario.packet) == 0 or self.taken == self.inputs - 1
        self.beat = Beat(data, str(int(last)), format(chance.getrandbits(user), f"0{user}b"))
        dut.s_axis_tdata.value = data
        dut.s_axis_tlast.value = int(last)
        dut.s_axis_tuser.value = self.beat.user

    def seen(self) -> Beat:
        """Return the output beat."""
        dut = self.dut
        return Beat(str(dut.m_axis_tdata.value), str(dut.m_axis_tlast.value), str(dut.m_axis_tuser.value))

    def took(self) -> None:
        """Expect the output of the beat."""
        text = self.expected[self.taken]
        wanted = Beat("0" * (-len(text) % 8) + text, self.beat.last, self.beat.user if self.user_bits else "0")
        self.scoreboard.expect(self.taken, wanted)

    def watch(self, ready: str, valid: str) -> None:
        """Check that the wrapper never pauses of itself."""
        scenario, board = self.scenario, self.scoreboard
        if scenario.resets or not 0 < board.compared < self.inputs:
            return
        if valid == "0" and scenario.source == NEVER:
            board.problem(f"clock {self.clocks}: m_axis_tvalid is 0 though the source never pauses")
        if ready == "0" and scenario.sink == NEVER:
            board.problem(f"clock {self.clocks}: s_axis_tready is 0 though the sink never pauses")


class _Machine(_Run):
    """One scenario of a machine. The expected beats are known beforehand, since pauses must not change them."""

    def __init__(self, dut: Any, job: AxisJob, beats: MachineBeats, scenario: Scenario) -> None:
        self.stretches = beats.of(scenario)
        super().__init__(dut, scenario, job.seed, beats.depth, len(beats.inputs), len(self.stretches[-1].expected))
        self.data = beats.inputs

    async def all(self) -> Heard:
        stretches = self.stretches
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
        last = stretch.stop == self.inputs
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

    def offer(self) -> None:
        """Drive the data of the next beat."""
        self.dut.s_axis_tdata.value = self.padded(self.data[self.taken], self.chance)

    def seen(self) -> Beat:
        """Return the output beat."""
        return Beat(str(self.dut.m_axis_tdata.value), "0", "0")

    def padded(self, data: str, chance: random.Random | None = None) -> str:
        """Return ``data`` as TDATA, padded with zeros or with random bits from ``chance``."""
        pad = -len(data) % 8
        return (format(chance.getrandbits(pad) if chance else 0, f"0{pad}b") if pad else "") + data


def _texts(path: str, rows: int, bits: int) -> list[str]:
    """Return packed rows as strings, most significant bit first."""
    words = np.fromfile(path, dtype="<u8").reshape(rows, row_words(bits))
    return [bits_of_row(words, row, bits) for row in range(rows)]
