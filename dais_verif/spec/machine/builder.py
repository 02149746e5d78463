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

Methods return the ``View`` of a whole signal; ``view[2]``, ``view[1:3]`` and ``view.at(index)`` are views of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Integral, Rational, Real
from operator import index
from reprlib import repr as _short
from typing import Any, NamedTuple

from dais_verif.base.errors import MachineError
from dais_verif.base.text import counted
from dais_verif.spec.machine.checks import input_types, output_types, validate
from dais_verif.spec.machine.model import (
    LONGEST_NAME,
    Block,
    Connection,
    Machine,
    Role,
    Schedule,
    Signal,
    View,
    is_name,
    is_schedule,
    is_type,
)
from dais_verif.spec.program import FixedType, Origin, Program
from dais_verif.spec.program.types import LIMIT

__all__ = ["BlockViews", "MachineBuilder"]

_Types = FixedType | Sequence[FixedType]
#: The depth to which indices may be nested while a machine is written. Only one level is valid; ``build`` refuses
#: deeper nesting.
_DEEPEST = 4
_Values = int | float | Fraction | Iterable[int | float | Fraction]


class BlockViews(NamedTuple):
    """The wires of a block: ``inputs`` are targets of connections, ``outputs`` sources."""

    inputs: View
    outputs: View


class MachineBuilder:
    """A machine while it is written. ``types`` of a signal: one type for one element, or a sequence of types.

    Methods raise ``ProgramError`` at once for statements that no machine file may contain.
    """

    def __init__(self) -> None:
        self._signals: dict[str, Signal] = {}
        self._blocks: dict[str, Block] = {}
        self._connections: list[Connection] = []

    def input(self, name: str, types: _Types, *, schedule: Schedule | None = None) -> View:
        """Add a signal that is driven from outside."""
        return self._add(Signal(name, _kinds(name, types), Role.INPUT, schedule=schedule))

    def output(self, name: str, types: _Types, *, schedule: Schedule | None = None) -> View:
        """Add a wire that is read from outside."""
        return self._add(Signal(name, _kinds(name, types), Role.OUTPUT, schedule=schedule))

    def wire(self, name: str, types: _Types) -> View:
        """Add a signal that follows its sources at once."""
        return self._add(Signal(name, _kinds(name, types)))

    def register(
        self,
        name: str,
        types: _Types,
        *,
        initial: _Values | None = None,
        reset: View | None = None,
        output: bool = False,
    ) -> View:
        """Add a signal that changes only at clock edges; if no connection writes it, it is a table of constants.

        ``initial``: the value at power-up and after an edge at which ``reset`` is 1: one value for all elements, or one
        per element; None: unknown, or zeros if there is a reset. ``output``: whether it is an output of the machine.
        """
        kinds = _kinds(name, types)
        values = None if initial is None else _numbers(name, initial, kinds)
        if values is None and reset is not None:
            values = (Fraction(0),) * len(kinds)
        role = Role.OUTPUT if output else Role.INTERNAL
        return self._add(Signal(name, kinds, role, True, values, reset))

    def block(self, name: str, program: Program) -> BlockViews:
        """Add a block of logic. Raises ``ProgramError`` if ``program`` reads one input with two types."""
        _require_name("block", name)
        if not isinstance(program, Program):
            raise MachineError(f"block {name}: {_short(program)} is not a program as load or assemble returns it")
        block = Block(name, program, f"INTERNAL_{name}_inp", f"INTERNAL_{name}_outp")
        if name in self._blocks:
            raise MachineError(f"block {name}: there is already a block of this name")
        views = BlockViews(self.wire(block.inputs, input_types(block)), self.wire(block.outputs, output_types(block)))
        self._blocks[name] = block
        return views

    def connect(self, source: View, target: View, *, enable: View | None = None, otherwise: View | None = None) -> None:
        """Copy ``source`` to ``target``; while ``enable`` is 0, copy ``otherwise``, or without it keep the value."""
        for given in (source, target, *(view for view in (enable, otherwise) if view is not None)):
            _require_view("a connection", given)
        connection = Connection(source, target, enable, otherwise)
        for view in (target, *connection.reads):
            self._require_own(f"connection {connection}", view)
        self._connections.append(connection)

    def build(self) -> Machine:
        """Return the machine after checking it. Raises ``ProgramError`` for the first rule that it breaks."""
        for signal in self._signals.values():
            if signal.reset is not None:
                self._require_own(f"signal {signal.name}: its reset", signal.reset)
        machine = Machine(dict(self._blocks), dict(self._signals), tuple(self._connections), Origin("alirfsm"))
        validate(machine)
        return machine

    def _require_own(self, what: str, view: View) -> None:
        signal = self._signals.get(view.signal)
        if signal is None or not 0 <= view.start < view.stop <= len(signal.types):
            raise MachineError(f"{what}: {view} is not a signal of this machine")

    def _add(self, signal: Signal) -> View:
        if signal.name in self._signals:
            raise MachineError(f"signal {signal.name}: there is already a signal of this name")
        if signal.reset is not None:
            _require_view(f"signal {signal.name}: its reset", signal.reset)
        if signal.schedule is not None:
            _require_schedule(signal.name, signal.schedule)
        self._signals[signal.name] = signal
        return View(signal.name, 0, len(signal.types))


