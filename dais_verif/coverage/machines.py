"""Coverage of a machine's control: registers, enables, resets, states, words of memories, slots of schedules.

Coverage is counted on the golden model, before every edge. Bins are shown to be unreachable only if all states of
control were searched; otherwise bins that were not hit are open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.counts import counted
from dais_verif.coverage.control_states import Control, control_of, reachable_states
from dais_verif.coverage.observed import Observed, observe
from dais_verif.machine import Connection, Machine, View
from dais_verif.record.coverage import Coverage, CoverageGroup, OpenBin
from dais_verif.stimulus.machines import InputSequence

__all__ = ["MACHINE_GROUPS", "measure_machine"]

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
