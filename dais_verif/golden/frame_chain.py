"""Build one program for several cycles of a machine; known values become constants, and unused values get no op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dais_verif.golden.oracle import Context, quantise, two, value_of
from dais_verif.machine.model import Machine
from dais_verif.machine.step import Element, Step, Write
from dais_verif.program import FixedType, Op, Program, Term
from dais_verif.program.graph import cone
from dais_verif.program.opcodes import INPUT, Code, high_int32, low_int32

__all__ = ["CHECKED", "Chain", "Frame", "Port"]

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
