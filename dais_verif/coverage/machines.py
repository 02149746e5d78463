"""Coverage of a machine's control: registers, enables, resets, states, words of memories, slots of schedules.

Coverage is counted on the golden model, before every edge. Bins are shown to be unreachable only if all states of
control were searched; otherwise bins that were not hit are open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.text import counted
from dais_verif.golden import Golden
from dais_verif.golden.machine import Values, trace_machine
from dais_verif.golden.machine_batch import run_raw
from dais_verif.record.coverage import Coverage, CoverageGroup, OpenBin
from dais_verif.spec.machine import Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.edits import set_signal, types_of
from dais_verif.spec.machine.order import deciding
from dais_verif.spec.machine.step import Element, Step, conflict_of, step_of
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import IntArray
from dais_verif.stimulus.machines import InputSequence, raw_rows

__all__ = ["Control", "MACHINE_GROUPS", "Observed", "control_of", "measure_machine", "observe", "reachable_states"]


# Observe the values of views of a machine before every edge of some sequences, on the golden model.


#: The maximum number of values in memory at one time.
_MOST_AT_ONCE = 1 << 24
_PREFIX = "observed "


class Observed(NamedTuple):
    """Raw ``values`` (cycles of some sequences, elements), and whether each is ``known``."""

    values: IntArray
    known: NDArray[np.bool_]

    @property
    def bit(self) -> NDArray[np.bool_]:
        """True in cycles in which a condition is known to be 1."""
        return np.asarray(self.known[:, 0] & (self.values[:, 0] == 1), dtype=np.bool_)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """True in cycles in which a condition is known to be 0."""
        return np.asarray(self.known[:, 0] & (self.values[:, 0] == 0), dtype=np.bool_)


def observe(
    machine: Machine, views: Sequence[View], sequences: Sequence[InputSequence], *, check: bool
) -> Iterator[Mapping[View, Observed]]:
    """Yield the values of ``views``, which must not have an index, for one part of the sequences at a time.

    Raises ``ViolationError`` for a broken promise if ``check``.
    """
    probed = _probed(machine, views)
    elements = sum(len(signal.types) for signal in probed.outputs) + 1
    by_length: dict[int, list[InputSequence]] = {}
    for sequence in sequences:
        by_length.setdefault(sequence.cycles, []).append(sequence)
    for cycles, group in by_length.items():
        most = max(_MOST_AT_ONCE // (max(cycles, 1) * elements), 1)
        for start in range(0, len(group), most):
            part = group[start : start + most]
            found = _fast(probed, views, part, check)
            if found is not None:
                yield found
            else:
                yield from (_exact(machine, views, sequence, check) for sequence in part)


def _probed(machine: Machine, views: Sequence[View]) -> Machine:
    """Return the machine with ``views`` as its only outputs."""
    signals = {s.name: replace(s, role=Role.INTERNAL) if s.role is Role.OUTPUT else s for s in machine.signals.values()}
    machine = replace(machine, signals=signals)
    connections = list(machine.connections)
    for number, view in enumerate(views):
        name = f"{_PREFIX}{number}"
        types = types_of(machine, view)
        machine = set_signal(machine, Signal(name, types, Role.OUTPUT))
        connections.append(Connection(view, View(name, 0, len(types))))
    return replace(machine, connections=tuple(connections))


def _fast(
    machine: Machine, views: Sequence[View], part: Sequence[InputSequence], check: bool
) -> dict[View, Observed] | None:
    inputs = {
        signal.name: np.stack([raw_rows(sequence.rows[signal.name], signal.types) for sequence in part])
        for signal in machine.inputs
    }
    cycles = part[0].cycles
    run = run_raw(machine, inputs, sequences=len(part), cycles=cycles, check=check, after=False)
    if run is None:
        return None
    count = sum(view.size for view in views)
    rows = run.before.transpose(0, 2, 1).reshape(cycles * len(part), -1)
    found, first = {}, 0
    for view in views:
        values = rows[:, first : first + view.size].astype(np.int64)
        known = np.ones(values.shape, dtype=np.bool_)
        if run.unknowns:
            known = rows[:, count + first : count + first + view.size] == 0
        found[view] = Observed(values, known)
        first += view.size
    return found


def _exact(machine: Machine, views: Sequence[View], sequence: InputSequence, check: bool) -> dict[View, Observed]:
    """Return the observations of one sequence, made by the oracle, the slow exact model."""
    rows: dict[View, list[list[int | None]]] = {view: [] for view in views}
    for cycle in trace_machine(machine, sequence.rows, check=check, cycles=sequence.cycles):
        for view, kept in rows.items():
            kept.append(_raw(machine, view, cycle.before))
    found = {}
    for view, kept in rows.items():
        known = np.array([[value is not None for value in row] for row in kept], dtype=np.bool_)
        wide = any(kind.width > 62 for kind in types_of(machine, view))
        values = np.array([[value or 0 for value in row] for row in kept], dtype=object if wide else np.int64)
        shape = (sequence.cycles, view.size)
        found[view] = Observed(values.reshape(shape), known.reshape(shape))
    return found


def _raw(machine: Machine, view: View, values: Values) -> list[int | None]:
    exact = zip(values[view.signal][view.start : view.stop], types_of(machine, view), strict=True)
    return [None if value is None else int(value * Fraction(2) ** kind.f) for value, kind in exact]


# Coverage of a machine's control: registers, enables, resets, states, words of memories, slots of schedules.


#: Every kind of bin.
MACHINE_GROUPS = (
    "register bit",
    "enable",
    "reset",
    "control state",
    "reset in state",
    "word written",
    "word read",
    "schedule slot",
)
#: The maximum number of open bins that a record lists.
_LISTED = 1000
#: Views with more words than this, and schedules with more slots, have no bins.
_MOST_WORDS = 1 << 16
_Bools = NDArray[np.bool_]
_Seen = Mapping[View, Observed]


def measure_machine(machine: Machine, sequences: Sequence[InputSequence], *, check: bool = True) -> Coverage:
    """Return the coverage of ``machine``'s control by ``sequences``. Raises ``ViolationError`` for broken promises."""
    bins = _Bins(machine)
    for seen in observe(machine, bins.views, sequences, check=check):
        bins.count(seen)
    longest = max((sequence.cycles for sequence in sequences), default=0)
    return bins.coverage(longest, sum(sequence.cycles for sequence in sequences))


