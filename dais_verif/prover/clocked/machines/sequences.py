"""Run RTL and machine side by side on many random sequences from power-up, to find a difference."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.clocked.machines.both_sides import RtlCycle, initial_bits, port_values
from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.netlist import Signal
from dais_verif.prover.random_simulation import trace
from dais_verif.prover.terms import Term, extract, leaves
from dais_verif.prover.terms.evaluate import evaluate, narrow
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import offsets_of, port_names
from dais_verif.spec.machine.step import Element, Step
from dais_verif.spec.program.ports import ports_of

__all__ = ["Found", "PromisesKept", "Watch", "after_edge", "run_side_by_side"]

Column = NDArray[Any]


class Found(NamedTuple):
    """A sequence on which ``output`` is wrong in the last cycle.

    ``inputs``: one row per cycle, with the bits of every element of the inputs.
    """

    inputs: tuple[tuple[int, ...], ...]
    output: str


class Watch:
    """Base class of objects that receive each cycle of a run; this class ignores the cycles."""

    def cycle(self, valid: Column, state: Sequence[Column], held: Mapping[Place, Column]) -> None:
        """Receive one cycle of all sequences.

        ``valid``: the sequences in which no promise has been broken. ``state``: the bits of the machine's elements
        before the edge. ``held``: the bits of the RTL's registers before the edge.
        """


class PromisesKept(Watch):
    """Counts the ``cycles`` in which any sequence kept all promises. ``broken``: none kept them in the last cycle."""

    def __init__(self) -> None:
        self.cycles, self.broken = 0, False

    def cycle(self, valid: Column, state: Sequence[Column], held: Mapping[Place, Column]) -> None:
        """Count the cycle if any sequence is ``valid``."""
        self.broken = not valid.any()
        self.cycles += not self.broken


def run_side_by_side(
    machine: Machine,
    step: Step,
    opened: Open,
    rtl: RtlCycle,
    *,
    sequences: int,
    cycles: int,
    seconds: float,
    seed: int,
    watch: Watch | None = None,
    stop: bool = True,
    unknown: int = 0,
) -> Found | None:
    """Run both sides from power-up until an output differs while the machine keeps its promises, or time is over.

    ``stop``: False continues the run after a difference. ``unknown``: the value, masked to each width, of uninitialised
    elements of the machine. If ``step`` tracks unknown bits, unknown outputs never differ.
    """
    watch = watch or Watch()
    end = time.monotonic() + seconds
    program, elements = step.program, ports_of(step.program).inputs
    stimulus = _Stimulus([element.width for element in elements[: len(step.inputs)]], sequences, seed)
    rng = random.Random(seed)
    initial = initial_bits(machine, step)
    n_out, n_state = len(step.outputs), len(step.state)
    widths = [element.width for element in elements[len(step.inputs) : len(step.inputs) + n_state]]
    state = [
        _column(sequences, unknown & ((1 << width) - 1) if bits is None else bits)
        for bits, width in zip(initial, widths, strict=True)
    ]
    hidden = [_column(sequences, int(bits is None)) for bits in initial] if step.unknowns else []
    held = {place: _first(opened, place, sequences, rng) for place in opened.clocked}
    valid = np.ones(sequences, dtype=bool)
    given: list[list[Column]] = []
    first: Found | None = None
    names = port_names(machine)
    for cycle in range(cycles):
        columns = stimulus.cycle(cycle)
        given.append(columns)
        found = trace(program, elements, [*columns, *state, *hidden], sequences)
        valid &= ~found.broken
        watch.cycle(valid, state, held)
        values = [found.values[index].astype(object) for index, _, _ in program.outputs]
        of_element = dict(zip(step.outputs, values, strict=False))
        unknowns = dict(zip(step.outputs, values[n_out + n_state :], strict=False))
        inputs = port_values(machine, dict(zip(step.inputs, columns, strict=True)), _joined)
        outputs, after = after_edge(rtl, opened, inputs, _whole(opened, held, sequences), sequences)
        wrong = None if first is not None else _first_wrong(machine, names, outputs, of_element, unknowns, valid)
        if wrong is not None:
            row, output = wrong
            first = Found(tuple(tuple(int(column[row]) for column in each) for each in given), output)
        if first is not None and stop:
            return first
        state, held = values[n_out : n_out + n_state], after
        hidden = values[2 * n_out + n_state :]
        if time.monotonic() > end or not valid.any():
            break
    return first


def _first_wrong(
    machine: Machine,
    names: Mapping[str, str],
    outputs: Mapping[str, Column],
    wanted: Mapping[Element, Column],
    unknowns: Mapping[Element, Column],
    valid: NDArray[np.bool_],
) -> tuple[int, str] | None:
    """Return the number of a sequence in which an output is wrong, and that output; None if there is none."""
    for signal in machine.outputs:
        port = outputs.get(names[signal.name])
        if port is None:
            continue
        for place, (low, kind) in enumerate(zip(offsets_of(signal.types), signal.types, strict=False)):
            if kind.width:
                bits, element = (port >> low) & ((1 << kind.width) - 1), Element(signal.name, place)
                wrong = np.asarray(bits != wanted[element], dtype=np.bool_) & valid
                if element in unknowns:
                    wrong &= np.asarray(unknowns[element] == 0, dtype=np.bool_)
                if wrong.any():
                    return int(np.argmax(wrong)), f"{signal.name}[{place}]"
    return None


def _whole(opened: Open, held: Mapping[Place, Column], rows: int) -> dict[Signal, Column]:
    """Join the parts of registers to the values of whole signals."""
    found = {signal: _column(rows, 0) for signal in opened.now}
    for place, column in held.items():
        found[place.signal] = found[place.signal] | (column << place.low)
    return found


def after_edge(
    rtl: RtlCycle, opened: Open, inputs: Mapping[str, Column], held: Mapping[Signal, Column], rows: int
) -> tuple[dict[str, Column], dict[Place, Column]]:
    """Return outputs by port, and register values after the edge, from ``inputs`` by port and ``held`` by register."""
    known: dict[Signal, Column] = {opened.now[signal]: column for signal, column in held.items()}
    for name, column in inputs.items():
        known[opened.netlist.signals[name]] = column

    if rtl.gates is not None:
        numbers = rtl.gates.evaluate(known, rows)
        return {n: numbers[t] for n, t in rtl.outputs.items()}, {p: numbers[t] for p, t in rtl.after.items()}

    def evaluated(terms: Sequence[Term]) -> list[Column]:
        given = {leaf: _of(rtl, known, leaf, rows) for leaf in leaves(*terms)}
        return [_spread(found.astype(object), rows) for found in evaluate(terms, given)]

    for signal, term in rtl.steps:
        (known[signal],) = evaluated([term])
    # Evaluate narrow terms together, since they share subterms; wide terms would slow down all others.
    found: dict[Term, Column] = {}
    terms = dict.fromkeys((*rtl.outputs.values(), *rtl.after.values()))
    small = [term for term in terms if narrow(term)]
    wide = [[term] for term in terms if not narrow(term)]
    for group in (small, *wide):
        found.update(zip(group, evaluated(group), strict=True))
    return {name: found[t] for name, t in rtl.outputs.items()}, {place: found[t] for place, t in rtl.after.items()}


def _of(rtl: RtlCycle, known: Mapping[Signal, Column], leaf: Term, rows: int) -> Column:
    signal = rtl.signals.get(leaf)
    return known.get(signal, _column(rows, 0)) if signal is not None else _column(rows, 0)


def _first(opened: Open, place: Place, rows: int, rng: random.Random) -> Column:
    """Return the value of a register at power-up; uninitialised bits are random."""
    term = extract(opened.initial[place.signal], place.low, place.width)
    if term.op == "const":
        return _column(rows, term.value)
    free = leaves(term)
    given = {t: np.array([rng.getrandbits(t.width) for _ in range(rows)], dtype=object) for t in free}
    (found,) = evaluate([term], given)
    return _spread(found.astype(object), rows)


def _joined(parts: list[tuple[Column, int]]) -> Column:
    return reduce(lambda a, b: a | b, (column << low for column, low in parts))


def _column(rows: int, value: int) -> Column:
    return np.full(rows, value, dtype=object)


def _spread(column: Column, rows: int) -> Column:
    return column if len(column) == rows else np.broadcast_to(column, (rows,))


class _Stimulus:
    """Random bits for every element of the inputs: uniform, held, or extreme; one-bit elements have varying bias."""

    def __init__(self, widths: Sequence[int], rows: int, seed: int) -> None:
        self._widths, self._rows = widths, rows
        self._rng = np.random.default_rng(seed)
        self._bias = self._rng.choice([0.02, 0.1, 0.5, 0.5, 0.9, 0.98], size=(len(widths), rows))
        self._hold = self._rng.choice([0.0, 0.0, 0.5, 0.9], size=(len(widths), rows))
        self._before = [_column(rows, 0) for _ in widths]

    def cycle(self, number: int) -> list[Column]:
        if number % 16 == 0:
            self._bias = self._rng.permuted(self._bias, axis=1)
        found = []
        for n, width in enumerate(self._widths):
            found.append(self._column(n, width))
        self._before = found
        return found

    def _column(self, n: int, width: int) -> Column:
        rng, rows = self._rng, self._rows
        if width == 0:
            return _column(rows, 0)
        if width == 1:
            return np.asarray(rng.random(rows) < self._bias[n]).astype(object) * 1
        words = [rng.integers(0, 1 << 32, size=rows, dtype=np.uint64).astype(object) for _ in range(-(-width // 32))]
        column = reduce(lambda a, b: (a << 32) | b, words) & ((1 << width) - 1)
        corners = np.array([0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1], dtype=object)
        extreme = rng.random(rows) < 0.15
        column = np.where(extreme, corners[rng.integers(0, 5, size=rows)], column)
        return np.where(rng.random(rows) < self._hold[n], self._before[n], column)