def _require_name(what: str, name: Any) -> None:
    if not is_name(name):
        raise MachineError(
            f"{what} {_short(name)}: a name must be a string of 1 to {LONGEST_NAME} characters, none of them invisible"
        )


def _require_view(what: str, view: Any, depth: int = 0) -> None:
    """Raise ``ProgramError`` unless ``view`` is a ``View`` with integer bounds; check its index in the same way."""
    if not isinstance(view, View) or depth > _DEEPEST:
        raise MachineError(f"{what}: {_short(view)} is not a view as a builder returns it for a signal")
    numbers = [view.start, view.stop, *([] if view.index is None else [view.index.stride])]
    if not isinstance(view.signal, str) or not all(type(number) is int for number in numbers):
        raise MachineError(f"{what}: {_short(view)}: the elements of a view must be given as int")
    if view.index is not None:
        _require_view(what, view.index.value, depth + 1)


def _require_schedule(name: str, schedule: Any) -> None:
    whole = isinstance(schedule, Schedule) and isinstance(schedule.toggles, tuple)
    if not whole or not all(type(time) is int for time in (*schedule.toggles, schedule.period)):
        raise MachineError(f"signal {name}: {_short(schedule)} is not a Schedule with a tuple of int and a period")
    if not is_schedule(schedule):
        raise MachineError(f"signal {name}: the toggles of {schedule} must rise and lie within one period")


def _kinds(name: Any, types: _Types) -> tuple[FixedType, ...]:
    """Return the types of a signal. Raises ``ProgramError`` for invalid types, or types beyond the limits of a file."""
    _require_name("signal", name)
    what = f"signal {name}"
    try:
        given = (types,) if isinstance(types, FixedType) else tuple(types)
        found = tuple(FixedType(*map(index, kind)) for kind in given if isinstance(kind, FixedType))
    except TypeError:
        raise MachineError(
            f"{what}: {_short(types)} is neither a FixedType with int fields nor a sequence of such types"
        ) from None
    for at, kind in enumerate(given):
        if not isinstance(kind, FixedType):
            raise MachineError(f"{what}: types[{at}] is {_short(kind)}, must be a FixedType")
    for kind in found:
        if not is_type(kind):
            raise MachineError(f"{what}: type {kind}: its width is 0 to {LIMIT}, and its i and f are up to {LIMIT}")
    return found


def _numbers(name: str, values: _Values, types: tuple[FixedType, ...]) -> tuple[Fraction, ...]:
    """Return the initial values of a register. Raises ``ProgramError`` for values outside its types."""
    value: Any = values
    single = isinstance(value, Real | str | bytes) or not isinstance(value, Iterable)
    given = [value] * len(types) if single else list(value)
    found = tuple(_exact(f"signal {name}", value) for value in given)
    if len(found) != len(types):
        raise MachineError(f"signal {name}: {len(found)} initial values for {counted(len(types), 'element')}")
    for place, (value, kind) in enumerate(zip(found, types, strict=True)):
        raw = value * Fraction(2) ** kind.f
        if raw.denominator != 1 or not kind.raw_min <= raw <= kind.raw_max:
            raise MachineError(f"signal {name}[{place}]: its type {kind} does not hold the initial value {value}")
    return found


def _exact(what: str, value: Any) -> Fraction:
    """Return the exact value of a Python or NumPy number."""
    try:
        if isinstance(value, Integral):
            return Fraction(int(value))
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, Real):
            numerator, denominator = value.as_integer_ratio()  # type: ignore[attr-defined]
            return Fraction(int(numerator), int(denominator))
    except (ValueError, OverflowError, AttributeError):  # not a number, infinite, or without an exact ratio
        pass
    raise MachineError(f"{what}: the initial value {_short(value)} must be a finite number")
