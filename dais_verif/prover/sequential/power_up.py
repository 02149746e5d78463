"""The base case of the induction: what both sides hold at power-up."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dais_verif.prover.bit_level.aig import Aig
from dais_verif.prover.sequential.classes import Classes
from dais_verif.prover.sequential.columns import Column
from dais_verif.prover.sequential.set_once import only_set
from dais_verif.prover.sequential.sides import Bank, BitOf, Gates, Memory, RegisterBit

__all__ = ["first_values", "unknown_start", "wrong_contents"]


def wrong_contents(banks: Sequence[Bank], memories: Sequence[Memory], held: dict[Column, BitOf]) -> str:
    """Return a message about block RAM contents at power-up that memories cannot have; empty if all are possible."""
    first: dict[tuple[int, int], int] = {}
    for (b, column), one in held.items():
        bank, memory = banks[b], memories[one.memory]
        high = sum(value << n for n, value in one.fixed.items())
        for row in range(1 << len(bank.row)):
            place = high | sum((row >> n & 1) << to for n, to in enumerate(one.rows))
            bit = place * memory.width + one.bit
            found = bank.contents >> (row * len(bank.writes) + column) & 1
            wanted = memory.contents[bit]
            if found != (first.setdefault((one.memory, bit), found) if wanted is None else wanted):
                return f"{bank.name} and {memory.name}[{place}] hold different values at power-up"
    return ""


def unknown_start(graph: Aig, given: Sequence[int], classes: Classes, n_rtl: int) -> str:
    """Return a message about a register whose unknown value at power-up matters; empty if there is none.

    ``given``: literals of the invariants. ``n_rtl``: number of registers of the RTL, which precede the others.
    """
    needed = graph.behind(given)  # invariants fix the initial values of these registers
    for number, places in classes.members().items():
        unknown = [place for place in places if place >= n_rtl and classes.registers[place].initial is None]
        if not unknown:
            continue
        known = number == 0 or any(
            classes.registers[place].initial is not None or classes.registers[place].now >> 1 in needed
            for place in places
        )
        if known or len(unknown) > 1:
            return f"what {classes.registers[unknown[0]].name} holds at power-up is unknown, but needed"
    return ""


def first_values(graph: Aig, rtl: Gates, rng: random.Random, seconds: float) -> tuple[RegisterBit, ...]:
    """Return the registers of ``rtl``, with initial value 1 for uninitialised ones that are only ever set.

    Such a register stays 1 if it holds 1, and can change from 0 to 1. Synthesis replaces such registers by constants,
    which is allowed since an uninitialised register may hold any value. Registers in invariants are not changed.
    ``seconds``: the limit for each call of the solver.
    """
    needed = graph.behind([one.now for one in rtl.invariants])
    places = [n for n, one in enumerate(rtl.registers) if one.initial is None and one.now >> 1 not in needed]
    ones = only_set(graph, rtl.registers, places, rng, seconds)
    return tuple(one._replace(initial=1) if place in ones else one for place, one in enumerate(rtl.registers))
