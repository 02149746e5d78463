"""States of a machine's control: the registers that determine enables, resets and indices, if they have few bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden import Golden
from dais_verif.machine import Machine
from dais_verif.machine.dependence import deciding
from dais_verif.machine.step import Element, Step, conflict_of, step_of
from dais_verif.program import FixedType

__all__ = ["Control", "control_of", "reachable_states"]

#: The maximum number of state bits, and of input bits whose combinations are tried in each state.
_MOST_STATE, _MOST_INPUTS = 10, 12
#: The number of states times inputs in one call of the engine.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Control:
    """The ``elements`` of registers and their types; the first is in the least significant bits of a state."""

    elements: tuple[Element, ...]
    kinds: tuple[FixedType, ...]

    @property
    def bits(self) -> int:
        """The number of bits of a state."""
        return sum(kind.width for kind in self.kinds)

    @property
    def is_small(self) -> bool:
        """True if there is more than one state, and few enough to enumerate."""
        return 0 < self.bits <= _MOST_STATE

    def codes(self, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return states as integers. ``columns``: the raw values of each element."""
        code = np.zeros(len(columns[0]) if columns else 1, dtype=np.int64)
        low = 0
        for column, kind in zip(columns, self.kinds, strict=True):
            code |= (column & ((1 << kind.width) - 1)) << low
            low += kind.width
        return code

    def name(self, code: int) -> str:
        """Return a state as text."""
        parts, low = [], 0
        for element, kind in zip(self.elements, self.kinds, strict=True):
            raw = code >> low & ((1 << kind.width) - 1)
            raw -= (raw > kind.raw_max) << kind.width
            parts.append(f"{element} = {raw}")
            low += kind.width
        return ", ".join(parts)


def control_of(machine: Machine) -> Control:
    """Return the control of ``machine``, which may have no elements."""
    names = deciding(machine, control=True)
    written = {
        Element(c.target.signal, place)
        for c in machine.connections
        if machine.clocked(c)
        for place in machine.reach(c.target)
    }
    elements = [
        (Element(signal.name, place), kind)
        for signal in machine.registers
        if signal.name in names
        for place, kind in enumerate(signal.types)
        if kind.width and Element(signal.name, place) in written
    ]
    return Control(tuple(e for e, _ in elements), tuple(kind for _, kind in elements))


def reachable_states(machine: Machine, control: Control) -> NDArray[np.bool_] | None:
    """Return for each state whether any inputs lead to it from power-up.

    ``control`` must be small. It depends only on itself and on inputs, so all combinations of these are tried. Returns
    None if inputs have too many bits, a register has no initial value, or two connections may write one element at the
    same edge.
    """
    if conflict_of(machine) is not None:
        return None
    names = deciding(machine, control=True)
    step = step_of(machine)
    kinds = {e: machine.signals[e.signal].types[e.place] for e in (*step.inputs, *step.state)}
    inputs = [e for e in step.inputs if e.signal in names and kinds[e].width]
    owned = [machine.signals[e.signal] for e in step.state if e.signal in names]
    width = sum(kinds[e].width for e in inputs)
    if width > _MOST_INPUTS or any(signal.initial is None for signal in owned):
        return None
    return _Search(step, control, inputs, [kinds[e] for e in inputs]).run(machine)


class _Search:
    """A breadth-first search, which runs all new states with all inputs at once."""

    def __init__(self, step: Step, control: Control, inputs: list[Element], kinds: list[FixedType]) -> None:
        self.step, self.control = step, control
        self.golden = Golden(step.program)
        self.driven = [(step.inputs.index(e), kind) for e, kind in zip(inputs, kinds, strict=True)]
        self.held = [step.state.index(e) for e in control.elements]
        self.combinations = 1 << sum(kind.width for kind in kinds)

    def run(self, machine: Machine) -> NDArray[np.bool_]:
        first = []
        for element, kind in zip(self.control.elements, self.control.kinds, strict=True):
            initial = machine.signals[element.signal].initial
            assert initial is not None
            first.append(np.array([int(initial[element.place] * 2**kind.f)], dtype=np.int64))
        seen = np.zeros(1 << self.control.bits, dtype=np.bool_)
        front = self.control.codes(first)
        while front.size:
            seen[front] = True
            found: list[NDArray[np.int64]] = []
            at_once = max(_AT_ONCE // self.combinations, 1)
            for start in range(0, len(front), at_once):
                found.append(self.following(front[start : start + at_once]))
            front = np.unique(np.concatenate(found))
            front = front[~seen[front]]
        return seen

    def following(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all successors of ``states``."""
        step = self.step
        codes = np.repeat(states, self.combinations)
        choices = np.tile(np.arange(self.combinations, dtype=np.int64), len(states))
        rows = np.zeros((step.program.n_in, len(codes)), dtype=np.int64)
        low = 0
        for number, kind in self.driven:
            rows[number] = choices >> low & ((1 << kind.width) - 1)
            low += kind.width
        low = 0
        for number, kind in zip(self.held, self.control.kinds, strict=True):
            rows[len(step.inputs) + number] = codes >> low & ((1 << kind.width) - 1)
            low += kind.width
        after = self.golden.run_planar(rows, check=False, jobs=1)
        first = len(step.outputs)
        columns = [after[first + number].astype(np.int64) for number in self.held]
        return np.unique(self.control.codes(columns))
