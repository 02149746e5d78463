"""One cycle of a machine as a program: from inputs and register values to outputs and next register values.

Every block is inlined, op by op; a copy becomes a quantisation, an enable or a reset a mux, and a memory access muxes
over the words that its index can select. Therefore every method for programs also applies to one cycle of a machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from dais_verif.base.errors import MachineInputError
from dais_verif.spec.machine.model import Block, Connection, Machine, View
from dais_verif.spec.machine.order import settling_order
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import INPUT, Code, high_int32, low_int32
from dais_verif.spec.program.types import type_of_interval

__all__ = ["Element", "Lowering", "Row", "Step", "conflict_of", "step_of"]

#: The most words of one memory, since more muxes are not useful.
_MOST_WORDS = 1 << 16
#: A data word holds integers from ``-_WORD`` to ``_WORD - 1``.
_WORD = 1 << 63
_CONDITION = FixedType(0, 1, 0)

#: An op: its opcode, two operands, its data and its type.
Row = tuple[int, int, int, int, FixedType]
_ZERO = FixedType(0, 0, 0)


class Element(NamedTuple):
    """One element of a signal."""

    signal: str
    place: int

    def __str__(self) -> str:
        return f"{self.signal}[{self.place}]"


class Write(NamedTuple):
    """A write at an index: the ops of its enable (if any) and index, and the elements that each index value selects."""

    enabled: int | None
    place: int
    words: tuple[range, ...]


class Memory(NamedTuple):
    """A register that keeps all elements except those that ``writes`` select, as long as the op ``reset`` is 0."""

    signal: str
    writes: tuple[Write, ...]
    reset: int | None


@dataclass(frozen=True)
class Step:
    """``program`` reads ``inputs`` and then ``state``, and returns ``outputs`` and then the next ``state``.

    ``state``: the elements of registers that are written or have no initial value; all other elements of registers are
    constants. ``owners``: for each op, the block and the op of the block that it represents; None for ops of
    connections. ``checks``: the ops that break their promise if the index of a view is outside of its memory, each with
    the view. ``settled``: the number of ops before those that only the next state needs. ``memories``: the registers
    that change only by a write at an index or by a reset. ``unknowns``: the program has one additional input bit per
    element of ``state``, after all other inputs, and one additional output bit per element of ``outputs`` and then of
    ``state``, after all other outputs. Such a bit is 1 if the element is unknown; the value of the element then has no
    meaning.
    """

    program: Program
    inputs: tuple[Element, ...]
    outputs: tuple[Element, ...]
    state: tuple[Element, ...]
    owners: tuple[tuple[str, int] | None, ...]
    checks: Mapping[int, View]
    settled: int
    unknowns: bool = False
    memories: tuple[Memory, ...] = ()

    @property
    def indexed(self) -> bool:
        """True if an index can be outside of its memory."""
        return bool(self.checks)


def step_of(machine: Machine) -> Step:
    """Return one cycle of a valid ``machine`` as a program.

    Raises ``InputError`` for a memory that is read or written at an index and has more than 65,536 elements.
    """
    return Lowering(machine).step()


def conflict_of(machine: Machine) -> str | None:
    """Describe two connections that may write the same element of a register at one edge; None if there are none.

    Such an element becomes unknown, which the program of a cycle does not model: in the program, one write wins.
    """
    written: dict[str, list[Connection]] = {}
    for connection in machine.connections:
        if machine.clocked(connection):
            written.setdefault(connection.target.signal, []).append(connection)
    for writers in written.values():
        # Without an index, no element is written twice, which is checked when a machine is made.
        for a, b in combinations(writers, 2) if any(c.target.index is not None for c in writers) else ():
            reach_a, reach_b = machine.reach(a.target), machine.reach(b.target)
            indexed = a.target.index is not None or b.target.index is not None
            if indexed and max(reach_a.start, reach_b.start) < min(reach_a.stop, reach_b.stop):
                return f"{a} and {b} may write one element at one edge"
    return None


class Lowering:
    """Lowers one cycle to a program; it holds the ops made so far, and the op of each element of each signal."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.rows: list[Row] = []
        self.terms: list[tuple[int, int, int]] = []
        self.tables: list[Sequence[int]] = []
        self.owners: list[tuple[str, int] | None] = []
        self.values: dict[str, list[int]] = {s.name: [-1] * len(s.types) for s in machine.signals.values()}
        self.known: dict[Row, int] = {}
        self.checks: dict[int, View] = {}
        self.writes: dict[str, list[Write | None]] = {}

    def step(self) -> Step:
        """Return the whole cycle as a step."""
        machine = self.machine
        inputs = tuple(Element(s.name, e) for s in machine.inputs for e in range(len(s.types)))
        state = self.state()
        for number, (name, place) in enumerate((*inputs, *state)):
            self.values[name][place] = self.op(Code.INPUT, number, -1, 0, machine.signals[name].types[place])
        n_in = len(inputs) + len(state) + self.more_inputs(len(inputs) + len(state), state)
        for step in settling_order(machine):
            if isinstance(step, Block):
                self.inline(step)
            else:
                target = machine.signals[step.target.signal]
                for place, value in zip(range(step.target.start, step.target.stop), self.chosen(step), strict=True):
                    self.values[target.name][place] = self.copied(value, target.types[place])
        outputs = tuple(Element(s.name, e) for s in machine.outputs for e in range(len(s.types)))
        found = [self.copied(self.values[name][place], machine.signals[name].types[place]) for name, place in outputs]
        settled = len(self.rows)
        found += self.next_state(state)
        found += self.more_outputs(found)
        program = Program.build(
            self.rows,
            [(index, 0, 0) for index in found],
            inp_shift=[0] * n_in,
            tables=self.tables,
            terms=self.terms,
        )
        memories = self.memories()
        return Step(program, inputs, outputs, state, tuple(self.owners), self.checks, settled, memories=memories)

    def more_inputs(self, first: int, state: Sequence[Element]) -> int:
        """Return the number of inputs that a subclass adds; the first one has the number ``first``."""
        return 0

    def more_outputs(self, found: Sequence[int]) -> list[int]:
        """Return the ops that a subclass appends to the outputs ``found``."""
        return []

    def state(self) -> tuple[Element, ...]:
        """Return the state elements of registers; put the constants of the other elements into ``values``."""
        machine = self.machine
        written = {
            Element(c.target.signal, e)
            for c in machine.connections
            if machine.clocked(c)
            for e in machine.reach(c.target)
        }
        state = []
        for signal in machine.registers:
            for place, kind in enumerate(signal.types):
                if Element(signal.name, place) in written or signal.initial is None:
                    state.append(Element(signal.name, place))
                else:
                    self.values[signal.name][place] = self.constant(signal.initial[place], kind)
        return tuple(state)

    def constant(self, value: Fraction, kind: FixedType) -> int:
        """Return an op with the constant ``value``."""
        raw = (value.numerator << max(kind.f, 0)) // (value.denominator << max(-kind.f, 0))
        if -_WORD <= raw < _WORD:
            return self.op(Code.CONST, -1, -1, raw, kind)
        low = self.constant(Fraction(raw & _WORD - 1), FixedType(0, _WORD.bit_length() - 1, 0))  # no data word holds it
        bits = kind.width - _WORD.bit_length() + 1
        high = self.constant(Fraction(raw >> _WORD.bit_length() - 1), FixedType(kind.k, bits - kind.k, 0))
        self.terms += [(low, -kind.f, 0), (high, _WORD.bit_length() - 1 - kind.f, 0)]
        return self.new((int(Code.SUM), len(self.terms) - 2, 2, 0, kind), None)

    # ops

    def op(self, code: int, a: int, b: int, data: int, kind: FixedType) -> int:
        """Return an op of a connection; equal ops are shared."""
        row = (int(code), a, b, data, kind)
        known = self.known.get(row)
        if known is None:
            known = self.known[row] = self.new(row, None)
        return known

    def new(self, row: Row, owner: tuple[str, int] | None) -> int:
        """Append an op that represents ``owner``, and return its number."""
        self.rows.append(row)
        self.owners.append(owner)
        return len(self.rows) - 1

    def type_of(self, op: int) -> FixedType:
        """Return the type of an op."""
        return self.rows[op][4]

    def copied(self, op: int, kind: FixedType) -> int:
        """Return an op with the value of ``op`` in type ``kind``; an undriven element (-1) has no bits and is 0."""
        if op < 0:
            return self.op(Code.CONST, -1, -1, 0, kind)
        return op if self.type_of(op) == kind else self.op(Code.QUANT, op, -1, 0, kind)

    def mux(self, condition: int, one: int, other: int) -> int:
        """Return ``one`` where the bit ``condition`` is 1, else ``other``; both have the same type."""
        if one == other:
            return one
        return self.op(Code.MUX, one, other, condition, self.type_of(one))

    def inline(self, block: Block) -> None:
        """Add the ops of a block, on the elements of its input wire."""
        program, first = block.program, len(self.tables)
        self.tables += [table.tolist() for table in program.tables]
        given = self.values[block.inputs]
        at: list[int] = []
        for op in program.ops:
            owner = (block.name, op.index)
            if op.code == INPUT:
                at.append(self.copied(given[op.id0], op.type))
                continue
            op = op.rewired(at.__getitem__)
            a, b, data = op.id0, op.id1, op.data
            if op.code == Code.SUM:
                a, b = len(self.terms), len(op.terms)
                self.terms += op.terms
            elif op.code == Code.LOOKUP:
                data = high_int32(data) << 32 | first + low_int32(data)
            at.append(self.new((op.code, a, b, data, op.type), owner))
        types = self.machine.signals[block.outputs].types
        for place, (index, shift, negated) in enumerate(program.outputs):
            self.values[block.outputs][place] = self.output(at, index, shift, negated, types[place])

    def output(self, at: list[int], index: int, shift: int, negated: bool, kind: FixedType) -> int:
        """Return the op of a block's output, in the type ``kind`` of the block's wire."""
        if index < 0 or kind.width == 0:
            return self.op(Code.CONST, -1, -1, 0, kind)
        if negated or shift:
            exact = self.type_of(at[index])
            exact = FixedType(1, exact.i + exact.k, exact.f) if negated else exact
            exact = FixedType(exact.k, exact.i + shift, exact.f - shift)
            self.terms.append((at[index], shift, int(negated)))
            moved = self.new((int(Code.SUM), len(self.terms) - 1, 1, 0, exact), None)
            return self.copied(moved, kind)
        return self.copied(at[index], kind)

    # connections

    def chosen(self, connection: Connection) -> list[int]:
        """Return the values that a connection copies: with an alternative in its target's types, else its source's."""
        enable = None if connection.enable is None else self.condition(connection.enable)
        source = self.read(connection.source, enable)
        if connection.alternative is None or enable is None:
            return source
        alternative = self.read(connection.alternative, enable, when=0)
        types = self.machine.signals[connection.target.signal].types
        kinds = types[connection.target.start : connection.target.stop]
        return [
            self.mux(enable, self.copied(a, kind), self.copied(b, kind))
            for a, b, kind in zip(source, alternative, kinds, strict=True)
        ]

    def condition(self, view: View) -> int:
        """Return the op of the element that ``view`` shows, at a fixed place."""
        return self.values[view.signal][view.start]

    def read(self, view: View, enable: int | None, when: int = 1) -> list[int]:
        """Return the elements of a view; with an index, select them by one mux level per bit of the index.

        The index only has to be within the memory while ``enable``, if any, equals ``when``.
        """
        values = self.values[view.signal]
        if view.index is None:
            return values[view.start : view.stop]
        words = self.words(view)
        index = self.index(view)
        self.held(view, len(words), enable, when)
        return [self.selected(index, [values[word[e]] for word in words]) for e in range(view.size)]

    def index(self, view: View) -> int:
        """Return the op of the index value of ``view``."""
        assert view.index is not None
        return self.condition(view.index.value)

    def words(self, view: View) -> list[range]:
        """Return the elements that each index value selects, for all index values that stay within the memory."""
        assert view.index is not None
        stride = view.index.stride
        most = self.type_of(self.index(view)).raw_max
        count = len(self.machine.signals[view.signal].types)
        last = min(most, (count - view.stop) // stride)
        if (last + 1) * view.size > _MOST_WORDS:
            raise MachineInputError(
                f"{view} has {last + 1} words, too many for the muxes of one cycle: at most {_MOST_WORDS}"
            )
        return [range(view.start + n * stride, view.stop + n * stride) for n in range(last + 1)]

    def held(self, view: View, words: int, enable: int | None, when: int = 1) -> None:
        """Add a lookup that breaks its promise if a used index is out of range; its table has one entry per word."""
        index = self.index(view)
        if words <= self.type_of(index).raw_max:
            self.tables.append([0] * words)
            used = self.only(enable, index, when)
            self.checks[self.new((int(Code.LOOKUP), used, -1, len(self.tables) - 1, _ZERO), None)] = view

    def selected(self, index: int, choices: list[int]) -> int:
        """Return the choice at ``index``; an index beyond the last choice breaks a promise and selects any choice."""
        width = self.type_of(index).i
        level = choices
        for bit in range(width):
            if len(level) == 1:
                break
            odd = self.bit(index, bit)
            pairs = [level[n : n + 2] for n in range(0, len(level), 2)]
            level = [self.mux(odd, pair[-1], pair[0]) for pair in pairs]
        return level[0]

    def bit(self, index: int, bit: int) -> int:
        """Return an op whose highest bit is bit ``bit`` of the unsigned integer ``index``."""
        return self.copied(index, FixedType(0, bit + 1, 0))

    def next_state(self, registers: Iterable[Element]) -> list[int]:
        """Return the op of the value of each element of a register after the edge."""
        new = {name: list(values) for name, values in self.values.items()}
        for connection in self.machine.connections:
            if self.machine.clocked(connection):
                self.write(connection, new)
        for signal in self.machine.registers:
            if signal.reset is None:
                continue
            assert signal.initial is not None
            reset = self.condition(signal.reset)
            for place, (kind, value) in enumerate(zip(signal.types, signal.initial, strict=True)):
                new[signal.name][place] = self.mux(reset, self.constant(value, kind), new[signal.name][place])
        return [new[name][place] for name, place in registers]

    def memories(self) -> tuple[Memory, ...]:
        """Return the registers that are written only at an index."""
        found = []
        for name, writes in self.writes.items():
            indexed, reset = [one for one in writes if one is not None], self.machine.signals[name].reset
            if len(indexed) == len(writes):
                found.append(Memory(name, tuple(indexed), None if reset is None else self.condition(reset)))
        return tuple(found)

    def write(self, connection: Connection, new: dict[str, list[int]]) -> None:
        """Put into ``new`` the values that one connection writes at the edge."""
        target = connection.target
        types = self.machine.signals[target.signal].types
        values = new[target.signal]
        holds = None if connection.alternative is not None else connection.enable
        enable = None if holds is None else self.condition(holds)
        data = self.chosen(connection)
        known = self.writes.setdefault(target.signal, [])
        if target.index is None:
            known.append(None)
            for place, value in zip(range(target.start, target.stop), data, strict=True):
                taken = self.copied(value, types[place])
                values[place] = taken if enable is None else self.mux(enable, taken, values[place])
            return
        index, words = self.index(target), self.words(target)
        self.held(target, len(words), enable)
        known.append(Write(enable, index, tuple(words)))
        for number, word in enumerate(words):
            elsewhere = self.differs(index, number)
            for place, value in zip(word, data, strict=True):
                taken = self.copied(value, types[place])
                taken = taken if enable is None else self.mux(enable, taken, values[place])
                values[place] = self.mux(elsewhere, values[place], taken)

    def only(self, enable: int | None, index: int, when: int) -> int:
        """Return ``index`` while it is used, else 0."""
        if enable is None:
            return index
        zero = self.op(Code.CONST, -1, -1, 0, self.type_of(index))
        return self.mux(enable, index, zero) if when else self.mux(enable, zero, index)

    def differs(self, index: int, number: int) -> int:
        """Return a bit that is 1 unless ``index`` equals ``number``."""
        kind = self.type_of(index)
        constant = self.op(Code.CONST, -1, -1, number, type_of_interval(number, number, 0))
        exclusive = self.op(Code.BIT_BINARY, index, constant, 2 << 56, kind)
        return self.op(Code.BIT_UNARY, exclusive, -1, 1, _CONDITION)