class _Bins:
    """The bins that were hit so far, as an array of flags for each object that has bins."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.registers = [View(s.name, 0, len(s.types)) for s in machine.registers if s.types]
        self.written = {
            (c.target.signal, place)
            for c in machine.connections
            if machine.clocked(c)
            for place in machine.reach(c.target)
        }
        self.enabled = [c for c in machine.connections if c.enable is not None]
        self.resets = {s.reset: s.name for s in reversed(machine.registers) if s.reset is not None}
        control = control_of(machine)
        self.control = control if control.is_small else None
        self.too_many = control.bits if self.control is None else 0
        self.accesses = list(_accesses(machine))
        indices = [view.index.value for _, view, _ in self.accesses if view.index is not None]
        conditions = [c.enable for c in machine.connections if c.enable is not None]
        self.views = list(dict.fromkeys([*self.registers, *conditions, *self.resets, *indices]))
        #: For each register, masks of the bits of each element that were 0, and that were 1.
        self.bits: dict[View, tuple[Any, Any]] = {
            view: (np.zeros(view.size, dtype=object), np.zeros(view.size, dtype=object)) for view in self.registers
        }
        self.conditions = {view: [False, False] for view in (*conditions, *self.resets)}
        states = 1 << self.control.bits if self.control else 0
        self.states = np.zeros(states, dtype=np.bool_)
        self.reset_in = {view: np.zeros(states, dtype=np.bool_) for view in self.resets}
        self.words = [np.zeros(_words(machine, view), dtype=np.bool_) for _, view, _ in self.accesses]

    def count(self, seen: _Seen) -> None:
        """Count the observations of a part of the sequences."""
        for view, (zeros, ones) in self.bits.items():
            values, known = seen[view]
            zeros |= np.bitwise_or.reduce(np.where(known, ~values, 0), axis=0).astype(object)
            ones |= np.bitwise_or.reduce(np.where(known, values, 0), axis=0).astype(object)
        for view, flags in self.conditions.items():
            flags[0] |= bool(seen[view].clear.any())
            flags[1] |= bool(seen[view].bit.any())
        if self.control is not None:
            codes, known = self.codes(self.control, seen)
            self.states[codes[known]] = True
            for view, at in self.reset_in.items():
                at[codes[known & seen[view].bit]] = True
        for (connection, view, field), at in zip(self.accesses, self.words, strict=True):
            assert view.index is not None
            index = seen[view.index.value]
            used = self.used(connection, field, seen) & index.known[:, 0] & (index.values[:, 0] < len(at))
            at[index.values[used, 0].astype(np.int64)] = True

    def codes(self, control: Control, seen: _Seen) -> tuple[NDArray[np.int64], _Bools]:
        columns = []
        known = np.ones(len(next(iter(seen.values())).values), dtype=np.bool_)
        for signal, place in control.elements:
            values = seen[View(signal, 0, len(self.machine.signals[signal].types))]
            columns.append(values.values[:, place].astype(np.int64))
            known &= values.known[:, place]
        return control.codes(columns), known

    def used(self, connection: Connection, field: str, seen: _Seen) -> _Bools:
        """Return the cycles in which a view of a connection has an effect."""
        any_view = next(iter(seen.values()))
        used = np.ones(len(any_view.values), dtype=np.bool_)
        if connection.enable is not None:
            enable = seen[connection.enable]
            if field == "alternative":
                used &= enable.clear
            elif field == "source" or connection.alternative is None:
                used &= enable.bit
        reset = self.machine.signals[connection.target.signal].reset
        if field == "target" and reset is not None:
            used &= seen[reset].clear
        return used

    def coverage(self, longest: int, cycles: int) -> Coverage:
        """Return the coverage with all bins."""
        reachable = None if self.control is None else reachable_states(self.machine, self.control)
        found: dict[str, list[tuple[str, bool, bool]]] = {name: [] for name in MACHINE_GROUPS}
        for group, text, hit, never in self.all(longest, reachable):
            if hit and never:
                raise AssertionError(f"coverage: {group}: {text} was hit, but shown to be unreachable")
            found[group].append((text, hit, never))
        groups = [
            CoverageGroup(name, len(bins), sum(hit for _, hit, _ in bins), sum(never for _, _, never in bins))
            for name, bins in found.items()
            if bins
        ]
        left = [(name, text) for name, bins in found.items() for text, hit, never in bins if not hit and not never]
        limits = []
        if self.too_many:
            limits.append(f"control states have no bins: they have {counted(self.too_many, 'bit')}")
        elif self.control is not None and reachable is None:
            limits.append("control states that were not seen are open: the next state depends on too many input bits")
        hit, bins, never = (sum(getattr(group, name) for group in groups) for name in ("hit", "bins", "unreachable"))
        return Coverage(
            vectors=cycles,
            directed=0,
            percent=hit * 1000 // (bins - never) / 10 if bins > never else 100.0,
            groups=groups,
            ops=[],
            outputs=[],
            open=[OpenBin(name, None, None, None, f"{name}: {text}") for name, text in left[:_LISTED]],
            open_total=len(left),
            limits=limits,
        )

    def all(self, longest: int, reachable: _Bools | None) -> Iterator[tuple[str, str, bool, bool]]:
        """Yield the group and text of every bin, whether it was hit, and whether it is unreachable."""
        for view, (zeros, ones) in self.bits.items():
            for place, kind in enumerate(self.machine.signals[view.signal].types):
                # Elements that are never written are constants, and have no bins.
                for bit in range(kind.width if (view.signal, place) in self.written else 0):
                    for value, seen in enumerate((zeros, ones)):
                        text = f"bit {bit} of {view.signal}[{place}] is {value}"
                        yield "register bit", text, bool(int(seen[place]) >> bit & 1), False
        for connection in self.enabled:
            assert connection.enable is not None
            for value, hit in enumerate(self.conditions[connection.enable]):
                yield "enable", f"{connection.enable} of {connection} is {value}", hit, False
        for view, name in self.resets.items():
            for value, hit in enumerate(self.conditions[view]):
                yield "reset", f"{view} of {name} is {value}", hit, False
        if self.control is not None:
            for code, hit in enumerate(self.states.tolist()):
                never = reachable is not None and not reachable[code]
                state = self.control.name(code)
                yield "control state", state, hit, never
                for view, at in self.reset_in.items():
                    yield "reset in state", f"{view} is 1 where {state}", bool(at[code]), never
        for (connection, view, field), at in zip(self.accesses, self.words, strict=True):
            what = "written" if field == "target" else "read"
            for word, hit in enumerate(at.tolist()):
                yield f"word {what}", f"word {word} of {view} by {connection}", hit, False
        for signal in self.machine.signals.values():
            schedule = signal.schedule
            if schedule is None or not 0 < schedule.period <= _MOST_WORDS:
                continue
            first = min(schedule.toggles)
            for slot in range(schedule.period):
                when = "with data" if schedule.valid(first + slot) else "without data"
                yield "schedule slot", f"slot {slot} of {signal.name}, {when}", longest > first + slot, False


def _accesses(machine: Machine) -> Iterator[tuple[Connection, View, str]]:
    """Yield every view with an index, with its connection and the name of its field there."""
    for connection in machine.connections:
        for field in ("source", "target", "alternative"):
            view = getattr(connection, field)
            if view is not None and view.index is not None and _words(machine, view) <= _MOST_WORDS:
                yield connection, view, field


def _words(machine: Machine, view: View) -> int:
    """Return the number of index values with which a view lies within its signal."""
    assert view.index is not None
    value = view.index.value
    most = machine.signals[value.signal].types[value.start].raw_max
    return int(min(most, (len(machine.signals[view.signal].types) - view.stop) // view.index.stride)) + 1


# States of a machine's control: the registers that determine enables, resets and indices, if they have few bits.


#: The maximum number of state bits, and of input bits whose combinations are tried in each state.
_MOST_STATE, _MOST_INPUTS = 10, 12
#: The number of states times inputs in one call of the engine.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Control:
    """The ``elements`` of registers and their types; the first is in the least significant bits of a state."""

    elements: tuple[Element, ...]
    kinds: tuple[FixedType, ...]

    @property
    def bits(self) -> int:
        """The number of bits of a state."""
        return sum(kind.width for kind in self.kinds)

    @property
    def is_small(self) -> bool:
        """True if there is more than one state, and few enough to enumerate."""
        return 0 < self.bits <= _MOST_STATE

    def codes(self, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return states as integers. ``columns``: the raw values of each element."""
        code = np.zeros(len(columns[0]) if columns else 1, dtype=np.int64)
        low = 0
        for column, kind in zip(columns, self.kinds, strict=True):
            code |= (column & ((1 << kind.width) - 1)) << low
            low += kind.width
        return code

    def name(self, code: int) -> str:
        """Return a state as text."""
        parts, low = [], 0
        for element, kind in zip(self.elements, self.kinds, strict=True):
            raw = code >> low & ((1 << kind.width) - 1)
            raw -= (raw > kind.raw_max) << kind.width
            parts.append(f"{element} = {raw}")
            low += kind.width
        return ", ".join(parts)


