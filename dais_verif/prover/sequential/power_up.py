"""What both sides hold at power-up: the first step of an induction."""

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
    """Return what block RAMs hold at power-up and memories do not, in words."""
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
                return f"{bank.name} holds at power-up what {memory.name}[{place}] does not"
    return ""


def unknown_start(graph: Aig, given: Sequence[int], classes: Classes, n_rtl: int) -> str:
    """Return what may not be equal at power-up, though it is after each edge, in words.

    ``given``: invariants; ``n_rtl``: so many registers come first that are of the RTL.
    """
    needed = graph.behind(given)  # of which is said what it holds at first
    for number, places in classes.members().items():
        unknown = [place for place in places if place >= n_rtl and classes.registers[place].initial is None]
        if not unknown:
            continue
        known = number == 0 or any(
            classes.registers[place].initial is not None or classes.registers[place].now >> 1 in needed
            for place in places
        )
        if known or len(unknown) > 1:
            return f"what {classes.registers[unknown[0]].name} shows at power-up is unknown, and something needs it"
    return ""


def first_values(graph: Aig, rtl: Gates, rng: random.Random, seconds: float) -> tuple[RegisterBit, ...]:
    """Return registers of ``rtl``: those that nothing initialises hold 1 if they then stay 1, and if 0 becomes 1.

    Synthesis makes constants of these, and what is not initialised may hold anything at first. What an invariant
    speaks of is left as it is. ``seconds``: for the solver, each.
    """
    needed = graph.behind([one.now for one in rtl.invariants])
    places = [n for n, one in enumerate(rtl.registers) if one.initial is None and one.now >> 1 not in needed]
    ones = only_set(graph, rtl.registers, places, rng, seconds)
    return tuple(one._replace(initial=1) if place in ones else one for place, one in enumerate(rtl.registers))
