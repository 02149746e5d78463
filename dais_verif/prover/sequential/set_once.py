"""Choose initial values of uninitialised registers that are only ever set.

Synthesis replaces some of these registers by constants, and keeps others, with initial value 0. Every fixed choice of
initial values is allowed, since an uninitialised register may hold any value. The choice made here is a guess from
simulation; the proof then holds for this choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence

from dais_verif.prover.bit_level.aig import FALSE, Aig
from dais_verif.prover.bit_level.fraig import Fraig
from dais_verif.prover.bit_level.patterns import simulate, value_of
from dais_verif.prover.sequential.classes import Classes, Draw, evaluated, step
from dais_verif.prover.sequential.sides import RegisterBit

__all__ = ["kept_by_logic", "only_set"]

_PATTERNS = 1536
#: The number of edges on which the effect of a register is observed.
_EDGES = 12


def only_set(
    graph: Aig, registers: Sequence[RegisterBit], places: Sequence[int], rng: random.Random, seconds: float
) -> set[int]:
    """Return those of ``places`` whose registers can change from 0 to 1, but never from 1 to 0.

    ``seconds``: the limit for each call of the solver.
    """
    places = _may_stay_one(graph, registers, places, rng)
    edges = [
        (graph.both(one.now, one.after ^ 1), graph.both(one.now ^ 1, one.after))
        for one in (registers[place] for place in places)
    ]
    draw = Draw(rng, _PATTERNS)
    patterns = [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node]
    literals = [literal for pair in edges for literal in pair]
    fraig = Fraig(graph, literals, patterns, _PATTERNS, lambda node: (), 0, lambda done, total: None)

    def can_be(literal: int) -> bool | None:
        found = fraig.at(literal)
        return False if found == FALSE else fraig.solver.differ_within(found, FALSE, [], seconds).found

    return {
        place
        for place, (falls, rises) in zip(places, edges, strict=True)
        if can_be(falls) is False and can_be(rises) is True
    }


def _may_stay_one(
    graph: Aig, registers: Sequence[RegisterBit], places: Sequence[int], rng: random.Random
) -> Sequence[int]:
    """Return those of ``places`` whose registers never change from 1 to 0 on random patterns."""
    count, draw = _PATTERNS, Draw(rng, _PATTERNS)
    for _ in range(8):
        draw.again()
        values = simulate(graph, [draw.bits() for node, low in enumerate(graph.low) if low < 0 and node], count)
        places = [
            place
            for place in places
            if not value_of(values, registers[place].now, count) & value_of(values, registers[place].after ^ 1, count)
        ]
    return places


def kept_by_logic(
    graph: Aig,
    registers: Sequence[RegisterBit],
    n_rtl: int,
    ones: Collection[str],
    rng: random.Random,
    settle: Callable[[Aig, Classes], None],
    seconds: float,
) -> set[str]:
    """Return those of ``ones``, RTL registers with assumed initial value 1, that the other side seems to keep.

    Such a register has a counterpart with initial value 0 that is set by the same conditions and affects at least the
    same registers. The first ``n_rtl`` of ``registers`` belong to the RTL. ``settle``: splits classes by simulation.
    """
    candidates = [n for n, one in enumerate(registers[:n_rtl]) if one.name in ones]
    zeros = [n for n, one in enumerate(registers) if one.initial == 0]
    constant = only_set(graph, registers, zeros, rng, seconds)
    kept = sorted(place for place in constant if place >= n_rtl)
    if not candidates or not kept:
        return set()
    # In states in which all such registers are set, the correspondence does not depend on the choice.
    steady = [one._replace(initial=1) if n in constant else one for n, one in enumerate(registers)]
    classes = Classes(steady)
    settle(graph, classes)
    nodes = {node: n for n, node in enumerate(node for node, low in enumerate(graph.low) if low < 0 and node)}
    set_by: dict[int, list[int]] = {place: [] for place in (*candidates, *kept)}
    needed_by: dict[int, set[int]] = {place: set() for place in set_by}
    draw = Draw(rng, _PATTERNS)
    for _ in range(_EDGES):
        state = step(graph, classes, draw, _PATTERNS)
        for place, seen in set_by.items():
            inputs = list(state.inputs)
            inputs[nodes[steady[place].now >> 1]] ^= (1 << _PATTERNS) - 1
            after = evaluated(graph, classes, inputs, _PATTERNS).after
            seen.append(after[place])
            needed_by[place] |= {
                classes.of[n] for n, (a, b) in enumerate(zip(state.after, after, strict=True)) if a != b and n != place
            }
    return {
        registers[place].name
        for place in candidates
        if any(set_by[one] == set_by[place] and needed_by[one] >= needed_by[place] > set() for one in kept)
    }
