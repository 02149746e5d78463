"""Compile a program to instructions: a forward sequence, and the pullback that runs after it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.integer_width import fits_int64
from dais_verif.golden.vm.check_sequence import first_fault
from dais_verif.golden.vm.columns import at, form_of, operands_of, shapes_of, widths_of
from dais_verif.golden.vm.instructions import OUTPUT, Columns, Compilation, ForwardForm, InstructionSequence, PullForm
from dais_verif.golden.vm.memory import Allocation, Tape
from dais_verif.golden.vm.pullback import Contribution, contributions, reads_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ranges import PromiseStatus, analyse

__all__ = ["assign_slots", "compile_forward_and_backward", "order_of"]


Ints = NDArray[np.int32]


def compile_forward_and_backward(
    program: Program, *, need_backward: bool = True, fuse: bool = True, optimize_locality: bool = True
) -> Compilation:
    """Return the instructions that compute ``program``, and, if ``need_backward``, those of its pullback.

    ``fuse``: a ``quant`` op that provably changes neither value nor number of fractional bits gets no instruction; its
    readers read its operand's slot. ``optimize_locality``: run an op close to its readers, which takes fewer slots;
    otherwise use program order. Results do not depend on either option. The C kernel ignores both, since it compiles
    ops to bits itself: a ``quant`` costs nothing, and the kernel's order is always local.
    """
    changes = analyse(program).changes
    holder = _holders(program, changes) if fuse else np.arange(program.n_ops, dtype=np.int32)
    terms = contributions(program) if need_backward else []
    saved = np.unique(at(holder, [term.keep for term in terms if term.keep >= 0]))
    order = order_of(program, locality=optimize_locality)
    order = order[holder[order] == order]
    reads = at(holder, operands_of(program))
    slot, n_slots = _slots(program, order, reads, saved)
    bits = np.zeros(n_slots, dtype=np.int32)
    np.maximum.at(bits, slot[order], widths_of(program)[order])
    pullback, pull_forms, n_gradients = _pull_columns(program, terms, holder, slot)
    forward, forms = _forward_columns(program, order, reads, holder, slot, terms)
    allocation, tape = Allocation(bits, saved, at(slot, saved), n_gradients), Tape()
    seed = np.ones(program.n_out)
    seed.setflags(write=False)
    common = (holder, changes, allocation, tape)
    sequences = (
        InstructionSequence(program, "forward", forward, forms, *common),
        InstructionSequence(program, "pullback", pullback, pull_forms, *common),
    )
    for iseq in sequences:
        first_fault(iseq)
    return Compilation(
        program=program,
        forward=sequences[0],
        backward=sequences[1] if need_backward else None,
        leaves=tuple(sorted(term.node for term in terms if term.target < 0)),
        seed=seed,
        allocation=allocation,
        tape=tape,
    )


def _holders(program: Program, changes: Sequence[PromiseStatus]) -> Ints:
    """Return, for each op, the op whose slot holds its value; their types may differ, but have the same ``f``."""
    holder = list(range(program.n_ops))
    for op in program.ops:
        if op.code == Code.QUANT and changes[op.index] is PromiseStatus.SAFE:
            source = program.ops[op.id0].type
            if source.f == op.type.f and fits_int64(source) == fits_int64(op.type):
                holder[op.index] = holder[op.id0]
    return np.array(holder, dtype=np.int32)


def _slots(program: Program, order: Ints, reads: Ints, saved: Ints) -> tuple[Ints, int]:
    keep = np.zeros(program.n_ops, dtype=bool)
    keep[saved] = True
    return assign_slots(order, reads, keep, np.array([not fits_int64(op.type) for op in program.ops], dtype=bool))


def _forward_columns(
    program: Program, order: Ints, reads: Ints, holder: Ints, slot: Ints, terms: Iterable[Contribution]
) -> tuple[Columns, tuple[ForwardForm, ...]]:
    """Return the columns with the ops in ``order``, each output immediately after its op, and constant outputs last."""
    n_ops, n_out = len(order), program.n_out
    delivered = at(holder, program.out_idx)
    rank = np.zeros(program.n_ops, dtype=np.int32)
    rank[order] = np.arange(n_ops)
    behind = np.where(delivered >= 0, at(rank, delivered), n_ops)
    row = np.argsort(np.concatenate([np.arange(n_ops), behind]), kind="stable")
    none = np.full(n_out, -1)
    unread = np.full((reads.shape[1] - 1, n_out), -1)

    def joined(of_ops: NDArray[Any], *of_outputs: NDArray[Any]) -> Ints:
        outputs = np.column_stack(of_outputs) if of_ops.ndim == 2 else of_outputs[0]
        return np.concatenate([of_ops, outputs])[row].astype(np.int32)

    code = program.columns.code[order]
    keeps = joined(_kept(program.n_ops, terms)[order], none, none)
    held = joined(reads[order], delivered, *unread)
    first, form, cached = _compiled(map(bytes, shapes_of(program)[order]))
    columns = Columns(
        code=joined(code, np.full(n_out, OUTPUT)),
        node=joined(order, program.out_idx),
        target=joined(order, none),
        port=joined(np.where(code == Code.INPUT, program.columns.id0[order], -1), np.arange(n_out)),
        value=joined(order, none),
        out=joined(slot[order], none),
        reads=held,
        args=at(slot, held),
        keeps=keeps,
        saves=at(slot, at(holder, keeps)),
        form=joined(form, none),
        cached=joined(cached, np.zeros(n_out)),
    )
    return columns, tuple(form_of(program, index) for index in order[first].tolist())


def _pull_columns(
    program: Program, terms: Sequence[Contribution], holder: Ints, slot: Ints
) -> tuple[Columns, tuple[PullForm, ...], int]:
    """Return the columns of the pullback, with one instruction per contribution, in order."""
    reads, numbers = reads_of(terms), np.arange(len(terms), dtype=np.int32)
    final = np.array([term.target < 0 for term in terms], dtype=bool)
    final[reads[:, 1][reads[:, 1] >= 0]] = False
    gradient, n_gradients = assign_slots(numbers, reads, final, np.zeros(len(terms), dtype=bool))
    rows = np.array([term.columns for term in terms], dtype=np.int32).reshape(-1, 5)
    code, node, target, port, keep = np.ascontiguousarray(rows.T)
    keeps = np.column_stack([keep, np.full(len(terms), -1, dtype=np.int32)])
    first, form, cached = _compiled(term.form for term in terms)
    columns = Columns(
        code=code,
        node=node,
        target=target,
        port=port,
        value=numbers,
        out=gradient,
        reads=reads,
        args=at(gradient, reads),
        keeps=keeps,
        saves=at(slot, at(holder, keeps)),
        form=form,
        cached=cached,
    )
    return columns, tuple(terms[index].form for index in first), n_gradients


def _kept(n_ops: int, terms: Iterable[Contribution]) -> Ints:
    """Return, for every op, the ops whose values its pullback needs, (n_ops, 2)."""
    keeps = np.full((n_ops, 2), -1, dtype=np.int32)
    for term in terms:
        if term.keep >= 0:
            taken = keeps[term.node, 0] not in (-1, term.keep)
            keeps[term.node, int(taken)] = term.keep
    return keeps


def _compiled(shapes: Iterable[Hashable]) -> tuple[list[int], Ints, Ints]:
    """Return the first position of each shape; and for each instruction its shape's number, and 1 for a repetition."""
    numbers: dict[Hashable, int] = {}
    form = np.array([numbers.setdefault(shape, len(numbers)) for shape in shapes], dtype=np.int32)
    first = np.unique(form, return_index=True)[1]
    cached = np.ones(len(form), dtype=np.int32)
    cached[first] = 0
    return first.tolist(), form, cached


