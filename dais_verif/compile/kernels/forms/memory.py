"""The memory form: tensors in memories, group after group of members, one element of each tensor per cycle.

``start`` starts the members of a range, ``begin<d> <= m[d] < end<d>``; ``done`` is 1 for one cycle when all results are
written. Inputs are loaded and outputs are read through separate ports. While a group writes, the next one reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import prod
from typing import NamedTuple

from dais_verif.base.errors import KernelError
from dais_verif.compile.kernels.blocks import Value, scaled
from dais_verif.compile.kernels.forms.control import BIT, Logic, unsigned
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import Addressing, MappedTensor
from dais_verif.compile.kernels.printf import PrintfTap, tapped_block, variables_of
from dais_verif.spec.machine import Machine, MachineBuilder, View
from dais_verif.spec.program import FixedType, Program

__all__ = [
    "Group",
    "MOST_WORDS",
    "MemoryFacts",
    "MemoryForm",
    "MemoryTiming",
    "Steps",
    "Touched",
    "address_bits",
    "address_logic",
    "counting_logic",
    "group_of",
    "memory_form",
    "require_memory_form",
]


#: The most words of a memory: more than the engines of machines accept.
MOST_WORDS = 1 << 16
#: The most cycles of an interval.
MOST_STEPS = 1 << 12


@dataclass(frozen=True)
class MemoryFacts:
    """The cost of a memory form. ``cycles``: the interval from one group of members to the next.

    ``latency``: cycles from start to done, for all members. ``words`` and ``bits``: the size of all memories;
    the number of words of a memory is a power of two, at least 2. ``parallel``: members of a group.
    """

    members: int
    cycles: int
    latency: int
    words: int
    bits: int
    parallel: int = 1


class MemoryTiming(NamedTuple):
    """The cycles in which members of a range run. A range has a begin and an exclusive end for each dimension."""

    geometry: tuple[int, ...]
    group: Group
    steps: Steps

    @classmethod
    def of(
        cls, instance: KernelInstance, parallel: int, words: tuple[Sequence[int], Sequence[int]] | None = None
    ) -> MemoryTiming:
        """Return the timing of an instance; ``words``: as for ``memory_form``, whose ``InputError`` it raises."""
        group, (inputs, outputs) = group_of(instance, parallel), require_memory_form(instance, parallel, words)
        return cls(instance.mapping.geometry, group, _steps(inputs, outputs, parallel))

    def latency(self, box: Sequence[tuple[int, int]]) -> int:
        """Return the cycles from start to done."""
        return self.steps.latency(prod(self._shape(box)))

    def during(self, start: int, box: Sequence[tuple[int, int]], member: Sequence[int]) -> tuple[int, int]:
        """Return the first and the last cycle of a member, for a range that starts in cycle ``start``."""
        number, stride = 0, 1
        for d, (size, at, (begin, _)) in enumerate(zip(self._shape(box), member, box, strict=True)):
            number += stride * ((at - begin) // (self.group.size if d == self.group.dim else 1))
            stride *= size
        first = start + 1 + number * self.steps.interval
        return first, first + self.steps.last_write

    def _shape(self, box: Sequence[tuple[int, int]]) -> list[int]:
        """Return the number of groups along each dimension."""
        sizes = [max(min(end, size) - begin, 0) for (begin, end), size in zip(box, self.geometry, strict=True)]
        return [-(-n // self.group.size) if d == self.group.dim else n for d, n in enumerate(sizes)]


def _steps(inputs: Sequence[Touched], outputs: Sequence[Touched], parallel: int) -> Steps:
    return Steps(tuple(t.addressing.count for t in inputs), tuple(parallel * t.addressing.count for t in outputs))


class MemoryForm(NamedTuple):
    """A machine and its facts."""

    machine: Machine
    facts: MemoryFacts


def memory_form(
    instance: KernelInstance,
    parallel: int = 1,
    *,
    printf: bool = False,
    words: tuple[Sequence[int], Sequence[int]] | None = None,
) -> MemoryForm:
    """Return ``instance`` as a machine that runs group after group of members, with tensors in memories.

    Inputs: ``start``, ``rst``, and ``begin<d>`` and ``end<d>`` for each dimension of the index space; outputs: ``busy``
    and ``done``.
    Ports of input t: ``in<t>_write``, ``in<t>_address``, ``in<t>_data``; of output t: ``out<t>_address``, and
    ``out<t>_data`` a cycle later. Addresses are those of NumPy's order. Memories hold 0 at power-up.
    ``parallel``: members of a group, each with its own block and copies of inputs; they are neighbours along the first
    dimension of the index space that has this many members.
    ``printf``: add outputs ``tap_valid``, 1 in one cycle of each member, and ``tap``, the variables of its messages.
    ``words``: the number of elements of a word, for each input and each output: all elements along the slowest
    dimension, or parts of a tensor that members touch as a whole. Addresses count words, and data are words. None:
    words of one element.
    Raises ``InputError`` for tensors without elements or with more than ``MOST_WORDS`` words, for groups that touch
    more than ``MOST_STEPS`` words of a tensor, for printing with parallel members, and if no dimension has enough
    members; ``ProgramError`` for a block whose inputs have an inp_shift.
    """
    mapping = instance.mapping
    group = group_of(instance, parallel)
    if printf and parallel > 1:
        raise KernelError(f"{instance.name}: members print one after the other, not {parallel} in parallel; use 1")
    inputs, outputs = require_memory_form(instance, parallel, words)
    steps = _steps(inputs, outputs, parallel)
    machine = _Writer(instance, group, steps, inputs, outputs, instance.taps if printf else None).build()
    copies = [1 if t.together(group) else parallel for t in inputs] + [1] * len(outputs)
    depths = [n << address_bits(t.sizes).width for n, t in zip(copies, (*inputs, *outputs), strict=True)]
    kinds = (*instance.input_types, *instance.output_types)
    facts = MemoryFacts(
        mapping.members,
        steps.interval,
        MemoryTiming(mapping.geometry, group, steps).latency([(0, size) for size in mapping.geometry]),
        sum(depths),
        sum(
            depth * kind.width * tensor.word
            for depth, kind, tensor in zip(depths, kinds, (*inputs, *outputs), strict=True)
        ),
        parallel,
    )
    return MemoryForm(machine, facts)


def require_memory_form(
    instance: KernelInstance, parallel: int = 1, words: tuple[Sequence[int], Sequence[int]] | None = None
) -> tuple[list[Touched], list[Touched]]:
    """Return the accesses of members to inputs and outputs. Raises ``InputError`` for unsuitable tensors."""
    sides = instance.mapping.inputs, instance.mapping.outputs
    inputs, outputs = (
        [Touched.of(one.sizes, instance.mapping.addressing(one), word) for one, word in zip(side, each, strict=True)]
        for side, each in zip(sides, words or tuple((1,) * len(side) for side in sides), strict=True)
    )
    _require_small(instance, instance.mapping.inputs, inputs, 1)
    _require_small(instance, instance.mapping.outputs, outputs, parallel)
    return inputs, outputs


def group_of(instance: KernelInstance, parallel: int) -> Group:
    """Return the groups of parallel members. Raises ``InputError`` if no dimension has this many members."""
    geometry = instance.mapping.geometry
    fitting = [d for d, size in enumerate(geometry) if size >= parallel]
    if parallel < 1 or not fitting:
        raise KernelError(
            f"{instance.name}: its index space is {list(geometry)}, and {parallel} members side by side must be "
            f"neighbours along one dimension; ask for 1 to {max(geometry)}"
        )
    return Group(fitting[0], parallel)


def _require_small(
    instance: KernelInstance, mapped: tuple[MappedTensor, ...], touched: list[Touched], members: int
) -> None:
    for tensor, one in zip(mapped, touched, strict=True):
        words = 1 << address_bits(one.sizes).width
        if not all(tensor.sizes) or words > MOST_WORDS:
            raise KernelError(
                f"{instance.name}: {tensor.name} has sizes {list(tensor.sizes)}; its memory would have {words} words, "
                f"must have 1 to {MOST_WORDS}"
            )
        if not 0 < members * one.addressing.count <= MOST_STEPS:
            who = "a member touches" if members == 1 else f"{members} members touch"
            raise KernelError(
                f"{instance.name}: {who} {members * one.addressing.count} elements of {tensor.name}, one per cycle; "
                f"1 to {MOST_STEPS} are supported"
            )


class _Writer:
    def __init__(
        self,
        instance: KernelInstance,
        group: Group,
        steps: Steps,
        inputs: list[Touched],
        outputs: list[Touched],
        taps: Sequence[PrintfTap] | None,
    ) -> None:
        self.instance, self.group, self.steps = instance, group, steps
        self.inputs, self.outputs, self.taps = inputs, outputs, taps
        self.made = MachineBuilder()

    def build(self) -> Machine:
        """Return the whole machine: ports first, then counters, memories and the blocks."""
        made, geometry, waiting = self.made, self.instance.mapping.geometry, self.steps.waiting
        rank = len(geometry)
        kinds, ends = [unsigned(size - 1) for size in geometry], [unsigned(size) for size in geometry]
        start, rst = made.input("start", BIT), made.input("rst", BIT)
        begin = [made.input(f"begin{d}", kind) for d, kind in enumerate(kinds)]
        end = [made.input(f"end{d}", kind) for d, kind in enumerate(ends)]
        busy = made.register("busy", BIT, initial=0, reset=rst, output=True)
        done = made.register("done", BIT, initial=0, reset=rst, output=True)
        reading = made.register("reading", BIT, initial=0, reset=rst)
        step = made.register("step", unsigned(self.steps.interval - 1), initial=0, reset=rst)
        member = made.register("member", kinds, initial=0, reset=rst)
        first = made.register("first", kinds, initial=0, reset=rst)
        last = made.register("last", ends, initial=0, reset=rst)
        # Groups that have been read; the last of these groups is written.
        behind = made.register("behind", [BIT] * waiting, initial=0, reset=rst)
        members = made.register("members_behind", kinds * waiting, initial=0, reset=rst)
        count = made.block("count", counting_logic(geometry, self.group, self.steps))
        self.feed([start, *begin, *end, busy, reading, step, member, first, last, behind], count.inputs)
        taken, load = made.wire("taken", BIT), made.wire("load", BIT)
        sizes = [1, 1, 1, rank, waiting, 1, 1]
        counted = zip(_split(count.outputs, sizes), (busy, reading, step, member, behind, taken, done), strict=True)
        for source, target in counted:
            made.connect(source, target)
        for d in range(rank):
            made.connect(begin[d], first[d], enable=taken)
            made.connect(end[d], last[d], enable=taken)
        made.connect(member, members[0:rank], enable=load)
        if waiting > 1:
            made.connect(members[0 : rank * (waiting - 1)], members[rank:], enable=load)

        where = made.block("where", address_logic(geometry, self.group, self.steps, self.inputs, self.outputs))
        along = last[self.group.dim]
        self.feed([member, members[rank * (waiting - 1) :], behind[waiting - 1], along, step], where.inputs)
        lanes = [1 if one.together(self.group) else self.group.size for one in self.inputs]
        reads = _split(where.outputs, [*(2 * n + 1 for n in lanes), 1, *(2 for _ in self.outputs)])
        made.connect(reads[len(lanes)], load)
        gathered = [self.read(at, reads[at], lanes[at]) for at in range(len(lanes))]
        results = []
        for lane in range(self.group.size):
            core = made.block(
                f"core{lane}" if self.group.size > 1 else "core", tapped_block(self.instance.block, self.taps or ())
            )
            words = zip(self.inputs, gathered, strict=True)
            self.feed([part for one, copies in words for part in one.by_port(copies[lane % len(copies)])], core.inputs)
            results.append(_split(core.outputs, [one.elements for one in self.outputs]))
        for at in range(len(self.outputs)):
            self.write(at, reads[len(lanes) + 1 + at], [parts[at] for parts in results], load)
        if self.taps is not None:
            self.tap(self.taps, core.outputs, load, behind[waiting - 1])
        return made.build()

    def feed(self, sources: list[View], target: View) -> None:
        """Connect ``sources``, one after the other, to the elements of ``target``."""
        for source, part in zip(sources, _split(target, [source.size for source in sources]), strict=True):
            self.made.connect(source, part)

    def read(self, at: int, where: View, lanes: int) -> list[View]:
        """Add an input with its memories; return registers that hold all elements of each member once they are read."""
        made, name, kind, tensor = self.made, f"in{at}", self.instance.input_types[at], self.inputs[at]
        address = address_bits(tensor.sizes)
        write, place = made.input(f"{name}_write", BIT), made.input(f"{name}_address", address)
        width, kinds = tensor.word, (kind,) * tensor.word
        data, shift = made.input(f"{name}_data", kinds), made.wire(f"{name}_shift", BIT)
        pad = made.register(f"{name}_pad", kinds, initial=Fraction(self.instance.pads[at]) / Fraction(2) ** kind.f)
        made.connect(where[2 * lanes], shift)
        found = []
        for lane in range(lanes):
            name = f"in{at}" if lanes == 1 else f"in{at}_{lane}"
            memory = self.memory(name, kind, tensor)
            made.connect(data, memory[0:width].at(place), enable=write)
            looked_up = made.wire(f"{name}_read", address)
            word = made.register(f"{name}_word", kinds, initial=0)
            inside = made.register(f"{name}_inside", BIT, initial=0)
            made.connect(where[2 * lane], looked_up)
            made.connect(memory[0:width].at(looked_up), word)
            made.connect(where[2 * lane + 1], inside)
            padded = made.wire(f"{name}_padded", kinds)
            made.connect(word, padded, enable=inside, otherwise=pad)
            count = self.steps.reads[at]
            gathered = made.register(f"{name}_gathered", kinds * count, initial=0)
            behind = width * (count - 1)
            if count > 1:
                made.connect(gathered[width:], gathered[0:behind], enable=shift)
            made.connect(padded, gathered[behind:], enable=shift)
            found.append(gathered)
        return found

    def write(self, at: int, where: View, results: list[View], load: View) -> None:
        """Add an output: its memory is written from the blocks' ``results``, member after member."""
        made, name, kind, tensor = self.made, f"out{at}", self.instance.output_types[at], self.outputs[at]
        memory, address, width = self.memory(name, kind, tensor), address_bits(tensor.sizes), tensor.word
        place, enable = made.wire(f"{name}_written", address), made.wire(f"{name}_write", BIT)
        made.connect(where[0], place)
        made.connect(where[1], enable)
        count = self.steps.writes[at]
        result = made.register(f"{name}_result", (kind,) * (width * count), initial=0)
        found = [part for one in results for part in tensor.in_words(one)]
        parts = _split(result, [one.size for one in found])
        if count > 1:
            # The last word is not overwritten by the shift; words shifted in after it are never written.
            shifted, behind = made.wire(f"{name}_shifted", (kind,) * (width * count)), width * (count - 1)
            made.connect(result[width:], shifted[0:behind])
            made.connect(result[behind:], shifted[behind:])
            for one, part, other in zip(found, parts, _split(shifted, [p.size for p in parts]), strict=True):
                made.connect(one, part, enable=load, otherwise=other)
        else:
            for one, part in zip(found, parts, strict=True):
                made.connect(one, part, enable=load)
        made.connect(result[0:width], memory[0:width].at(place), enable=enable)
        data = made.register(f"{name}_data", (kind,) * width, initial=0, output=True)
        made.connect(memory[0:width].at(made.input(f"{name}_address", address)), data)

    def tap(self, taps: Sequence[PrintfTap], outputs: View, load: View, there: View) -> None:
        """Add outputs for the variables that a member prints, one cycle after the block's outputs are stored."""
        made, block = self.made, self.instance.block
        loaded = made.register("loaded", BIT, initial=0)
        made.connect(load, loaded)
        never = made.register("never", BIT, initial=0)
        made.connect(there, made.output("tap_valid", BIT), enable=loaded, otherwise=never)
        kinds = variables_of(block, taps)
        if kinds:
            made.connect(outputs[block.n_out :], made.register("tap", kinds, initial=0, output=True), enable=load)

    def memory(self, name: str, kind: FixedType, tensor: Touched) -> View:
        """Add a memory with a word for each possible address, so that no address is out of range."""
        return self.made.register(name, (kind,) * (tensor.word << address_bits(tensor.sizes).width), initial=0)


def _split(view: View, sizes: list[int] | tuple[int, ...]) -> list[View]:
    """Return consecutive parts of ``view``."""
    parts, at = [], 0
    for size in sizes:
        parts.append(view[at : at + size])
        at += size
    return parts


# The steps of a memory form's members, and the programs that control them.
#
# Members work in parallel, in groups of neighbours along one dimension of the index space. A new group starts every
# ``interval`` cycles: while one group writes, the next one reads. ``step`` counts the cycles of an interval.


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
