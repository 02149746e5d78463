"""Compare a machine, over a frame of cycles, with the program that it is to compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dais_verif.errors import InputError, RequestError
from dais_verif.flows.machines.frame import read_frame
from dais_verif.flows.machines.requests import find_machine
from dais_verif.flows.programs import read_program
from dais_verif.flows.progress import Progress
from dais_verif.golden.unroll import Frame, Unrolled, changed_while, unroll
from dais_verif.machine import Machine
from dais_verif.own_command import own_command
from dais_verif.program import Program
from dais_verif.record.diff import DiffRecord, FrameInfo
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.flows.diff import DiffRequest

__all__ = ["diff_machine"]

#: So many frames from power-up are looked at where one from another state is wrong.
_FRAMES = 3


def diff_machine(
    request: DiffRequest, progress: Progress, compare: Callable[[DiffRequest, Progress], DiffRecord]
) -> DiffRecord:
    """Compare every frame of the machine A with the program B, which ``compare`` does of two programs.

    A frame may begin in any state that agrees with power-up in all that every frame restores. A difference from
    power-up is one; from another state it is UNKNOWN, as nothing shows that the machine gets there.
    """
    machine = find_machine(request.a)
    if machine is None:
        raise RequestError.of("{frame} says which cycles of a machine (ALIRFSM) are a program, and A is none.")
    if request.frame is None:
        raise RequestError.of("A is a machine: give {frame}, a file that says which of its cycles are the program B.")
    said = read_frame(request.frame, machine)
    changing = changed_while(machine, said.stall) if said.stall else ()
    b, warnings = read_program(request.b, request.layout_b or request.layout, progress)
    frame = said.frame
    if (len(frame.inputs), len(frame.outputs)) != (b.n_in, b.n_out):
        raise InputError(
            f"the frame has {len(frame.inputs)} inputs and {len(frame.outputs)} outputs, B has {b.n_in} and {b.n_out}"
        )
    every = unroll(machine, frame)
    if every.free:
        record = _of_open_state(machine, every, b, frame, request, progress, compare)
    else:
        record = _compared(every, b, request, progress, compare)
    if changing and record.verdict is Verdict.PASS:
        shown = ", ".join(map(str, changing[:4]))
        message = f"registers change while the machine is stalled: {shown}{', ...' * (len(changing) > 4)}"
        record = replace(record, verdict=Verdict.PROGRAMS_DIFFER, message=message)
    proved = record.verdict is Verdict.PASS and request.prove
    pins = "".join(f"; {e} held at {_values(values)}" for e, values in frame.held.items())
    restored = f"; every frame restores {len(every.known)} elements of registers{pins}" if proved else ""
    return replace(
        record,
        message=f"every frame: {record.message}{restored}" if proved else record.message,
        a=ProgramInfo.of_machine(machine),
        replay=None,  # a vector of the program of a frame is none of the machine
        warnings=warnings,
        reproduce=own_command(request.words()) if request.command is None else request.command,
        frame=FrameInfo(
            cycles=frame.cycles,
            ops=every.program.n_ops,
            free=list(map(str, every.free)),
            restored=list(map(str, every.known)),
            stalled=bool(said.stall) and not changing,
        ),
    )


def _values(values: Sequence[Fraction]) -> str:
    return ", ".join(map(str, values[:8] if len(set(values)) > 1 else values[:1])) + ", ..." * (
        len(values) > 8 and len(set(values)) > 1
    )


def _compared(
    unrolled: Unrolled,
    b: Program,
    request: DiffRequest,
    progress: Progress,
    compare: Callable[[DiffRequest, Progress], DiffRecord],
) -> DiffRecord:
    """The unrolled machine and B, which reads none of the inputs that are free."""
    if unrolled.free and request.inputs:
        raise RequestError.of("{inputs} cannot be given: the frame leaves inputs or registers of the machine open.")
    padded = replace(b, inp_shift=np.concatenate([b.inp_shift, np.zeros(len(unrolled.free), dtype=np.int64)]))
    two = replace(request, a=unrolled.program, b=padded, frame=None, layout=None, layout_b=None)
    return compare(two, progress)


def _of_open_state(
    machine: Machine,
    every: Unrolled,
    b: Program,
    frame: Frame,
    request: DiffRequest,
    progress: Progress,
    compare: Callable[[DiffRequest, Progress], DiffRecord],
) -> DiffRecord:
    """The frame where it leaves inputs or registers open: from power-up first, on vectors, then from any state.

    Promises are looked at on the way from power-up alone: other states may be none that ever are. And what differs
    there is the answer: vectors of any state need not meet that one.
    """

    def after(frames: int, asked: DiffRequest) -> DiffRecord:
        return _compared(unroll(machine, frame, after=frames), b, asked, progress, compare)

    first = after(0, replace(request, prove=False))
    if first.verdict is Verdict.PROGRAMS_DIFFER:
        return replace(first, message=f"frame 0 from power-up: {first.message}")
    record = _compared(every, b, replace(request, unchecked=True), progress, compare)
    if record.verdict is Verdict.PROGRAMS_DIFFER:
        return _from_power_up(lambda frames: after(frames, request), record)
    return record


def _from_power_up(frame_after: Callable[[int], DiffRecord], other: DiffRecord) -> DiffRecord:
    """A difference that one of the first frames shows is one; of others nothing shows that they are ever there."""
    for after in range(_FRAMES):
        record = frame_after(after)
        if record.verdict is Verdict.PROGRAMS_DIFFER:
            return replace(record, message=f"frame {after} from power-up: {record.message}")
    message = f"the first {_FRAMES} frames are right; one that begins in another state, which may never be, is not"
    return replace(other, verdict=Verdict.UNKNOWN, message=message)
