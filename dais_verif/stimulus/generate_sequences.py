"""Generate input sequences for a machine: corners, then stretches in which control signals behave differently.

There are four kinds of stretches of cycles. *Free*: every element changes independently. *Steady*: single bits keep
their value, so that frames follow each other without a pause. *Pulse*: resets are 1 for one cycle, then the stretch is
steady. *Stalling*: single bits are mostly 1. Some bits change right after a pulse: if an enable wrongly overrides a
reset and does not change, it hides the wrong value. Resets outside of pulses are rare and short, since the effect of
other inputs cannot be observed during a reset.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.restart import reset_elements
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import IntArray
from dais_verif.stimulus.machines import ArrayRows, InputSequence

__all__ = ["generate_sequence", "generate_sequences"]


class _Habit(IntEnum):
    """The behaviour of control signals in a stretch."""

    FREE = 0
    STEADY = 1
    PULSE = 2
    STALLING = 3


#: The probabilities of the habits.
_HABITS = (0.45, 0.15, 0.25, 0.15)
#: The longest stretch of each habit, in cycles; if inputs have schedules, stretches that are not free may last for
#: ``_PERIODS`` of their periods.
_LONGEST = (32, 64, 24, 32)
_PERIODS = 3
#: Probabilities that a single bit is 1 in a free stretch: enables and flags must hold, change, and change together.
_CHANCES = (0.0, 0.1, 0.5, 0.5, 0.9, 1.0)
#: The probabilities that a reset is 1 in a free stretch.
_RESETS = (0.0, 0.0, 0.0, 0.0, 0.02, 0.02, 0.1, 0.5)
#: The probability that a bit other than a reset is 1 throughout a steady stretch, and in a cycle of a stalling one.
_STEADY, _STALLING = 0.75, 0.875
#: The probability that a bit has one value in the first cycle of a pulse and the opposite value after it.
_CHANGING = _STEADY * (1 - _STEADY)
#: The probabilities that an element holds its value in a stretch, or has extreme values; otherwise it is uniform.
_HELD, _EXTREME = 0.15, 0.25
#: The value of all elements in the first cycles, other than resets.
_CORNERS: tuple[Callable[[FixedType], int], ...] = (
    lambda kind: 0,
    lambda kind: kind.raw_max,
    lambda kind: kind.raw_min,
)
#: With fewer cycles than this, there is only one sequence.
_FEW = 256
#: The maximum length of the first sequence, and roughly the minimum length of the others if there are many.
_FIRST, _OTHERS = 4096, 1024
_LEAST_OTHERS, _MOST_OTHERS = 3, 511
_WIDEST = 62


def generate_sequences(machine: Machine, cycles: int, seed: int = 0) -> list[InputSequence]:
    """Return sequences with ``cycles`` cycles in total, each from power-up.

    The first sequence begins with corners, and has half of the cycles, about 4,096 at most. The others have equal
    lengths. There are several sequences because memories, which no reset clears, only restart at power-up.
    """
    if cycles < _FEW:
        return [generate_sequence(machine, cycles, seed)]
    first = min(cycles // 2, _FIRST)
    count = min(max((cycles - first) // _OTHERS, _LEAST_OTHERS), _MOST_OTHERS)
    each = (cycles - first) // count
    lengths = [cycles - each * count, *[each] * count]
    return [generate_sequence(machine, length, seed, number) for number, length in enumerate(lengths)]


def generate_sequence(machine: Machine, cycles: int, seed: int = 0, number: int = 0) -> InputSequence:
    """Return ``cycles`` cycles of the inputs of ``machine``. ``number``: 0 begins with corners, others do not."""
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(cycles, number))))
    resets = reset_elements(machine)
    plan = _Plan(machine, cycles, rng, number)
    rows = {}
    for signal in machine.inputs:
        columns = [plan.column(kind, (signal.name, place) in resets) for place, kind in enumerate(signal.types)]
        rows[signal.name] = ArrayRows(_side_by_side(columns, cycles), signal.types)
    return InputSequence(cycles, rows)


def _side_by_side(columns: list[IntArray], cycles: int) -> IntArray:
    wide = any(column.dtype == object for column in columns)
    whole: IntArray = np.zeros((cycles, len(columns)), dtype=object if wide else np.int64)
    for place, column in enumerate(columns):
        whole[:, place] = column
    return whole


class _Plan:
    """The stretches of one sequence: the habit of each, and its length."""

    def __init__(self, machine: Machine, cycles: int, rng: np.random.Generator, number: int) -> None:
        self.cycles, self.rng = cycles, rng
        self.corners = min(len(_CORNERS), cycles) if number == 0 else 0
        period = max((s.schedule.period for s in machine.inputs if s.schedule is not None), default=0)
        longest = np.maximum(_LONGEST, [0, *[_PERIODS * period] * 3])
        habits = rng.choice(len(_HABITS), size=cycles + 1, p=_HABITS)
        # Sequences begin with each habit in turn, without a reset, since power-up is one. A pulse follows soon.
        habits[1:2] = _Habit.PULSE
        habits[0] = (_Habit.FREE, _Habit.STEADY, _Habit.STALLING)[number % 3]
        lengths = rng.integers(1, longest[habits], endpoint=True)
        count = int(np.searchsorted(np.cumsum(lengths), cycles - self.corners)) + 1
        self.habits, self.lengths = habits[:count], lengths[:count]
        self.begins = np.cumsum(self.lengths) - self.lengths

    def column(self, kind: FixedType, resetting: bool) -> IntArray:
        """Return the raw values of one element."""
        count = self.cycles - self.corners
        first = [0 if resetting else _CORNERS[number](kind) for number in range(self.corners)]
        if kind.width == 0:
            rest: IntArray = np.zeros(count, dtype=np.int64)
        elif kind.width == 1:
            rest = self._bits(resetting)[:count] * (kind.raw_min or kind.raw_max)
        else:
            rest = self._numbers(kind)[:count]
        return np.concatenate([np.array(first, dtype=rest.dtype), rest])

    def _spread(self, of_stretches: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.repeat(of_stretches, self.lengths)

    def _bits(self, resetting: bool) -> NDArray[np.int64]:
        rng, habits, count = self.rng, self.habits, len(self.habits)
        if resetting:
            chances = np.where(habits == _Habit.FREE, rng.choice(_RESETS, size=count), 0.0)
            chances[0] = 0.0
        else:
            drawn = rng.random(count)
            kept = (drawn < _STEADY).astype(np.float64)
            free = rng.choice(_CHANCES, size=count)
            chances = np.select([habits == _Habit.FREE, habits == _Habit.STALLING], [free, _STALLING], kept)
        bits = rng.random(int(self.lengths.sum())) < self._spread(chances)
        if resetting:
            bits[self.begins[habits == _Habit.PULSE]] = True
        else:
            bits[self.begins[(habits == _Habit.PULSE) & (drawn % _STEADY < _CHANGING)]] ^= True
        return bits.astype(np.int64)

    def _numbers(self, kind: FixedType) -> IntArray:
        rng, count, cycles = self.rng, len(self.habits), int(self.lengths.sum())
        corners = [value for value in (kind.raw_min, kind.raw_max, -1, 0, 1) if kind.raw_min <= value <= kind.raw_max]
        manner = self._spread(rng.random(count))
        held = np.repeat(_uniform(rng, kind, count), self.lengths)
        extreme = np.array(corners, dtype=held.dtype)[rng.integers(0, len(corners), size=cycles)]
        found = np.where(manner < _HELD + _EXTREME, extreme, _uniform(rng, kind, cycles))
        return np.where(manner < _HELD, held, found)


def _uniform(rng: np.random.Generator, kind: FixedType, count: int) -> IntArray:
    if kind.width <= _WIDEST:
        return rng.integers(kind.raw_min, kind.raw_max, size=count, endpoint=True)
    size = -(-kind.width // 8)
    data = rng.bytes(size * count)
    raws = (int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))
    return np.array([raw % (1 << kind.width) + kind.raw_min for raw in raws], dtype=object)
