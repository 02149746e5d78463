"""Executors of forward sequences: their protocol, and the executor that needs only numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dais_verif.base.errors import ViolationError
from dais_verif.golden import fast
from dais_verif.golden.batch import Mask, output_of, run_op
from dais_verif.golden.vm.instructions import OUTPUT, ForwardForm, InstructionSequence
from dais_verif.spec.program.numbers import Batch, IntArray, compact

__all__ = ["CHUNK", "Event", "FastExecutor", "ForwardExecutor", "NumpyExecutor", "Observer", "Outcome"]


#: Rows per chunk: enough to amortise numpy's cost per call, few enough to stay in cache.
CHUNK = 2048


class Outcome(NamedTuple):
    """A forward run: raw outputs, raw values of the ops in ``allocation.saved`` in this order, and the first violation.

    The violation is None, or (row, op index) of the lowest row with a violation and its lowest op; the op is None if it
    is not known.
    """

    outputs: list[IntArray]
    saved: list[IntArray]
    violation: tuple[int, int | None] | None


class ForwardExecutor(Protocol):
    """Runs the forward sequence from which it is made, any number of times."""

    def run(self, batch: Batch, *, check: bool) -> Outcome:
        """Run all rows of ``batch``; if ``check``, check the promises that range analysis did not prove."""
        ...


class Event(NamedTuple):
    """The result of one instruction: its raw values (rows,), and the rows in which it broke a promise."""

    position: int
    raw: IntArray
    changed: Mask | None


class Memory(NamedTuple):
    """Raw values (rows,) by slot, and by output; None if not written yet."""

    slots: list[IntArray | None]
    outputs: list[IntArray | None]


#: Called with the number of the chunk's first row, and the event.
Observer = Callable[[int, Event], None]


class NumpyExecutor:
    """Slots are numpy arrays; every op is computed by the batch engine's rule."""

    def __init__(self, iseq: InstructionSequence) -> None:
        self._iseq = iseq
        c = iseq.columns
        self._rows = list(
            zip(*(column.tolist() for column in (c.code, c.node, c.port, c.out, c.form)), c.args.tolist(), strict=True)
        )

    def run(self, batch: Batch, *, check: bool, observer: Observer | None = None) -> Outcome:
        """Run as ``ForwardExecutor`` does; ``observer`` is called after every instruction."""
        allocation, parts = self._iseq.allocation, []
        violation: tuple[int, int] | None = None
        for start in range(0, max(batch.rows, 1), CHUNK):
            memory = self.memory()
            for event in self.steps(batch.slice(start, start + CHUNK), memory, check=check):
                if observer is not None:
                    observer(start, event)
                if event.changed is not None and event.changed.any():
                    found = start + int(np.argmax(event.changed)), self._rows[event.position][1]
                    violation = found if violation is None else min(violation, found)
            parts.append([*memory.outputs, *(memory.slots[slot] for slot in allocation.saved_slots.tolist())])
        columns = [_joined(column) for column in zip(*parts, strict=True)]
        n_out = self._iseq.program.n_out
        return Outcome([compact(column) for column in columns[:n_out]], columns[n_out:], violation)

    def memory(self) -> Memory:
        """Return the memory for a chunk of rows."""
        return Memory([None] * self._iseq.allocation.n_slots, [None] * self._iseq.program.n_out)

    def steps(self, batch: Batch, memory: Memory, *, check: bool) -> Iterator[Event]:
        """Run all instructions on ``batch`` in an empty ``memory``; yield after each of them."""
        program, changes, forms = self._iseq.program, self._iseq.changes, self._iseq.forms
        operands = _Operands(memory.slots)
        for position, (code, node, port, out, form, args) in enumerate(self._rows):
            operands.args = args
            changed: Mask | None = None
            if code == OUTPUT:
                operands.indices = (node,)
                raw = output_of(operands[node], program.outputs[port][2]) if node >= 0 else _zeros(batch.rows)
                memory.outputs[port] = raw
            else:
                op, compiled = program.ops[node], forms[form]
                assert isinstance(compiled, ForwardForm)
                operands.indices = op.operands
                raw, changed = run_op(
                    program, op, operands, batch, wide=compiled.wide, change=changes[node], check=check
                )
                memory.slots[out] = raw
            yield Event(position, raw, changed)


class _Operands:
    """The values of an op's operands, by op index, as read from the slots that the instruction names."""

    def __init__(self, slots: Sequence[IntArray | None]) -> None:
        self._slots = slots
        self.indices: tuple[int, ...] = ()
        self.args: Sequence[int] = ()

    def __getitem__(self, index: int, /) -> IntArray:
        slot = self.args[self.indices.index(index)]
        value = self._slots[slot] if slot >= 0 else None
        if value is None:
            raise ViolationError(
                f"slot {slot} is read for op {index} before anything was written to it; the sequence is damaged, "
                "run it at opt_level 1 to see where"
            )
        return value


def _zeros(rows: int) -> IntArray:
    return np.zeros(rows, dtype=np.int64)


def _joined(parts: tuple[IntArray | None, ...]) -> IntArray:
    made = [part for part in parts if part is not None]
    if len(made) < len(parts):
        raise ViolationError(
            "an output or a saved value was never computed; the sequence is damaged, run it at opt_level 1 to see where"
        )
    return np.concatenate(made)


# The C kernel as an executor of the VM; values for the pullback are additional outputs of the kernel.


class FastExecutor:
    """Runs the program of a sequence; the kernel makes its own instructions, on bits, from the same ops.

    Raises ``InputError`` if the kernel does not support the program.
    """

    name = "fast"

    def __init__(self, iseq: InstructionSequence) -> None:
        self._iseq = iseq
        self._n_out = iseq.program.n_out
        self._program = fast.FastProgram(iseq.program, saved=tuple(iseq.allocation.saved.tolist()))

    def run(self, batch: Batch, *, check: bool) -> Outcome:
        """Run as ``ForwardExecutor.run`` does. A violation has only the row; the op is the first that breaks there."""
        jobs = fast.threads(None)
        columns, broken = self._program.run_batch(batch, check=check, jobs=jobs)
        if broken is not None:  # the kernel stopped there
            columns, _ = self._program.run_batch(batch, check=False, jobs=jobs)
        columns = [compact(column) for column in columns]
        violation = (broken, None) if broken is not None else None
        return Outcome(columns[: self._n_out], columns[self._n_out :], violation)

    def times(self, batch: Batch) -> list[int]:
        """Return the nanoseconds of every instruction in one unchecked run; those of an op include storing its value.

        The kernel computes most sums within the op that reads them, and renames bits at no cost: such instructions take
        no time of their own.
        """
        spent, columns, n_ops = self._program.time_ops(batch), self._iseq.columns, self._iseq.program.n_ops
        np.add.at(spent, self._iseq.allocation.saved, spent[n_ops + self._n_out :])
        found: list[int] = spent[np.where(columns.code == OUTPUT, n_ops + columns.port, columns.node)].tolist()
        return found
