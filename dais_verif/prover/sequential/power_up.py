"""What both sides hold at power-up: the first step of an induction."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dais_verif.prover.bit_level.aig import FALSE, Aig
from dais_verif.prover.bit_level.fraig import Fraig
from dais_verif.prover.bit_level.patterns import simulate, value_of
from dais_verif.prover.sequential.classes import Classes, Draw
from dais_verif.prover.sequential.columns import Column
from dais_verif.prover.sequential.sides import Bank, BitOf, Gates, Memory, RegisterBit

__all__ = ["first_values", "unknown_start", "wrong_contents"]

_PATTERNS = 1536


def wrong_contents(banks: Sequence[Bank], memories: Sequence[Memory], held: dict[Column, BitOf]) -> str:
    """What block RAMs hold at power-up and memories do not, in words."""
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
    """What may not be equal at power-up, though it is after each edge, in words.

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
    """The registers of ``rtl``, in which those that nothing initialises hold 1 if they then stay 1, and if 0 becomes 1.

    Synthesis makes constants of these, and what is not initialised may hold anything at first. What an invariant
    speaks of is left as it is. ``seconds``: for the solver, each.
    """
    needed = graph.behind([one.now for one in rtl.invariants])
    places = [n for n in _may_stay_one(graph, rtl.registers, rng) if rtl.registers[n].now >> 1 not in needed]
    edges = [
        (graph.both(one.now, one.after ^ 1), graph.both(one.now ^ 1, one.after))
        for one in (rtl.registers[place] for place in places)
    ]
    draw = Draw(rng, _PATTERNS)
    patterns = [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node]
    literals = [literal for pair in edges for literal in pair]
    fraig = Fraig(graph, literals, patterns, _PATTERNS, lambda node: (), 0, lambda done, total: None)

    def can_be(literal: int) -> bool | None:
        found = fraig.at(literal)
        return False if found == FALSE else fraig.solver.differ_within(found, FALSE, [], seconds).found

    ones = {
        place
        for place, (falls, rises) in zip(places, edges, strict=True)
        if can_be(falls) is False and can_be(rises) is True
    }
    return tuple(one._replace(initial=1) if place in ones else one for place, one in enumerate(rtl.registers))


def _may_stay_one(graph: Aig, registers: Sequence[RegisterBit], rng: random.Random) -> list[int]:
    """Which of ``registers``, of those that nothing initialises, stay 1 as far as patterns tell."""
    count, draw = _PATTERNS, Draw(rng, _PATTERNS)
    left = [place for place, one in enumerate(registers) if one.initial is None]
    for _ in range(8):
        draw.again()
        values = simulate(graph, [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node], count)
        left = [
            place
            for place in left
            if not value_of(values, registers[place].now, count) & value_of(values, registers[place].after ^ 1, count)
        ]
    return left
