"""The values that the bits of ``model_inp`` may have: any, or only those in intervals that the source declares.

A set of port bits is a mask. Bits that belong to no declared interval are free; those of a ``Field`` depend on each
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dais_verif.spec.program import Program
from dais_verif.spec.program.graph import bits_of
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import Ports, ports_of

__all__ = ["Domain", "Field", "Part", "domain_of"]


class Field(NamedTuple):
    """``width`` port bits from ``offset`` on, whose values are only ``lo..hi``, in two's complement."""

    offset: int
    width: int
    lo: int
    hi: int

    @property
    def mask(self) -> int:
        """The port bits of the field."""
        return (1 << self.width) - 1 << self.offset


class Part(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of a field. They have ``patterns`` values: ``first`` and those after it."""

    field: int
    low: int
    width: int
    first: int
    patterns: int


@dataclass(frozen=True)
class Domain:
    """The bits of ``model_inp`` of one program, and the declarations about them.

    ``tangled``: bits read by several ops whose declarations do not fit together bit by bit. It is not known which of
    their combinations are declared, so they must never be claimed to be exhausted. ``signed``: for each input, whether
    an op that reads its topmost bit treats it as a sign.
    """

    ports: Ports
    signed: tuple[bool, ...]
    fields: tuple[Field, ...]
    tangled: int

    @cached_property
    def _field_of(self) -> dict[int, int]:
        """The number of the field that a port bit belongs to."""
        fields = enumerate(self.fields)
        return {bit: n for n, field in fields for bit in range(field.offset, field.offset + field.width)}

    def free(self, mask: int) -> int:
        """Return the free bits in ``mask``."""
        return mask & ~self._declared

    @cached_property
    def _declared(self) -> int:
        return sum(field.mask for field in self.fields)

    def touched(self, mask: int) -> list[int]:
        """Return the numbers of the fields that have a bit in ``mask``, ascending."""
        declared = mask & self._declared
        return sorted({self._field_of[bit] for bit in bits_of(declared)}) if declared else []

    def part(self, number: int, mask: int) -> Part:
        """Return the shortest run of bits of field ``number`` that includes all its bits in ``mask``."""
        offset, width, lo, hi = self.fields[number]
        bits = mask >> offset & (1 << width) - 1
        low = (bits & -bits).bit_length() - 1
        run = bits.bit_length() - low
        return Part(number, low, run, lo >> low, min(1 << run, (hi >> low) - (lo >> low) + 1))

    def closed(self, mask: int) -> int:
        """Return ``mask`` with all bits that lie between two of its bits in the same field."""
        for number in self.touched(mask):
            part = self.part(number, mask)
            mask |= (1 << part.width) - 1 << self.fields[number].offset + part.low
        return mask

    def claimed(self, mask: int) -> int:
        """Return ``mask`` with all bits of the fields that it touches, which cannot be set independently of it."""
        for number in self.touched(mask):
            mask |= self.fields[number].mask
        return mask

    def size(self, mask: int) -> int:
        """Return the number of combinations of the bits in ``mask``."""
        size = 1 << self.free(mask).bit_count()
        for number in self.touched(mask):
            size *= self.part(number, mask).patterns
        return size


def domain_of(program: Program) -> Domain:
    """Return the domain of ``program``'s inputs; binaries declare no intervals."""
    ports = ports_of(program)
    fields: list[Field] = []
    tangled = 0
    for group in _overlapping(_declared(program, ports)):
        first = group[0]
        joined = _common(group)
        if any(field[:2] != first[:2] or (field.lo < 0) != (first.lo < 0) for field in group):
            tangled |= joined.mask
        if joined.lo <= joined.hi:
            fields.append(joined)
        else:
            tangled |= joined.mask
    return Domain(ports, _signed(program, ports), tuple(fields), tangled)


def _signed(program: Program, ports: Ports) -> tuple[bool, ...]:
    signed = [False] * program.n_in
    for op in program.ops:
        if op.code == INPUT and op.type.k and op.type.width > 0:
            start, width = ports.slice_of(op, int(program.inp_shift[op.id0]))
            element = ports.inputs[op.id0]
            signed[op.id0] |= start + width == element.offset + element.width
    return tuple(signed)


def _declared(program: Program, ports: Ports) -> list[Field]:
    """Return one field per ``input`` op whose interval is narrower than its type, in the order of the port."""
    found = set()
    for op in program.ops if program.intervals else ():
        if op.code == INPUT and op.type.width > 0 and program.intervals:
            lo, hi = program.intervals[op.index]
            if (lo, hi) != (op.type.raw_min, op.type.raw_max):
                found.add(Field(*ports.slice_of(op, int(program.inp_shift[op.id0])), lo, hi))
    return sorted(found)


def _overlapping(fields: list[Field]) -> list[list[Field]]:
    """Return groups of fields that share bits, directly or through others."""
    groups: list[list[Field]] = []
    end = 0
    for field in fields:
        if not groups or field.offset >= end:
            groups.append([])
        groups[-1].append(field)
        end = max(end, field.offset + field.width)
    return groups


def _common(group: list[Field]) -> Field:
    """Return the values that no op of ``group`` reads wrapped or outside its interval; ``lo > hi`` if none exist."""
    start = min(field.offset for field in group)
    end = max(field.offset + field.width for field in group)
    lo = max(field.lo << field.offset - start for field in group)
    hi = min((field.hi + 1 << field.offset - start) - 1 for field in group)
    return Field(start, end - start, lo, hi)
