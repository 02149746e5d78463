"""The memory form: tensors in memories, member after member, an element of each tensor a cycle.

``start`` begins with the members of a range, ``begin<d> <= m[d] < end<d>``; ``done`` is 1 in one cycle when all of them
are written. Inputs are loaded, and outputs read, through ports of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dais_verif.errors import InputError
from dais_verif.kernels.forms.logic import (
    BIT,
    Steps,
    Touched,
    address_bits,
    address_logic,
    counting_logic,
    unsigned,
)
from dais_verif.kernels.instance import KernelInstance
from dais_verif.kernels.mapping import MappedTensor
from dais_verif.kernels.printf_taps import PrintfTap, tapped_block, variables_of
from dais_verif.machine import Machine, MachineBuilder, View
from dais_verif.program import FixedType

__all__ = ["MOST_WORDS", "MemoryFacts", "MemoryForm", "memory_form", "require_memory_form"]

#: Words of a memory, at most: more than the engines of machines take.
MOST_WORDS = 1 << 16
#: Steps of a member, at most.
MOST_STEPS = 1 << 12


@dataclass(frozen=True)
class MemoryFacts:
    """What a memory form costs. ``cycles``: of a member, which is also the interval between two.

    ``latency``: from the cycle of start to that of done, for all members. ``words`` and ``bits``: of all memories; a
    memory has a power of two of words, at least 2.
    """

    members: int
    cycles: int
    latency: int
    words: int
    bits: int


class MemoryForm(NamedTuple):
    """A machine and its facts."""

    machine: Machine
    facts: MemoryFacts


def memory_form(instance: KernelInstance, *, printf: bool = False) -> MemoryForm:
    """Return ``instance`` as a machine that runs member after member, with tensors in memories.

    Inputs: ``start``, ``rst``, and ``begin<d>`` and ``end<d>`` for each dimension of the index space; outputs: ``busy``
    and ``done``.
    Ports of input t: ``in<t>_write``, ``in<t>_address``, ``in<t>_data``; of output t: ``out<t>_address``, and
    ``out<t>_data`` a cycle later. Addresses are those of NumPy's order. Memories hold 0 at power-up.
    ``printf``: with outputs ``tap_valid``, 1 in one cycle of each member, and ``tap``, the variables of its messages.
    Raises ``InputError`` for tensors of no elements, or of more than ``MOST_WORDS``, and for members that touch
    more than ``MOST_STEPS`` elements; and ``ProgramError`` for a block whose inputs have an inp_shift.
    """
    mapping = instance.mapping
    inputs, outputs = require_memory_form(instance)
    steps = Steps(tuple(t.addressing.count for t in inputs), tuple(t.addressing.count for t in outputs))
    writer = _Writer(instance, steps, inputs, outputs, instance.taps if printf else None)
    machine = writer.build()
    depths = [1 << address_bits(t.sizes).width for t in (*inputs, *outputs)]
    kinds = (*instance.input_types, *instance.output_types)
    facts = MemoryFacts(
        mapping.members,
        steps.count,
        mapping.members * steps.count + 1,
        sum(depths),
        sum(depth * kind.width for depth, kind in zip(depths, kinds, strict=True)),
    )
    return MemoryForm(machine, facts)


def require_memory_form(instance: KernelInstance) -> tuple[list[Touched], list[Touched]]:
    """Return what members touch of inputs and outputs. Raises ``InputError`` as ``memory_form`` does."""
    inputs, outputs = (
        [Touched(one.sizes, instance.mapping.addressing(one)) for one in side]
        for side in (instance.mapping.inputs, instance.mapping.outputs)
    )
    _require_small(instance, instance.mapping.inputs, inputs)
    _require_small(instance, instance.mapping.outputs, outputs)
    return inputs, outputs


def _require_small(instance: KernelInstance, mapped: tuple[MappedTensor, ...], touched: list[Touched]) -> None:
    for tensor, one in zip(mapped, touched, strict=True):
        words = 1 << address_bits(tensor.sizes).width
        if not all(tensor.sizes) or words > MOST_WORDS:
            raise InputError(
                f"{instance.name}: {tensor.name} has sizes {list(tensor.sizes)}; its memory would have {words} words, "
                f"and there may be up to {MOST_WORDS}, of a tensor that is not empty"
            )
        if not 0 < one.addressing.count <= MOST_STEPS:
            raise InputError(
                f"{instance.name}: a member touches {one.addressing.count} elements of {tensor.name}, one a cycle; "
                f"from 1 to {MOST_STEPS} are taken"
            )


class _Writer:
    def __init__(
        self,
        instance: KernelInstance,
        steps: Steps,
        inputs: list[Touched],
        outputs: list[Touched],
        taps: Sequence[PrintfTap] | None,
    ) -> None:
        self.instance, self.steps, self.inputs, self.outputs, self.taps = instance, steps, inputs, outputs, taps
        self.made = MachineBuilder()

    def build(self) -> Machine:
        """The whole machine: ports first, then counters, memories and the block."""
        made, geometry = self.made, self.instance.mapping.geometry
        kinds, ends = [unsigned(size - 1) for size in geometry], [unsigned(size) for size in geometry]
        start, rst = made.input("start", BIT), made.input("rst", BIT)
        begin = [made.input(f"begin{d}", kind) for d, kind in enumerate(kinds)]
        end = [made.input(f"end{d}", kind) for d, kind in enumerate(ends)]
        busy = made.register("busy", BIT, initial=0, reset=rst, output=True)
        done = made.register("done", BIT, initial=0, reset=rst, output=True)
        step = made.register("step", unsigned(self.steps.count - 1), initial=0, reset=rst)
        member = made.register("member", kinds, initial=0, reset=rst)
        first = made.register("first", kinds, initial=0, reset=rst)
        last = made.register("last", ends, initial=0, reset=rst)
        count = made.block("count", counting_logic(geometry, self.steps))
        self.feed([start, *begin, *end, busy, step, member, first, last], count.inputs)
        taken = made.wire("taken", BIT)
        next_busy, next_step, next_member, is_taken, finished = _split(count.outputs, [1, 1, len(geometry), 1, 1])
        made.connect(next_busy, busy)
        made.connect(next_step, step)
        made.connect(next_member, member)
        made.connect(is_taken, taken)
        made.connect(finished, done)
        for d in range(len(geometry)):
            made.connect(begin[d], first[d], enable=taken)
            made.connect(end[d], last[d], enable=taken)

        where = made.block("where", address_logic(geometry, self.steps, self.inputs, self.outputs))
        self.feed([member, step], where.inputs)
        core = made.block("core", tapped_block(self.instance.block, self.taps or ()))
        load = made.wire("load", BIT)
        made.connect(where.outputs[3 * len(self.inputs)], load)
        self.feed([self.read(at, where.outputs[3 * at : 3 * at + 3]) for at in range(len(self.inputs))], core.inputs)
        begins = 3 * len(self.inputs) + 1
        for at, results in enumerate(_split(core.outputs, self.steps.writes)):
            self.write(at, where.outputs[begins + 2 * at : begins + 2 * at + 2], results, load)
        if self.taps is not None:
            self.tap(self.taps, core.outputs, load, rst)
        return made.build()

    def feed(self, sources: list[View], target: View) -> None:
        """Connect ``sources``, one after the other, to the elements of ``target``."""
        for source, part in zip(sources, _split(target, [source.size for source in sources]), strict=True):
            self.made.connect(source, part)

    def read(self, at: int, where: View) -> View:
        """An input in its memory; what it returns are the elements of a member, once they are read."""
        made, name, kind = self.made, f"in{at}", self.instance.input_types[at]
        memory, address = self.memory(name, kind, self.inputs[at])
        write, place = made.input(f"{name}_write", BIT), made.input(f"{name}_address", address)
        made.connect(made.input(f"{name}_data", kind), memory[0].at(place), enable=write)

        looked_up, shift = made.wire(f"{name}_read", address), made.wire(f"{name}_shift", BIT)
        word, inside = made.register(f"{name}_word", kind, initial=0), made.register(f"{name}_inside", BIT, initial=0)
        pad = made.register(f"{name}_pad", kind, initial=Fraction(self.instance.pads[at]) / Fraction(2) ** kind.f)
        made.connect(where[0], looked_up)
        made.connect(memory[0].at(looked_up), word)
        made.connect(where[1], inside)
        made.connect(where[2], shift)
        padded = made.wire(f"{name}_padded", kind)
        made.connect(word, padded, enable=inside, otherwise=pad)
        count = self.steps.reads[at]
        gathered = made.register(f"{name}_gathered", (kind,) * count, initial=0)
        if count > 1:
            made.connect(gathered[1:count], gathered[0 : count - 1], enable=shift)
        made.connect(padded, gathered[count - 1], enable=shift)
        return gathered

    def write(self, at: int, where: View, results: View, load: View) -> None:
        """An output in its memory, written from the block's ``results``."""
        made, name, kind = self.made, f"out{at}", self.instance.output_types[at]
        memory, address = self.memory(name, kind, self.outputs[at])
        place, enable = made.wire(f"{name}_written", address), made.wire(f"{name}_write", BIT)
        made.connect(where[0], place)
        made.connect(where[1], enable)
        count = self.steps.writes[at]
        result = made.register(f"{name}_result", (kind,) * count, initial=0)
        if count == 1:
            made.connect(results, result, enable=load)
        else:
            # The last one stays where it is: what stands behind it is written no more.
            shifted = made.wire(f"{name}_shifted", (kind,) * count)
            made.connect(result[1:count], shifted[0 : count - 1])
            made.connect(result[count - 1], shifted[count - 1])
            made.connect(results, result, enable=load, otherwise=shifted)
        made.connect(result[0], memory[0].at(place), enable=enable)
        data = made.register(f"{name}_data", kind, initial=0, output=True)
        made.connect(memory[0].at(made.input(f"{name}_address", address)), data)

    def tap(self, taps: Sequence[PrintfTap], outputs: View, load: View, rst: View) -> None:
        """The variables of what a member prints, in the cycle after the one in which the block's outputs are taken."""
        made, block = self.made, self.instance.block
        made.connect(load, made.register("tap_valid", BIT, initial=0, reset=rst, output=True))
        kinds = variables_of(block, taps)
        if kinds:
            made.connect(outputs[block.n_out :], made.register("tap", kinds, initial=0, output=True), enable=load)

    def memory(self, name: str, kind: FixedType, tensor: Touched) -> tuple[View, FixedType]:
        """A word for each address that there is, so that no address leaves it."""
        address = address_bits(tensor.sizes)
        return self.made.register(name, (kind,) * (1 << address.width), initial=0), address


def _split(view: View, sizes: list[int] | tuple[int, ...]) -> list[View]:
    """Parts of ``view``, one behind the other."""
    parts, at = [], 0
    for size in sizes:
        parts.append(view[at : at + size])
        at += size
    return parts
