"""Random machines: blocks of random programs, registers, memories, copies, enables, resets, indices."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import ProgramError
from dais_verif.machine import Block, Connection, Index, Machine, Role, Signal, View, validate
from dais_verif.machine.checks import input_types, output_types
from dais_verif.program import FixedType, Origin
from support.strategies import random_program, random_type

__all__ = ["random_inputs", "random_machine"]

_BIT = FixedType(0, 1, 0)


def random_machine(rng: random.Random, *, widest: int = 12, initialised: bool = True, inside: bool = False) -> Machine:
    """A valid machine. ``initialised``: every register has an initial value. ``inside``: no index leaves its memory."""
    return _Builder(rng, widest, initialised, inside).machine()


def random_inputs(rng: random.Random, machine: Machine, sequences: int, cycles: int) -> dict[str, NDArray[np.float64]]:
    """Inputs, some of them beyond their types or off their grids."""
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
        self.signals: dict[str, Signal] = {}
        self.blocks: dict[str, Block] = {}
        self.connections: list[Connection] = []
        #: What can be read so far: single elements of inputs, registers and wires that are driven.
        self.sources: list[View] = []

    def machine(self) -> Machine:
        rng = self.rng
        for n in range(rng.randint(1, 3)):
            self.signal(f"in{n}", self.types(rng.randint(1, 3)), Role.INPUT)
        registers = [self.register(f"r{n}") for n in range(rng.randint(1, 3))]
        memories = [self.memory(f"m{n}") for n in range(rng.randint(0, 2))]
        for n in range(rng.randint(1, 3)):
            self.block(f"b{n}")
            for _ in range(rng.randint(0, 2)):
                self.wire()
        for memory in memories:
            self.read_word(memory)
        for name in registers:
            self.drive_register(name)
        for name in memories:
            if rng.random() < 0.8:
                self.write_word(name)
        for n in range(rng.randint(1, 3)):
            kinds = self.types(1)
            self.signal(f"out{n}", kinds, Role.OUTPUT, readable=False)
            self.connections.append(Connection(self.source(), View(f"out{n}", 0, 1)))
        rng.shuffle(self.connections)
        machine = Machine(self.blocks, self.signals, tuple(self.connections), Origin("memory"))
        validate(machine)
        return machine

    def types(self, count: int) -> tuple[FixedType, ...]:
        return tuple(random_type(self.rng, self.widest) for _ in range(count))

    def signal(
        self, name: str, types: tuple[FixedType, ...], role: Role = Role.INTERNAL, *, readable: bool = True
    ) -> Signal:
        self.signals[name] = Signal(name, types, role)
        if readable:
            self.sources += [View(name, place, place + 1) for place in range(len(types))]
        return self.signals[name]

    def source(self, register: bool | None = None) -> View:
        found = [v for v in self.sources if register is None or self.signals[v.signal].register == register]
        return self.rng.choice(found)

    def bit(self) -> View:
        """A condition: an element of one bit, which is made by a copy if none is there."""
        name = f"c{len(self.signals)}"
        source = self.source()
        self.signal(name, (_BIT,))
        self.connections.append(Connection(source, View(name, 0, 1)))
        return self.sources[-1]

    def initial(self, types: tuple[FixedType, ...]) -> tuple[Fraction, ...] | None:
        if not self.initialised and self.rng.random() < 0.5:
            return None
        return tuple(self.rng.randint(k.raw_min, k.raw_max) * Fraction(2) ** -k.f for k in types)

    def register(self, name: str) -> str:
        types = self.types(self.rng.randint(1, 3))
        role = Role.OUTPUT if self.rng.random() < 0.3 else Role.INTERNAL
        signal = self.signal(name, types, role)
        self.signals[name] = replace(signal, register=True, initial=self.initial(types))
        return name

    def memory(self, name: str) -> str:
        types = self.types(1) * self.rng.randint(2, 6)
        self.signals[name] = Signal(name, types, Role.INTERNAL, True, self.initial(types))
        return name

    def index(self, name: str) -> Index:
        """An element that says which word, of as many bits as words need, or of one more unless it must stay inside."""
        words = len(self.signals[name].types)
        bits = (words - 1).bit_length() if not self.inside else words.bit_length() - 1
        wire = f"i{len(self.signals)}"
        source = self.source()
        self.signal(wire, (FixedType(0, bits, 0),))
        self.connections.append(Connection(source, View(wire, 0, 1)))
        return Index(View(wire, 0, 1), 1)

    def read_word(self, name: str) -> None:
        wire = f"w{len(self.signals)}"
        index = self.index(name)
        self.signal(wire, self.types(1))
        self.connections.append(Connection(View(name, 0, 1, index), View(wire, 0, 1)))

    def write_word(self, name: str) -> None:
        index = self.index(name)
        enable = self.bit() if self.rng.random() < 0.7 else None
        self.connections.append(Connection(self.source(), View(name, 0, 1, index), enable))
        self.maybe_reset(name)

    def drive_register(self, name: str) -> None:
        rng = self.rng
        for place in range(len(self.signals[name].types)):
            if rng.random() < 0.15:
                continue  # it keeps what it has
            enable = self.bit() if rng.random() < 0.6 else None
            source = self.source()
            alternative = None
            if enable is not None and rng.random() < 0.5:
                alternative = self.source(self.signals[source.signal].register)
            self.connections.append(Connection(source, View(name, place, place + 1), enable, alternative))
        self.maybe_reset(name)

    def maybe_reset(self, name: str) -> None:
        signal = self.signals[name]
        if self.rng.random() < 0.4:
            zeros = tuple(Fraction(0) for _ in signal.types)
            self.signals[name] = replace(signal, reset=self.bit(), initial=signal.initial or zeros)

    def wire(self) -> None:
        name = f"w{len(self.signals)}"
        enable = self.bit() if self.rng.random() < 0.5 else None
        source = self.source()
        alternative = None if enable is None else self.source(self.signals[source.signal].register)
        self.signal(name, self.types(1))
        self.connections.append(Connection(source, View(name, 0, 1), enable, alternative))

    def block(self, name: str) -> None:
        program = random_program(self.rng, self.rng.randint(1, 8), widest=self.widest, alir=True)
        program = replace(program, inp_shift=np.zeros_like(program.inp_shift))
        block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
        try:
            kinds = input_types(block)
        except ProgramError:  # one input in two types
            return
        for place in range(len(kinds)):
            self.connections.append(Connection(self.source(), View(block.inputs, place, place + 1)))
        self.signals[block.inputs] = Signal(block.inputs, kinds)
        self.blocks[name] = block
        self.signal(block.outputs, output_types(block))
