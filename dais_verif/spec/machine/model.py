"""The machine: blocks of logic, signals and connections under one clock, immutable.

A block is a program: its outputs follow its inputs at once. A signal is a sequence of elements, each with its own type;
it is an input, a wire or a register. A connection copies the elements of one view to those of another: to a wire at all
times, to a register at the rising edge of the clock. ``docs/machines.md`` defines the semantics.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

from dais_verif.base.errors import DaisError
from dais_verif.spec.program import FixedType, Origin, Program
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.types import LIMIT

__all__ = [
    "Block",
    "Connection",
    "Index",
    "LONGEST_NAME",
    "Machine",
    "Role",
    "Schedule",
    "Signal",
    "View",
    "content_hash",
    "is_name",
    "is_schedule",
    "is_type",
]


#: The most characters in the name of a signal or a block.
LONGEST_NAME = 255


class Role(Enum):
    """The role of a signal as seen from outside."""

    INPUT = "input"
    OUTPUT = "output"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Index:
    """An offset that moves a view by as many elements as the value of one element times ``stride``."""

    value: View
    stride: int


@dataclass(frozen=True, slots=True)
class View:
    """The elements ``start`` to ``stop - 1`` of a signal, moved up by ``index`` if the view has one."""

    signal: str
    start: int
    stop: int
    index: Index | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.stop - self.start

    def __getitem__(self, part: int | slice) -> View:
        """Return one element of the view, or consecutive ones. Raises ``IndexError`` outside the view."""
        places = range(self.start, self.stop)[part if isinstance(part, slice) else slice(part, (part + 1) or None)]
        if not places or places.step != 1 or (not isinstance(part, slice) and len(places) != 1):
            raise IndexError(f"{self} has no elements [{part}]")
        return View(self.signal, places.start, places.stop, self.index)

    def at(self, value: View, stride: int | None = None) -> View:
        """Return the view moved up by ``value`` times ``stride`` elements; the default stride is its own size."""
        return View(self.signal, self.start, self.stop, Index(value, self.size if stride is None else stride))

    def __str__(self) -> str:
        if self.index is None:
            return f"{self.signal}[{self.start}:{self.stop}]"
        return f"{self.signal}[{self.start}:{self.stop} + {self.index.stride}*{self.index.value}]"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a port carries data: from the 1st of ``toggles`` to the 2nd, from the 3rd to the 4th, and so on.

    The schedule repeats every ``period`` edges; period 0: data is always valid. A schedule describes timing and does
    not change the hardware.
    """

    toggles: tuple[int, ...]
    period: int

    def valid(self, edges: int) -> bool:
        """Return True if data is valid after ``edges`` edges of the clock."""
        if self.period == 0:
            return True
        first = min(self.toggles)
        if edges < first:
            return False
        place = (edges - first) % self.period
        return sum(toggle - first <= place for toggle in self.toggles) % 2 == 1


@dataclass(frozen=True, slots=True)
class Signal:
    """A sequence of elements.

    ``initial``: the value of a register before the first edge and after a reset, one per element; None if unknown.
    ``reset``: one element of one bit; while it is 1, the whole register takes ``initial`` at each edge.
    """

    name: str
    types: tuple[FixedType, ...]
    role: Role = Role.INTERNAL
    register: bool = False
    initial: tuple[Fraction, ...] | None = None
    reset: View | None = None
    schedule: Schedule | None = None
    attributes: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """``target`` takes ``source``; while ``enable`` is 0, it takes ``alternative``, or without one keeps its value."""

    source: View
    target: View
    enable: View | None = None
    alternative: View | None = None

    @property
    def reads(self) -> tuple[View, ...]:
        """All views whose values determine the target, including indices."""
        direct = [view for view in (self.source, self.enable, self.alternative) if view is not None]
        indices = [view.index.value for view in (*direct, self.target) if view.index is not None]
        return (*direct, *indices)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True, slots=True)
class Block:
    """A program; its inputs are the elements of the wire ``inputs``, its outputs those of the wire ``outputs``."""

    name: str
    program: Program
    inputs: str
    outputs: str