# Choose the order of instructions and their slots: functions over columns.
#
# All columns are int32; -1 stands for none.


def order_of(program: Program, *, locality: bool) -> Ints:
    """Return all ops in an order in which they can run, (n_ops,).

    With ``locality``, values are used soon after they are computed: the order is depth first from the outputs in their
    order, with operands in their order and an op after its operands; then ops that no output needs, by index and with
    the same rule. Without ``locality``, the order is that of the program.
    """
    if not locality:
        return np.arange(program.n_ops, dtype=np.int32)
    operands = operands_of(program).tolist()
    done = bytearray(program.n_ops)
    order: list[int] = []
    for root in (*program.out_idx[program.out_idx >= 0].tolist(), *range(program.n_ops)):
        stack = [] if done[root] else [(root, iter(operands[root]))]
        while stack:
            index, left = stack[-1]
            waiting = next((i for i in left if i >= 0 and not done[i]), None)
            if waiting is not None:
                stack.append((waiting, iter(operands[waiting])))
                continue
            done[index] = 1
            order.append(index)
            stack.pop()
    return np.array(order, dtype=np.int32)


def assign_slots(order: Ints, reads: Ints, keep: NDArray[np.bool_], kind: NDArray[np.bool_]) -> tuple[Ints, int]:
    """Return the slot of every value in ``order``, -1 for all other values, and the number of slots.

    ``reads`` (n, 3), or wider: the values that each value reads. A slot is free again after the last value that reads
    its content, or immediately if no value reads it, unless ``keep`` is set for this content; a value may use the slot
    of its own operand. The slot that became free last is used first. Values of different ``kind`` never share a slot.
    """
    n = len(reads)
    last = np.full(n, -1, dtype=np.int64)
    for column in reads[order].T:
        used = column >= 0
        np.maximum.at(last, column[used], np.flatnonzero(used))
    dies, kinds = np.where(keep, n, last).tolist(), kind.tolist()
    slot = [-1] * n
    free: tuple[list[int], list[int]] = ([], [])
    n_slots = 0
    for position, (value, row) in enumerate(zip(order.tolist(), reads[order].tolist(), strict=True)):
        for read in dict.fromkeys(row):
            if read >= 0 and dies[read] == position:
                free[kinds[read]].append(slot[read])
        available = free[kinds[value]]
        if available:
            slot[value] = available.pop()
        else:
            slot[value] = n_slots
            n_slots += 1
        if dies[value] < 0:
            available.append(slot[value])
    return np.array(slot, dtype=np.int32), n_slots
