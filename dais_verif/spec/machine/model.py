"""The machine: blocks of logic, signals and connections under one clock, immutable.

A block is a program: its outputs follow its inputs at once. A signal is a sequence of elements, each with its own type;
it is an input, a wire or a register. A connection copies the elements of one view to those of another: to a wire at all
times, to a register at the rising edge of the clock. ``docs/machines.md`` defines the semantics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property

from dais_verif.spec.machine.identity import content_hash
from dais_verif.spec.program import FixedType, Origin, Program
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
