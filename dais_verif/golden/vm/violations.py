"""A broken promise in words: where in the sequence, what was read, what the exact result is."""

from __future__ import annotations

import numpy as np

from dais_verif.errors import ViolationError
from dais_verif.golden import oracle
from dais_verif.golden.vm.instructions import InstructionSequence
from dais_verif.golden.vm.listing import neighbours
from dais_verif.golden.vm.verify import Fault
from dais_verif.program.numbers import Batch

__all__ = ["MachineViolation", "ViolationWarning", "of_fault", "of_op"]


class MachineViolation(ViolationError):
    """A promise was broken in a run of the machine. The text shows the instruction among its neighbours.

    ``promise``: ``value`` (an op that must not change its value did), ``table index``, ``operand order`` or
    ``buffer width``. ``position``: of the instruction; ``op``: its op; ``row``: None if it holds for every row.
    """

    def __init__(self, text: str, *, promise: str, position: int, op: int | None, row: int | None) -> None:
        super().__init__(text)
        self.promise, self.position, self.op, self.row = promise, position, op, row


class ViolationWarning(UserWarning):
    """A promise was broken in a run that carries on with the quantised value."""


def of_op(iseq: InstructionSequence, batch: Batch, row: int, op: int) -> MachineViolation:
    """Op ``op`` changed its value in ``row``; operands and exact result are the oracle's."""
    violations: list[oracle.Violation] = []
    oracle.trace(iseq.program, batch.row(row), violations=violations)
    found = next((v for v in violations if v.op.index == op), None)
    if found is None:
        raise AssertionError(f"machine and oracle differ: violation at op {op}, row {row}")
    position = int(np.flatnonzero(iseq.columns.value == op)[0])
    promise = "table index" if found.exact is None else "value"
    text = f"{promise} promise broken at instruction {position}, row {row}: {found}\n{neighbours(iseq, position)}"
    return MachineViolation(text, promise=promise, position=position, op=op, row=row)


def of_fault(iseq: InstructionSequence, batch: Batch | None, fault: Fault) -> MachineViolation:
    """An instruction does not do what its op says; operands and exact result are those of the first row, if any."""
    position, node = fault.position, int(iseq.columns.node[fault.position])
    words = f"{fault.promise} promise broken at instruction {position} of the {iseq.direction} sequence: {fault.words}"
    if batch is not None and batch.rows and node >= 0:
        values = oracle.trace(iseq.program, batch.row(0), violations=[])
        op = iseq.program.ops[node]
        read = "".join(f"op {i} = {oracle.show(values[i])}, " for i in op.operands)
        words += f" (in row 0: {read}exact result {oracle.show(values[node])})"
    return MachineViolation(
        f"{words}\n{neighbours(iseq, position)}",
        promise=fault.promise,
        position=position,
        op=node if node >= 0 else None,
        row=None,
    )
