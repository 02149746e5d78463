"""Verify before a run that the columns of a sequence compute its program.

*operand order*: every op and output has its instruction, which reads the values of its operands, in their order, from
slots that hold these values at that position. *buffer width*: every slot is wide enough for the values that are written
to it, and every op is computed with integers that hold its intermediates.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.vm.columns import at, form_of, operands_of, shapes_of, widths_of
from dais_verif.golden.vm.instructions import OUTPUT, ForwardForm, InstructionSequence
from dais_verif.golden.vm.pullback import Contribution, contributions, reads_of
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ranges import PromiseStatus

__all__ = ["Fault", "first_fault"]

Ints = NDArray[np.int32]
ORDER, WIDTH = "operand order", "buffer width"


class Fault(NamedTuple):
    """The instruction at ``position`` breaks ``promise``. ``words``: the description of the fault."""

    position: int
    promise: str
    words: str


def first_fault(iseq: InstructionSequence) -> Fault | None:
    """Return the fault at the lowest position, or None.

    If an earlier check found no fault, and no column can have changed since then, nothing is checked again.
    """
    allocation = iseq.allocation
    columns = (*iseq.columns, iseq.holder, allocation.bits, allocation.saved, allocation.saved_slots)
    constant = not any(column.flags.writeable for column in columns)
    verified = iseq.runtime.verified
    if constant and verified and all(map(operator.is_, columns, verified)):
        return None
    own = _of_forward if iseq.direction == "forward" else _of_pullback
    fault = min((*_of_slots(iseq), *_of_saves(iseq), *own(iseq)), default=None, key=lambda fault: fault.position)
    iseq.runtime.verified = columns if fault is None and constant else ()
    return fault


def _faults(promise: str, wrong: NDArray[np.bool_], words: Callable[[int], str]) -> Iterator[Fault]:
    """Yield a fault for the first position that is ``wrong``, if there is one."""
    if wrong.any():
        position = int(np.argmax(wrong))
        yield Fault(position, promise, words(position))


def _of_slots(iseq: InstructionSequence) -> Iterator[Fault]:
    """Check that every operand's slot holds the value that the instruction names."""
    c, position = iseq.columns, np.arange(len(iseq))
    n_slots = iseq.allocation.n_slots if iseq.direction == "forward" else iseq.allocation.n_gradients
    yield from _faults(ORDER, c.out >= n_slots, lambda p: f"there is no slot {c.out[p]}")
    for k in range(c.reads.shape[1]):
        named, slot = c.reads[:, k], c.args[:, k]
        held = _held(iseq, slot, position)

        def words(p: int, k: int = k, held: Ints = held) -> str:
            value = f"holds {_name(iseq, held[p])}" if held[p] >= 0 else "holds nothing yet"
            wanted = f"must be {_name(iseq, c.reads[p, k])}" if c.reads[p, k] >= 0 else "it has no such argument"
            return f"argument {k} is slot {c.args[p, k]}, which {value}; {wanted}"

        yield from _faults(ORDER, (held != named) | ((slot >= 0) != (named >= 0)), words)


def _of_saves(iseq: InstructionSequence) -> Iterator[Fault]:
    """Check that every value that the pullback needs is listed with the slot that keeps it."""
    c, allocation = iseq.columns, iseq.allocation
    slot_of = np.full(iseq.program.n_ops, -1, dtype=np.int32)
    slot_of[allocation.saved] = allocation.saved_slots
    wanted = at(slot_of, at(iseq.holder, c.keeps))

    def words(p: int) -> str:
        kept = (f"%{op} is kept in slot {slot}" for op, slot in zip(c.keeps[p], wanted[p], strict=True) if op >= 0)
        return ", ".join(kept) or "no value is kept for it"

    yield from _faults(ORDER, (c.saves != wanted).any(axis=1), words)


