"""Which bits of the RTL's registers hold which elements of the machine's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from dais_verif.machine import Machine
from dais_verif.machine.ports import bits_of, offsets_of, signal_names
from dais_verif.machine.step import Element, Step
from dais_verif.program.opcodes import INPUT
from dais_verif.prover.machines.registers import Open, Place
from dais_verif.prover.netlist import Signal

__all__ = ["Meaning", "Run", "match_by_name", "runs_of"]


class Run(NamedTuple):
    """``place`` holds bits of element number ``element`` of the state, from its bit ``at`` on; zeros if that is None.

    ``inverted``: it holds the complement of these bits.
    """

    place: Place
    element: int | None
    at: int
    inverted: bool = False

    def bits(self) -> Iterator[tuple[tuple[Signal, int], Meaning]]:
        """Each bit of the place, and what it holds."""
        for n in range(self.place.width):
            at = 0 if self.element is None else self.at + n
            yield (self.place.signal, self.place.low + n), Meaning(self.element, at, self.inverted)


class Meaning(NamedTuple):
    """What a bit of the RTL's registers holds: bit ``at`` of an element of the state, or 0; or the complement."""

    element: int | None
    at: int
    inverted: bool = False

    @property
    def following(self) -> Meaning:
        """What the next bit of a vector holds."""
        return self if self.element is None else self._replace(at=self.at + 1)


def runs_of(bits: Mapping[tuple[Signal, int], Meaning]) -> list[Run]:
    """``bits`` as runs, each as long as can be, in the order in which they are given."""
    found: list[Run] = []
    for (signal, bit), meaning in bits.items():
        last = found[-1] if found else None
        if last is not None and last.place.signal is signal and last.place.low + last.place.width == bit:
            *_, (_, before) = last.bits()
            if before.following == meaning:
                found[-1] = last._replace(place=last.place._replace(width=last.place.width + 1))
                continue
        found.append(Run(Place(signal, bit, 1), *meaning))
    return found


def match_by_name(machine: Machine, step: Step, opened: Open) -> list[Run]:
    """What the names of signals say: a vector of a register's name and width, or a word a name for equal parts of it.

    Where no name does, an output may show what a register holds. Either only proposes; the proof shows if it is right.
    A bit that is proposed for several things, as of a register that an output shows too early, is what its name says.
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
    found += _shown_by_outputs(machine, step, opened, {run.element for run in found})
    bits: dict[tuple[Signal, int], Meaning] = {}
    for run in found:
        for bit, meaning in run.bits():
            bits.setdefault(bit, meaning)
    return runs_of(bits)


def _shown_by_outputs(machine: Machine, step: Step, opened: Open, known: Set[int | None]) -> list[Run]:
    """The same of elements that an output of the machine is, as synthesis leaves only one name of a net."""
    program, names, n_in = step.program, signal_names(machine), len(step.inputs)
    shown = dict(zip(step.outputs, (program.ops[index] for index, _, _ in program.outputs), strict=False))
    found: list[Run] = []
    for signal in machine.outputs:
        port = opened.netlist.signals.get(names[signal.name])
        ops = [shown[Element(signal.name, place)] for place in range(len(signal.types))]
        numbers = [op.id0 - n_in if op.code == INPUT and op.id0 >= n_in else None for op in ops]
        elements = [None if number in known else number for number in numbers]
        if port is not None and any(number is not None for number in elements):
            for at, place in opened.held(port, 0, port.width):
                found += _runs(place, at, elements, offsets_of(signal.types))
            known = {*known, *elements}
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
