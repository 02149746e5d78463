"""Messages about broken promises: the place in the sequence, the operands, the exact result."""

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
    """A promise was broken in a run of the VM. The message shows the instruction with its neighbours.

    ``promise``: ``value`` (an op that must not change its value did), ``table index``, ``operand order`` or
    ``buffer width``. ``words``: what happened. ``op`` and ``position``: the op and its instruction. ``row``: the row in
    which it happened; None if the fault holds for all rows.
    """

    def __init__(
        self, iseq: InstructionSequence, promise: str, position: int, words: str, *, row: int | None = None
    ) -> None:
        where = f"instruction {position} of the {iseq.direction} sequence{'' if row is None else f', row {row}'}"
        super().__init__(f"{promise} promise broken at {where}: {words}\n{neighbours(iseq, position)}")
        self.promise, self.position, self.words, self.row = promise, position, words, row
        self.op = iseq[position].node


class ViolationWarning(UserWarning):
    """Issued if a promise was broken in a run that continues with the quantised value."""


def of_op(iseq: InstructionSequence, batch: Batch, row: int, op: int | None) -> MachineViolation:
    """Return the oracle's violation in ``row``, of ``op`` or of the first op that broke its promise."""
    violations: list[oracle.Violation] = []
    oracle.trace(iseq.program, batch.row(row), violations=violations)
    found = next((v for v in violations if op is None or v.op.index == op), None)
    if found is None:
        raise AssertionError(f"machine and oracle differ: violation at op {op}, row {row}")
    position = int(np.flatnonzero(iseq.columns.value == found.op.index)[0])
    promise = "table index" if found.exact is None else "value"
    return MachineViolation(iseq, promise, position, str(found), row=row)


def of_fault(iseq: InstructionSequence, batch: Batch | None, fault: Fault) -> MachineViolation:
    """Return the violation of an instruction that does not compute its op, with values of the first row."""
    node, words = iseq[fault.position].node, fault.words
    if batch is not None and batch.rows and node is not None:
        values = oracle.trace(iseq.program, batch.row(0), violations=[])
        op = iseq.program.ops[node]
        read = "".join(f"op {i} = {oracle.show(values[i])}, " for i in op.operands)
        words += f" (in row 0: {read}exact result {oracle.show(values[node])})"
    return MachineViolation(iseq, fault.promise, fault.position, words)
