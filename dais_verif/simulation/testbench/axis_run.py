"""Shared code of AXI4-Stream benches: resets, acceptance of beats by the sink, and long stops.

Requirements of the protocol are checked: TVALID does not wait for TREADY, holds until TREADY, and is 0 in reset. What
the protocol leaves open is not checked: TREADY in reset, and TREADY that depends on TVALID combinationally.
"""

from __future__ import annotations

import random
from typing import Any

from cocotb.triggers import Timer

from dais_verif.base.text import counted
from dais_verif.simulation.testbench.axis_job import Heard, Scenario
from dais_verif.simulation.testbench.stream import Sink, Stop, StreamScoreboard

__all__ = ["HALF", "StreamRun", "port_problem"]

HALF = Timer(1, unit="ns")


class StreamRun:
    """The run of one scenario. ``depth``: the clocks in which everything in the design comes out, without pauses."""

    def __init__(self, dut: Any, scenario: Scenario, seed: int, depth: int) -> None:
        self.dut, self.scenario, self.depth = dut, scenario, depth
        self.chance = random.Random(f"{seed} {scenario.name}")
        self.scoreboard = StreamScoreboard()
        self.sink = Sink(self.scoreboard, "m_axis")
        self.clocks = self.taken = self.dropped = self.resets = 0
        self.offering = self.going = self.accepting = False
        #: The sink accepts nothing, so that the due reset comes while a beat waits.
        self.holding = False
        self.first = self.last = 0
        self.sink_stop, self.source_stop = Stop(scenario.still), Stop(scenario.still)

    @property
    def patience(self) -> int:
        """The number of clocks without a transfer after which the stream counts as stuck."""
        return 40 * self.depth + 400

    def accepts(self, due: bool) -> bool:
        """Return True if the sink is ready in the next clock. ``due``: the sink's long stop is due."""
        scenario, waits = self.scenario, self.sink.stalled is not None
        going = scenario.sink.going(self.accepting, self.chance)
        stands = self.sink_stop.stands(due, counts=waits)
        return going and not stands and not self.holding and (waits or not scenario.patient)

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
            await HALF
            if k and (valid := str(dut.m_axis_tvalid.value)) != "0":
                self.scoreboard.problem(f"clock {self.clocks}: m_axis_tvalid is {valid} in reset")
            dut.aclk.value = 1
            await HALF
            self.clocks += 1
        dut.aresetn.value = 1
        if silent:
            await self.silence(self.depth)

    async def silence(self, clocks: int) -> None:
        """Run this many clocks without input, in which any beat that should not exist comes out."""
        for _ in range(clocks):
            await self.idle()

    async def idle(self) -> None:
        """Run one clock in which the source sends nothing, and the sink is ready."""
        raise NotImplementedError

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


def port_problem(dut: Any, widths: dict[str, int], what: str) -> str | None:
    """Return why the ports do not match those of ``what``, or None."""
    for name, bits in widths.items():
        port = getattr(dut, name, None)
        if port is None:
            return f"the design has no port {name}; {what} needs it, with {counted(bits, 'bit')}"
        if len(port) != bits:
            return f"port {name} of the design has {counted(len(port), 'bit')}, must be {bits}"
    return None
