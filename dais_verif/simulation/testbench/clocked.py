"""Drive a clocked design: one sample per cycle, bubbles, stalls, a reset in mid-stream.

A delay line as long as the design's latency holds the expected outputs, so order, latency, and lost or repeated samples
are checked at every edge, whether or not the design marks valid outputs. For use in a cocotb test only.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from cocotb.triggers import Timer

from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.simulation.testbench.pins import PortHandles, handle_of

__all__ = ["AmbiguousLatency", "Clocked", "ProtocolError", "find_latency"]

#: In a lively stretch: the share of stalled cycles, and of cycles without a sample.
_STALLS, _BUBBLES = 0.125, 0.25
#: The number of edges for which a reset is held: at the start, and in mid-stream.
_FIRST_RESET, _RESET = 8, 2
#: The number of latencies to try, and the number of rows that must agree on one.
_MOST_LATENCY, _CALIBRATION = 128, 64


class ProtocolError(Exception):
    """The design breaks the protocol of its pins; the message states the pin, the time and the fault."""


class AmbiguousLatency(Exception):
    """Several latencies explain the outputs of the design."""


class Clocked:
    """A design with a clock. ``latency`` must be set before ``run``."""

    def __init__(self, dut: Any, pins: PortHandles, clocking: Clocking, seed: int) -> None:
        self._pins = pins
        self._clock = handle_of(dut, clocking.clock)
        self._reset, self._enable, self._valid_in, self._valid_out = (
            handle_of(dut, name) if name else None
            for name in (clocking.reset, clocking.enable, clocking.valid_in, clocking.valid_out)
        )
        self._active = 0 if clocking.reset_low else 1
        self._names = clocking
        self._random = random.Random(seed)
        self._wait = Timer(1, unit="ns")
        self._edges = 0
        #: The sample in each stage of the pipeline, the next output first; None: no valid sample.
        self._line: deque[int | None] = deque()
        self.latency = clocking.latency

    async def begin(self, row: str) -> None:
        """Reset the design, if it has a reset; meanwhile, ``row`` is driven."""
        if self._reset is not None:
            await self._hold_reset(row, _FIRST_RESET)
        for _ in range(self.latency or 0):  # registers without a reset still hold undriven values
            await self._drive(row, valid=False)
            await self._rise()
        self._line = deque([None] * (self.latency or 0), maxlen=self.latency)

    async def run(self, rows: Sequence[str], *, lively: bool = False) -> list[str]:
        """Return the output for each of ``rows``. ``lively``: add stalls, bubbles and resets, as far as pins exist.

        Raises ``ProtocolError``.
        """
        found = [""] * len(rows)
        waiting = deque(range(len(rows)))
        resets = {len(rows) // 3, 2 * len(rows) // 3} if lively and self._reset is not None else set()
        while waiting or any(sample is not None for sample in self._line):
            if waiting and waiting[0] in resets:
                resets.discard(waiting[0])
                # The reset must drop samples in flight: send them again.
                waiting.extendleft(sample for sample in self._line if sample is not None and not found[sample])
                await self._hold_reset(rows[waiting[0]], _RESET)
                self._line.extend([None] * len(self._line))
                continue
            stalled = lively and self._enable is not None and self._random.random() < _STALLS
            bubble = not waiting or (lively and self._valid_in is not None and self._random.random() < _BUBBLES)
            sample = None if bubble else waiting[0]
            # Inputs that are not sampled must not matter.
            row = rows[self._random.randrange(len(rows)) if stalled or sample is None else sample]
            await self._drive(row, enable=not stalled, valid=sample is not None)
            if self._line or not stalled:
                self._look(self._line[0] if self._line else sample, found)
            await self._rise()
            if not stalled:
                self._line.append(sample)
                if sample is not None:
                    waiting.popleft()
        return found

    async def trace(self, rows: Sequence[str], more: int) -> list[str]:
        """Return the output at each edge while ``rows`` are driven, and then the last of them for ``more`` edges."""
        seen = []
        for edge in range(len(rows) + more):
            await self._drive(rows[min(edge, len(rows) - 1)], valid=edge < len(rows))
            seen.append(self._pins.read())
            await self._rise()
        return seen

    async def hold(self, row: str, edges: int) -> None:
        """Drive ``row`` for this many edges."""
        for _ in range(edges):
            await self._drive(row)
            await self._rise()

    def _look(self, due: int | None, found: list[str]) -> None:
        """Check the outputs just before an edge: they must be those of sample ``due``; None: no sample is due."""
        pin = self._valid_out
        if pin is not None and str(pin.value) != str(int(due is not None)):
            later = counted(self.latency or 0, "edge")
            raise ProtocolError(
                f"{self._names.valid_out} is {pin.value} at clock edge {self._edges}, must be {int(due is not None)}: "
                f"an input given with {self._names.valid_in} comes out {later} later, and nothing else does"
            )
        if due is None:
            return
        seen = self._pins.read()
        if found[due] and found[due] != seen:
            raise ProtocolError(
                f"the output changed before clock edge {self._edges}, though {self._names.enable} was 0 at the one "
                "before: a register of the design does not keep its value"
            )
        found[due] = seen

    async def _drive(self, row: str, *, enable: bool = True, valid: bool = True, reset: bool = False) -> None:
        """Run the first half of a clock cycle, with the clock low."""
        self._clock.value = 0
        self._pins.write(row)
        if self._reset is not None:
            self._reset.value = self._active if reset else 1 - self._active
        if self._enable is not None:
            self._enable.value = int(enable)
        if self._valid_in is not None:
            self._valid_in.value = int(valid)
        await self._wait

    async def _rise(self) -> None:
        """Run the second half, which begins with the edge."""
        self._clock.value = 1
        await self._wait
        self._edges += 1

    async def _hold_reset(self, row: str, edges: int) -> None:
        for _ in range(edges):
            await self._drive(row, valid=False, reset=True)
            await self._rise()


async def find_latency(clocked: Clocked, rows: Sequence[str], expected: Sequence[str]) -> int:
    """Return the only latency at which the outputs for ``rows`` equal ``expected``.

    Raises ``AmbiguousLatency`` if several latencies fit, ``ProtocolError`` if none fits even most rows.
    """
    rows, expected = rows[:_CALIBRATION], expected[:_CALIBRATION]
    seen = await clocked.trace(rows, _MOST_LATENCY)
    right = Counter(dict.fromkeys(range(_MOST_LATENCY + 1), 0))
    for latency in right:
        right[latency] = sum(a == b for a, b in zip(expected, seen[latency:], strict=False))
    (best, count), (_, second) = right.most_common(2)
    whole = [latency for latency, rows_right in right.items() if rows_right == len(rows)]
    if len(whole) > 1:
        these = ", ".join(map(str, whole[:6])) + (", ..." if len(whole) > 6 else "")
        raise AmbiguousLatency(
            f"the first {len(rows)} vectors cannot tell the latencies {these} apart; give the right one with --latency"
        )
    if not whole and (2 * count < len(rows) or 2 * second > count):
        raise ProtocolError(
            f"the outputs equal those of the program at no latency from 0 to {_MOST_LATENCY}: at best {count} of "
            f"{len(rows)} vectors are right, at latency {best}"
        )
    return best
