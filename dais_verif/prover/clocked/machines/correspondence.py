"""Find which register bits of the RTL hold which elements of the machine's state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.netlist import Signal
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of, offsets_of, signal_names
from dais_verif.spec.machine.step import Element, Step
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Meaning", "Run", "match_by_name", "runs_of"]


#: The pattern of names of a bit or word of a vector, or of a bit of a word.
_PART = re.compile(r"(.+?)\[(\d+)\](?:\[(\d+)\])?")


class Run(NamedTuple):
    """A part of a register, ``place``, and the bits of the machine's state that it holds.

    These are the bits of element ``element`` from bit ``at`` on, or zeros if ``element`` is None. ``inverted``: the
    place holds their complement.
    """

    place: Place
    element: int | None
    at: int
    inverted: bool = False

    def bits(self) -> Iterator[tuple[tuple[Signal, int], Meaning]]:
        """Yield each bit of the place with its meaning."""
        for n in range(self.place.width):
            at = 0 if self.element is None else self.at + n
            yield (self.place.signal, self.place.low + n), Meaning(self.element, at, self.inverted)


class Meaning(NamedTuple):
    """The content of a register bit of the RTL: bit ``at`` of an element of the state, or 0.

    ``element``: None for 0. ``inverted``: the register bit holds the complement.
    """

    element: int | None
    at: int
    inverted: bool = False

    @property
    def following(self) -> Meaning:
        """The meaning of the next bit of a vector."""
        return self if self.element is None else self._replace(at=self.at + 1)


def runs_of(bits: Mapping[tuple[Signal, int], Meaning]) -> list[Run]:
    """Return ``bits`` as runs of maximal length, in the given order."""
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
    """Propose a correspondence by the names of signals.

    A signal may have the name and width of a machine register, or there may be one signal per word. In a netlist, each
    bit may have its own name, and unused bits may be missing. For registers without such names, outputs of the machine
    that are elements of its state give a proposal. Names take precedence over outputs. The proof decides whether a
    proposal is right.
    """
    numbers = {element: number for number, element in enumerate(step.state)}
    names, signals = signal_names(machine), opened.named
    parts = _parts(signals)
    found: list[Run] = []
    for register in machine.registers:
        width, offsets = bits_of(register.types), offsets_of(register.types)
        for name in dict.fromkeys((names[register.name], register.name)):
            rows = _rows(signals, name, width) or _scattered(parts.get(name, []), width)
            if not rows:
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


def _rows(signals: Mapping[str, Signal], name: str, width: int) -> list[tuple[int, Signal]]:
    """Return vector ``name``, or the words of array ``name``, with their lowest bits; empty if ``width`` differs."""
    whole = signals.get(name)
    if whole is None:
        return []
    rows = [(0, whole)]
    if f"{name}[0]" in signals:
        words = [signals[f"{name}[{n}]"] for n in range(whole.width) if f"{name}[{n}]" in signals]
        rows = [(number * words[0].width, word) for number, word in enumerate(words)]
    return rows if sum(word.width for _, word in rows) == width else []


def _parts(signals: Mapping[str, Signal]) -> dict[str, list[tuple[int, int | None, Signal]]]:
    """Return, by the name of the vector, the signals named after its bits, its words, or bits of its words."""
    found: dict[str, list[tuple[int, int | None, Signal]]] = {}
    for name, signal in signals.items():
        match = _PART.fullmatch(name) if name.endswith("]") else None
        if match is not None:
            bit = None if match[3] is None else int(match[3])
            found.setdefault(match[1], []).append((int(match[2]), bit, signal))
    return found


def _scattered(parts: Sequence[tuple[int, int | None, Signal]], width: int) -> list[tuple[int, Signal]]:
    """Return the signals of parts of a vector of ``width`` bits, each with its lowest bit; empty if they do not fit."""
    words = 1 + max((number for number, _, _ in parts), default=0)
    size = width // words
    if all(bit is None for _, bit, _ in parts):
        size = parts[0][2].width if parts else 0
    rows = [(number * size + (bit or 0), signal) for number, bit, signal in parts]
    inside = all((bit or 0) + signal.width <= size for _, bit, signal in parts)
    return rows if inside and words * size <= width else []


def _shown_by_outputs(machine: Machine, step: Step, opened: Open, known: Set[int | None]) -> list[Run]:
    """Propose a correspondence for elements that are outputs of the machine.

    Synthesis keeps only one name of a net, and this may be the name of the output.
    """
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
    """Return the runs of ``place``, which holds the bits of a machine register from bit ``low`` on."""
    found = []
    for number, element in enumerate(elements):
        first, last = max(low, offsets[number]), min(low + place.width, offsets[number + 1])
        if element is not None and first < last:
            part = Place(place.signal, place.low + first - low, last - first)
            found.append(Run(part, element, first - offsets[number]))
    return found
