"""Unroll RTL and machine from power-up, cycle by cycle, so that a solver finds sequences on which they differ."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import NamedTuple

from dais_verif.prover.clocked.machines.both_sides import RtlCycle, initial_bits, port_values
from dais_verif.prover.clocked.machines.correspondence import Run
from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.clocked.machines.sequences import Found
from dais_verif.prover.netlist import Signal
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, bnot, concat, const, eq, extract, leaves, rebuild, var
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import offsets_of, port_names
from dais_verif.spec.machine.step import Element, Step
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import ports_of

__all__ = ["Unrolled", "cycles_until_equal", "search_from_power_up", "unrolled"]


class Unrolled(NamedTuple):
    """Both sides in one cycle, as terms over all inputs so far.

    ``given``: the inputs of each cycle. ``differ``: outputs, each with a bit that is 1 where the two sides differ.
    ``kept``: bits that are 1 where promises were kept so far. ``state``, ``held``: the registers of machine and RTL
    after the edge. ``known``: input ports, register values before the edge, and intermediate signals of the RTL.
    """

    given: list[list[Term | None]]
    differ: list[tuple[str, Term]]
    kept: list[Term]
    state: list[Term]
    held: dict[Place, Term]
    known: dict[Signal, Term]


def search_from_power_up(
    machine: Machine, step: Step, opened: Open, rtl: RtlCycle, *, cycles: int, seconds: float
) -> Found | None:
    """Return a shortest sequence, of at most ``cycles``, that shows a difference; None if the solver finds none.

    ``seconds``: approximate limit for the whole search.
    """
    end = time.monotonic() + seconds
    for run in islice(unrolled(machine, step, opened, rtl), cycles):
        for name, differs in run.differ:
            left = end - time.monotonic()
            if left <= 0:
                return None
            answer = satisfy([differs, *run.kept], left)
            if answer.verdict == "sat":
                rows = [tuple(answer.model.get(t, 0) if t is not None else 0 for t in row) for row in run.given]
                return Found(tuple(rows), name)
        if time.monotonic() > end:
            return None
    return None


def cycles_until_equal(
    machine: Machine, step: Step, opened: Open, rtl: RtlCycle, runs: Sequence[Run], *, cycles: int, seconds: float
) -> int | None:
    """Return the number of edges from power-up after which registers equal the elements to which they correspond.

    This holds for all inputs, and all outputs are equal in the cycles before. Returns None if this is not proved for at
    most ``cycles`` edges within about ``seconds``.
    """
    end = time.monotonic() + seconds
    for number, run in enumerate(islice(unrolled(machine, step, opened, rtl), cycles), 1):
        if not all(_never([differs, *run.kept], end) for _, differs in run.differ):
            return None
        pairs = [(_bits(run.held, r.place), _meant(r, run.state)) for r in runs]
        different = [bnot(same) for a, b in pairs if (same := eq(a, b)) is not const(1, 1)]
        if all(_never([differs, *run.kept], end) for differs in different):
            return number
    return None


def _never(conditions: Sequence[Term], end: float) -> bool:
    left = end - time.monotonic()
    return left > 0 and satisfy(conditions, left).verdict == "unsat"


def _bits(held: Mapping[Place, Term], part: Place) -> Term:
    """Return the value of ``part``, which may have several drivers."""
    parts = []
    for place in sorted((p for p in held if p.signal is part.signal), key=lambda p: p.low, reverse=True):
        first, last = max(place.low, part.low), min(place.low + place.width, part.low + part.width)
        if first < last:
            parts.append(extract(held[place], first - place.low, last - first))
    return concat(*parts)


def _meant(run: Run, state: Sequence[Term]) -> Term:
    if run.element is None:
        return const(run.place.width, -run.inverted)
    found = extract(state[run.element], run.at, run.place.width)
    return bnot(found) if run.inverted else found


def unrolled(
    machine: Machine,
    step: Step,
    opened: Open,
    rtl: RtlCycle,
    start: tuple[Sequence[Term], Mapping[Place, Term]] | None = None,
) -> Iterator[Unrolled]:
    """Yield the cycles in order, from power-up, or from ``start``: registers of the machine and of the RTL."""
    elements = ports_of(step.program).inputs
    names = port_names(machine)
    numbers = {element: number for number, element in enumerate(step.outputs)}
    state: Sequence[Term] = [
        var(element.width, f"state {n}") if bits is None and element.width else const(max(element.width, 1), bits or 0)
        for n, (bits, element) in enumerate(zip(initial_bits(machine, step), elements[len(step.inputs) :], strict=True))
    ]
    held: Mapping[Place, Term] = {p: extract(opened.initial[p.signal], p.low, p.width) for p in opened.clocked}
    state, held = start or (state, held)
    kept: list[Term] = []
    given: list[list[Term | None]] = []
    for cycle in count():
        inputs = [
            var(e.width, f"cycle {cycle} input {n}") if e.width else None
            for n, e in enumerate(elements[: len(step.inputs)])
        ]
        given.append(inputs)
        values, promises = _cycle(step.program, [*inputs, *state])
        kept += [promise for promise in promises if promise is not const(1, 1)]
        found = [values[index] for index, _, _ in step.program.outputs]
        outputs, after, known = _rtl(machine, step, opened, rtl, inputs, held)
        differ: list[tuple[str, Term]] = []
        for signal in machine.outputs:
            port = outputs.get(names[signal.name])
            for place, (low, kind) in enumerate(zip(offsets_of(signal.types), signal.types, strict=False)):
                if port is not None and kind.width:
                    same = eq(extract(port, low, kind.width), found[numbers[Element(signal.name, place)]])
                    if same is not const(1, 1):
                        differ.append((f"{signal.name}[{place}]", bnot(same)))
        state, held = found[len(step.outputs) :], after
        yield Unrolled(given, differ, kept, [*state], after, known)


def _cycle(program: Program, inputs: Sequence[Term | None]) -> tuple[list[Term], list[Term]]:
    """Return the value of every op, and for each op with a promise whether it keeps the promise."""
    elements = ports_of(program).inputs
    values: list[Term] = []
    kept: list[Term] = []
    for op in program.ops:
        if op.code == INPUT:
            given = inputs[op.id0]
            meant = interpret_op(
                program, op, [given] if elements[op.id0].width and given is not None else [], elements[op.id0]
            )
        else:
            meant = interpret_op(program, op, [values[i] for i in op.operands])
        values.append(meant.value)
        if op.spec.promise:
            kept.append(meant.kept)
    return values, kept


def _rtl(
    machine: Machine,
    step: Step,
    opened: Open,
    rtl: RtlCycle,
    inputs: Sequence[Term | None],
    held: Mapping[Place, Term],
) -> tuple[dict[str, Term], dict[Place, Term], dict[Signal, Term]]:
    """Return the outputs, the register values after the edge, and all signals, as terms over all inputs so far."""
    known: dict[Signal, Term] = {}
    for signal, now in opened.now.items():
        parts: list[Term] = []
        place = 0
        for low, width, term in sorted((p.low, p.width, t) for p, t in held.items() if p.signal is signal):
            parts += [const(low - place, 0)] if low > place else []
            parts.append(term)
            place = low + width
        parts += [const(now.width - place, 0)] if place < now.width else []
        known[now] = concat(*reversed(parts))
    of_element = {e: t for e, t in zip(step.inputs, inputs, strict=True) if t is not None}
    for name, term in port_values(machine, of_element, _joined).items():
        known[opened.netlist.signals[name]] = term

    def value(term: Term) -> Term:
        found = {leaf: rtl.signals[leaf] for leaf in leaves(term) if leaf in rtl.signals}
        return rebuild(term, {leaf: known.get(signal, leaf) for leaf, signal in found.items()})

    for signal, term in rtl.steps:
        known[signal] = value(term)
    after = {place: value(term) for place, term in rtl.after.items()}
    return {name: value(term) for name, term in rtl.outputs.items()}, after, known


def _joined(parts: list[tuple[Term, int]]) -> Term:
    return concat(*(term for term, _ in sorted(parts, key=lambda part: -part[1])))
