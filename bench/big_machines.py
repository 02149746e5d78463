"""Machines of any size: layers of neurons between ranks of registers, with accumulators, memories and control."""

from __future__ import annotations

import random
from fractions import Fraction

from bench.networks import INPUT, Value, Writer
from dais_verif.spec.machine import Block, Connection, Index, Machine, Role, Signal, View, validate
from dais_verif.spec.machine.checks import input_types, output_types
from dais_verif.spec.program import FixedType, Origin, Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["big_machine"]

_BIT = FixedType(0, 1, 0)
_ACTIVATION = FixedType(0, 4, 4)
#: At most: elements of the input, words of a memory, elements of a word.
_INPUTS, _WORDS, _WORD = 64, 32, 4
#: Layers, at most; elements of a register, at most; and every how many layers a memory stores the results of one.
_LAYERS, _TOGETHER, _KEPT = 8, 32, 3
#: Ops of a neuron with one operand: its input, bias and ReLU.
_LEAST = 3


def big_machine(ops: int, registers: int, seed: int = 0) -> Machine:
    """Return a valid machine with about ``ops`` ops in its blocks and ``registers`` register elements, at least 40.

    Every register has an initial value, no promise can be broken and no index leaves its memory. The inputs are
    ``rst``, ``en`` and data ``x``; every rank holds its values while ``en`` is 0, and half of the registers are reset.
    """
    return _Builder(ops, registers, seed).machine()


