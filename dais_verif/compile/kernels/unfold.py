"""Unfold an instance into one program of all members, from all elements of inputs to all elements of outputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import MappedTensor
from dais_verif.spec.program import Columns, FixedType, Program, Terms
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.opcodes import MUXES, Code

__all__ = ["MOST_OPS", "unfold"]

Ints = NDArray[np.int64]

#: The most ops of an unfolded instance.
MOST_OPS = 1 << 26


def unfold(instance: KernelInstance) -> Program:
    """Return the program that computes what all members together compute.

    Inputs and outputs are the elements of the tensors, one tensor after the other, each in NumPy's order. Reads outside
    of a tensor give a constant, writes outside are dropped, and elements that no member writes are 0.
    Raises ``InputError`` if there are too many ops, or if two ports shift the same input element by different amounts.
    """
    block, members = instance.block, instance.mapping.members
    if members * max(block.n_ops, 1) > MOST_OPS:
        raise KernelError(
            f"{instance.name}: {members} members of {block.n_ops} ops each are more than {MOST_OPS} ops; unfold "
            "fewer members"
        )
    read, pads = _read(instance)
    columns, terms = _repeated(block, members)
    _wire_inputs(block, columns, read, pads)
    outputs = _written(instance)
    chosen = outputs >= 0
    port, member = outputs % max(block.n_out, 1), outputs // max(block.n_out, 1)
    index = block.out_idx[port] if block.n_out else np.zeros_like(outputs)
    program = Program(
        inp_shift=_shifts(instance, read),
        out_idx=np.where(chosen & (index >= 0), index + member * block.n_ops, -1),
        out_shift=np.where(chosen, block.out_shift[port] if block.n_out else 0, 0),
        out_neg=np.where(chosen, block.out_neg[port] if block.n_out else 0, 0),
        columns=columns,
        tables=block.tables,
        terms=terms,
    )
    validate(program)
    return program


def _members(instance: KernelInstance) -> Ints:
    """Return all members, the first dimension the fastest."""
    geometry = instance.mapping.geometry
    return np.stack(np.unravel_index(np.arange(instance.mapping.members), geometry, order="F"), axis=-1).astype(
        np.int64
    )


def _elements(tensor: MappedTensor, elements: Ints, first: int) -> Ints:
    """Return the numbers of elements, counted from ``first`` on in NumPy's order; -1 for elements outside."""
    sizes = np.array(tensor.sizes, dtype=np.int64)
    inside = ((elements >= 0) & (elements < sizes)).all(axis=-1)
    strides = np.concatenate([[1], np.cumprod(sizes[:-1])]).astype(np.int64)
    return np.where(inside, (elements * strides).sum(axis=-1) + first, -1)


def _read(instance: KernelInstance) -> tuple[Ints, tuple[tuple[int, FixedType], ...]]:
    """Return the element that each port of each member reads, (members, n_in), and the pad and type of each port."""
    mapping, members, first = instance.mapping, _members(instance), 0
    ports, pads = [np.zeros((len(members), 0), dtype=np.int64)], list[tuple[int, FixedType]]()
    for tensor, kind, pad in zip(mapping.inputs, instance.input_types, instance.pads, strict=True):
        addressing = mapping.addressing(tensor)
        ports.append(_elements(tensor, addressing.elements(members), first))
        pads += [(pad, kind)] * addressing.count
        first += int(np.prod(tensor.sizes))
    return np.concatenate(ports, axis=1), tuple(pads)


def _written(instance: KernelInstance) -> Ints:
    """Return for each element of the outputs ``member * n_out + port`` of its writer, or -1 if it has none."""
    mapping, members = instance.mapping, _members(instance)
    found, port = [np.zeros(0, dtype=np.int64)], 0
    for tensor in mapping.outputs:
        addressing = mapping.addressing(tensor)
        elements = _elements(tensor, addressing.elements(members), 0)
        by = np.arange(len(members))[:, None] * instance.block.n_out + port + np.arange(addressing.count)
        own = np.full(int(np.prod(tensor.sizes)), -1, dtype=np.int64)
        own[elements[elements >= 0]] = by[elements >= 0]
        found.append(own)
        port += addressing.count
    return np.concatenate(found)


def _repeated(block: Program, members: int) -> tuple[Columns, Terms]:
    """Return the ops of all members; operands are ops of the same member."""
    n, n_terms = block.n_ops, len(block.terms.op)
    base = np.repeat(np.arange(members, dtype=np.int64), n)
    code, id0, id1, data, k, i, f = (np.tile(column, members) for column in block.columns)
    is_sum, operand = code == Code.SUM, code != Code.INPUT
    id0 = np.where(is_sum, id0 + base * n_terms, np.where(operand & (id0 >= 0), id0 + base * n, id0))
    id1 = np.where(~is_sum & (id1 >= 0), id1 + base * n, id1)
    # The condition is the low word of a mux's data.
    data = np.where(np.isin(code, list(MUXES)), data + base * n, data)
    term_base = np.repeat(np.arange(members, dtype=np.int64), n_terms) * n
    ops = np.tile(block.terms.op, members)
    terms = Terms(
        np.where(ops >= 0, ops + term_base, ops),
        np.tile(block.terms.shift, members),
        np.tile(block.terms.negative, members),
    )
    return Columns(code, id0, id1, data, k, i, f), terms


def _wire_inputs(block: Program, columns: Columns, read: Ints, pads: tuple[tuple[int, FixedType], ...]) -> None:
    """Connect the inputs of each member to elements; inputs outside of their tensor become constants."""
    for at in np.flatnonzero(block.columns.code == Code.INPUT).tolist():
        port = int(block.columns.id0[at])
        places = np.arange(len(read)) * block.n_ops + at
        columns.id0[places] = read[:, port]
        outside = places[read[:, port] < 0]
        if len(outside):
            pad, kind = pads[port]
            columns.code[outside] = Code.CONST
            columns.data[outside] = _quantised(pad, kind.f - int(block.inp_shift[port]), block.ops[at].type)


def _quantised(raw: int, f: int, kind: FixedType) -> int:
    """Return the raw integer of ``raw * 2**-f`` in a type, floored and with the high bits cut off."""
    moved = raw << (kind.f - f) if kind.f >= f else raw >> (f - kind.f)
    low = moved & ((1 << kind.width) - 1)
    return low - (1 << kind.width) if kind.width and low > kind.raw_max else low


def _shifts(instance: KernelInstance, read: Ints) -> Ints:
    """Return the shift of each input element. Raises ``InputError`` if two ports shift it differently."""
    count = sum(int(np.prod(tensor.sizes)) for tensor in instance.mapping.inputs)
    shifts = np.zeros(count, dtype=np.int64)
    wanted = np.broadcast_to(instance.block.inp_shift, read.shape)
    shifts[read[read >= 0]] = wanted[read >= 0]
    if (shifts[read[read >= 0]] != wanted[read >= 0]).any():
        raise KernelError(f"{instance.name}: two ports shift one element of an input by different bits")
    return shifts
