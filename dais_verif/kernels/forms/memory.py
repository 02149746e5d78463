"""The memory form: tensors in memories, group after group of members, one element of each tensor per cycle.

``start`` starts the members of a range, ``begin<d> <= m[d] < end<d>``; ``done`` is 1 for one cycle when all results are
written. Inputs are loaded and outputs are read through separate ports. While a group writes, the next one reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import NamedTuple

from dais_verif.errors import KernelError
from dais_verif.kernels.forms.logic import BIT, unsigned
from dais_verif.kernels.forms.steps import Group, Steps, Touched, address_bits, address_logic, counting_logic
from dais_verif.kernels.instance import KernelInstance
from dais_verif.kernels.mapping import MappedTensor
from dais_verif.kernels.printf_taps import PrintfTap, tapped_block, variables_of
from dais_verif.machine import Machine, MachineBuilder, View
from dais_verif.program import FixedType

__all__ = [
    "MOST_WORDS",
    "MemoryFacts",
    "MemoryForm",
    "MemoryTiming",
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
