"""Which bits of the RTL's registers hold which elements of the machine's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.machine import Machine
from dais_verif.machine.ports import bits_of, offsets_of, signal_names
from dais_verif.machine.step import Element, Step
from dais_verif.prover.machines.registers import Open, Place

__all__ = ["Run", "match_by_name"]


class Run(NamedTuple):
    """``place`` holds bits of element number ``element`` of the state, from its bit ``at`` on."""

    place: Place
    element: int
    at: int


def match_by_name(machine: Machine, step: Step, opened: Open) -> list[Run]:
    """What the names of signals say: a vector of a register's name and width, or a word a name for equal parts of it.

    A name only proposes; the proof shows whether it is right.
    """
    numbers = {element: number for number, element in enumerate(step.state)}
    names, signals = signal_names(machine), opened.named
    found: list[Run] = []
    for register in machine.registers:
        width, offsets = bits_of(register.types), offsets_of(register.types)
        for name in dict.fromkeys((names[register.name], register.name)):
            whole = signals.get(name)
            rows = [(0, whole)] if whole is not None and f"{name}[0]" not in signals else []
            if whole is not None and not rows:
                words = [signals[f"{name}[{n}]"] for n in range(whole.width) if f"{name}[{n}]" in signals]
                rows = [(number * words[0].width, word) for number, word in enumerate(words)]
            if not rows or sum(word.width for _, word in rows) != width:
                continue
            elements = [numbers.get(Element(register.name, place)) for place in range(len(register.types))]
            for low, word in rows:
                for at, place in opened.held(word, 0, word.width):
                    found += _runs(place, low + at, elements, offsets)
            break
    return found


def _runs(place: Place, low: int, elements: Sequence[int | None], offsets: Sequence[int]) -> list[Run]:
    """``place`` holds bits ``low`` and on of a register: which elements these are of."""
    found = []
    for number, element in enumerate(elements):
        first, last = max(low, offsets[number]), min(low + place.width, offsets[number + 1])
        if element is not None and first < last:
            part = Place(place.signal, place.low + first - low, last - first)
            found.append(Run(part, element, first - offsets[number]))
    return found
