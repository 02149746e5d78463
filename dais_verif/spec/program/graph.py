"""The program as a graph: cones of influence, dead ops, depth."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

from dais_verif.spec.program.demanded_bits import of_operands
from dais_verif.spec.program.model import Op, Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Ports, ports_of

__all__ = ["bits_of", "cone", "dead_ops", "depths", "exact_bits", "input_bits"]


def cone(program: Program, roots: Iterable[int]) -> list[int]:
    """Return the indices of all ops on which the ops ``roots`` depend, including ``roots``, in SSA order."""
    needed = set(roots)
    waiting = list(needed)
    while waiting:  # visits only the cone: callers request many small cones of a large program
        for operand in program.ops[waiting.pop()].operands:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return sorted(needed)


def dead_ops(program: Program) -> list[int]:
    """Return the indices of ops on which no output depends."""
    live = set(cone(program, (index for index, _, _ in program.outputs if index >= 0)))
    return [index for index in range(program.n_ops) if index not in live]


def readers(program: Program) -> list[list[int]]:
    """Return, for each op, the indices of the ops that read it, in SSA order and without repetition."""
    found: list[list[int]] = [[] for _ in range(program.n_ops)]
    for op in program.ops:
        for operand in set(op.operands):
            found[operand].append(op.index)
    return found


def depths(program: Program) -> list[int]:
    """Return the length, in ops, of the longest path that ends in each op; 0 for inputs and constants."""
    depth: list[int] = []
    for op in program.ops:
        depth.append(max((depth[i] + 1 for i in op.operands), default=0))
    return depth


# The bits of ``model_inp`` on which each output can depend: the basis of exhaustive tests.
#
# These bits are found forwards, bit by bit, with the rules of ``demanded_bits``, once for all outputs. In unchecked
# runs, an output never depends on other bits; it need not depend on every bit that is found.


#: Results with more bits are treated as a whole, since the cost of separate bits is quadratic.
_FINE = 128
#: A mask that stands for too many bits. All bits of this integer are 1, so any union with it is too large as well.
_TOO_MANY = -1


def input_bits(program: Program, *, at_most: int | None = None) -> tuple[int | None, ...]:
    """Return for every output a mask of the bits of ``model_inp`` on which it can depend; 0 if it is constant.

    ``at_most``: return None instead of a mask with more bits, which saves most of the time in large programs; then, no
    constant bits are searched in cones that have too many bits.
    """
    ports = ports_of(program)
    limit = ports.input_bits if at_most is None else at_most
    known = _known(program, ports, {index for index, _, _ in program.outputs if index >= 0}, limit)
    found = [_union(known[index]) if index >= 0 else 0 for index, _, _ in program.outputs]
    return tuple(bits if bits >= 0 and bits.bit_count() <= limit else None for bits in found)


def exact_bits(program: Program, ops: Collection[int], *, at_most: int) -> dict[int, int | None]:
    """Return, for each of ``ops``, a mask of the bits of ``model_inp`` that can reach its operands.

    The exact result of the op, before quantisation, depends on no other bits. For an ``input`` op, the mask is that of
    its own bits. Masks with more than ``at_most`` bits are replaced by None.
    """
    ports = ports_of(program)
    known = _known(program, ports, set(ops), at_most)
    found: dict[int, int | None] = {}
    for index in ops:
        op = program.ops[index]
        behind = [known[operand] for operand in op.operands] or [known[index]]
        bits = reduce(or_, map(_union, behind), 0)
        found[index] = bits if bits >= 0 and bits.bit_count() <= at_most else None
    return found


def _known(program: Program, ports: Ports, roots: set[int], limit: int) -> dict[int, list[int]]:
    """Return, for every op in the cones of ``roots``, the port bits that reach each bit of its result."""
    known: dict[int, list[int]] = {}
    for index in cone(program, roots):
        op = program.ops[index]
        known[index] = [
            bits if bits.bit_count() <= limit else _TOO_MANY for bits in _of_result(program, ports, op, known)
        ]
    return known


def _of_result(program: Program, ports: Ports, op: Op, known: dict[int, list[int]]) -> list[int]:
    """Return, for every bit of the result of ``op``, the port bits that reach this bit."""
    width = op.type.width
    if op.code == INPUT:
        start, _ = ports.slice_of(op, int(program.inp_shift[op.id0]))
        return [1 << start + bit for bit in range(width)]
    behind = [known[operand] for operand in op.operands]
    coarse = reduce(or_, map(_union, behind), 0)
    if width > _FINE or coarse == 0 or all(bits == _TOO_MANY for operand in behind for bits in operand):
        return [coarse] * width
    result = []
    for bit in range(width):
        masks = of_operands(program, op, 1 << bit)
        result.append(reduce(or_, (_union(_chosen(*pair)) for pair in zip(behind, masks, strict=True)), 0))
    return result


def _chosen(behind: Sequence[int], mask: int) -> Sequence[int]:
    """Return the entries of ``behind`` whose positions are set in ``mask``."""
    if mask & mask + 1 == 0:
        return behind[: mask.bit_length()]
    return [behind[bit] for bit in bits_of(mask)]


def _union(masks: Sequence[int]) -> int:
    return reduce(or_, masks, 0)


def bits_of(mask: int) -> list[int]:
    """Return the positions of the bits that are set in ``mask``, ascending."""
    positions = []
    while mask:
        lowest = mask & -mask
        positions.append(lowest.bit_length() - 1)
        mask ^= lowest
    return positions
