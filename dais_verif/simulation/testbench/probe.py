"""Repeat a few rows, and read signals: what a replay shows of a failing vector or sequence.

A program gets the vector before the failing one first, because a wave without a transition is of no use, and because a
design with memory, such as a latch, fails only after another vector. A machine gets its whole sequence from power-up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from dais_verif.simulation.testbench.clocked import Clocked
from dais_verif.simulation.testbench.pins import PortHandles, handle_of, problem_with
from dais_verif.simulation.testbench.probe_job import ProbeJob, Seen
from dais_verif.simulation.testbench.sequence_job import differs

JOB = ProbeJob

#: Nanoseconds for which each row of a combinational program is held.
_HOLD = 10
_LOGIC = frozenset("01xXzZuUwWlLhH-")


async def drive(dut: Any, job: ProbeJob) -> tuple[Seen, None]:
    """Return which registers are wrong first, the values of the requested signals, and the outputs to keep."""
    problem = problem_with(dut, job.interface)
    if problem:
        return Seen(port_error=f"the design does not fit the {'program' if job.held else 'machine'}: {problem}"), None
    ports, design, look = PortHandles(dut, job.interface), _Design(dut), job.look
    registers = {
        number: found[0]
        for number, register in enumerate(job.registers)
        if (found := design.find(register.paths, len(register.expected[0]))) is not None
    }
    wrong: tuple[int, dict[int, str]] | None = None
    kept, outputs, times = [], ["", ""], (0, 0)
    bits: dict[str, str] = {}
    paths: dict[str, str] = {}
    ranges: dict[str, tuple[int, int]] = {}
    stepper = _Held(dut, ports, job) if job.held else _Cycles(dut, ports, job)
    for cycle, row in enumerate(job.rows):
        begin = int(get_sim_time("step"))
        async for after in stepper.moments(row):
            outputs[after] = ports.read()
            edge = cycle if after else -1
            if wrong is None and (after or not cycle):
                held = {number: _bits(handle) for number, handle in registers.items()}
                other = {n: text for n, text in held.items() if differs(job.registers[n].expected[edge + 1], text)}
                wrong = (edge, other) if other else None
            if job.valid is not None and not after and outputs[0][len(outputs[0]) - 1 - job.valid] != "0":
                kept.append((cycle, outputs[0]))
            if look is not None and (look.cycle, look.after) == (cycle, after):
                times = begin, begin + 2 * (int(get_sim_time("step")) - begin) // (1 + after)
                for name, possible in look.signals.items():
                    if (there := design.find(possible, arrays=look.arrays)) is not None:
                        handle, path = there
                        bits[name], paths[name] = _bits(handle, look.arrays), path
                        if (bounds := getattr(handle, "range", None)) is not None:
                            ranges[path] = bounds.left, bounds.right
    return Seen((outputs[0], outputs[1]), wrong, tuple(registers), bits, paths, ranges, *times, tuple(kept)), None


class _Held:
    """Steps of a program: a row is held until its output is valid."""

    def __init__(self, dut: Any, ports: PortHandles, job: ProbeJob) -> None:
        self._ports, clocking = ports, job.interface.clocking
        self._clocked = None if clocking is None else Clocked(dut, ports, clocking, seed=0)
        self._edges = 0 if clocking is None else (clocking.latency or 0) + 1
        self._begun = False

    async def moments(self, row: str) -> AsyncIterator[bool]:
        """Drive ``row``; yield True at its end."""
        if self._clocked is None:
            self._ports.write(row)
            await Timer(_HOLD, unit="ns")
        else:
            if not self._begun:
                await self._clocked.begin(row)
                self._begun = True
            await self._clocked.hold(row, self._edges)
        yield True


class _Cycles:
    """Steps of a machine: a row is driven for a cycle."""

    def __init__(self, dut: Any, ports: PortHandles, job: ProbeJob) -> None:
        clocking = job.interface.clocking
        self._ports, self._clock = ports, None if clocking is None else handle_of(dut, clocking.clock)
        self._wait = Timer(1, unit="ns")

    async def moments(self, row: str) -> AsyncIterator[bool]:
        """Drive ``row``; yield False before the edge of its cycle, and True after it."""
        for after in (False, True):
            if self._clock is not None:
                self._clock.value = int(after)
            if not after:
                self._ports.write(row)
            await self._wait
            yield after


class _Design:
    """The signals of a design by path, read scope by scope, since looking up single names is slow in Icarus."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._scopes: dict[str, dict[str, Any]] = {"": {child._name: child for child in dut}}

    def find(self, paths: tuple[str, ...], width: int | None = None, *, arrays: bool = True) -> tuple[Any, str] | None:
        """Return the first of ``paths`` that has logic values, and ``width`` bits if given, and its signal; or None."""
        for path in paths:
            scope, _, name = path.rpartition(".")
            handle = handle_of(self._dut, path) if path.endswith("]") else self._scope(scope).get(name)
            if handle is not None and (found := _bits(handle, arrays)) and width in (None, len(found)):
                return handle, path
        return None

    def _scope(self, path: str) -> dict[str, Any]:
        if path not in self._scopes:
            outer, _, name = path.rpartition(".")
            scope = self._scope(outer).get(name)
            try:
                self._scopes[path] = {} if scope is None else {child._name: child for child in scope}
            except TypeError:  # the scope is a signal
                self._scopes[path] = {}
        return self._scopes[path]


def _bits(handle: Any, arrays: bool = True) -> str:
    """Return the bits of a vector, or of all words of an array, word 0 last; empty for anything else."""
    value = getattr(handle, "value", None)
    if value is None:
        return ""
    text = str(value)
    if not set(text) - _LOGIC:
        return text
    if not arrays:
        return ""
    try:
        words = [str(handle[index].value) for index in sorted(handle.range)]
    except (AttributeError, TypeError, IndexError):
        return ""
    return "" if any(set(word) - _LOGIC for word in words) else "".join(reversed(words))
