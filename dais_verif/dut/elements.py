"""The possible positions and widths of a program's elements in the ports of a design.

Our own modules use the program's types (``program.ports``). da4ml sizes its ports differently: an input has the type of
the last op that reads it, and an output has the interval of its op, negated and shifted as the output requires; an
out_idx of -1 means the last op. A ports file may state any types, as long as no bit with a meaning is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from dais_verif.counts import counted
from dais_verif.errors import PortError
from dais_verif.program import FixedType, Program
from dais_verif.program.opcodes import INPUT
from dais_verif.program.ports import Element, ports_of
from dais_verif.program.types import type_of_interval

__all__ = [
    "FROM_FILE",
    "MOST_LISTED",
    "Sizing",
    "in_words",
    "sizings_of_inputs",
    "sizings_of_outputs",
    "stated_inputs",
    "stated_outputs",
]


#: The largest number of ports, types or elements that a message lists.
MOST_LISTED = 12


class Sizing(NamedTuple):
    """The elements of one direction, from bit 0 on without gaps. ``how``: the source of their widths, as text.

    ``types``: the type of every element in its port. The type of an input matters only for the weights of its bits.
    """

    elements: tuple[Element, ...]
    types: tuple[FixedType, ...]
    how: str

    @property
    def bits(self) -> int:
        """The total number of bits."""
        return sum(element.width for element in self.elements)


_PROGRAM, _DA4ML, FROM_FILE = "the program's types", "da4ml's intervals", "the ports file"


def sizings_of_inputs(program: Program) -> list[Sizing]:
    """Return the known sizings of the inputs, the most likely first."""
    inputs = ports_of(program).inputs
    own = Sizing(inputs, tuple(FixedType(0, e.width + e.lo, -e.lo) for e in inputs), _PROGRAM)
    kinds = [FixedType(0, 0, 0)] * program.n_in
    for op in program.ops:
        if op.code == INPUT:
            k, i, f = op.type
            shift = int(program.inp_shift[op.id0])
            kinds[op.id0] = FixedType(k, i - shift, f + shift)
    return _in_order(program, own, _sizing(kinds, _DA4ML))


def sizings_of_outputs(program: Program) -> list[Sizing]:
    """Return the known sizings of the outputs, the most likely first."""
    own = _sizing(program.output_types, _PROGRAM)
    return _in_order(program, own, _sizing(_da4ml_outputs(program), _DA4ML))


def _da4ml_outputs(program: Program) -> list[FixedType]:
    kinds = []
    for index, shift, negated in program.outputs:
        if not program.n_ops:
            kinds.append(FixedType(0, 0, 0))
            continue
        op = program.ops[index]  # -1 is the last op, as in da4ml
        lo, hi = program.intervals[op.index] if program.intervals else (op.type.raw_min, op.type.raw_max)
        kind = type_of_interval(-hi, -lo, op.type.f) if negated else type_of_interval(lo, hi, op.type.f)
        kinds.append(FixedType(kind.k, kind.i + shift, kind.f - shift))
    return kinds


def _in_order(program: Program, own: Sizing, da4ml: Sizing) -> list[Sizing]:
    return [da4ml, own] if program.intervals and da4ml.elements != own.elements else [own, da4ml]


def stated_inputs(program: Program, kinds: Sequence[FixedType], where: str) -> Sizing:
    """Return the sizing of the inputs with the types ``kinds``, which the ports file ``where`` states.

    Raises ``InputError`` if a bit that an op reads is missing.
    """
    where = f"{where}: [inputs] types"
    own, stated = ports_of(program).inputs, _sizing(_for_all(kinds, program.n_in, "input", where), FROM_FILE)
    for j, (needed, given) in enumerate(zip(own, stated.elements, strict=True)):
        if needed.width and (given.lo > needed.lo or given.lo + given.width < needed.lo + needed.width):
            raise PortError(
                f"{where}: ops read the bits {_weights(needed)} of input {j}, and {stated.types[j]} has"
                f" {_weights(given)}; give a type that has them all"
            )
    return stated


def stated_outputs(program: Program, kinds: Sequence[FixedType], where: str) -> Sizing:
    """Return the sizing of the outputs with the types ``kinds``, which the ports file ``where`` states.

    Raises ``InputError`` if an output would lose fractional bits. Whether values fit is checked when they occur.
    """
    where = f"{where}: [outputs] types"
    stated = _sizing(_for_all(kinds, program.n_out, "output", where), FROM_FILE)
    for j, (kind, given) in enumerate(zip(program.output_types, stated.types, strict=True)):
        if kind.width and given.f < kind.f:
            raise PortError(
                f"{where}: output {j} has {counted(kind.f, 'fractional bit')} ({kind}), and {given} has {given.f};"
                " give a type that has them all"
            )
    return stated


def _for_all(kinds: Sequence[FixedType], count: int, what: str, where: str) -> list[FixedType]:
    if len(kinds) == 1:
        return [kinds[0]] * count
    if len(kinds) != count:
        types = ", ".join(map(str, kinds[:MOST_LISTED])) + (", ..." if len(kinds) > MOST_LISTED else "")
        raise PortError(
            f"{where} holds {len(kinds)} types ({types}), and the program has {counted(count, what)}:"
            f" give one type for each, or one text for all"
        )
    return list(kinds)


def _sizing(kinds: Sequence[FixedType], how: str) -> Sizing:
    offsets = itertools.accumulate((kind.width for kind in kinds), initial=0)
    placed = tuple(Element(offset, kind.width, -kind.f) for offset, kind in zip(offsets, kinds, strict=False))
    return Sizing(placed, tuple(kinds), how)


def _weights(element: Element) -> str:
    return f"2^{element.lo} to 2^{element.lo + element.width - 1}"


def in_words(elements: Sequence[Element]) -> str:
    """Return the widths of all elements as text, such as ``0-15: 8 bits each, 16: 12 bits``."""
    runs = []
    for width, group in itertools.groupby(enumerate(elements), key=lambda pair: pair[1].width):
        members = [j for j, _ in group]
        bits = counted(width, "bit")
        first, last = members[0], members[-1]
        runs.append(f"{first}: {bits}" if first == last else f"{first}-{last}: {bits} each")
    shown = runs[:12]
    return ", ".join(shown) + (f", and {len(runs) - 12} runs more" if len(runs) > 12 else "")
