"""Compare a machine, over a frame of cycles, with the program that it must compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dais_verif.base.errors import MachineInputError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.golden.machine import trace_machine
from dais_verif.golden.oracle import show
from dais_verif.golden.unroll import (
    Port,
    Stall,
    Unrolled,
    broken_off,
    in_words,
    lost_of,
    missed_by_reset,
    stall_of,
    unroll,
)
from dais_verif.record.diff import DiffRecord, FrameInfo, FrameValue
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Element
from dais_verif.spec.program import Program
from dais_verif.stimulus.machines import npz_of
from dais_verif.subject import open_subject
from dais_verif.subject.given import path_of
from dais_verif.verbs.machines.frame import FrameFile, read_frame
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import Progress

if TYPE_CHECKING:
    from dais_verif.verbs.diff import DiffRequest

__all__ = ["FrameWitness", "diff_machine", "judged", "with_file"]


#: The number of frames from power-up that are checked if a frame from another state is wrong.
_FRAMES = 3
#: The number of cycles of the first frame in which a reset is tried, if it does not restore all that frames need.
_RESETS = 64
#: The largest number of register elements that a message names.
_LOST = 2
_Compare = Callable[["DiffRequest", Progress], DiffRecord]


def diff_machine(request: DiffRequest, progress: Progress, compare: _Compare) -> DiffRecord:
    """Compare every frame of the machine A with the program B. ``compare``: compares two programs.

    A frame may begin in any state that agrees with power-up in everything that every frame restores. A difference in a
    frame from power-up is real; from another state the verdict is UNKNOWN, since that state may be unreachable.
    """
    machine = open_subject(request.a).machine
    if machine is None:
        raise RequestError.of("{frame} says which cycles of a machine (ALIRFSM) are a program, and A is not a machine.")
    if open_subject(request.b).machine is not None:
        raise RequestError.of(
            "A and B are both machines, but diff compares a machine with a program; to compare two machines, emit "
            "the RTL of one, and prove it against the other: {command}.",
            command=own_command(["prove", path_of(request.a, "A"), "--rtl", "b.v"]),
        )
    if request.frame is None:
        raise RequestError.of("A is a machine: give {frame}, a file that says which of its cycles are the program B.")
    if request.output is not None and request.output.suffix != ".npz":
        raise RequestError.of("{output} must end with .npz: a difference of a machine is shown by a sequence.")
    said = read_frame(request.frame, machine)
    b, warnings = read_program(request.b, request.layout_b or request.layout, progress)
    frame = said.frame
    if (len(frame.inputs), len(frame.outputs)) != (b.n_in, b.n_out):
        ports = f"{counted(len(frame.inputs), 'input')} and {counted(len(frame.outputs), 'output')}"
        raise MachineInputError(f"the frame has {ports}, B has {b.n_in} and {b.n_out}")
    every = unroll(machine, frame)
    if request.inputs and every.free:
        raise RequestError.of(
            "{inputs} cannot be given: the frame does not determine all inputs or registers of the machine."
        )
    frames = _Frames(machine, said, request, progress, compare)
    found = frames.compared(every, b)
    stalled = False
    if said.stall and found.record.verdict is Verdict.PASS:
        found, stalled = frames.stalled(found)
    reset = False
    if said.reset and found.record.verdict is Verdict.PASS:
        found, reset = frames.reset(found, every, b)
    record, witness = found.record, found.witness
    if witness is not None:
        record = judged(record, machine, witness)
    proved = record.verdict is Verdict.PASS and request.prove
    pins = "".join(f"; {e} held at {_values(values)}" for e, values in frame.held.items())
    message = record.message
    if proved:
        each = f"each of the first {frame.before}, and " if frame.before else ""
        message = f"{each}every frame: {message}; every frame restores {len(every.known)} elements of registers{pins}"
    assumed = _assumed(machine, every) if record.verdict is Verdict.PASS else []
    record = replace(
        record,
        message=message + "".join(f"; assumed: {text}" for text in assumed),
        a=ProgramInfo.of_machine(machine),
        b=ProgramInfo.of(b),
        identical=False,
        first_different_op=None,  # the ops of a frame's program are not ops of the machine
        replay=None,
        warnings=warnings,
        reproduce=request.reproduce(),
        frame=FrameInfo(
            cycles=frame.cycles,
            ops=every.program.n_ops,
            free=list(map(str, every.free)),
            restored=list(map(str, every.known)),
            stalled=stalled,
            reset=reset,
            frame=None if witness is None else witness.frame,
            witness=None if witness is None else witness.values(),
            output=None if witness is None else witness.shown(record),
            sha256=said.sha256,
            assumed=assumed,
        ),
    )
    return with_file(record, machine, witness, request, progress)


def _assumed(machine: Machine, every: Unrolled) -> list[str]:
    """Return the assumptions behind equality: registers that the oracle calls unknown have some value at power-up."""
    uninitialised = [e for e in every.free if isinstance(e, Element) and machine.signals[e.signal].initial is None]
    if not uninitialised:
        return []
    shown = ", ".join(map(str, uninitialised[:_LOST])) + ", ..." * (len(uninitialised) > _LOST)
    return [f"uninitialised registers on which outputs depend are 0 or 1 at power-up, not X as in simulation: {shown}"]


def _values(values: Sequence[Fraction | None]) -> str:
    return ", ".join(map(str, values[:8] if len(set(values)) > 1 else values[:1])) + ", ..." * (
        len(values) > 8 and len(set(values)) > 1
    )


@dataclass(frozen=True)
class _Found:
    """The result of a comparison; ``witness``: the inputs and state that show a difference, if there is one."""

    record: DiffRecord
    witness: FrameWitness | None = None


@dataclass(frozen=True)
class _Frames:
    """Comparisons of the frames of a machine with programs."""

    machine: Machine
    said: FrameFile
    request: DiffRequest
    progress: Progress
    compare: _Compare

    def compared(self, every: Unrolled, b: Program) -> _Found:
        """Compare all frames: if a frame leaves inputs or registers open, first from power-up, then from any state.

        Promises are only checked from power-up, since other states may be unreachable. A difference from power-up is
        the result: vectors for any state need not include that state.
        """
        before = self.said.frame.before
        for frames in range(before):
            early = self.after(frames, b, self.request)
            if early.record.verdict is not Verdict.PASS:
                return early
        if not every.free:
            return self.unrolled(every, b, self.request, before)
        first = self.after(0, b, replace(self.request, prove=False))
        if first.record.verdict is Verdict.PROGRAMS_DIFFER:
            return first
        found = self.unrolled(every, b, replace(self.request, unchecked=True), None)
        if found.record.verdict is not Verdict.PROGRAMS_DIFFER:
            return found
        for frames in range(_FRAMES):
            other = self.after(frames, b, self.request)
            if other.record.verdict is Verdict.PROGRAMS_DIFFER:
                return other
        lost = lost_of(self.machine, self.said.frame, every)
        names = "".join(f"; {e} is not restored: it depends on {in_words(on)}" for e, on in [*lost.items()][:_LOST])
        message = (
            f"the first {_FRAMES} frames are right; one that begins in another state, which may be unreachable, is not"
        )
        message += names + f"; nor are {len(lost) - _LOST} more" * (len(lost) > _LOST)
        return replace(found, record=replace(found.record, verdict=Verdict.UNKNOWN, message=message))

    def after(self, frames: int, b: Program, request: DiffRequest) -> _Found:
        """Compare the frame that follows ``frames`` others from power-up."""
        found = self.unrolled(unroll(self.machine, self.said.frame, after=frames), b, request, frames)
        if found.record.verdict is not Verdict.PROGRAMS_DIFFER:
            return found
        message = f"frame {frames} from power-up: {found.record.message}"
        return replace(found, record=replace(found.record, message=message))

    def unrolled(self, unrolled: Unrolled, b: Program, request: DiffRequest, frames: int | None) -> _Found:
        """Compare one frame with the program, which does not read inputs that the frame leaves open."""
        record = self.programs(unrolled.program, _with_inputs(b, len(unrolled.free)), request)
        return self.found(record, unrolled.free, self.said.frame.outputs, frames)

    def programs(self, a: Program, b: Program, request: DiffRequest) -> DiffRecord:
        """Compare two programs."""
        two = replace(request, a=a, b=b, frame=None, layout=None, layout_b=None, output=None)
        return self.compare(two, self.progress)

    def found(
        self, record: DiffRecord, free: Sequence[Port | Element], outputs: Sequence[Port], frames: int | None
    ) -> _Found:
        if record.difference is None:
            return _Found(record)
        given = [*self.said.frame.inputs, *free]
        values = dict(zip(given, map(Fraction, record.difference.witness), strict=True))
        return _Found(record, FrameWitness(self.said, frames, values, outputs[record.difference.output]))

    def stalled(self, found: _Found) -> tuple[_Found, bool]:
        """Check a stall, given that all frames are equal; return the result, and True if a stall changes nothing."""
        machine, said = self.machine, self.said
        any_state = stall_of(machine, said.frame, said.stall)
        if not any_state.registers:
            return found, True
        record = self.stall(any_state)
        names = ", ".join(str(Element(port.signal, port.place)) for port in any_state.registers[:4])
        names += ", ..." * (len(any_state.registers) > 4)
        if record.verdict is not Verdict.PROGRAMS_DIFFER:
            if record.verdict is Verdict.PASS:
                return found, self.request.prove
            message = f"{found.record.message}; undecided: whether a stall changes {names}"
            return _Found(replace(found.record, verdict=Verdict.UNKNOWN, message=message)), False
        early = stall_of(machine, said.frame, said.stall, from_power_up=True)
        if early.registers:
            record = self.stall(early)
            if record.verdict is Verdict.PROGRAMS_DIFFER:
                shown = self.found(record, early.free, early.registers, 0)
                assert shown.witness is not None
                port = shown.witness.port
                message = f"a stall in place of cycle {port.cycle} changes {Element(port.signal, port.place)}"
                return replace(shown, record=replace(record, message=message)), False
        message = f"a stall changes registers, but only in states that the first frame does not reach: {names}"
        return _Found(replace(found.record, verdict=Verdict.UNKNOWN, message=message)), False

    def reset(self, found: _Found, every: Unrolled, b: Program) -> tuple[_Found, bool]:
        """Check a reset, given that all frames are equal; return the result, and True if frames after it are right."""
        machine, said = self.machine, self.said
        begin = unroll(machine, said.frame, after=0).known if said.frame.before else every.known
        missed = missed_by_reset(machine, begin, said.reset)
        if not missed:
            return found, True
        if self.request.prove:
            # State that survives a reset may hold any value: if frames are right even then, such state does not matter.
            left = frozenset(missed)
            each = [unroll(machine, said.frame, after=frames, without=left) for frames in range(said.frame.before)]
            rebuilt = [*each, unroll(machine, said.frame, without=left)]
            if all(self.unrolled(one, b, self.request, None).record.verdict is Verdict.PASS for one in rebuilt):
                return found, True
        for cycle in range(min(said.frame.cycles, _RESETS)):
            broken = replace(said, frame=broken_off(said.frame, cycle, said.reset))
            other = replace(self, said=broken).after(0, b, replace(self.request, prove=False, inputs=()))
            if other.record.verdict is Verdict.PROGRAMS_DIFFER:
                message = f"the frame after a reset in place of cycle {cycle}: {other.record.message}"
                return replace(other, record=replace(other.record, message=message)), False
        names = ", ".join(map(str, missed[:4])) + ", ..." * (len(missed) > 4)
        message = f"a reset does not restore {names}; no vector shows a frame that is wrong because of that"
        return _Found(replace(found.record, verdict=Verdict.UNKNOWN, message=message)), False

    def stall(self, stall: Stall) -> DiffRecord:
        """Compare the registers before and after a clock edge with the inputs of a stall."""
        return self.programs(stall.after, stall.before, replace(self.request, unchecked=True, inputs=()))


def _with_inputs(program: Program, more: int) -> Program:
    return replace(program, inp_shift=np.concatenate([program.inp_shift, np.zeros(more, dtype=np.int64)]))


# Witnesses of a wrong frame of a machine: sequences from power-up, replayed by the oracle, stored as a file.


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
    record: DiffRecord, machine: Machine, witness: FrameWitness | None, request: DiffRequest, progress: Progress
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
