"""Faults of decisions: counters that are off by one, and constants, gates and choices in blocks of control."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dais_verif.machine.dependence import deciding
from dais_verif.machine.edits import incremented, set_connection
from dais_verif.machine.faults.dependence import fed_back, feeds_back
from dais_verif.machine.faults.kinds import Fault, FaultKind
from dais_verif.machine.model import Block, Machine
from dais_verif.program import Op, Program
from dais_verif.program.opcodes import Code, high_int32

__all__ = ["faults_of_decisions"]

#: At most this many constants of one block are changed, and at most as many conditions.
_MOST = 8
#: The operations that replace AND, OR and XOR, as numbers in the data word.
_OTHER_GATE = {0: 1, 1: 0, 2: 1}


def faults_of_decisions(machine: Machine) -> Iterator[Fault]:
    """Yield faults of each register that counts or accumulates, and of each block that computes control signals."""
    for number, connection in enumerate(machine.connections):
        if feeds_back(machine, connection):
            counted, view = incremented(machine, connection.source)
            faulty = set_connection(counted, number, replace(connection, source=view))
            yield Fault(FaultKind.COUNTER, f"{connection}: one more", faulty)
    signals = deciding(machine) | fed_back(machine)
    for block in machine.blocks.values():
        if block.outputs in signals:
            yield from _of_constants(machine, block)
            yield from _of_gates(machine, block)
            yield from _of_choices(machine, block)


def _of_constants(machine: Machine, block: Block) -> Iterator[Fault]:
    for op in [op for op in block.program.ops if _has_constant(op)][:_MOST]:
        for step in (1, -1):
            text = f"block {block.name}, {op}: constant {op.data + step} in place of {op.data}"
            yield Fault(FaultKind.DECISION, text, _with_data(machine, block, op, op.data + step))


def _has_constant(op: Op) -> bool:
    return op.code in (Code.CONST, Code.ADD_CONST) or any(term.op < 0 for term in op.terms)


def _of_gates(machine: Machine, block: Block) -> Iterator[Fault]:
    for op in [op for op in block.program.ops if op.code == Code.BIT_BINARY][:_MOST]:
        gate = op.data >> 56
        data = op.data - (gate << 56) + (_OTHER_GATE[gate] << 56)
        names = ("AND", "OR", "XOR")
        text = f"block {block.name}, {op}: {names[_OTHER_GATE[gate]]} in place of {names[gate]}"
        yield Fault(FaultKind.DECISION, text, _with_data(machine, block, op, data))


def _of_choices(machine: Machine, block: Block) -> Iterator[Fault]:
    muxes = [op for op in block.program.ops if op.code == Code.MUX and high_int32(op.data) == 0]
    for op in muxes[:_MOST]:
        columns = block.program.columns
        id0, id1 = columns.id0.copy(), columns.id1.copy()
        id0[op.index], id1[op.index] = op.id1, op.id0
        program = replace(block.program, columns=columns._replace(id0=id0, id1=id1))
        text = f"block {block.name}, {op}: the other operand"
        yield Fault(FaultKind.DECISION, text, _with_program(machine, block, program))


def _with_data(machine: Machine, block: Block, op: Op, data: int) -> Machine:
    columns = block.program.columns
    column = columns.data.copy()
    column[op.index] = data
    return _with_program(machine, block, replace(block.program, columns=columns._replace(data=column)))


def _with_program(machine: Machine, block: Block, program: Program) -> Machine:
    return replace(machine, blocks={**machine.blocks, block.name: replace(block, program=program)})
