"""Observe the values of views of a machine before every edge of some sequences, on the golden model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.machine import Values, trace_machine
from dais_verif.golden.machine_batch import run_raw
from dais_verif.machine import Connection, Machine, Role, Signal, View
from dais_verif.machine.edits import set_signal, types_of
from dais_verif.program.numbers import IntArray
from dais_verif.stimulus.machines import InputSequence, raw_rows

__all__ = ["Observed", "observe"]

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
