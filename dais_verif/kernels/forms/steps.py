"""The steps of a memory form's members, and the programs that control them.

Members work in parallel, in groups of neighbours along one dimension of the index space. A new group starts every
``interval`` cycles: while one group writes, the next one reads. ``step`` counts the cycles of an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from dais_verif.kernels.blocks.builder import Value
from dais_verif.kernels.blocks.linear import scaled
from dais_verif.kernels.forms.logic import BIT, Logic, unsigned
from dais_verif.kernels.mapping import Addressing
from dais_verif.machine import View
from dais_verif.program import FixedType, Program

__all__ = ["Group", "Steps", "Touched", "address_bits", "address_logic", "counting_logic"]


def address_bits(sizes: Sequence[int]) -> FixedType:
    """Return the type of addresses of a memory that holds a tensor; each number of the type addresses a word."""
    count = 1
    for size in sizes:
        count *= size
    return unsigned(count - 1 if count else 0)


@dataclass(frozen=True)
class Group:
    """Parallel members: ``size`` of them, neighbours along dimension ``dim`` of the index space."""

    dim: int
    size: int


@dataclass(frozen=True)
class Steps:
    """``reads``: how many words of each input a member reads; ``writes``: how many of each output a group writes.

    A group looks up word ``j`` of every input in its cycle ``j``, and appends it to the earlier ones in the next cycle.
    When all words have been read, the blocks' outputs are stored. Then the words of every output are written, one per
    cycle.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def interval(self) -> int:
        """The number of cycles from one group to the next."""
        return max(*self.reads, *self.writes, 1)

    @property
    def first_write(self) -> int:
        """The cycle of a group in which word 0 of each output is written; outputs are stored in the cycle before."""
        return max(self.reads, default=0) + 2

    @property
    def last_write(self) -> int:
        """The last cycle of a group."""
        return self.first_write + max(self.writes, default=1) - 1

    @property
    def load(self) -> int:
        """The step at the end of which the blocks' outputs are stored."""
        return (self.first_write - 1) % self.interval

    @property
    def waiting(self) -> int:
        """The largest number of groups that have been read, or are in their last read, and are not yet written."""
        return -(-self.first_write // self.interval)

    def latency(self, groups: int) -> int:
        """Return the number of cycles from start to done, for this many groups."""
        return (groups - 1) * self.interval + self.last_write + 2 if groups else 1


@dataclass(frozen=True)
class Touched:
    """A tensor: its sizes in words, the fastest dimension first, and the words that members touch.

    ``word``: the number of elements of a word: all elements along the slowest dimension of the tensor; for a tensor
    with one dimension, one element of each of ``word`` equal parts. Element ``c`` of word ``n`` of a member is port
    ``c * addressing.count + n`` of its block.
    """

    sizes: tuple[int, ...]
    addressing: Addressing
    word: int = 1

    @classmethod
    def of(cls, sizes: tuple[int, ...], addressing: Addressing, word: int = 1) -> Touched:
        """Return a tensor in words of ``word`` elements; members touch all elements of a word."""
        if word == 1:
            return cls(sizes, addressing)
        count = addressing.count // word
        if len(sizes) == 1:
            return cls((count,), Addressing(addressing.slopes, addressing.offsets[:count]), word)
        offsets = tuple(offset[:-1] for offset in addressing.offsets[:count])
        return cls(sizes[:-1], Addressing(addressing.slopes[:-1], offsets), word)

    @property
    def elements(self) -> int:
        """The number of elements that a member touches."""
        return self.word * self.addressing.count

    def in_words(self, ports: View) -> list[View]:
        """Return the elements of ``ports`` word by word."""
        if self.word == 1:
            return [ports]
        count = self.addressing.count
        return [ports[c * count + n] for n in range(count) for c in range(self.word)]

    def by_port(self, words: View) -> list[View]:
        """Return the elements of consecutive ``words``, in the order of ports."""
        if self.word == 1:
            return [words]
        return [words[n * self.word + c] for c in range(self.word) for n in range(self.addressing.count)]

    def together(self, group: Group) -> bool:
        """Return True if all members of a group access the same elements."""
        return not any(row[group.dim] for row in self.addressing.slopes)


def address_logic(
    geometry: Sequence[int], group: Group, steps: Steps, inputs: Sequence[Touched], outputs: Sequence[Touched]
) -> Program:
    """Return the program that computes addresses and enables in each step.

    Inputs: the coordinates of the group that reads; those of the group that writes, and whether there is one; the end
    of the range along the dimension of groups; the step.

    Outputs, for each input of the instance: the address of a word and whether it is inside the tensor, for each member
    of the group, or once if all members touch the same words; then whether a word was looked up in the step before.
    Then, whether the blocks' outputs are stored; and for each output, the address of a word and whether it is written.
    """
    b = Logic()
    read = [b.input(unsigned(size - 1)) for size in geometry]
    written = [b.input(unsigned(size - 1)) for size in geometry]
    there, last = b.input(BIT), b.input(unsigned(geometry[group.dim]))
    step = b.input(unsigned(steps.interval - 1))

    def during(first: int, count: int) -> Value:
        return b.table(step, [int((at - first) % steps.interval < count) for at in range(steps.interval)])

    def touched(tensor: Touched, members: Sequence[Value], first: int, lanes: Sequence[int]) -> tuple[Value, Value]:
        """Return the address of a word of ``lanes`` in each step from ``first`` on, and whether the word is inside."""
        address, inside = b.zero, b.one
        strides = accumulate(tensor.sizes[:-1], int.__mul__, initial=1)
        for d, (size, stride) in enumerate(zip(tensor.sizes, strides, strict=False)):
            row = tensor.addressing.slopes[d]
            offsets = [row[group.dim] * lane + offset[d] for lane in lanes for offset in tensor.addressing.offsets]
            turns = [(at - first) % steps.interval for at in range(steps.interval)]
            entries = [offsets[turn] if turn < len(offsets) else offsets[0] for turn in turns]
            terms = [scaled(b, m, slope) for m, slope in zip(members, row, strict=True)]
            at = b.sum([*terms, b.table(step, entries)])
            inside = b.both(b.inverse(b.less(at, b.zero)), b.less(at, b.number(size)), inside)
            address = b.add(address, scaled(b, at, stride))
        return address, inside

    found: list[Value] = []
    for tensor in inputs:
        for lane in range(1 if tensor.together(group) else group.size):
            found += touched(tensor, read, 0, [lane])
        found.append(during(1, tensor.addressing.count))
    found.append(during(steps.load, 1))
    for tensor, count in zip(outputs, steps.writes, strict=True):
        address, inside = touched(tensor, written, steps.first_write, range(group.size))
        if group.size > 1:
            # Members of the last group beyond the range write nothing.
            turns = [(at - steps.first_write) % steps.interval for at in range(steps.interval)]
            lanes = [turn // tensor.addressing.count if turn < count else 0 for turn in turns]
            member = b.add(written[group.dim], b.table(step, lanes))
            inside = b.both(b.less(member, last), b.less(member, b.number(geometry[group.dim])), inside)
        found += [address, b.both(there, during(steps.first_write, count), inside)]
    return b.build(found)


def counting_logic(geometry: Sequence[int], group: Group, steps: Steps) -> Program:
    """Return the program that counts steps and groups, the first dimension the fastest.

    Inputs: start, begin and end of the requested range, busy, whether a group reads, step, the coordinates of this
    group, begin and end of the current range, and, for each earlier group that may not be written yet, whether it
    exists. Outputs: the next values of busy, of whether a group reads, of step, of the coordinates, and of whether the
    earlier groups exist; whether the requested range is accepted; and the next value of done.
    A range that reaches beyond the index space is cut off at its end; a range without members is done at once.
    """
    b = Logic()
    kinds = [unsigned(size - 1) for size in geometry]
    start = b.input(BIT)
    begin = [b.input(kind) for kind in kinds]
    end = [b.input(unsigned(size)) for size in geometry]
    busy, reading = b.input(BIT), b.input(BIT)
    step = b.input(unsigned(steps.interval - 1))
    member = [b.input(one) for one in kinds]
    first = [b.input(one) for one in kinds]
    last = [b.input(unsigned(size)) for size in geometry]
    behind = [b.input(BIT) for _ in range(steps.waiting)]

    some, over, after = start, b.one, list[Value]()
    for d, size in enumerate(geometry):
        whole = b.number(size)
        some = b.both(some, b.less(begin[d], end[d]), b.less(begin[d], whole))
        up = b.add(member[d], b.number(group.size if d == group.dim else 1))
        room = b.both(b.less(up, last[d]), b.less(up, whole))
        after.append(b.choice(over, b.choice(room, up, first[d]), member[d]))
        over = b.both(over, b.inverse(room))
    turn = b.inverse(b.less(step, b.number(steps.interval - 1)))
    load = b.table(step, [int(at == steps.load) for at in range(steps.interval)])
    final = b.table(step, [int(at == steps.last_write % steps.interval) for at in range(steps.interval)])
    finished = b.both(final, behind[-1], b.inverse(reading), *map(b.inverse, behind[:-1]))
    next_reading = b.choice(busy, b.both(reading, b.inverse(b.both(turn, over))), some)
    next_step = b.both(busy, b.choice(turn, b.zero, b.add(step, b.one)))
    next_member = [
        b.choice(busy, b.choice(turn, then, now), b.choice(start, new, now))
        for now, then, new in zip(member, after, begin, strict=True)
    ]
    moved = [reading, *behind[:-1]]
    kept = [*behind[:-1], b.both(behind[-1], b.inverse(finished))]
    next_behind = [b.both(busy, b.choice(load, new, now)) for new, now in zip(moved, kept, strict=True)]
    return b.build(
        [
            b.choice(busy, b.inverse(finished), some),
            next_reading,
            next_step,
            *next_member,
            *next_behind,
            b.both(start, b.inverse(busy)),
            b.choice(busy, finished, b.both(start, b.inverse(some))),
        ]
    )
