"""Unroll a machine over the cycles of one frame, as a program: control runs with known values, data stays symbolic.

In the start state, some elements of registers have their power-up values, or their values after a given number of
frames; all others are arbitrary. Cycles are unrolled one after the other. Values that do not depend on data are
computed by the oracle's rules, so the program contains neither counters nor the selections that they make. If the
elements with known values have the same values again after the frame, then this frame and all later ones start in such
a state, and a proof of the program is a proof for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dais_verif.counts import counted
from dais_verif.errors import FrameError
from dais_verif.golden.frame_chain import CHECKED, Chain, Frame, Port
from dais_verif.golden.oracle import quantise
from dais_verif.machine.model import Machine
from dais_verif.machine.step import Element, conflict_of, step_of
from dais_verif.program import Program
from dais_verif.program.graph import cone
from dais_verif.program.opcodes import INPUT, Code, low_int32
from dais_verif.program.ranges import PromiseStatus, analyse

__all__ = [
    "Frame",
    "Port",
    "Stall",
    "Unrolled",
    "in_words",
    "broken_off",
    "lost_of",
    "missed_by_reset",
    "stall_of",
    "unroll",
]


@dataclass(frozen=True)
class Unrolled:
    """An unrolled frame. ``program`` has the inputs of the frame, then the ``free`` inputs, and the frame's outputs.

    ``free``: inputs that the frame does not name, and elements of registers before its first cycle. ``known``: elements
    that have their power-up values at the start of every frame; if ``before`` of the frame is not 0, elements that, at
    the start of every later frame, have the values that they have after ``before`` frames.
    """

    program: Program
    free: tuple[Port | Element, ...]
    known: Mapping[Element, Fraction]


def unroll(machine: Machine, frame: Frame, *, after: int | None = None, without: Collection[Element] = ()) -> Unrolled:
    """Return one frame of ``machine`` from every state in which a frame can start, or frame ``after`` from power-up.

    ``without``: elements of registers to treat as arbitrary at the start of a frame, even if every frame restores them.
    Raises ``InputError`` if the frame names elements that do not exist, ``ViolationError`` if control breaks a promise.
    """
    conflict = conflict_of(machine)
    if conflict is not None:
        raise FrameError(f"{conflict}: its value is then unknown, so no program can describe what the machine computes")
    step = step_of(machine)
    _require_there(machine, frame)
    initial = {e: value for e in step.state if (value := _initial(machine, e)) is not None}
    known = {e: value for e, value in initial.items() if e not in without}
    chain: Chain | None = None
    if after is None and frame.before:
        known = Chain(machine, step, frame, known).run(range(-frame.before * frame.cycles, 0))
    while after is None:
        chain = Chain(machine, step, frame, known)
        found = chain.run(range(frame.cycles))
        kept = {e: value for e, value in known.items() if found.get(e) == value}
        if len(kept) == len(known):
            break
        known = kept
    last = max([frame.cycles, *(port.cycle + 1 for port in frame.outputs)])
    if chain is None:
        chain = Chain(machine, step, frame, known)
        chain.run(range(-(after or 0) * frame.cycles, last))
    else:
        chain.run(range(frame.cycles, last))
    program, free = chain.finished([chain.outputs[port] for port in frame.outputs])
    if step.indexed:
        _require_inside(program, chain.views, [*frame.inputs, *free])
    return Unrolled(program, free, known)


def lost_of(machine: Machine, frame: Frame, unrolled: Unrolled) -> dict[Element, list[Port | Element]]:
    """Return the elements of ``free`` that a frame may not restore, each with the inputs that determine its value.

    An example is a counter that data can stop: the next frame then starts in another state.
    """
    step = step_of(machine)
    chain = Chain(machine, step, frame, unrolled.known)
    chain.run(range(frame.cycles))
    after = dict(zip(step.state, chain.state, strict=True))
    lost = [what for what in unrolled.free if isinstance(what, Element) and _initial(machine, what) is not None]
    program, free = chain.finished([after[element] for element in lost])
    given = [*frame.inputs, *free]
    return {e: _read(program, index, given) for e, (index, _, _) in zip(lost, program.outputs, strict=True)}


def _read(program: Program, index: int, given: Sequence[Port | Element]) -> list[Port | Element]:
    """Return the inputs on which an op depends."""
    return [given[op.id0] for op in map(program.ops.__getitem__, cone(program, [index])) if op.code == INPUT]


#: The most inputs that a message names.
_SHOWN = 3


def in_words(given: Sequence[Port | Element]) -> str:
    """Return the text for some inputs of a frame, or elements of registers at its start, for a message."""
    names = [f"{what} at its start" if isinstance(what, Element) else str(what) for what in given[:_SHOWN]]
    return ", ".join(names) + f" and {len(given) - _SHOWN} more" * (len(given) > _SHOWN)


def _require_inside(program: Program, views: Mapping[int, str], given: Sequence[Port | Element]) -> None:
    """Raise ``InputError`` if an index may be out of range: a program cannot express the unknown value."""
    analysis = analyse(program)
    for op in program.ops:
        if op.code == Code.LOOKUP and op.type == CHECKED and analysis.changes[op.index] is not PromiseStatus.SAFE:
            view = views.get(low_int32(op.data), "a memory")
            raise FrameError(
                f"the frame does not determine the index of {view}, which can be outside of its memory: it depends on"
                f" {in_words(_read(program, op.index, given))}"
            )


@dataclass(frozen=True)
class Stall:
    """Programs of the registers ``before`` and ``after`` the edge of a stall, on the same inputs.

    ``registers``: the outputs of both programs, each with the cycle that the stall replaces. Registers for which both
    programs have the same op are left out; if there are no others, the stall changes no register.
    """

    after: Program
    before: Program
    free: tuple[Port | Element, ...]
    registers: tuple[Port, ...]


def stall_of(machine: Machine, frame: Frame, held: Mapping[Element, Fraction], *, from_power_up: bool = False) -> Stall:
    """Return a stall of ``machine`` in any state: one cycle with the inputs ``held``, and all others arbitrary.

    ``from_power_up``: consider only the states before each cycle of the first frame from power-up.
    """
    step = step_of(machine)
    known = {e: v for e in step.state if (v := _initial(machine, e)) is not None} if from_power_up else {}
    chain = Chain(machine, step, frame, known)
    found: dict[Port, tuple[int, int]] = {}
    for t in range(frame.cycles if from_power_up else 1):
        before = chain.state
        chain.cycle(t, held)
        for element, old, new in zip(step.state, before, chain.state, strict=True):
            if old != new:
                found[Port(element.signal, element.place, t, True)] = old, new
        chain.state = before
        if from_power_up:
            chain.cycle(t)
    both = [op for pair in found.values() for op in pair]
    program, free = chain.finished(both)
    ops = [index for index, _, _ in program.outputs]
    return Stall(_giving(program, ops[1::2]), _giving(program, ops[::2]), free, tuple(found))


def missed_by_reset(
    machine: Machine, known: Mapping[Element, Fraction], reset: Mapping[Element, Fraction]
) -> list[Element]:
    """Return the elements of ``known`` that one edge with ``reset`` in an arbitrary state does not restore."""
    step = step_of(machine)
    chain = Chain(machine, step, Frame(1, (), (), {}), {})
    chain.cycle(0, reset)
    found = {element: chain.value[op] for element, op in zip(step.state, chain.state, strict=True)}
    # An element that is never written is constant, not state.
    return [element for element, value in known.items() if found.get(element, value) != value]


def broken_off(frame: Frame, cycle: int, reset: Mapping[Element, Fraction]) -> Frame:
    """Return the frame that follows one in which a reset replaces ``cycle``; it lasts up to the last output."""
    first = cycle + 1
    frames = max(port.cycle for port in frame.outputs) // frame.cycles + 1
    inputs, outputs = (
        tuple(replace(port, cycle=port.cycle + first) for port in ports) for ports in (frame.inputs, frame.outputs)
    )
    held: dict[Element, tuple[Fraction | None, ...]] = {
        e: (*values[:cycle], reset.get(e, values[cycle]), *values * frames) for e, values in frame.held.items()
    }
    for element, value in reset.items():
        held.setdefault(element, (*[None] * cycle, value, *[None] * (frame.cycles * frames)))
    return Frame(first + frame.cycles * frames, inputs, outputs, held)


def _giving(program: Program, ops: Sequence[int]) -> Program:
    """Return ``program`` with the outputs ``ops``."""
    zeros = np.zeros(len(ops), dtype=np.int64)
    return replace(program, out_idx=np.array(ops, dtype=np.int64), out_shift=zeros, out_neg=zeros.copy())


def _initial(machine: Machine, element: Element) -> Fraction | None:
    signal = machine.signals[element.signal]
    if signal.types[element.place].width == 0:
        return Fraction(0)
    return None if signal.initial is None else signal.initial[element.place]


def _require_there(machine: Machine, frame: Frame) -> None:
    inputs, outputs = ({s.name: len(s.types) for s in side} for side in (machine.inputs, machine.outputs))
    if frame.cycles < 1:
        raise FrameError(f"a frame has {counted(frame.cycles, 'cycle')}, must have at least 1")
    for what, there, ports in (("input", inputs, frame.inputs), ("output", outputs, frame.outputs)):
        for port in ports:
            if not 0 <= port.place < there.get(port.signal, 0):
                raise FrameError(f"the frame's {what} {port} is not in the machine: {', '.join(there) or 'none'}")
            if port.cycle < 0 or (what == "input" and port.cycle >= frame.cycles):
                raise FrameError(f"the frame's {what} {port} is not within its {counted(frame.cycles, 'cycle')}")
    if len(set(frame.inputs)) < len(frame.inputs):
        raise FrameError("the frame names one element of an input twice in one cycle")
    for element, values in frame.held.items():
        if not 0 <= element.place < inputs.get(element.signal, 0):
            raise FrameError(
                f"{element.signal}[{element.place}], which the frame holds, is not an input of the machine"
            )
        if len(values) != frame.cycles:
            raise FrameError(
                f"{element.signal}[{element.place}] is held at {counted(len(values), 'value')}, must be {frame.cycles}"
            )
        kind = machine.signals[element.signal].types[element.place]
        for value in values:
            if value is not None and quantise(value, kind) != value:
                what = f"{element.signal}[{element.place}]"
                raise FrameError(f"{what} is held at {value}, which its type {kind} does not hold")
        if any(port.signal == element.signal and port.place == element.place for port in frame.inputs):
            raise FrameError(f"{element.signal}[{element.place}] is an input of the frame and also held")
