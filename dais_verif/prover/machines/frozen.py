"""Bits of a machine's state that never change: synthesis finds them, and leaves no flip-flop for them.

That they never change is proved like all that registers hold: by induction, with everything else. For that they are
bits of a register that is not there, which holds before and after every edge what it held at power-up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dais_verif.machine import Machine
from dais_verif.machine.step import Step
from dais_verif.prover.machines.both_sides import initial_bits
from dais_verif.prover.machines.correspondence import Meaning, Run, runs_of
from dais_verif.prover.machines.registers import Open
from dais_verif.prover.netlist import Signal, bits_over, driver_of
from dais_verif.prover.terms import const

__all__ = ["Frozen", "frozen_bits"]


@dataclass(frozen=True)
class Frozen:
    """``opened``: the design with such a register. ``runs``: what of the state it holds.

    ``bits``: what these bits are, by the number of the program's input and their place in it.
    """

    opened: Open
    runs: tuple[Run, ...]
    bits: Mapping[tuple[int, int], int]


def frozen_bits(
    machine: Machine, step: Step, opened: Open, runs: Sequence[Run], visible: Collection[int]
) -> Frozen | None:
    """Propose that the bits of the elements ``visible`` to which nothing corresponds hold what they hold at power-up.

    None if there are no such bits, or nothing says what one of them holds then.
    """
    held = {meaning[:2] for run in runs for _, meaning in run.bits()}
    first = initial_bits(machine, step)
    free = [(number, at) for number, at in _bits(step, visible) if (number, at) not in held]
    if not free or any(first[number] is None for number, _ in free):
        return None
    values = [(first[number] or 0) >> at & 1 for number, at in free]
    value = const(len(free), sum(bit << n for n, bit in enumerate(values)))
    nowhere, now, after = (Signal(f"{name}no register", len(free), "", hidden=True) for name in ("", "now ", "after "))
    after.drive(driver_of(bits_over(value, {}), 0, len(free), 0, ""))
    there = replace(
        opened,
        now=opened.now | {nowhere: now},
        after=opened.after | {nowhere: after},
        initial=opened.initial | {nowhere: value},
    )
    made = runs_of({(nowhere, n): Meaning(number, at) for n, (number, at) in enumerate(free)})
    inputs = len(step.inputs)
    fixed = {(inputs + number, at): bit for (number, at), bit in zip(free, values, strict=True)}
    return Frozen(there, tuple(made), fixed)


def _bits(step: Step, visible: Collection[int]) -> Iterator[tuple[int, int]]:
    """Each bit of some elements, by the element's number."""
    program, first = step.program, len(step.outputs)
    for number in sorted(visible):
        width = program.ops[program.outputs[first + number][0]].type.width
        yield from ((number, at) for at in range(width))