class _Builder:
    def __init__(self, ops: int, registers: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.layers = max(2, min(_LAYERS, registers // 20))
        self.words = 4 if registers < 1000 else _WORDS
        kept = len(range(1, self.layers, _KEPT)) * self.words * _WORD
        self.ranks = _split(registers - kept - self.layers - 1, self.layers)
        self.neurons = _split(max(ops, _LEAST * registers), sum(self.ranks))
        self.signals: dict[str, Signal] = {}
        self.blocks: dict[str, Block] = {}
        self.connections: list[Connection] = []

    def machine(self) -> Machine:
        for name, types in (("rst", (_BIT,)), ("en", (_BIT,)), ("x", (INPUT,) * min(_INPUTS, self.ranks[0]))):
            self.signals[name] = Signal(name, types, Role.INPUT)
        self.control()
        given = [View("x", place, place + 1) for place in range(len(self.signals["x"].types))]
        for number, width in enumerate(self.ranks):
            given = self.layer(number, width, given)
        self.signals["y"] = Signal("y", (_ACTIVATION,) * len(given), Role.OUTPUT)
        self.connect(given, "y")
        machine = Machine(self.blocks, self.signals, tuple(self.connections), Origin("memory"))
        validate(machine)
        return machine

    def control(self) -> None:
        """Add a counter of words, and a valid bit that is delayed like the data."""
        kind = FixedType(0, self.words.bit_length() - 1, 0)
        self.register("count", (kind,), reset=True)
        writer = Writer(0)
        more = writer.append(Code.ADD_CONST, writer.quantised(-1, 0, kind).op, -1, 1, 1, 2**kind.width, 0)
        self.block("control", [View("count", 0, 1)], writer, [writer.quantised(Code.QUANT, more.op, kind)], 1)
        self.connections.append(Connection(View("INTERNAL_control_outp", 0, 1), View("count", 0, 1), View("en", 0, 1)))
        self.register("valid", (_BIT,) * self.layers, reset=True, role=Role.OUTPUT)
        # Through a wire, since alkaid does not accept two writes to adjacent elements of one register.
        self.signals["next"] = Signal("next", (_BIT,) * self.layers)
        self.connections.append(Connection(View("en", 0, 1), View("next", 0, 1)))
        self.connections.append(Connection(View("valid", 0, self.layers - 1), View("next", 1, self.layers)))
        self.connections.append(Connection(View("next", 0, self.layers), View("valid", 0, self.layers)))

    def layer(self, number: int, width: int, given: list[View]) -> list[View]:
        """Add a rank of ``width`` elements, each a neuron over the elements ``given``; some are accumulators."""
        writer, name = Writer(self.random.getrandbits(32)), f"layer{number}"
        kinds = [self.signals[view.signal].types[view.start] for view in given]
        values = [writer.quantised(-1, place, kind) for place, kind in enumerate(kinds)]
        ops = [self.neurons.pop() for _ in range(width)]
        own, places, wholes = list[View](), list[View](), list[View]()
        for register, size in enumerate(_sizes(self.random, width)):
            names = f"r{number}_{register}"
            self.register(names, (_ACTIVATION,) * size, reset=self.random.random() < 0.5)
            wholes.append(View(names, 0, size))
            places += [View(names, place, place + 1) for place in range(size)]
        found = []
        for place, count in zip(places, ops, strict=True):
            if self.random.random() < 0.1:
                own.append(place)
                before = writer.quantised(-1, len(given) + len(own) - 1, _ACTIVATION)
                found.append(_accumulated(writer, _neuron(writer, values, count - 3), before))
            else:
                found.append(_neuron(writer, values, count - 1))
        self.block(name, [*given, *own], writer, found, len(given) + len(own))
        place = 0
        for whole in wholes:
            source = View(f"INTERNAL_{name}_outp", place, place + whole.size)
            self.connections.append(Connection(source, whole, View("en", 0, 1)))
            place += whole.size
        if number % _KEPT == 1:
            self.memory(number, places)
        return places

    def memory(self, number: int, places: list[View]) -> None:
        """Replace the first elements of a rank by a memory of their values some cycles ago."""
        name, word = f"m{number}", _WORD
        self.register(name, (_ACTIVATION,) * (self.words * word), reset=False)
        late = f"late{number}"
        self.signals[late] = Signal(late, (_ACTIVATION,) * word)
        kept = f"kept{number}"
        self.signals[kept] = Signal(kept, (_ACTIVATION,) * word)
        index = Index(View("count", 0, 1), word)
        for place in range(word):
            self.connections.append(Connection(places[place], View(kept, place, place + 1)))
        enable = View("valid", number, number + 1)
        self.connections.append(Connection(View(kept, 0, word), View(name, 0, word, index), enable))
        self.connections.append(Connection(View(name, 0, word, index), View(late, 0, word)))
        places[:word] = [View(late, place, place + 1) for place in range(word)]

    def register(self, name: str, types: tuple[FixedType, ...], *, reset: bool, role: Role = Role.INTERNAL) -> None:
        initial = tuple(
            Fraction(0) if kind.f == 0 else self.random.randint(kind.raw_min, kind.raw_max) * Fraction(2) ** -kind.f
            for kind in types
        )
        self.signals[name] = Signal(name, types, role, True, initial, View("rst", 0, 1) if reset else None)

    def block(self, name: str, given: list[View], writer: Writer, found: list[Value], n_in: int) -> None:
        program = Program.build(writer.rows, [(value.op, 0, 0) for value in found], inp_shift=[0] * n_in)
        block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
        self.blocks[name] = block
        self.signals[block.inputs] = Signal(block.inputs, input_types(block))
        self.signals[block.outputs] = Signal(block.outputs, output_types(block))
        self.connect(given, block.inputs)

    def connect(self, given: list[View], wire: str) -> None:
        """Connect elements to a wire, adjacent ones together, since a file states all types at each use of a signal."""
        first = 0
        for place, view in enumerate(given, 1):
            follows = place < len(given) and given[place].signal == view.signal and given[place].start == view.stop
            if not follows:
                source = View(view.signal, given[first].start, view.stop)
                self.connections.append(Connection(source, View(wire, first, place)))
                first = place


def _neuron(writer: Writer, values: list[Value], ops: int) -> Value:
    """Return a neuron of ``ops`` ops that ends in a ReLU; one in eight has a maximum of two sums or a product."""
    fan_in, kind = max(1, ops - 1), writer.random.random()
    if kind < 0.1 and fan_in > 4:  # max(a, b): a difference and a mux
        a, b = (writer.tree(writer.random.choices(values, k=count)) for count in _split(fan_in - 1, 2))
        less = writer.added(a, b, 1)
        f = max(a.f, b.f)
        lo, hi = (max(x << f - a.f, y << f - b.f) for x, y in ((a.lo, b.lo), (a.hi, b.hi)))
        lo = min(a.lo << f - a.f, b.lo << f - b.f, lo)
        larger = writer.append(Code.MUX, b.op, a.op, less.op, lo, hi, f)
        return writer.quantised(Code.RELU, larger.op, _ACTIVATION)
    if kind < 0.13 and fan_in > 3:
        a, b = writer.random.choices(values, k=2)
        product = writer.product(a, b)
        total = writer.added(product, writer.tree(writer.random.choices(values, k=fan_in - 2)))
        return writer.quantised(Code.RELU, total.op, _ACTIVATION)
    return writer.neuron(writer.random.choices(values, k=fan_in))


def _accumulated(writer: Writer, value: Value, before: Value) -> Value:
    """Return the sum of ``value`` and the register's value, quantised to the register's type."""
    return writer.quantised(Code.QUANT, writer.added(value, before).op, _ACTIVATION)


def _sizes(rng: random.Random, total: int) -> list[int]:
    """Return random numbers of elements of registers, ``total`` in all."""
    found: list[int] = []
    while total:
        found.append(min(total, rng.choice((1, 1, 4, 16, _TOGETHER))))
        total -= found[-1]
    return found


def _split(total: int, parts: int) -> list[int]:
    """Return ``total`` divided into ``parts`` nearly equal numbers."""
    return [(total + part) // parts for part in range(parts)]
