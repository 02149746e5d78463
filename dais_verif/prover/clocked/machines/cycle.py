"""One cycle of a machine as a program and one cycle of the RTL as a combinational design, to prove them equal.

Corresponding registers are inputs of both, and their values after the edge are outputs of both. A proof that program
and design are equal for all inputs is then the step of an induction over the edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire
from dais_verif.prover.clocked.machines.correspondence import Run
from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.netlist import Bits, Netlist, Read, Signal, driver_of
from dais_verif.prover.terms import Term, bnot, const
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of, port_names
from dais_verif.spec.machine.step import Step
from dais_verif.spec.program import Columns, Program
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ports import ports_of

__all__ = ["Cycle", "cycle_of"]


@dataclass(frozen=True)
class Cycle:
    """One cycle of machine and RTL.

    ``program``: one cycle of the machine; after the machine's outputs it has one output per run. ``netlist``: one cycle
    of the RTL. ``dut``: how the ports of ``netlist`` carry the program. ``claims``: what each output stands for, in
    words.
    """

    program: Program
    netlist: Netlist
    dut: Dut
    claims: tuple[str, ...]


def cycle_of(machine: Machine, step: Step, opened: Open, runs: Sequence[Run]) -> Cycle:
    """Return one cycle of machine and RTL, given that ``runs`` correspond.

    Drives the registers of ``opened`` accordingly; the next call replaces these drivers.
    """
    for now in opened.now.values():
        now.drivers.clear()
    program = _with_outputs(step, runs)
    own = ports_of(program)
    inputs, outputs = [], []
    names = port_names(machine)
    offset = 0
    for signal in machine.inputs:
        inputs.append(Wire(names[signal.name], offset, bits_of(signal.types)))
        offset += bits_of(signal.types)
    signals = dict(opened.netlist.signals)
    states: dict[int, Signal] = {}
    for number, element in enumerate(step.state):
        port = own.inputs[len(step.inputs) + number]
        if port.width:
            states[number] = signals[f"{element} state"] = Signal(f"{element} state", port.width, "", hidden=True)
            inputs.append(Wire(f"{element} state", port.offset, port.width))
    _drive_registers(opened, runs, states)
    anything = _drive_the_rest(opened, runs)
    for free in anything:
        signals[free.name] = free
        inputs.append(Wire(free.name, own.input_bits, free.width))  # above the bits that the program reads
    offset = 0
    for signal in machine.outputs:
        outputs.append(Wire(names[signal.name], offset, bits_of(signal.types)))
        offset += bits_of(signal.types)
    claims = [str(element) for element in step.outputs]
    for number, run in enumerate(runs):
        name = f"run {number} after"
        signals[name] = after = Signal(name, run.place.width, run.place.signal.where, hidden=True)
        part = _part(opened.after[run.place.signal], run.place.low, run.inverted)
        after.drive(driver_of(part, 0, after.width, 0, after.where))
        outputs.append(Wire(name, offset, after.width))
        offset += after.width
        claims.append(_said(step, run))
    netlist = opened.netlist._replace(
        signals=signals,
        inputs=(*opened.netlist.inputs, *(signal.name for signal in (*states.values(), *anything))),
        outputs=(*opened.netlist.outputs, *(f"run {number} after" for number in range(len(runs)))),
    )
    dut = Dut(DesignInterface(tuple(inputs), tuple(outputs)), own, program.output_types, "the machine's types")
    return Cycle(program, netlist, dut, tuple(claims))


def _with_outputs(step: Step, runs: Sequence[Run]) -> Program:
    """Return the program of a cycle with further outputs: for each of ``runs``, the bits of the next state."""
    program, n_out = step.program, len(step.outputs)
    rows: list[tuple[int, ...]] = []
    outputs = [index for index, _, _ in program.outputs[:n_out]]
    for run in runs:
        if run.element is None:
            rows.append((int(Code.CONST), -1, -1, 0, 0, run.place.width, 0))
            outputs.append(program.n_ops + len(rows) - 1)
            continue
        (index, _, _) = program.outputs[n_out + run.element]
        kind = program.ops[index].type
        if run.place.width < kind.width:  # only some of the element's bits, as an unsigned number
            f = kind.f - run.at
            rows.append((int(Code.QUANT), index, -1, 0, 0, run.place.width - f, f))
            index = program.n_ops + len(rows) - 1
        outputs.append(index)
    more = np.array(rows, dtype=np.int64).reshape(-1, 7)
    columns = Columns(*(np.concatenate([column, more[:, n]]) for n, column in enumerate(program.columns)))
    return replace(
        program,
        columns=columns,
        out_idx=np.array(outputs, dtype=np.int64),
        out_shift=np.zeros(len(outputs), dtype=np.int64),
        out_neg=np.zeros(len(outputs), dtype=np.int64),
    )


def _drive_registers(opened: Open, runs: Sequence[Run], states: Mapping[int, Signal]) -> None:
    """Drive registers with the machine state to which they correspond."""
    for run in runs:
        now = opened.now[run.place.signal]
        part = _zeros(run.inverted) if run.element is None else _part(states[run.element], run.at, run.inverted)
        now.drive(driver_of(part, 0, run.place.width, run.place.low, now.where))


def _drive_the_rest(opened: Open, runs: Sequence[Run]) -> list[Signal]:
    """Drive register bits without a correspondence with new, free signals; return these signals."""
    taken: dict[Signal, list[Place]] = {}
    for run in runs:
        taken.setdefault(run.place.signal, []).append(run.place)
    found = []
    for signal, low, width in opened.clocked:
        first = low
        for place in (*sorted(taken.get(signal, ()), key=lambda place: place.low), Place(signal, low + width, 0)):
            if place.low > first and place.low <= low + width:
                free = Signal(f"{signal.name} {first} free", place.low - first, signal.where, hidden=True)
                opened.now[signal].drive(driver_of(_part(free, 0), 0, free.width, first, signal.where))
                found.append(free)
            first = max(first, place.low + place.width)
    return found


def _part(signal: Signal, first: int, inverted: bool = False) -> Bits:
    def bits(read: Read, low: int, width: int) -> Term:
        found = read(signal, first + low, width)
        return bnot(found) if inverted else found

    return bits


def _zeros(inverted: bool) -> Bits:
    return lambda read, low, width: const(width, -1 if inverted else 0)


def _said(step: Step, run: Run) -> str:
    if run.element is None:
        return f"a constant in {run.place.signal.name} after the edge"
    element = step.state[run.element]
    whole = step.program.ops[step.program.outputs[len(step.outputs) + run.element][0]].type.width
    last = run.at + run.place.width - 1
    return f"{element} after the edge" + (f", bits {run.at} to {last}" if run.place.width < whole else "")