def _of_forward(iseq: InstructionSequence) -> Iterator[Fault]:
    c, program, holder, allocation = iseq.columns, iseq.program, iseq.holder, iseq.allocation
    output = c.code == OUTPUT
    op = np.flatnonzero(~output)
    node = c.node[op]

    operands = operands_of(program)
    reads = np.full((len(iseq), operands.shape[1]), -1, dtype=np.int32)
    reads[op] = at(holder, operands[node])
    reads[output, 0] = at(holder, program.out_idx[c.port[output]])
    yield from _faults(ORDER, (c.reads != reads).any(axis=1), lambda p: f"its operands are {_names(iseq, reads[p])}")
    other = ~output & ((c.value != c.node) | (c.code != at(program.columns.code.astype(np.int32), c.node)))
    yield from _faults(
        ORDER, other, lambda p: f"it computes %{c.node[p]}, which is {program.ops[c.node[p]].spec.mnemonic}"
    )

    for index in np.flatnonzero(holder != np.arange(program.n_ops)).tolist():
        fused, source = program.ops[index], program.ops[holder[index]]
        same = fused.code == Code.QUANT and iseq.changes[index] is PromiseStatus.SAFE and fused.type.f == source.type.f
        if not same or holder[fused.id0] != source.index:
            position = int(np.argmax(c.value == source.index))
            yield Fault(position, ORDER, f"%{index} is fused to it, but is not always the same")

    made = np.bincount(node, minlength=program.n_ops) != (holder == np.arange(program.n_ops))
    given = np.bincount(c.port[output], minlength=program.n_out) != 1
    for what, missing in (("op", made), ("output", given)):
        for index in np.flatnonzero(missing)[:1].tolist():
            yield Fault(len(iseq) - 1, ORDER, f"{what} {index} has no instruction of its own, or several")

    kept = _held(iseq, allocation.saved_slots, np.full(len(allocation.saved), len(iseq)))
    for index in allocation.saved[kept != allocation.saved].tolist():
        yield Fault(len(iseq) - 1, ORDER, f"%{index} is kept for the pullback and was overwritten")

    width = np.zeros(len(iseq), dtype=np.int32)
    width[op] = widths_of(program)[node]
    bits = at(allocation.bits, np.minimum(c.out, allocation.n_slots - 1))
    yield from _faults(
        WIDTH, ~output & (bits < width), lambda p: f"slot {c.out[p]} has {bits[p]} bits; the value needs {width[p]}"
    )
    shapes, forms = shapes_of(program), iseq.forms
    first = np.array([form.op if isinstance(form, ForwardForm) else -1 for form in forms], dtype=np.int32)
    alien, narrow = np.zeros((2, len(iseq)), dtype=bool)
    alien[op] = (shapes[first[c.form[op]]] != shapes[node]).any(axis=1)
    wrong = np.array(
        [form != form_of(program, int(index)) for form, index in zip(forms, first, strict=True)], dtype=bool
    )
    narrow[op] = wrong[c.form[op]]
    yield from _faults(WIDTH, alien, lambda p: f"it is compiled as op {first[c.form[p]]}, which has another shape")
    yield from _faults(WIDTH, narrow, lambda p: "it is compiled for other integers than its types need")


def _of_pullback(iseq: InstructionSequence) -> Iterator[Fault]:
    """Check that the instructions add all contributions in their order."""
    c, terms, forms = iseq.columns, contributions(iseq.program), iseq.forms
    if len(terms) != len(iseq):
        yield Fault(min(len(terms), len(iseq)) - 1, ORDER, f"the pullback must have {len(terms)} instructions")
        return
    rows = np.column_stack([c.code, c.node, c.target, c.port, c.keeps[:, 0]])
    own = np.array([term.columns for term in terms], dtype=np.int32).reshape(-1, 5)
    other = np.array([forms[form] != term.form for form, term in zip(c.form.tolist(), terms, strict=True)], dtype=bool)
    wrong = (rows != own).any(axis=1) | (c.reads != reads_of(terms)).any(axis=1) | (c.value != np.arange(len(iseq)))
    yield from _faults(ORDER, wrong | other, lambda p: f"here op {terms[p].node} must add to {_goal(terms[p])}")


def _goal(term: Contribution) -> str:
    return f"g%{term.target}" if term.target >= 0 else f"grad {term.port}"


def _held(iseq: InstructionSequence, slot: Ints, before: NDArray[np.integer]) -> Ints:
    """Return the values that the slots ``slot`` hold just before the positions ``before``; -1 for an empty slot."""
    c, stride = iseq.columns, len(iseq) + 1
    writes = np.flatnonzero(c.out >= 0)
    keys = c.out[writes].astype(np.int64) * stride + writes
    order = np.argsort(keys)
    keys, values = keys[order], c.value[writes][order]
    last = np.searchsorted(keys, slot.astype(np.int64) * stride + before) - 1
    there = (slot >= 0) & (last >= 0)
    there[there] = keys[last[there]] // stride == slot[there]
    held = np.full(len(slot), -1, dtype=np.int32)
    held[there] = values[last[there]]
    return held


def _name(iseq: InstructionSequence, value: int) -> str:
    if iseq.direction == "forward":
        return f"%{value}"
    target = int(iseq.columns.target[np.flatnonzero(iseq.columns.value == value)[0]])
    return f"contribution {value} ({f'to g%{target}' if target >= 0 else 'to an input'})"


def _names(iseq: InstructionSequence, values: Ints) -> str:
    return ", ".join(_name(iseq, value) for value in values.tolist() if value >= 0) or "none"
