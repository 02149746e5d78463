"""Generate random machines that use all features of the format.

Blocks of random programs, registers, memories, copies, enables, resets, indices with strides and offsets,
alternatives, constants and schedules.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ProgramError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_type
from dais_verif.spec.machine import Block, Connection, Index, Machine, Role, Schedule, Signal, View, validate
from dais_verif.spec.machine.checks import BIT, input_types, output_types
from dais_verif.spec.program import FixedType, Origin

__all__ = ["random_inputs", "random_machine"]


def random_machine(rng: random.Random, *, widest: int = 12, initialised: bool = True, inside: bool = False) -> Machine:
    """Return a valid machine. ``initialised``: registers have initial values. ``inside``: no index is out of range."""
    return _Builder(rng, widest, initialised, inside).machine()


def random_inputs(rng: random.Random, machine: Machine, sequences: int, cycles: int) -> dict[str, NDArray[np.float64]]:
    """Return inputs, some of them beyond their types or off their grids."""
    found = {}
    for signal in machine.inputs:
        shape = (sequences, cycles, len(signal.types))
        array = np.zeros(shape)
        for place, kind in enumerate(signal.types):
            bits = max(kind.width, 1) + rng.choice((0, 0, 2))
            raws = [rng.getrandbits(bits) - (1 << bits - 1) * kind.k for _ in range(sequences * cycles)]
            array[:, :, place] = np.array(raws).reshape(shape[:2]) * 2.0 ** -(kind.f + rng.choice((0, 0, 1)))
        found[signal.name] = array
    return found


class _Builder:
    def __init__(self, rng: random.Random, widest: int, initialised: bool, inside: bool) -> None:
        self.rng, self.widest, self.initialised, self.inside = rng, widest, initialised, inside
        self.keeping = rng.random() < 0.5
        self.signals: dict[str, Signal] = {}
        self.blocks: dict[str, Block] = {}
        self.connections: list[Connection] = []
        #: The readable elements so far: single elements of inputs, registers and driven wires.
        self.sources: list[View] = []
        #: Memories, each with the start, size and stride of the words that an index selects.
        self.memories: dict[str, tuple[int, int, int]] = {}

    def machine(self) -> Machine:
        rng = self.rng
        for n in range(rng.randint(1, 3)):
            self.signal(f"in{n}", self.types(rng.randint(1, 3)), Role.INPUT)
        if rng.random() < 0.5:
            self.signal("ctl", (BIT,) * rng.randint(1, 2), Role.INPUT)
        registers = [self.register(f"r{n}") for n in range(rng.randint(1, 4))]
        for n in range(rng.randint(0, 3)):
            self.memory(f"m{n}")
        for n in range(rng.randint(1, 4)):
            self.block(f"b{n}")
            for _ in range(rng.randint(0, 2)):
                self.wire()
        for name in registers:
            self.drive_register(name)
        for name in self.memories:
            self.drive_memory(name)
        for n in range(rng.randint(1, 3)):
            kinds = self.types(rng.randint(1, 2))
            self.signal(f"out{n}", kinds, Role.OUTPUT, readable=False)
            for place in range(len(kinds)):
                self.connections.append(Connection(self.source(), View(f"out{n}", place, place + 1)))
        self.schedules()
        rng.shuffle(self.connections)
        machine = Machine(self.blocks, self.signals, tuple(self.connections), Origin("memory"))
        validate(machine)
        return machine

    # signals

    def types(self, count: int) -> tuple[FixedType, ...]:
        return tuple(random_type(self.rng, self.widest) for _ in range(count))

    def signal(
        self, name: str, types: tuple[FixedType, ...], role: Role = Role.INTERNAL, *, readable: bool = True
    ) -> Signal:
        self.signals[name] = Signal(name, types, role)
        if readable:
            self.sources += [View(name, place, place + 1) for place in range(len(types))]
        return self.signals[name]

    def initial(self, types: tuple[FixedType, ...]) -> tuple[Fraction, ...] | None:
        if not self.initialised and self.rng.random() < 0.5:
            return None
        return tuple(self.rng.randint(k.raw_min, k.raw_max) * Fraction(2) ** -k.f for k in types)

    def register(self, name: str) -> str:
        types = (BIT,) if self.rng.random() < 0.2 else self.types(self.rng.randint(1, 3))
        role = Role.OUTPUT if self.rng.random() < 0.3 else Role.INTERNAL
        signal = self.signal(name, types, role)
        self.signals[name] = replace(signal, register=True, initial=self.initial(types))
        return name

    def memory(self, name: str) -> None:
        """Add a memory with words of one to three elements: surrounded by other elements, or of one type throughout."""
        rng = self.rng
        size, words = rng.choice((1, 1, 2, 3)), rng.randint(2, 6)
        word = self.types(size)
        before, behind = self.types(rng.choice((0, 0, 1, 2))), word[: rng.choice((0, 0, 1))]
        stride = size
        if rng.random() < 0.3:  # words that overlap, or with gaps between
            word, stride = word[:1] * size, rng.randint(1, 4)
            types = (*before, *word[:1] * (stride * (words - 1) + size))
        else:
            types = (*before, *word * words, *behind)
        self.signals[name] = Signal(name, types, Role.INTERNAL, True, self.initial(types))
        self.memories[name] = len(before), size, stride

    def schedules(self) -> None:
        """Add schedules, which do not change the function."""
        for signal in list(self.signals.values()):
            if signal.role is not Role.INTERNAL and self.rng.random() < 0.2:
                first, length = self.rng.randint(0, 4), self.rng.randint(1, 5)
                toggles = (first,) if length == 1 else (first, first + self.rng.randint(1, length - 1))
                self.signals[signal.name] = replace(signal, schedule=Schedule(toggles, length))

    # what connections read

    def source(self, register: bool | None = None) -> View:
        """Return an element: of a signal at a fixed place, or of a memory at an index or at a fixed place."""
        rng = self.rng
        if self.memories and register is not False and rng.random() < 0.2:
            return self.word(rng.choice(list(self.memories)), 1)
        found = [v for v in self.sources if register is None or self.signals[v.signal].register == register]
        return rng.choice(found)

    def word(self, name: str, size: int) -> View:
        """Return a view of ``size`` elements of a memory, usually at an index."""
        start, most, stride = self.memories[name]
        start += self.rng.randint(0, most - size)
        if self.rng.random() < 0.15:
            return View(name, start, start + size)
        return View(name, start, start + size, self.index(name, start + size, stride))

    def index(self, name: str, stop: int, stride: int) -> Index:
        """Return an index with as many bits as the words need; sometimes more, unless it must stay inside."""
        words = (len(self.signals[name].types) - stop) // stride + 1
        bits = words.bit_length() - 1 if self.inside else (words - 1).bit_length() + (self.rng.random() < 0.1)
        wire = f"i{len(self.signals)}"
        known = [v for v in self.sources if self.signals[v.signal].types[v.start] == FixedType(0, bits, 0)]
        if known and self.rng.random() < 0.5:
            return Index(self.rng.choice(known), stride)
        source = self.plain()
        self.signal(wire, (FixedType(0, bits, 0),))
        self.connections.append(Connection(source, View(wire, 0, 1)))
        return Index(View(wire, 0, 1), stride)

    def plain(self) -> View:
        """Return an element at a fixed place."""
        return self.rng.choice(self.sources)

    def bit(self) -> View:
        """Return a condition: an element of one bit, possibly a register; or a new wire with a copy of an element."""
        known = [v for v in self.sources if self.signals[v.signal].types[v.start] == BIT]
        if known and self.rng.random() < 0.6:
            return self.rng.choice(known)
        name = f"c{len(self.signals)}"
        source = self.plain()
        self.signal(name, (BIT,))
        self.connections.append(Connection(source, View(name, 0, 1)))
        return self.sources[-1]

    # what connections write

    def connect(self, target: View, likely: float) -> None:
        """Connect ``target`` to a source, or with an enable, to one of two sources; a register may hold its value."""
        rng, register = self.rng, self.signals[target.signal].register
        enable = self.bit() if rng.random() < likely else None
        source = self.some(target.size)
        alternative = None
        if enable is not None and (not register or rng.random() < 0.5):
            alternative = self.some(target.size, self.signals[source.signal].register)
        self.connections.append(Connection(source, target, enable, alternative))

    def some(self, size: int, register: bool | None = None) -> View:
        """Return a view of ``size`` adjacent elements."""
        if size == 1:
            return self.source(register)
        words = [name for name, (_, most, _) in self.memories.items() if most >= size and register is not False]
        if words and self.rng.random() < 0.4:
            return self.word(self.rng.choice(words), size)
        found = [
            View(view.signal, view.start, view.start + size)
            for view in self.sources
            if view.start + size <= len(self.signals[view.signal].types)
            and (register is None or self.signals[view.signal].register == register)
        ]
        if found:
            return self.rng.choice(found)
        name = f"w{len(self.signals)}"
        if register:
            kinds = self.types(size)
            self.signals[name] = Signal(name, kinds, Role.INTERNAL, True, self.initial(kinds))  # constants
            return View(name, 0, size)
        sources = [self.plain() for _ in range(size)]
        self.signal(name, self.types(size))
        self.connections += [Connection(s, View(name, place, place + 1)) for place, s in enumerate(sources)]
        return View(name, 0, size)

    def wire(self) -> None:
        name = f"w{len(self.signals)}"
        kinds = self.types(self.rng.choice((1, 1, 2)))
        self.signal(name, kinds, readable=False)
        self.connect(View(name, 0, len(kinds)), 0.5)
        self.sources += [View(name, place, place + 1) for place in range(len(kinds))]

    def drive_register(self, name: str) -> None:
        rng, count = self.rng, len(self.signals[name].types)
        place = 0
        while place < count:
            size = rng.randint(1, count - place)
            if rng.random() > 0.15:  # otherwise these elements hold their values
                self.connect(View(name, place, place + size), 0.6)
            place += size
        self.maybe_reset(name)

    def drive_memory(self, name: str) -> None:
        """Leave a memory constant, or write its words at an index, sometimes in two parts or at a fixed place, too."""
        rng = self.rng
        if rng.random() < 0.3:
            return
        start, size, stride = self.memories[name]
        parts = [(start, size)] if size == 1 or rng.random() < 0.7 else [(start, 1), (start + 1, size - 1)]
        for first, count in parts:
            index = self.index(name, first + count, stride) if rng.random() < 0.9 else None
            self.connect(View(name, first, first + count, index), 0.7)
        if start and rng.random() < 0.5:
            self.connect(View(name, 0, start), 0.5)
        self.maybe_reset(name)

    def maybe_reset(self, name: str) -> None:
        signal = self.signals[name]
        if self.rng.random() < 0.4:
            zeros = tuple(Fraction(0) for _ in signal.types)
            self.signals[name] = replace(signal, reset=self.bit(), initial=signal.initial or zeros)

    def block(self, name: str) -> None:
        rng = self.rng
        program = random_program(rng, rng.randint(1, 10), widest=self.widest, alir=True, promise_keeping=self.keeping)
        program = replace(program, inp_shift=np.zeros_like(program.inp_shift))
        block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
        try:
            kinds = input_types(block)
        except ProgramError:  # ops read one input in different types
            return
        self.signals[block.inputs] = Signal(block.inputs, kinds)
        place = 0
        while place < len(kinds):
            size = min(rng.choice((1, 1, 1, 2)), len(kinds) - place)
            self.connections.append(Connection(self.some(size), View(block.inputs, place, place + size)))
            place += size
        self.blocks[name] = block
        self.signal(block.outputs, output_types(block))
