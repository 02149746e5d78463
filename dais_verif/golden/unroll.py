"""Unroll a machine over the cycles of one frame, as a program: control runs with known values, data stays symbolic.

In the start state, some elements of registers have their power-up values, or their values after a given number of
frames; all others are arbitrary. Cycles are unrolled one after the other. Values that do not depend on data are
computed by the oracle's rules, so the program contains neither counters nor the selections that they make. If the
elements with known values have the same values again after the frame, then this frame and all later ones start in such
a state, and a proof of the program is a proof for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from dais_verif.base.errors import FrameError
from dais_verif.base.text import counted
from dais_verif.golden.oracle import Context, quantise, two, value_of
from dais_verif.spec.machine.model import Machine
from dais_verif.spec.machine.step import Element, Step, Write, conflict_of, step_of
from dais_verif.spec.program import FixedType, Op, Program, Term
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT, Code, high_int32, low_int32
from dais_verif.spec.program.ranges import PromiseStatus, analyse

__all__ = [
    "CHECKED",
    "Chain",
    "Frame",
    "Port",
    "Stall",
    "Unrolled",
    "broken_off",
    "in_words",
    "lost_of",
    "missed_by_reset",
    "stall_of",
    "unroll",
]


@dataclass(frozen=True)
class Unrolled:
    """An unrolled frame. ``program`` has the inputs of the frame, then the ``free`` inputs, and the frame's outputs.

    ``free``: inputs that the frame does not name, and elements of registers before its first cycle. ``known``: elements
    that have their power-up values at the start of every frame; if ``before`` of the frame is not 0, elements that, at
    the start of every later frame, have the values that they have after ``before`` frames.
    """

    program: Program
    free: tuple[Port | Element, ...]
    known: Mapping[Element, Fraction]


def unroll(machine: Machine, frame: Frame, *, after: int | None = None, without: Collection[Element] = ()) -> Unrolled:
    """Return one frame of ``machine`` from every state in which a frame can start, or frame ``after`` from power-up.

    ``without``: elements of registers to treat as arbitrary at the start of a frame, even if every frame restores them.
    Raises ``InputError`` if the frame names elements that do not exist, ``ViolationError`` if control breaks a promise.
    """
    conflict = conflict_of(machine)
    if conflict is not None:
        raise FrameError(f"{conflict}: its value is then unknown, so no program can describe what the machine computes")
    step = step_of(machine)
    _require_there(machine, frame)
    initial = {e: value for e in step.state if (value := _initial(machine, e)) is not None}
    known = {e: value for e, value in initial.items() if e not in without}
    chain: Chain | None = None
    if after is None and frame.before:
        known = Chain(machine, step, frame, known).run(range(-frame.before * frame.cycles, 0))
    while after is None:
        chain = Chain(machine, step, frame, known)
        found = chain.run(range(frame.cycles))
        kept = {e: value for e, value in known.items() if found.get(e) == value}
        if len(kept) == len(known):
            break
        known = kept
    last = max([frame.cycles, *(port.cycle + 1 for port in frame.outputs)])
    if chain is None:
        chain = Chain(machine, step, frame, known)
        chain.run(range(-(after or 0) * frame.cycles, last))
    else:
        chain.run(range(frame.cycles, last))
    program, free = chain.finished([chain.outputs[port] for port in frame.outputs])
    if step.indexed:
        _require_inside(program, chain.views, [*frame.inputs, *free])
    return Unrolled(program, free, known)


def lost_of(machine: Machine, frame: Frame, unrolled: Unrolled) -> dict[Element, list[Port | Element]]:
    """Return the elements of ``free`` that a frame may not restore, each with the inputs that determine its value.

    An example is a counter that data can stop: the next frame then starts in another state.
    """
    step = step_of(machine)
    chain = Chain(machine, step, frame, unrolled.known)
    chain.run(range(frame.cycles))
    after = dict(zip(step.state, chain.state, strict=True))
    lost = [what for what in unrolled.free if isinstance(what, Element) and _initial(machine, what) is not None]
    program, free = chain.finished([after[element] for element in lost])
    given = [*frame.inputs, *free]
    return {e: _read(program, index, given) for e, (index, _, _) in zip(lost, program.outputs, strict=True)}


def _read(program: Program, index: int, given: Sequence[Port | Element]) -> list[Port | Element]:
    """Return the inputs on which an op depends."""
    return [given[op.id0] for op in map(program.ops.__getitem__, cone(program, [index])) if op.code == INPUT]


#: The most inputs that a message names.
_SHOWN = 3


def in_words(given: Sequence[Port | Element]) -> str:
    """Return the text for some inputs of a frame, or elements of registers at its start, for a message."""
    names = [f"{what} at its start" if isinstance(what, Element) else str(what) for what in given[:_SHOWN]]
    return ", ".join(names) + f" and {len(given) - _SHOWN} more" * (len(given) > _SHOWN)


def _require_inside(program: Program, views: Mapping[int, str], given: Sequence[Port | Element]) -> None:
    """Raise ``InputError`` if an index may be out of range: a program cannot express the unknown value."""
    analysis = analyse(program)
    for op in program.ops:
        if op.code == Code.LOOKUP and op.type == CHECKED and analysis.changes[op.index] is not PromiseStatus.SAFE:
            view = views.get(low_int32(op.data), "a memory")
            raise FrameError(
                f"the frame does not determine the index of {view}, which can be outside of its memory: it depends on"
                f" {in_words(_read(program, op.index, given))}"
            )


@dataclass(frozen=True)
class Stall:
    """Programs of the registers ``before`` and ``after`` the edge of a stall, on the same inputs.

    ``registers``: the outputs of both programs, each with the cycle that the stall replaces. Registers for which both
    programs have the same op are left out; if there are no others, the stall changes no register.
    """

    after: Program
    before: Program
    free: tuple[Port | Element, ...]
    registers: tuple[Port, ...]


def stall_of(machine: Machine, frame: Frame, held: Mapping[Element, Fraction], *, from_power_up: bool = False) -> Stall:
    """Return a stall of ``machine`` in any state: one cycle with the inputs ``held``, and all others arbitrary.

    ``from_power_up``: consider only the states before each cycle of the first frame from power-up.
    """
    step = step_of(machine)
    known = {e: v for e in step.state if (v := _initial(machine, e)) is not None} if from_power_up else {}
    chain = Chain(machine, step, frame, known)
    found: dict[Port, tuple[int, int]] = {}
    for t in range(frame.cycles if from_power_up else 1):
        before = chain.state
        chain.cycle(t, held)
        for element, old, new in zip(step.state, before, chain.state, strict=True):
            if old != new:
                found[Port(element.signal, element.place, t, True)] = old, new
        chain.state = before
        if from_power_up:
            chain.cycle(t)
    both = [op for pair in found.values() for op in pair]
    program, free = chain.finished(both)
    ops = [index for index, _, _ in program.outputs]
    return Stall(_giving(program, ops[1::2]), _giving(program, ops[::2]), free, tuple(found))


def missed_by_reset(
    machine: Machine, known: Mapping[Element, Fraction], reset: Mapping[Element, Fraction]
) -> list[Element]:
    """Return the elements of ``known`` that one edge with ``reset`` in an arbitrary state does not restore."""
    step = step_of(machine)
    chain = Chain(machine, step, Frame(1, (), (), {}), {})
    chain.cycle(0, reset)
    found = {element: chain.value[op] for element, op in zip(step.state, chain.state, strict=True)}
    # An element that is never written is constant, not state.
    return [element for element, value in known.items() if found.get(element, value) != value]


def broken_off(frame: Frame, cycle: int, reset: Mapping[Element, Fraction]) -> Frame:
    """Return the frame that follows one in which a reset replaces ``cycle``; it lasts up to the last output."""
    first = cycle + 1
    frames = max(port.cycle for port in frame.outputs) // frame.cycles + 1
    inputs, outputs = (
        tuple(replace(port, cycle=port.cycle + first) for port in ports) for ports in (frame.inputs, frame.outputs)
    )
    held: dict[Element, tuple[Fraction | None, ...]] = {
        e: (*values[:cycle], reset.get(e, values[cycle]), *values * frames) for e, values in frame.held.items()
    }
    for element, value in reset.items():
        held.setdefault(element, (*[None] * cycle, value, *[None] * (frame.cycles * frames)))
    return Frame(first + frame.cycles * frames, inputs, outputs, held)


def _giving(program: Program, ops: Sequence[int]) -> Program:
    """Return ``program`` with the outputs ``ops``."""
    zeros = np.zeros(len(ops), dtype=np.int64)
    return replace(program, out_idx=np.array(ops, dtype=np.int64), out_shift=zeros, out_neg=zeros.copy())


def _initial(machine: Machine, element: Element) -> Fraction | None:
    signal = machine.signals[element.signal]
    if signal.types[element.place].width == 0:
        return Fraction(0)
    return None if signal.initial is None else signal.initial[element.place]


def _require_there(machine: Machine, frame: Frame) -> None:
    inputs, outputs = ({s.name: len(s.types) for s in side} for side in (machine.inputs, machine.outputs))
    if frame.cycles < 1:
        raise FrameError(f"a frame has {counted(frame.cycles, 'cycle')}, must have at least 1")
    for what, there, ports in (("input", inputs, frame.inputs), ("output", outputs, frame.outputs)):
        for port in ports:
            if not 0 <= port.place < there.get(port.signal, 0):
                raise FrameError(f"the frame's {what} {port} is not in the machine: {', '.join(there) or 'none'}")
            if port.cycle < 0 or (what == "input" and port.cycle >= frame.cycles):
                raise FrameError(f"the frame's {what} {port} is not within its {counted(frame.cycles, 'cycle')}")
    if len(set(frame.inputs)) < len(frame.inputs):
        raise FrameError("the frame names one element of an input twice in one cycle")
    for element, values in frame.held.items():
        if not 0 <= element.place < inputs.get(element.signal, 0):
            raise FrameError(
                f"{element.signal}[{element.place}], which the frame holds, is not an input of the machine"
            )
        if len(values) != frame.cycles:
            raise FrameError(
                f"{element.signal}[{element.place}] is held at {counted(len(values), 'value')}, must be {frame.cycles}"
            )
        kind = machine.signals[element.signal].types[element.place]
        for value in values:
            if value is not None and quantise(value, kind) != value:
                what = f"{element.signal}[{element.place}]"
                raise FrameError(f"{what} is held at {value}, which its type {kind} does not hold")
        if any(port.signal == element.signal and port.place == element.place for port in frame.inputs):
            raise FrameError(f"{element.signal}[{element.place}] is an input of the frame and also held")


# Build one program for several cycles of a machine; known values become constants, and unused values get no op.


#: The type of lookups that check that an index is within its memory.
CHECKED: Final = FixedType(0, 0, 0)
_ZERO = Fraction(0)
#: A constant that does not fit a data word (``_WORD``) is the sum of its low bits and its other bits.
_LOW = 63
_WORD = 1 << _LOW


@dataclass(frozen=True, slots=True)
class Port:
    """An element of a signal in one cycle, before its edge; cycles count from the start of the frame.

    ``stalled``: the element belongs to a stall cycle that replaces ``cycle``.
    """

    signal: str
    place: int
    cycle: int
    stalled: bool = False

    def __str__(self) -> str:
        return f"{self.signal}[{self.place}] in {'stalled ' * self.stalled}cycle {self.cycle}"


@dataclass(frozen=True)
class Frame:
    """The behaviour of a machine that one program describes: its inputs and outputs are elements in certain cycles.

    ``inputs``, ``outputs``: in the order of the program; outputs may be in cycles after the frame. ``cycles``: the
    number of edges until the next frame starts. ``held``: for some inputs of the machine, the value in each cycle of a
    frame, or None where it is arbitrary; all inputs that are not mentioned are arbitrary. ``before``: the number of
    frames from power-up after which every later frame restores the state, such as the counters of a stage that is in
    the middle of one image when the next one starts.
    """

    cycles: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    held: Mapping[Element, tuple[Fraction | None, ...]]
    before: int = 0


class Chain:
    """The program of a frame while it is built, cycle by cycle, and the values of its ops that are known."""

    def __init__(self, machine: Machine, step: Step, frame: Frame, known: Mapping[Element, Fraction]) -> None:
        self.machine, self.step, self.frame = machine, step, frame
        self.rows: list[tuple[int, int, int, int, FixedType]] = []
        self.terms: list[tuple[int, int, int]] = []
        self.value: list[Fraction | None] = []
        self.free: list[Port | Element] = []
        self.outputs: dict[Port, int] = {}
        self._same: dict[tuple[object, ...], int] = {}
        self._numbers = {port: number for number, port in enumerate(frame.inputs)}
        #: The op in the program for an op of the step and its operands; and for a mux and its condition, the operand
        #: that it selects.
        self._known: dict[tuple[int, ...], int] = {}
        self._taken: dict[tuple[int, int], int | None] = {}
        self._values = [_ZERO] * len(step.program.ops)
        first: dict[str, dict[int, int]] = {}
        for number, (name, place) in enumerate(step.state):
            first.setdefault(name, {})[place] = number
        #: The position in the state of each element of each memory, and the positions of all other elements.
        self._memories = [(memory, first.pop(memory.signal, {})) for memory in step.memories]
        self._others = [number for places in first.values() for number in places.values()]
        self._given = dict(zip(step.outputs, (index for index, _, _ in step.program.outputs), strict=False))
        self._following = [index for index, _, _ in step.program.outputs][len(step.outputs) :]
        self._ports: dict[int, list[Port]] = {}
        for port in frame.outputs:
            self._ports.setdefault(port.cycle, []).append(port)
        self.operands = [op.operands for op in step.program.ops]
        self._conditions = [op.condition if op.code == Code.MUX else -1 for op in step.program.ops]
        #: For each table that checks an index, the view with this index.
        self.views = {low_int32(step.program.ops[index].data): str(view) for index, view in step.checks.items()}
        self.state = [
            self.constant(known[e], self.kind(e)) if e in known else self.opened(e, self.kind(e)) for e in step.state
        ]

    def kind(self, element: Element) -> FixedType:
        """Return the type of an element."""
        return self.machine.signals[element.signal].types[element.place]

    def run(self, cycles: range) -> dict[Element, Fraction]:
        """Add ``cycles`` (negative: before the frame), and return the known values of the state after them."""
        for t in cycles:
            self.cycle(t)
        pairs = zip(self.step.state, self.state, strict=True)
        return {element: value for element, op in pairs if (value := self.value[op]) is not None}

    def cycle(self, t: int, stall: Mapping[Element, Fraction] | None = None) -> None:
        """Add cycle ``t``, or, with ``stall``, a stall cycle in its place: inputs not in ``stall`` are arbitrary.

        Unused values are left out, such as the words of a memory that a known index does not select.
        """
        outputs = self._ports.get(t, []) if stall is None else []
        wanted = [self._given[Element(port.signal, port.place)] for port in outputs]
        following = self._following
        at = [-1] * len(self.operands)
        state = list(self.state)
        changing = self.changing(at, t, stall)
        self.settle([*(following[number] for number in changing), *wanted, *self.step.checks], at, t, stall)
        for port, index in zip(outputs, wanted, strict=True):
            self.outputs[port] = at[index]
        for number in changing:
            state[number] = at[following[number]]
        self.state = state

    def changing(self, at: list[int], t: int, stall: Mapping[Element, Fraction] | None) -> list[int]:
        """Return the numbers of the state elements that an edge may change; omit the words that memories keep."""
        found = list(self._others)
        for memory, places in self._memories:
            controls = [op for write in memory.writes for op in (write.enabled, write.place) if op is not None]
            controls += [] if memory.reset is None else [memory.reset]
            self.settle(controls, at, t, stall)
            kept = memory.reset is None or self.value[at[memory.reset]] == 0
            chosen = [self.written(write, at) for write in memory.writes] if kept else [None]
            if None in chosen:
                found += places.values()
            else:
                found += dict.fromkeys(places[p] for words in chosen for p in words or () if p in places)
        return found

    def written(self, write: Write, at: Sequence[int]) -> Sequence[int] | None:
        """Return the places that a write selects; None if they are unknown."""
        if write.enabled is not None and self.value[at[write.enabled]] == 0:
            return ()
        index = self.value[at[write.place]]
        if index is None:
            return None
        return write.words[int(index)] if index < len(write.words) else None

    def settle(self, wanted: Sequence[int], at: list[int], t: int, stall: Mapping[Element, Fraction] | None) -> None:
        """Build the program's ops for the ``wanted`` ops of the step in cycle ``t``; set their numbers in ``at``."""
        ops = self.step.program.ops
        waiting = list(wanted)
        while waiting:  # no recursion: blocks are deep
            index = waiting[-1]
            if at[index] >= 0:
                waiting.pop()
                continue
            op, missing = ops[index], None
            if op.code == INPUT:
                at[index] = self.given(op.id0, t, stall)
            elif op.code == Code.MUX and high_int32(op.data) == 0:
                missing = self.chosen(op, at)
                if missing is None:
                    at[index] = self.muxed(op, at)
            else:
                missing = [operand for operand in self.operands[index] if at[operand] < 0]
                if not missing:
                    at[index] = self.made(op, at)
            if missing:
                waiting += missing
            else:
                waiting.pop()

    def given(self, number: int, t: int, stall: Mapping[Element, Fraction] | None) -> int:
        """Return the op for an input of the step: an input of the machine in a cycle, or an element of its state."""
        inputs = self.step.inputs
        if number >= len(inputs):
            return self.state[number - len(inputs)]
        return self.driven(inputs[number], t) if stall is None else self.waiting(inputs[number], t, stall)

    def chosen(self, op: Op, at: Sequence[int]) -> list[int] | None:
        """Return the operands that a mux without a shift still lacks: its condition, then the selected arm or both."""
        if at[self._conditions[op.index]] < 0:
            return [self._conditions[op.index]]
        taken = self.taken(op, at)
        arms = [op.id0, op.id1] if taken is None else [taken]
        return [arm for arm in arms if at[arm] < 0] or None

    def taken(self, op: Op, at: Sequence[int]) -> int | None:
        """Return the operand that a mux selects; None if its condition is unknown."""
        key = op.index, at[self._conditions[op.index]]
        if key not in self._taken:
            self._taken[key] = self._take(op, at)
        return self._taken[key]

    def _take(self, op: Op, at: Sequence[int]) -> int | None:
        deciding = self._conditions[op.index]
        condition, kind = self.value[at[deciding]], self.step.program.ops[deciding].type
        if condition is None:
            return None
        high = condition < 0 if kind.k else kind.width and condition * two(kind.f) >= 1 << (kind.width - 1)
        return op.id0 if high else op.id1

    def muxed(self, op: Op, at: Sequence[int]) -> int:
        """Return the op for a mux, once all operands that ``chosen`` returns have been built."""
        taken = self.taken(op, at)
        if taken is not None:
            return self.copied(at[taken], op.type)
        a, b = at[op.id0], at[op.id1]
        if a == b:
            return self.copied(a, op.type)
        return self.same((op.code, a, b, at[self._conditions[op.index]], op.type))

    def driven(self, element: Element, t: int) -> int:
        """Return the op for an input of the machine in cycle ``t``."""
        kind, held = self.kind(element), self.frame.held.get(element)
        value = None if held is None else held[t % self.frame.cycles]
        if value is not None:
            return self.constant(quantise(value, kind), kind)
        port = Port(element.signal, element.place, t)
        number = self._numbers.get(port)
        if number is None:
            return self.opened(port, kind)
        return self.new((int(Code.INPUT), number, -1, 0, kind), None)

    def waiting(self, element: Element, t: int, stall: Mapping[Element, Fraction]) -> int:
        """Return the op for an input of the machine in a stall cycle that replaces cycle ``t``."""
        kind, held = self.kind(element), stall.get(element)
        if held is None:
            return self.opened(Port(element.signal, element.place, t, True), kind)
        return self.constant(quantise(held, kind), kind)

    def opened(self, what: Port | Element, kind: FixedType) -> int:
        """Return an additional input of the program, which the frame does not name; a constant if it has no bits."""
        if kind.width == 0:
            return self.constant(Fraction(0), kind)
        self.free.append(what)
        return self.new((int(Code.INPUT), len(self._numbers) + len(self.free) - 1, -1, 0, kind), None)

    def made(self, op: Op, at: Sequence[int]) -> int:
        """Return the op of the program that computes ``op`` of the step on its current operands."""
        key = (op.index, *[at[operand] for operand in self.operands[op.index]])
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(op, at)
        return known

    def _make(self, op: Op, at: Sequence[int]) -> int:
        values = [self.value[at[operand]] for operand in self.operands[op.index]]
        if None not in values:
            for operand, value in zip(self.operands[op.index], values, strict=True):
                self._values[operand] = value or _ZERO
            return self.constant(value_of(Context(self.step.program, op, self._values, ()), None), op.type)
        if op.code == Code.QUANT:
            return self.copied(at[op.id0], op.type)
        moved = op.rewired(at.__getitem__)
        if op.code == Code.SUM:
            return self.sum(moved.terms, op.data, op.type)
        return self.same((op.code, moved.id0, moved.id1, moved.data, op.type))

    def copied(self, op: int, kind: FixedType) -> int:
        """Return an op with the value of ``op`` in type ``kind``."""
        value = self.value[op]
        if value is not None and self.rows[op][4] != kind:
            return self.constant(quantise(value, kind), kind)
        return op if self.rows[op][4] == kind else self.same((int(Code.QUANT), op, -1, 0, kind))

    def sum(self, terms: tuple[Term, ...], data: int, kind: FixedType) -> int:
        """Return a sum; equal sums share one op."""
        key = (terms, data, kind)
        known = self._same.get(key)
        if known is None:
            row = (int(Code.SUM), len(self.terms), len(terms), data, kind)
            self.terms += terms
            known = self._same[key] = self.new(row, None)
        return known

    def same(self, row: tuple[int, int, int, int, FixedType]) -> int:
        """Return the op ``row``; equal ops are shared."""
        known = self._same.get(row)
        if known is None:
            known = self._same[row] = self.new(row, None)
        return known

    def constant(self, value: Fraction, kind: FixedType) -> int:
        """Return an op for a known value; a value that does not fit a data word becomes a sum."""
        raw = int(value * two(kind.f))
        row = (int(Code.CONST), -1, -1, raw, kind)
        known = self._same.get(row)
        if known is None and not -_WORD <= raw < _WORD:
            below, above = FixedType(0, _LOW, 0), FixedType(kind.k, kind.width - _LOW - kind.k, 0)
            low, high = self.constant(Fraction(raw & _WORD - 1), below), self.constant(Fraction(raw >> _LOW), above)
            self.terms += [(low, -kind.f, 0), (high, _LOW - kind.f, 0)]
            known = self.new((int(Code.SUM), len(self.terms) - 2, 2, 0, kind), value)
        elif known is None:
            known = self.new(row, value)
        self._same[row] = known
        return known

    def new(self, row: tuple[int, int, int, int, FixedType], value: Fraction | None) -> int:
        """Add an op with its value, if known; return its number."""
        self.rows.append(row)
        self.value.append(value)
        return len(self.rows) - 1

    def finished(self, roots: Sequence[int]) -> tuple[Program, tuple[Port | Element, ...]]:
        """Return the program of the ops that ``roots`` and index checks need, and the remaining additional inputs."""
        whole = self.built(self.rows, self.terms, roots, len(self._numbers) + len(self.free))
        checks = [op.index for op in whole.ops if op.code == Code.LOOKUP and op.type == CHECKED]
        live = cone(whole, [*roots, *checks])
        first = len(self._numbers)
        left = sorted({whole.ops[n].id0 for n in live if whole.ops[n].code == INPUT and whole.ops[n].id0 >= first})
        place = {old: new for new, old in enumerate(live)}
        number = {old: first + new for new, old in enumerate(left)}
        rows: list[tuple[int, int, int, int, FixedType]] = []
        terms: list[tuple[int, int, int]] = []
        for op in (whole.ops[old].rewired(place.__getitem__) for old in live):
            if op.code == INPUT:
                rows.append((op.code, number.get(op.id0, op.id0), -1, 0, op.type))
            elif op.code == Code.SUM:
                rows.append((op.code, len(terms), len(op.terms), op.data, op.type))
                terms += op.terms
            else:
                rows.append((op.code, op.id0, op.id1, op.data, op.type))
        program = self.built(rows, terms, [place[index] for index in roots], first + len(left))
        return program, tuple(self.free[old - first] for old in left)

    def built(
        self,
        rows: Sequence[tuple[int, int, int, int, FixedType]],
        terms: Sequence[tuple[int, int, int]],
        roots: Sequence[int],
        n_in: int,
    ) -> Program:
        """Return the program with the ops ``rows`` and the outputs ``roots``."""
        tables = [table.tolist() for table in self.step.program.tables]
        return Program.build(rows, [(i, 0, 0) for i in roots], inp_shift=[0] * n_in, tables=tables, terms=terms)