@dataclass(frozen=True)
class Machine:
    """A machine, immutable. ``load_machine`` makes and checks it."""

    blocks: Mapping[str, Block]
    signals: Mapping[str, Signal]
    connections: tuple[Connection, ...]
    origin: Origin

    @property
    def inputs(self) -> tuple[Signal, ...]:
        """The signals that are driven from outside, in the order of ports."""
        return tuple(signal for signal in self.signals.values() if signal.role is Role.INPUT)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        """The signals that are read from outside, in the order of ports."""
        return tuple(signal for signal in self.signals.values() if signal.role is Role.OUTPUT)

    @property
    def registers(self) -> tuple[Signal, ...]:
        """The signals that change only at clock edges."""
        return tuple(signal for signal in self.signals.values() if signal.register)

    def whole(self, name: str) -> View:
        """Return a view of all elements of the signal ``name``."""
        return View(name, 0, len(self.signals[name].types))

    def clocked(self, connection: Connection) -> bool:
        """Return True if a connection acts at clock edges."""
        return self.signals[connection.target.signal].register

    def reach(self, view: View) -> range:
        """Return the indices of all elements of its signal that a view can cover, for any index."""
        if view.index is None:
            return range(view.start, view.stop)
        kind = self.signals[view.index.value.signal].types[view.index.value.start]
        last = min(view.stop + view.index.stride * kind.raw_max, len(self.signals[view.signal].types))
        return range(view.start, max(last, view.stop))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the machine's content: the same for every form in which the machine is written."""
        return content_hash(self)

    def __repr__(self) -> str:
        n_ops = sum(block.program.n_ops for block in self.blocks.values())
        return f"<Machine {len(self.blocks)} blocks, {n_ops} ops, {len(self.registers)} registers>"


# Limits on the parts of a machine, whether from a file, a text or Python.


def is_name(name: object) -> bool:
    """Return True if ``name`` is valid for a signal or a block: printable text on one line."""
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()


def is_type(kind: FixedType) -> bool:
    """Return True if an element may have the type ``kind``, whose parameters must be within the limits of DAIS."""
    return kind.k in (0, 1) and max(abs(kind.i), abs(kind.f)) <= LIMIT and 0 <= kind.width <= LIMIT


def is_schedule(schedule: Schedule) -> bool:
    """Return True if the period is 0, or if it is positive and ``toggles`` are sorted and within one period."""
    times, period = list(schedule.toggles), schedule.period
    return period == 0 or (period > 0 and bool(times) and times == sorted(times) and times[-1] - times[0] < period)


# The identity of a machine: a hash of its content, the same for ALIRFSM, plain or gzip, and for text.


def content_hash(machine: Machine) -> str:
    """Return the SHA-256 of the ports in their order, the signals, connections and programs of ``machine``.

    Blocks are hashed after conversion to ALIR, so that a text and the file converted from it have the same hash; all
    elements without bits count as equal. The order of internal signals, of blocks, and of connections to wires is
    ignored, because it has no meaning. As for programs, declared intervals are not included.
    """
    wires = sorted(json.dumps(_connection(c)) for c in machine.connections if not machine.clocked(c))
    tree = {
        "ports": [signal.name for signal in (*machine.inputs, *machine.outputs)],
        "signals": {name: _signal(signal) for name, signal in machine.signals.items()},
        "blocks": {b.name: [b.inputs, b.outputs, _block(b.program)] for b in machine.blocks.values()},
        "wires": wires,
        "clocked": [_connection(c) for c in machine.connections if machine.clocked(c)],
    }
    return hashlib.sha256(b"dais machine\0" + json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _block(program: Program) -> str:
    try:
        return to_alir(program).hash
    except DaisError:  # no ALIRFSM file contains what ALIR cannot represent
        return program.hash


def _signal(signal: Signal) -> list[Any]:
    schedule = None if signal.schedule is None else [list(signal.schedule.toggles), signal.schedule.period]
    return [
        [[int(kind.k), kind.i, kind.f] if kind.width else [0, 0, 0] for kind in signal.types],
        signal.role.value,
        signal.register,
        None if signal.initial is None else [str(value) for value in signal.initial],
        _view(signal.reset),
        schedule,
        signal.attributes,
    ]


def _connection(connection: Connection) -> list[Any]:
    views = (connection.source, connection.target, connection.enable, connection.alternative)
    return [_view(view) for view in views]


def _view(view: View | None) -> list[Any] | None:
    if view is None:
        return None
    index = None if view.index is None else [_view(view.index.value), view.index.stride]
    return [view.signal, view.start, view.stop, index]
