"""Find input vectors on which RTL and program differ, by evaluating both on many vectors at once.

Values of the program come from op semantics, values of the RTL from its cones: both are the prover's own model. A
vector is shown to users only after the golden model and simulators have confirmed it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.prover.boundary import Boundary
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Cone, Netlist, Read, Signal
from dais_verif.prover.obligations import Obligation
from dais_verif.prover.op_semantics import bits_of, interpret_op, interpret_output
from dais_verif.prover.terms import Term, const, extract, leaves, var
from dais_verif.prover.terms.evaluate import Values, evaluate
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Element

__all__ = ["WORD", "Trace", "Wires", "differing_outputs", "differing_rows", "differs", "random_vectors", "trace"]
__all__ += ["variations"]

#: One array per input, shape (rows,): the bits of the input in each row, as Python integers.
Columns = list[NDArray[Any]]
Bools = NDArray[np.bool_]


def random_vectors(elements: Sequence[Element], rows: int, seed: int) -> Columns:
    """Return the bits of every input in ``rows`` vectors.

    The first five rows hold corner values. In the other rows, a quarter of the values have fewer ones, and an eighth
    are corner values again.
    """
    rng = random.Random(seed)
    columns = []
    for element in elements:
        top = (1 << element.width) - 1
        corners = [0, top, top >> 1, (top >> 1) + 1 & top, min(1, top)]
        column = [corners[row % 5] if row < 5 else _bits(rng, element.width, row) for row in range(rows)]
        columns.append(np.array(column, dtype=object))
    return columns


def _bits(rng: random.Random, width: int, row: int) -> int:
    if not width:
        return 0
    kind = row % 4
    if kind == 0 and rng.random() < 0.5:
        return rng.choice((0, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 1))
    value = rng.getrandbits(width)
    return value & rng.getrandbits(width) if kind == 1 else value


def variations(elements: Sequence[Element], vector: Mapping[int, int], rows: int, seed: int) -> Columns:
    """Return vectors with the inputs in ``vector`` as given.

    In the first row, all other inputs are 0; in the other rows, they are random.
    """
    columns = random_vectors(elements, rows, seed)
    for j, column in enumerate(columns):
        if j in vector:
            column[:] = vector[j]
        else:
            column[0] = 0
    return columns


#: Signals with more bits that only carry other signals are not evaluated themselves: readers read their parts.
WORD = 64


class Trace:
    """The values of all ops on some vectors.

    ``broken``: rows in which any op breaks its promise. ``by``: for each op, the rows in which it breaks its promise
    while all ops that it depends on keep theirs.
    """

    def __init__(self, inputs: Columns, values: list[Values], broken: Bools, by: dict[int, Bools]) -> None:
        self.inputs, self.values, self.broken, self.by = inputs, values, broken, by

    @property
    def rows(self) -> int:
        """The number of vectors."""
        return len(self.broken)

    def vector(self, row: int) -> tuple[int, ...]:
        """Return the bits of every input in ``row``."""
        return tuple(int(column[row]) for column in self.inputs)


def trace(
    program: Program, elements: Sequence[Element], inputs: Columns, rows: int, ops: Sequence[int] | None = None
) -> Trace:
    """Evaluate the program on ``inputs``: one column per input, with the bits that ``elements`` describes.

    ``ops``: the ops to evaluate, in SSA order and with all ops that they read; None: all ops.
    """
    values: list[Values] = [np.zeros(0, dtype=object)] * program.n_ops
    broken = np.zeros(rows, dtype=bool)
    by: dict[int, Bools] = {}
    spoilt: dict[int, Bools] = {}  # rows in which the op depends on a broken promise
    for op in program.ops if ops is None else map(program.ops.__getitem__, ops):
        element = elements[op.id0] if op.code == INPUT else None
        if element is not None:
            operands = [var(element.width, "v0")] if element.width else []
            columns = [inputs[op.id0]] if element.width else []
        else:
            operands = [var(bits_of(program.ops[i].type), f"v{n}") for n, i in enumerate(op.operands)]
            columns = [values[i] for i in op.operands]
        meant = interpret_op(program, op, operands, element)
        value, kept = evaluate([meant.value, meant.kept], dict(zip(operands, columns, strict=True)))
        values[op.index] = _column(value, rows)
        if op.spec.promise:
            lost = np.broadcast_to(np.asarray(kept == 0, dtype=bool), (rows,))
            broken |= lost
        else:
            lost = np.zeros(rows, dtype=bool)
        before = [spoilt[i] for i in op.operands if i in spoilt]
        if lost.any():
            by[op.index] = lost & ~np.logical_or.reduce(before) if before else lost
        if before or lost.any():
            spoilt[op.index] = np.logical_or.reduce([lost, *before])
    return Trace(inputs, values, broken, by)


def _column(value: Values, rows: int) -> Values:
    return np.broadcast_to(value, (rows,)) if len(value) != rows else value


def differing_rows(obligation: Obligation, found: Trace) -> Bools:
    """Return the rows in which an obligation fails with undefined bits at 0 or at 1: bool, shape (rows,)."""
    given: dict[Term, Values] = {}
    for term, source in obligation.variables().items():
        column = found.inputs[source.number] if source.kind == "input" else found.values[source.number]
        given[term] = column if source.kind == "input" else _low_bits(column, term.width)
    return _both_ways([obligation.rtl, obligation.wanted], given, found.rows, lambda a, b: a != b)


def _low_bits(column: Values, width: int) -> Values:
    return column.astype(object) & ((1 << width) - 1)


def _both_ways(roots: Sequence[Term], given: dict[Term, Values], rows: int, judge: Callable[..., Any]) -> Bools:
    """Return the rows in which ``judge`` holds for the values of ``roots``, with undefined bits all 0 or all 1."""
    result = np.zeros(rows, dtype=bool)
    free = [t for t in leaves(*roots) if t not in given]
    for ones in (False, True):
        guess = {t: np.full(rows, (1 << t.width) - 1 if ones else 0, dtype=object) for t in free}
        values = evaluate(roots, {**given, **guess})
        result |= np.broadcast_to(np.asarray(judge(*values), dtype=bool), (rows,))
        if not free:
            break
    return result


def differing_outputs(
    program: Program, boundary: Boundary, netlist: Netlist, cut: Mapping[int, Signal], found: Trace
) -> list[tuple[int, Bools]]:
    """Return for each claimed output the rows in which the RTL, evaluated as a whole, differs from the program."""
    # Registers are evaluated only once, not for each reader, since wide registers may be read bit by bit.
    clocked = {s for s in netlist.signals.values() if any(driver.clock for driver in s.drivers)}
    wires = [Wires(boundary, {*cut.values(), *clocked}, found, ones) for ones in (False, True)]
    return [(j, differs(program, boundary, j, wires, found)) for j in boundary.claimed]


def differs(program: Program, boundary: Boundary, number: int, wires: Sequence[Wires], found: Trace) -> Bools:
    """Return the rows in which output ``number`` of the RTL is wrong.

    ``wires``: the RTL with undefined bits 0 and then, if any are read, with undefined bits 1.
    """
    wanted, given = const(1, 0), {}
    if boundary.own[number].width:
        op, _, negated = program.outputs[number]
        kind = program.ops[op].type
        operand = var(bits_of(kind), "v0")
        wanted, given = interpret_output(kind, operand, negated), {operand: found.values[op]}
    bits = var(max(boundary.outputs[number].width, 1), "found")
    pair = boundary.as_numbers(number, bits, wanted)
    rows = np.zeros(found.rows, dtype=bool)
    for one in wires:
        if one.ones and not wires[0].guesses:
            break
        column = one.evaluated(partial(boundary.result, number))
        is_, must_be = evaluate(pair, {**given, bits: column})
        rows |= np.broadcast_to(np.asarray(is_ != must_be, dtype=bool), rows.shape)
    return rows


class Wires:
    """The RTL evaluated signal by signal; undefined bits are 1 if ``ones``, else 0.

    ``stops``: signals whose values are stored in ``values`` when they are first read.
    """

    def __init__(self, boundary: Boundary, stops: set[Signal], found: Trace, ones: bool) -> None:
        self._boundary, self._inputs, self._rows, self.ones = boundary, found.inputs, found.rows, ones
        # Wide signals that only carry other signals are read part by part.
        self._stops = {signal for signal in stops if signal.width <= WORD or any(not d.part for d in signal.drivers)}
        #: Whether anything undefined was read.
        self.guesses = False
        self.values: dict[Signal, Values] = {}
        #: For each signal in ``values``, what it reads: inputs, by number, and stops.
        self.sources: dict[Signal, tuple[Signal | int, ...]] = {}
        self._terms: dict[Signal, tuple[Term, dict[Term, Signal | int]]] = {}

    def changed(self, new: Mapping[Signal, Values]) -> Wires:
        """Return the RTL in which the signals ``new`` have other values, and all that depends on them follows."""
        other = copy(self)
        other.values, other.sources, other._terms = {**self.values, **new}, dict(self.sources), dict(self._terms)
        dirty = set(new)
        for signal, (term, reads) in self._terms.items():  # a signal comes after all that it reads
            if signal not in new and not dirty.isdisjoint(self.sources[signal]):
                other.values[signal] = value = other._value(term, reads)
                if not np.array_equal(value, self.values[signal]):
                    dirty.add(signal)
        return other

    def evaluated(self, make: Callable[[Read], Term]) -> Values:
        """Evaluate a term, after all stops that it reads; without recursion, since chains are long."""
        waiting: list[Signal | None] = [None]
        terms: dict[Signal | None, tuple[Term, dict[Term, Signal | int]]] = {}
        while True:
            signal = waiting[-1]
            require_time()
            if signal is None and signal not in terms:
                terms[signal] = self._term(lambda cone: make(cone.read))
            if signal is not None and signal in self.values:  # it has already been evaluated for another reader
                waiting.pop()
                continue
            if signal is not None and signal not in terms:
                terms[signal] = self._term(partial(Cone.behind, signal=signal))
            term, reads = terms[signal]
            needed = dict.fromkeys(source for source in reads.values() if isinstance(source, Signal))
            missing = [source for source in needed if source not in self.values]
            circular = {source for source in missing if source in terms}
            if circular:  # some bits of a vector depend on other bits of the same vector: read it bit by bit
                self._stops -= circular
                waiting, terms = [None], {}
                continue
            if missing:
                waiting += missing
                continue
            del terms[signal]
            waiting.pop()
            value = self._value(term, reads)
            if signal is None:
                return value
            self.values[signal] = value
            self.sources[signal] = tuple(reads.values())
            self._terms[signal] = term, reads

    def _value(self, term: Term, reads: Mapping[Term, Signal | int]) -> Values:
        given: dict[Term, Values] = {}
        for t, source in reads.items():
            given[t] = self.values[source] if isinstance(source, Signal) else self._inputs[source]
        for t in leaves(term):
            if t not in given:
                self.guesses = True
                given[t] = np.full(self._rows, (1 << t.width) - 1 if self.ones else 0, dtype=object)
        (value,) = evaluate([term], given)
        return _column(value, self._rows)

    def sources_of(self, make: Callable[[Read], Term]) -> frozenset[Signal | int]:
        """Return the stops and the inputs, by number, that a term reads."""
        return frozenset(self._term(lambda cone: make(cone.read))[1].values())

    def _term(self, make: Callable[[Cone], Term]) -> tuple[Term, dict[Term, Signal | int]]:
        """Return a term over inputs and stops, and the input or signal for which each variable stands."""
        reads: dict[Term, Signal | int] = {}

        def element(number: int) -> Term:
            term = var(self._boundary.inputs[number].width, f"input {number}")
            reads[term] = number
            return term

        def cut(signal: Signal, low: int, width: int) -> Term | None:
            if signal not in self._stops:
                return self._boundary.given(signal, low, width, element)
            term = var(signal.width, f"wire {signal.name}")
            reads[term] = signal
            return extract(term, low, width)

        term = make(Cone(cut))
        return term, reads