def control_of(machine: Machine) -> Control:
    """Return the control of ``machine``, which may have no elements."""
    names = deciding(machine, control=True)
    written = {
        Element(c.target.signal, place)
        for c in machine.connections
        if machine.clocked(c)
        for place in machine.reach(c.target)
    }
    elements = [
        (Element(signal.name, place), kind)
        for signal in machine.registers
        if signal.name in names
        for place, kind in enumerate(signal.types)
        if kind.width and Element(signal.name, place) in written
    ]
    return Control(tuple(e for e, _ in elements), tuple(kind for _, kind in elements))


def reachable_states(machine: Machine, control: Control) -> NDArray[np.bool_] | None:
    """Return for each state whether any inputs lead to it from power-up.

    ``control`` must be small. It depends only on itself and on inputs, so all combinations of these are tried. Returns
    None if inputs have too many bits, a register has no initial value, or two connections may write one element at the
    same edge.
    """
    if conflict_of(machine) is not None:
        return None
    names = deciding(machine, control=True)
    step = step_of(machine)
    kinds = {e: machine.signals[e.signal].types[e.place] for e in (*step.inputs, *step.state)}
    inputs = [e for e in step.inputs if e.signal in names and kinds[e].width]
    owned = [machine.signals[e.signal] for e in step.state if e.signal in names]
    width = sum(kinds[e].width for e in inputs)
    if width > _MOST_INPUTS or any(signal.initial is None for signal in owned):
        return None
    return _Search(step, control, inputs, [kinds[e] for e in inputs]).run(machine)


