"""Sequences for the inputs of a machine: a row of exact numbers for each input signal and cycle, from power-up."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dais_verif.errors import InputError
from dais_verif.machine import Machine
from dais_verif.program import FixedType
from dais_verif.stimulus.sequences import read_sequences

__all__ = ["InputSequence", "generate_sequence", "given_sequences"]


class InputSequence(NamedTuple):
    """So many ``cycles``, and for each input signal a row of exact numbers a cycle."""

    cycles: int
    rows: Mapping[str, Sequence[Sequence[Fraction]]]


#: Cycles of a stretch in which each element keeps to one habit.
_SHORTEST, _LONGEST = 1, 32
#: How likely single bits are 1: enables and flags must stay, and change, and do so at once.
_CHANCES = (0.0, 0.1, 0.5, 0.5, 0.9, 1.0)
#: The same of resets: few and short, or nothing else would be seen.
_RESETS = (0.0, 0.0, 0.0, 0.0, 0.02, 0.02, 0.1, 0.5)

#: What all elements hold in the first cycles, other than resets.
_CORNERS: tuple[Callable[[FixedType], int], ...] = (
    lambda kind: 0,
    lambda kind: kind.raw_max,
    lambda kind: kind.raw_min,
)


def generate_sequence(machine: Machine, cycles: int, seed: int = 0) -> InputSequence:
    """``cycles`` cycles for the inputs of ``machine``: corners, then stretches in which every element has a habit.

    It is at random, held, at its extremes, or a bit that is 1 more or less often; resets are short or seldom.
    """
    chance = random.Random(f"{seed} {cycles}")
    resets = {(s.reset.signal, s.reset.start) for s in machine.registers if s.reset is not None}
    raw: dict[str, list[list[int]]] = {signal.name: [] for signal in machine.inputs}
    lengths = [1] * len(_CORNERS)
    while sum(lengths) < cycles:
        lengths.append(chance.randint(_SHORTEST, _LONGEST))
    for number, length in enumerate(lengths):
        for signal in machine.inputs:
            columns = []
            for element, kind in enumerate(signal.types):
                resetting = (signal.name, element) in resets
                if number < len(_CORNERS):
                    columns.append([0 if resetting else _CORNERS[number](kind)])
                else:
                    columns.append(_column(kind, length, resetting, chance))
            raw[signal.name] += [[column[t] for column in columns] for t in range(length)]
    rows = {
        signal.name: [
            [_real(value, kind) for value, kind in zip(row, signal.types, strict=True)]
            for row in raw[signal.name][:cycles]
        ]
        for signal in machine.inputs
    }
    return InputSequence(cycles, rows)


def _column(kind: FixedType, length: int, resetting: bool, chance: random.Random) -> list[int]:
    """Raw values of one element for ``length`` cycles."""
    if kind.width == 0:
        return [0] * length
    if kind.width == 1:
        often = chance.choice(_RESETS if resetting else _CHANCES)
        return [(kind.raw_min or kind.raw_max) * (chance.random() < often) for _ in range(length)]
    corners = [value for value in (kind.raw_min, kind.raw_max, -1, 0, 1) if kind.raw_min <= value <= kind.raw_max]
    habit = chance.random()
    if habit < 0.15:
        return [chance.randint(kind.raw_min, kind.raw_max)] * length
    if habit < 0.4:
        return [chance.choice(corners) for _ in range(length)]
    return [chance.randint(kind.raw_min, kind.raw_max) for _ in range(length)]


def _real(raw: int, kind: FixedType) -> Fraction:
    return Fraction(raw, 2**kind.f) if kind.f >= 0 else Fraction(raw * 2**-kind.f)


def given_sequences(path: Path, machine: Machine) -> list[InputSequence]:
    """The sequences in the file ``path``, exactly. Raises ``InputError`` that names file, signal and rule."""
    arrays, _ = read_sequences(path, {signal.name: len(signal.types) for signal in machine.inputs})
    if not arrays:
        raise InputError.of(
            "{path}: the machine has no inputs; {vectors} says how many cycles are simulated", path=path
        )
    if len({array.shape[:2] for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"{path}: the inputs differ in their numbers of sequences or cycles: {shapes}")
    for name, array in arrays.items():
        whole = array.dtype.kind in "iub" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)
        if not whole or not np.isfinite(array).all():
            raise InputError(f"{path}: {name} must hold finite numbers, integers or floats of at most 64 bits")
    sequences, cycles = next(iter(arrays.values())).shape[:2]
    return [
        InputSequence(
            cycles,
            {name: [[Fraction(v) for v in row] for row in array[number].tolist()] for name, array in arrays.items()},
        )
        for number in range(sequences)
    ]
