"""The cocotb testbench of a replay of a machine: a sequence from power-up, registers compared after every edge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from dais_verif.simulation.testbench.machine_job import MACHINE_JOB_VARIABLE, differs
from dais_verif.simulation.testbench.machine_question import MachineQuestion, MachineSeen
from dais_verif.simulation.testbench.pins import PortHandles, handle_of

_LOGIC = frozenset("01xXzZuUwWlLhH-")


@cocotb.test()
async def replay_machine(dut: Any) -> None:
    """Write which registers are wrong first, and the values of the requested signals in the requested cycle."""
    question = MachineQuestion.load(Path(os.environ[MACHINE_JOB_VARIABLE]))
    ports, wait, design = PortHandles(dut, question.interface), Timer(1, unit="ns"), _Design(dut)
    clocking = question.interface.clocking
    clock = None if clocking is None else handle_of(dut, clocking.clock)
    registers = {
        number: handle
        for number, register in enumerate(question.registers)
        if (handle := design.find(register.paths, len(register.expected[0]))) is not None
    }
    wrong: tuple[int, dict[int, str]] | None = None

    def compare(edge: int) -> None:
        nonlocal wrong
        if wrong is None:
            bits = {number: _bits(handle) for number, handle in registers.items()}
            other = {n: found for n, found in bits.items() if differs(question.registers[n].expected[edge + 1], found)}
            wrong = (edge, other) if other else None

    look, times = question.look, [0, 0]
    seen: dict[str, tuple[str, str]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    outputs = ["", ""]
    for cycle, row in enumerate(question.rows):
        begin = int(get_sim_time("step"))
        for level in (0, 1):
            if clock is not None:
                clock.value = level
            if level == 0:
                ports.write(row)
            await wait
            outputs[level] = ports.read()
            if level == 0 and cycle == 0:
                compare(-1)
            elif level == 1:
                compare(cycle)
            if look is not None and (look.cycle, look.after) == (cycle, level == 1):
                times = [begin, begin + 2 * (int(get_sim_time("step")) - begin) // (level + 1)]
                for name, paths in look.signals.items():
                    handle = design.find(paths)
                    if handle is not None and (bits := _bits(handle)):
                        called = next(path for path in paths if design.find((path,)) is not None)
                        seen[name] = bits, called
                        bounds = getattr(handle, "range", None)
                        if bounds is not None:
                            ranges[called] = bounds.left, bounds.right
    answer = MachineSeen((outputs[0], outputs[1]), wrong, tuple(registers), seen, ranges, times[0], times[1])
    answer.save(Path(question.answer))


class _Design:
    """The signals of a design by path, read scope by scope, since looking up single names is slow in Icarus."""

    def __init__(self, dut: Any) -> None:
        self._scopes: dict[str, dict[str, Any]] = {"": {child._name: child for child in dut}}

    def find(self, paths: tuple[str, ...], bits: int | None = None) -> Any:
        """Return the first of ``paths`` that is a signal with logic values, and ``bits`` wide if given; or None."""
        for path in paths:
            scope, _, name = path.rpartition(".")
            handle = self._scope(scope).get(name)
            if handle is not None and (found := _bits(handle)) and bits in (None, len(found)):
                return handle
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


def _bits(handle: Any) -> str:
    """Return the bits of a vector, or of all words of an array, word 0 last; empty for anything else."""
    value = getattr(handle, "value", None)
    if value is None:
        return ""
    text = str(value)
    if not set(text) - _LOGIC:
        return text
    try:
        words = [str(handle[index].value) for index in sorted(handle.range)]
    except (AttributeError, TypeError, IndexError):
        return ""
    return "" if any(set(word) - _LOGIC for word in words) else "".join(reversed(words))