class _Search:
    """A breadth-first search, which runs all new states with all inputs at once."""

    def __init__(self, step: Step, control: Control, inputs: list[Element], kinds: list[FixedType]) -> None:
        self.step, self.control = step, control
        self.golden = Golden(step.program)
        self.driven = [(step.inputs.index(e), kind) for e, kind in zip(inputs, kinds, strict=True)]
        self.held = [step.state.index(e) for e in control.elements]
        self.combinations = 1 << sum(kind.width for kind in kinds)

    def run(self, machine: Machine) -> NDArray[np.bool_]:
        first = []
        for element, kind in zip(self.control.elements, self.control.kinds, strict=True):
            initial = machine.signals[element.signal].initial
            assert initial is not None
            first.append(np.array([int(initial[element.place] * 2**kind.f)], dtype=np.int64))
        seen = np.zeros(1 << self.control.bits, dtype=np.bool_)
        front = self.control.codes(first)
        while front.size:
            seen[front] = True
            found: list[NDArray[np.int64]] = []
            at_once = max(_AT_ONCE // self.combinations, 1)
            for start in range(0, len(front), at_once):
                found.append(self.following(front[start : start + at_once]))
            front = np.unique(np.concatenate(found))
            front = front[~seen[front]]
        return seen

    def following(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all successors of ``states``."""
        step = self.step
        codes = np.repeat(states, self.combinations)
        choices = np.tile(np.arange(self.combinations, dtype=np.int64), len(states))
        rows = np.zeros((step.program.n_in, len(codes)), dtype=np.int64)
        low = 0
        for number, kind in self.driven:
            rows[number] = choices >> low & ((1 << kind.width) - 1)
            low += kind.width
        low = 0
        for number, kind in zip(self.held, self.control.kinds, strict=True):
            rows[len(step.inputs) + number] = codes >> low & ((1 << kind.width) - 1)
            low += kind.width
        after = self.golden.run_planar(rows, check=False, jobs=1)
        first = len(step.outputs)
        columns = [after[first + number].astype(np.int64) for number in self.held]
        return np.unique(self.control.codes(columns))
