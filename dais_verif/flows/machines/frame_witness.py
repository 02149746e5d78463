"""Witnesses of a wrong frame of a machine: sequences from power-up, replayed by the oracle, stored as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dais_verif.files import write_atomically
from dais_verif.flows.machines.frame import FrameFile
from dais_verif.flows.progress import Progress
from dais_verif.golden.machine import trace_machine
from dais_verif.golden.oracle import show
from dais_verif.golden.unroll import Port
from dais_verif.machine import Machine
from dais_verif.machine.step import Element
from dais_verif.own_command import own_command
from dais_verif.record.diff import DiffRecord, FrameValue
from dais_verif.stimulus.sequences import npz_of
from dais_verif.subject.given import path_of
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.flows.diff import DiffRequest

__all__ = ["FrameWitness", "judged", "with_file"]

_Rows = dict[str, list[list[Fraction]]]


@dataclass(frozen=True)
class FrameWitness:
    """Values of inputs and registers for which ``port`` is wrong.

    ``frame``: the number of frames from power-up before the wrong one; None: the wrong frame begins in a state that may
    be unreachable.
    """

    said: FrameFile
    frame: int | None
    given: Mapping[Port | Element, Fraction]
    port: Port

    def values(self) -> list[FrameValue]:
        """Return all values that are not 0, in the order of cycles."""
        found = [_value(what, value, self._first()) for what, value in self.given.items() if value]
        return sorted(found, key=lambda each: -1 if each.cycle is None else each.cycle)

    def shown(self, record: DiffRecord) -> FrameValue:
        """Return the wrong output, and the value that the machine gives."""
        assert record.difference is not None
        return _value(self.port, Fraction(record.difference.a.real), self._first())

    def rows(self, machine: Machine) -> _Rows:
        """Return every input in every cycle from power-up up to the cycle that shows the difference."""
        said, frame, first, last = self.said, self.said.frame, self._first(), self.last()
        rows: _Rows = {s.name: [[Fraction(0)] * len(s.types) for _ in range(last + 1)] for s in machine.inputs}
        for (name, place), held in frame.held.items():
            for t, row in enumerate(rows[name]):
                row[place] = held[t % frame.cycles] or Fraction(0)
        if self.port.stalled:
            for (name, place), value in said.stall.items():
                rows[name][last][place] = value
        for what, value in self.given.items():
            in_time = isinstance(what, Port) and (what.cycle < self.port.cycle or what.stalled == self.port.stalled)
            if isinstance(what, Port) and in_time and first + what.cycle <= last:
                rows[what.signal][first + what.cycle][what.place] = value
        return rows

    def last(self) -> int:
        """Return the cycle after power-up that shows the difference."""
        return self._first() + self.port.cycle

    def _first(self) -> int:
        return (self.frame or 0) * self.said.frame.cycles


def _value(what: Port | Element, value: Fraction, first: int) -> FrameValue:
    name = f"{what.signal}[{what.place}]"
    return FrameValue(name, what.cycle + first if isinstance(what, Port) else None, show(value))


def judged(record: DiffRecord, machine: Machine, witness: FrameWitness) -> DiffRecord:
    """Return ``record``; UNKNOWN if the oracle, which runs the machine itself, does not confirm the difference."""
    if witness.frame is None or record.difference is None or record.verdict is not Verdict.PROGRAMS_DIFFER:
        return record
    *_, last = trace_machine(machine, witness.rows(machine), check=False, cycles=witness.last() + 1)
    port = witness.port
    value = (last.after if port.stalled else last.before)[port.signal][port.place]
    if value is None:
        return replace(record, message=f"{record.message}; it is unknown, as it depends on uninitialised registers")
    if value == Fraction(record.difference.a.real):
        return record
    message = f"for {port}, the oracle gives {show(value)}, but the unrolled machine another value; please report it"
    return replace(record, verdict=Verdict.UNKNOWN, message=message)


def with_file(
    record: DiffRecord,
    machine: Machine,
    witness: FrameWitness | None,
    request: DiffRequest,
    progress: Progress,
) -> DiffRecord:
    """Write the sequence of a difference from power-up into the output file; add the command for it to ``record``."""
    if request.output is None or witness is None or witness.frame is None:
        return record
    rows = witness.rows(machine)
    if not all(_is_double(value) for each in rows.values() for row in each for value in row):
        warning = f"{request.output} was not written: it could not hold the sequence exactly"
        progress.warning(warning)
        return replace(record, warnings=[*record.warnings, warning])
    arrays = {name: np.array([[float(value) for value in row] for row in each]) for name, each in rows.items()}
    write_atomically(request.output, npz_of(arrays))
    words = ["run", path_of(request.a, "A"), "--inputs", str(request.output)]
    return replace(record, replay=own_command([*words, "--unchecked"] if record.unchecked else words))


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False
