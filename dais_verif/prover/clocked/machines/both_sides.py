"""Machine and RTL as terms, to run both side by side, cycle by cycle: on many random sequences or in a solver.

The RTL runs on its own registers, independent of any correspondence. This is the prover's own model of both sides:
before callers show a sequence to users, golden model and simulators must confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.patterns import columns, simulate, value_of
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.terms import Term, extract, leaves, var
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of, offsets_of, port_names
from dais_verif.spec.machine.step import Element, Step

__all__ = ["Gates", "RtlCycle", "initial_bits", "port_values", "read_rtl"]


_T = TypeVar("_T")


@dataclass(frozen=True)
class RtlCycle:
    """One cycle of the RTL.

    ``steps``: intermediate signals in order, each with its term over earlier signals. ``outputs``: the value of each
    output, by port. ``after``: the value of each part of a register after the edge. ``signals``: what the variables of
    terms stand for: input ports, register values and intermediate signals.
    """

    steps: tuple[tuple[Signal, Term], ...]
    outputs: Mapping[str, Term]
    after: Mapping[Place, Term]
    signals: Mapping[Term, Signal]

    @cached_property
    def gates(self) -> Gates | None:
        """Outputs and next register values as gates; None if there are intermediate signals."""
        return None if self.steps else Gates([*self.outputs.values(), *self.after.values()], self.signals)


def read_rtl(machine: Machine, opened: Open, on_the_way: Sequence[Signal]) -> RtlCycle:
    """Read one cycle of the RTL, before its registers are tied to the registers of the machine.

    ``on_the_way``: intermediate signals for which terms get variables; this limits the size of terms.
    """
    netlist, names = opened.netlist, port_names(machine)
    ports = [netlist.signals[names[s.name]] for s in machine.outputs if names[s.name] in netlist.outputs]
    reader = _Reader(netlist, opened, set(on_the_way) - {netlist.signals[name] for name in netlist.inputs})
    outputs = {port.name: reader.term(Place(port, 0, port.width)) for port in ports}
    after = {place: reader.term(place._replace(signal=opened.after[place.signal])) for place in opened.clocked}
    return RtlCycle(tuple(reader.steps.items()), outputs, after, reader.signals)


class _Reader:
    def __init__(self, netlist: Netlist, opened: Open, stops: set[Signal]) -> None:
        self._stops = stops
        self._leaves = {*(netlist.signals[name] for name in netlist.inputs), *opened.now.values()}
        self.signals: dict[Term, Signal] = {}
        self.steps: dict[Signal, Term] = {}
        self._cone = Cone(self._cut)

    def _cut(self, signal: Signal, low: int, width: int) -> Term | None:
        if signal not in self._leaves and signal not in self._stops:
            return None
        whole = var(signal.width, f"rtl {signal.name}")
        self.signals[whole] = signal
        return extract(whole, low, width)

    def term(self, place: Place) -> Term:
        """Return the term of ``place`` over leaves and steps, and make all steps that the term needs."""
        found = self._cone.read(*place)
        if not self._stops:
            return found
        waiting = [iter(self._needed(found))]
        open_: list[tuple[Signal, Term]] = []
        while waiting:
            signal = next(waiting[-1], None)
            if signal is None:
                waiting.pop()
                if open_:
                    self.steps.setdefault(*open_.pop())
            elif signal not in self.steps and signal not in (s for s, _ in open_):
                behind = self._cone.behind(signal)
                open_.append((signal, behind))
                waiting.append(iter(self._needed(behind)))
        return found

    def _needed(self, term: Term) -> Iterator[Signal]:
        for leaf in leaves(term):
            signal = self.signals.get(leaf)
            if signal is not None and signal in self._stops and signal not in self.steps:
                yield signal


def initial_bits(machine: Machine, step: Step) -> list[int | None]:
    """Return the bits of each element of the state at power-up; None for elements that are not initialised."""
    found: list[int | None] = []
    for name, place in step.state:
        signal = machine.signals[name]
        kind = signal.types[place]
        raw = None if signal.initial is None else int(signal.initial[place] * Fraction(2) ** kind.f)
        found.append(None if raw is None else raw & ((1 << kind.width) - 1))
    return found


def port_values(
    machine: Machine, elements: Mapping[Element, _T], join: Callable[[list[tuple[_T, int]]], _T]
) -> dict[str, _T]:
    """Return the value of each input port, by name.

    ``join``: makes the value of a port from pairs: the value of an element, and its lowest bit in the port.
    """
    names = port_names(machine)
    found = {}
    for signal in machine.inputs:
        if bits_of(signal.types):
            parts = zip(range(len(signal.types)), offsets_of(signal.types), signal.types, strict=False)
            found[names[signal.name]] = join(
                [(elements[Element(signal.name, n)], low) for n, low, kind in parts if kind.width]
            )
    return found


# One cycle of RTL as gates, to evaluate a netlist without named ops on many states at once.


Column = NDArray[Any]


class Gates:
    """``roots`` as gates over the signals for which their variables stand; undefined bits are 0."""

    def __init__(self, roots: Sequence[Term], signals: Mapping[Term, Signal]) -> None:
        self._graph = Aig()
        self._inputs: list[tuple[Signal, int]] = []
        given: dict[Term, Word] = {}
        for leaf in leaves(*roots):
            signal = signals.get(leaf)
            if signal is None:
                given[leaf] = [FALSE] * leaf.width
            else:
                given[leaf] = [self._graph.input() for _ in range(leaf.width)]
                self._inputs.append((signal, leaf.width))
        self._words = dict(zip(roots, blast(self._graph, roots, given), strict=True))

    def evaluate(self, known: Mapping[Signal, Column], rows: int) -> dict[Term, Column]:
        """Return the values of each root: an array of Python integers, shape (rows,).

        ``known``: values of signals, arrays of the same shape; all other signals are 0.
        """
        patterns: list[int] = []
        for signal, width in self._inputs:
            column = known.get(signal)
            patterns += [0] * width if column is None else columns([int(value) for value in column], width)
        values = simulate(self._graph, patterns, rows)
        return {
            root: _numbers([value_of(values, bit, rows) for bit in word], rows) for root, word in self._words.items()
        }


def _numbers(bits: Sequence[int], rows: int) -> Column:
    """Return numbers, shape (rows,), from ``bits``: one integer per bit of the numbers, with one bit per row."""
    size = (rows + 7) // 8
    packed = np.frombuffer(b"".join(bit.to_bytes(size, "little") for bit in bits), dtype=np.uint8)
    table = np.unpackbits(packed.reshape(len(bits), size), axis=1, count=rows, bitorder="little")
    if len(bits) == 1:
        first: Column = table[0].astype(object)
        return first
    turned = np.packbits(table.T, axis=1, bitorder="little")
    return np.array([int.from_bytes(row.tobytes(), "little") for row in turned], dtype=object)
