"""Bits of a machine's state without a flip-flop in the netlist: they are constant or always equal another bit.

Synthesis removes such bits. That they are constant or equal is proved by induction, together with the correspondence of
all other registers. For this proof, the bits become a virtual register. Before and after every edge, each of its bits
holds the power-up value of the missing bit, or the value of the flip-flop of the other bit.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dais_verif.prover.clocked.machines.both_sides import initial_bits
from dais_verif.prover.clocked.machines.correspondence import Meaning, Run, runs_of
from dais_verif.prover.clocked.machines.registers import Open, Place
from dais_verif.prover.netlist import Bits, Read, Signal, driver_of
from dais_verif.prover.terms import Term, bnot, concat, const, extract
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.step import Step
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Absent", "absent_bits", "dependence", "ones", "seen_from_outside"]


#: The largest number of ops in the next-value function of an element for which an equal element is searched.
_LARGEST = 200

#: A bit of the state: the number of the element, and the bit in it.
Bit = tuple[int, int]


@dataclass(frozen=True)
class Absent:
    """Proposed values of missing bits.

    ``opened``: the design with the virtual register. ``runs``: the bits of the state that this register holds.
    ``fixed``: for each missing bit, as (input of the program, bit), its value: 0, 1 or another such pair. ``told``: the
    contents of ``fixed`` in words.
    """

    opened: Open
    runs: tuple[Run, ...]
    fixed: Mapping[Bit, int | Bit]
    told: tuple[str, ...]


def absent_bits(
    machine: Machine, step: Step, opened: Open, runs: Sequence[Run], visible: Collection[int]
) -> Absent | None:
    """Propose values for the bits of the elements ``visible`` to which no register bit corresponds.

    Returns None if there are no such bits, or if the power-up value of one of them is unknown.
    """
    held: dict[Bit, tuple[Place, bool]] = {}
    for run in runs:
        for n, (_, meaning) in enumerate(run.bits()):
            if meaning.element is not None:
                place = Place(run.place.signal, run.place.low + n, 1)
                held.setdefault((meaning.element, meaning.at), (place, meaning.inverted))
    first = initial_bits(machine, step)
    free = [bit for bit in _bits(step, visible) if bit not in held]
    if not free or any(first[number] is None for number, _ in free):
        return None
    twins = _twins(step, first, {number for number, _ in free}, {number for number, _ in held})
    others = {bit: (twins[bit[0]], bit[1]) for bit in free if (twins.get(bit[0], -1), bit[1]) in held}
    values = {(number, at): (first[number] or 0) >> at & 1 for number, at in free}
    parts = [held[others[bit]] if bit in others else values[bit] for bit in free]
    nowhere, now, after = (Signal(f"{name}no register", len(free), "", hidden=True) for name in ("", "now ", "after "))
    after.drive(driver_of(_after(opened, parts), 0, len(free), 0, ""))
    there = replace(
        opened,
        now=opened.now | {nowhere: now},
        after=opened.after | {nowhere: after},
        initial=opened.initial | {nowhere: _initial(opened, parts)},
    )
    made = runs_of({(nowhere, n): Meaning(*bit) for n, bit in enumerate(free)})
    inputs = len(step.inputs)
    fixed: dict[Bit, int | Bit] = {}
    for number, at in free:
        other = others.get((number, at))
        fixed[inputs + number, at] = values[number, at] if other is None else (inputs + other[0], other[1])
    told = [
        f"{step.state[number]}, bit {at}, is always "
        + (f"that of {step.state[twins[number]]}" if (number, at) in others else str(values[number, at]))
        for number, at in free
    ]
    return Absent(there, tuple(made), fixed, tuple(told))


def _bits(step: Step, visible: Collection[int]) -> Iterator[Bit]:
    """Yield each bit of the elements ``visible``."""
    program, first = step.program, len(step.outputs)
    for number in sorted(visible):
        width = program.ops[program.outputs[first + number][0]].type.width
        yield from ((number, at) for at in range(width))


def _after(opened: Open, parts: Sequence[tuple[Place, bool] | int]) -> Bits:
    """Return the function for the bits after an edge: constants, or the next values of other register bits."""

    def bits(read: Read, low: int, width: int) -> Term:
        found = []
        for part in parts[low : low + width]:
            if isinstance(part, int):
                found.append(const(1, part))
                continue
            place, inverted = part
            bit = read(opened.after[place.signal], place.low, 1)
            found.append(bnot(bit) if inverted else bit)
        return concat(*reversed(found))

    return bits


def _initial(opened: Open, parts: Sequence[tuple[Place, bool] | int]) -> Term:
    """Return ``parts`` of registers at power-up, as one term."""
    found = []
    for part in parts:
        if isinstance(part, int):
            found.append(const(1, part))
            continue
        place, inverted = part
        bit = extract(opened.initial[place.signal], place.low, 1)
        found.append(bnot(bit) if inverted else bit)
    return concat(*reversed(found))


def _twins(step: Step, first: Sequence[int | None], wanted: Collection[int], others: Collection[int]) -> dict[int, int]:
    """Map elements in ``wanted`` to an element in ``others`` with the same initial value and next-value function."""
    known: dict[Hashable, int] = {}
    made: dict[int, dict[Hashable, int]] = {}
    everywhere = _numbered(step, range(step.program.n_ops), -1, known, [])
    for number in others:
        key = _next(step, number, known, everywhere)
        if key is not None:
            made.setdefault(key, {}).setdefault(first[number], number)
    found = {}
    for number in wanted:
        key = _next(step, number, known, everywhere)
        other = made.get(key, {}).get(first[number]) if key is not None else None
        if other is not None:
            found[number] = other
    return found


def _next(step: Step, number: int, known: dict[Hashable, int], everywhere: Sequence[int]) -> int | None:
    """Return a key that is equal for two elements with the same next-value function; None if it has too many ops.

    The element itself is a special input of the function, so elements that hold their own value can be equal.
    """
    program = step.program
    (root, _, _) = program.outputs[len(step.outputs) + number]
    ops, waiting = {root}, [root]
    while waiting:
        new = set(program.ops[waiting.pop()].operands) - ops
        ops |= new
        waiting += new
        if len(ops) > _LARGEST:
            return None
    return _numbered(step, sorted(ops), len(step.inputs) + number, known, everywhere)[root]


def _numbered(
    step: Step, ops: Collection[int], own: int, known: dict[Hashable, int], everywhere: Sequence[int]
) -> list[int]:
    """Return a value number per op in ``ops``: equal ops of equal operands share one; input ``own`` shares none."""
    program = step.program
    numbers = list(everywhere) or [0] * program.n_ops
    changed: set[int] = set()
    for index in ops:
        op = program.ops[index]
        mine = op.code == INPUT and op.id0 == own
        if everywhere and not mine and changed.isdisjoint(op.operands):
            continue
        changed.add(index)
        again = op if op.code == INPUT else op.rewired(lambda operand: numbers[operand])
        key = (again.code, "itself" if mine else again.id0, again.id1, again.data, again.type, again.terms)
        numbers[index] = known.setdefault(key, len(known))
    return numbers


# Find the elements of a machine's state on which its outputs and its next state depend in one cycle.


def dependence(step: Step) -> tuple[list[int], list[int]]:
    """Return the elements on which each output, and each element after the edge, depends, as bit masks."""
    program, n_in, n_out = step.program, len(step.inputs), len(step.outputs)
    masks: list[int] = []
    for op in program.ops:
        mask = 1 << op.id0 if op.code == INPUT else 0
        for operand in op.operands:
            mask |= masks[operand]
        masks.append(mask)
    found = [masks[index] >> n_in for index, _, _ in program.outputs]
    return found[:n_out], found[n_out:]


def seen_from_outside(step: Step) -> set[int]:
    """Return the numbers of the elements on which an output depends, in this cycle or a later one."""
    outputs, after = dependence(step)
    seen = 0
    waiting = [0]
    for mask in outputs:
        waiting[0] |= mask
    while waiting:
        new = waiting.pop() & ~seen
        seen |= new
        waiting += [after[number] for number in ones(new)]
    return set(ones(seen))


def ones(mask: int) -> list[int]:
    """Return the numbers of the bits of ``mask`` that are 1, from the lowest on."""
    return [number for number, digit in enumerate(reversed(bin(mask)[2:])) if digit == "1"]
