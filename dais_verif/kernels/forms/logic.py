"""Control of a form as programs: which members are next, which elements they touch, what happens in which step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from dais_verif.kernels.blocks.builder import BlockBuilder, Value
from dais_verif.kernels.blocks.linear import scaled
from dais_verif.kernels.mapping import Addressing
from dais_verif.program import FixedType, Program

__all__ = ["Steps", "Touched", "address_bits", "address_logic", "counting_logic", "unsigned"]

BIT = FixedType(0, 1, 0)


def unsigned(most: int) -> FixedType:
    """Return the unsigned type of the numbers 0 to ``most``, of one bit at least."""
    return FixedType(0, max(most.bit_length(), 1), 0)


def address_bits(sizes: Sequence[int]) -> FixedType:
    """Return the type of addresses of a memory that holds a tensor: it has a word for each number of that type."""
    count = 1
    for size in sizes:
        count *= size
    return unsigned(count - 1 if count else 0)


@dataclass(frozen=True)
class Steps:
    """What a member does in its steps, one a cycle. ``reads``, ``writes``: its elements of each tensor.

    In step ``j`` element ``j`` of every input is looked up, in the next one it is put behind those before it. When all
    are there, the block's outputs are taken, and then element ``j`` of every output is written, a step each.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def load(self) -> int:
        """The step at the end of which the block's outputs are taken."""
        return max(self.reads, default=0) + 1

    @property
    def first_write(self) -> int:
        """The step in which elements 0 of outputs are written."""
        return self.load + 1

    @property
    def count(self) -> int:
        """Steps of a member."""
        return self.first_write + max(self.writes, default=0)


@dataclass(frozen=True)
class Touched:
    """A tensor: its sizes, the fastest dimension first, and what members touch of it."""

    sizes: tuple[int, ...]
    addressing: Addressing


class _Logic(BlockBuilder):
    """Bits and comparisons, exact as all else."""

    @property
    def one(self) -> Value:
        return self.constant(1, 0)

    def when(self, bit: Value, a: Value, b: Value) -> Value:
        """``a`` where ``bit`` is 1, else ``b``."""
        if bit.lo == bit.hi:
            return a if bit.lo else b
        return self.select(self._plain(self.add(bit, -self.one)), b, a)

    def both(self, a: Value, b: Value) -> Value:
        return self.when(a, b, Value())

    def invert(self, bit: Value) -> Value:
        return self.when(bit, Value(), self.one)

    def below(self, a: Value, b: Value) -> Value:
        """1 where ``a < b``, else 0."""
        difference = self.add(a, -b)
        lo, hi = difference.signed
        if lo >= 0:
            return Value()
        return self.one if hi < 0 else self.select(self._plain(difference), self.one, Value())

    def table(self, step: Value, kind: FixedType, entries: Sequence[int]) -> Value:
        """The entry of ``entries`` that ``step`` says, the first one beyond their end."""
        if len(set(entries)) == 1:
            return self.constant(entries[0], 0)
        lo, hi = min(entries), max(entries)
        result = unsigned(hi) if lo >= 0 else FixedType(1, max(hi.bit_length(), (-lo - 1).bit_length()), 0)
        padded = [*entries, *[entries[0]] * (kind.raw_max + 1 - len(entries))]
        return self.lookup(step, kind, padded, result)

    def _plain(self, value: Value) -> Value:
        """The same value as an op that is not negated, so that its sign can be looked at."""
        return self.cast(value, value.type) if value.negative else value


def address_logic(
    geometry: Sequence[int], steps: Steps, inputs: Sequence[Touched], outputs: Sequence[Touched]
) -> Program:
    """Return the program of what a step does.

    It reads the member's coordinates and the step. It gives of each input the address of the element, whether it lies
    inside of the tensor, and whether a step before one was looked up; whether the block's outputs are taken; of each
    output the address of the element, and whether it is written.
    """
    b = _Logic()
    member = [b.input(unsigned(size - 1)) for size in geometry]
    kind = unsigned(steps.count - 1)
    step = b.input(kind)

    def during(first: int, count: int) -> Value:
        return b.table(step, kind, [int(first <= at < first + count) for at in range(steps.count)])

    def touched(tensor: Touched, first: int) -> tuple[Value, Value]:
        address, inside = Value(), b.one
        strides = accumulate(tensor.sizes[:-1], int.__mul__, initial=1)
        for d, (size, stride) in enumerate(zip(tensor.sizes, strides, strict=False)):
            offsets = [offset[d] for offset in tensor.addressing.offsets]
            entries = [
                offsets[at - first] if 0 <= at - first < len(offsets) else offsets[0] for at in range(steps.count)
            ]
            terms = [scaled(b, m, slope) for m, slope in zip(member, tensor.addressing.slopes[d], strict=True)]
            at = b.sum([*terms, b.table(step, kind, entries)])
            inside = b.both(b.invert(b.below(at, Value())), b.both(b.below(at, b.constant(size, 0)), inside))
            address = b.add(address, scaled(b, at, stride))
        return address, inside

    found: list[Value] = []
    for tensor in inputs:
        found += [*touched(tensor, 0), during(1, tensor.addressing.count)]
    found.append(during(steps.load, 1))
    for tensor in outputs:
        address, inside = touched(tensor, steps.first_write)
        found += [address, b.both(during(steps.first_write, tensor.addressing.count), inside)]
    return b.build(found)


def counting_logic(geometry: Sequence[int], steps: Steps) -> Program:
    """Return the program that counts steps and members, the first dimension the fastest.

    It reads start, the begin of a range in each dimension and its end, busy, step, the member, and the range that it is
    in. It gives busy, step and member next, whether the range is taken, and whether this was the last step of all.
    A range that reaches beyond the index space ends with it; one without members is over at once.
    """
    b = _Logic()
    kinds = [unsigned(size - 1) for size in geometry]
    start = b.input(BIT)
    begin = [b.input(kind) for kind in kinds]
    end = [b.input(unsigned(size)) for size in geometry]
    busy, kind = b.input(BIT), unsigned(steps.count - 1)
    step = b.input(kind)
    member = [b.input(one) for one in kinds]
    first = [b.input(one) for one in kinds]
    last = [b.input(unsigned(size)) for size in geometry]

    some, over, after = start, b.one, list[Value]()
    for d, size in enumerate(geometry):
        whole = b.constant(size, 0)
        some = b.both(some, b.both(b.below(begin[d], end[d]), b.below(begin[d], whole)))
        up = b.add(member[d], b.one)
        room = b.both(b.below(up, last[d]), b.below(up, whole))
        after.append(b.when(over, b.when(room, up, first[d]), member[d]))
        over = b.both(over, b.invert(room))
    more = b.below(step, b.constant(steps.count - 1, 0))
    taken = b.both(start, b.invert(busy))
    next_busy = b.when(busy, b.when(more, b.one, b.invert(over)), some)
    next_step = b.both(busy, b.both(more, b.add(step, b.one)))
    next_member = [
        b.when(busy, b.when(more, now, then), b.when(start, new, now))
        for now, then, new in zip(member, after, begin, strict=True)
    ]
    finished = b.when(busy, b.both(b.invert(more), over), b.both(start, b.invert(some)))
    return b.build([next_busy, next_step, *next_member, taken, finished])
