"""Write a machine in Python: name its signals and blocks, connect views of them, and ``build`` the valid machine.

    made = MachineBuilder()
    x, en = made.input("x", s8), made.input("en", bit)
    total = made.register("total", s16, initial=0)
    add = made.block("add", program)
    made.connect(x, add.inputs[0])
    made.connect(total, add.inputs[1])
    made.connect(add.outputs, total, enable=en)
    made.connect(total, made.output("y", s16))
    machine = made.build()

What methods return is the ``View`` of a whole signal; its parts are ``view[2]``, ``view[1:3]``, ``view.at(index)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from dais_verif.errors import ProgramError
from dais_verif.machine.checks import input_types, output_types, validate
from dais_verif.machine.model import Block, Connection, Machine, Role, Schedule, Signal, View
from dais_verif.program import FixedType, Origin, Program

__all__ = ["BlockViews", "MachineBuilder"]

_Types = FixedType | Sequence[FixedType]
_Values = int | float | Fraction | Iterable[int | float | Fraction]


class BlockViews(NamedTuple):
    """The wires of a block: connect something to ``inputs``, and ``outputs`` to something."""

    inputs: View
    outputs: View


class MachineBuilder:
    """A machine while it is written. Types: one for a signal of one element, or a sequence, one an element."""

    def __init__(self) -> None:
        self._signals: dict[str, Signal] = {}
        self._blocks: dict[str, Block] = {}
        self._connections: list[Connection] = []

    def input(self, name: str, types: _Types, *, schedule: Schedule | None = None) -> View:
        """Add a signal that the outside drives."""
        return self._add(Signal(name, _tuple(types), Role.INPUT, schedule=schedule))

    def output(self, name: str, types: _Types, *, schedule: Schedule | None = None) -> View:
        """Add a wire that the outside reads."""
        return self._add(Signal(name, _tuple(types), Role.OUTPUT, schedule=schedule))

    def wire(self, name: str, types: _Types) -> View:
        """Add a signal that follows what is connected to it at once."""
        return self._add(Signal(name, _tuple(types)))

    def register(
        self,
        name: str,
        types: _Types,
        *,
        initial: _Values | None = None,
        reset: View | None = None,
        output: bool = False,
    ) -> View:
        """Add a signal that changes at edges only; one that nothing is connected to is a table of constants.

        ``initial``: what it holds at power-up, and after an edge at which ``reset`` is 1: a value for all elements, or
        one for each; None: unknown, or zeros if there is a reset. ``output``: whether the outside reads it.
        """
        kinds = _tuple(types)
        values = None if initial is None else _numbers(name, initial, kinds)
        if values is None and reset is not None:
            values = (Fraction(0),) * len(kinds)
        role = Role.OUTPUT if output else Role.INTERNAL
        return self._add(Signal(name, kinds, role, True, values, reset))

    def block(self, name: str, program: Program) -> BlockViews:
        """Add a block of logic. Raises ``ProgramError`` if ``program`` reads one input in two types."""
        block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
        if name in self._blocks:
            raise ProgramError(f"block {name}: there is one of that name")
        self._blocks[name] = block
        return BlockViews(self.wire(block.inputs, input_types(block)), self.wire(block.outputs, output_types(block)))

    def connect(self, source: View, target: View, *, enable: View | None = None, otherwise: View | None = None) -> None:
        """Let ``target`` take ``source``; while ``enable`` is 0 it takes ``otherwise``, or keeps what it has."""
        connection = Connection(source, target, enable, otherwise)
        for view in (target, *connection.reads):
            signal = self._signals.get(view.signal)
            if signal is None or not 0 <= view.start < view.stop <= len(signal.types):
                raise ProgramError(f"connection {connection}: {view} is nothing of this machine")
        self._connections.append(connection)

    def build(self) -> Machine:
        """Return the machine. Raises ``ProgramError`` for the first rule that it breaks."""
        machine = Machine(dict(self._blocks), dict(self._signals), tuple(self._connections), Origin("alirfsm"))
        validate(machine)
        return machine

    def _add(self, signal: Signal) -> View:
        if signal.name in self._signals:
            raise ProgramError(f"signal {signal.name}: there is one of that name")
        self._signals[signal.name] = signal
        return View(signal.name, 0, len(signal.types))


def _tuple(types: _Types) -> tuple[FixedType, ...]:
    return (types,) if isinstance(types, FixedType) else tuple(types)


def _numbers(name: str, values: _Values, types: tuple[FixedType, ...]) -> tuple[Fraction, ...]:
    """What a register holds at first. Raises ``ProgramError`` for what its types do not hold."""
    single = isinstance(values, int | float | Fraction)
    found = (Fraction(values),) * len(types) if single else tuple(map(Fraction, values))  # type: ignore[arg-type]
    if len(found) != len(types):
        raise ProgramError(f"signal {name}: {len(found)} initial values for {len(types)} elements")
    for place, (value, kind) in enumerate(zip(found, types, strict=True)):
        raw = value * Fraction(2) ** kind.f
        if raw.denominator != 1 or not kind.raw_min <= raw <= kind.raw_max:
            raise ProgramError(f"signal {name}[{place}]: its type {kind} does not hold the initial value {value}")
    return found
