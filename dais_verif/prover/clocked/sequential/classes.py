"""Classes of registers that may be equal in every cycle, refined by simulation.

The value of each register is taken relative to its value at power-up. At first all registers and the constant 0 form
one class. Simulation draws random states in which all registers of a class are equal. If an edge leaves two registers
of a class different, the class is split. Registers that are equal in every cycle are therefore never separated;
registers that remain in one class may still differ: a solver must decide whether they do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dais_verif.prover.clocked.sequential.sides import RegisterBit
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.patterns import columns, simulate, value_of

__all__ = ["Classes", "Composition", "Draw", "States"]


#: How often a bit is 1: with n, one time in n; with -n, all but one time in n; with 0, never.
_BIASES = (2, 2, 2, 2, 4, 16, 64, 0, -4, -16, -256, 2)


class Classes:
    """A partition of ``registers``. ``of``: the class number of each register; class 0 holds the constant 0.

    ``hints``: maps names of registers to names of registers to which they may be equal; initially, registers with the
    same hint form a class of their own. Classes are only ever split, so a wrong hint may hide the equality of
    registers, but never makes unequal registers equal.
    """

    def __init__(self, registers: Sequence[RegisterBit], hints: Mapping[str, str] | None = None) -> None:
        self.registers = registers
        self.of = [0] * len(registers)
        self._next = 1
        if hints:
            named = {one.name for one in registers}.intersection(hints.values())
            numbers = {name: number for number, name in enumerate(sorted(named), 1)}
            self.of = [numbers.get(hints.get(one.name, one.name), 0) for one in registers]
            self._next += len(numbers)

    def split(self, after: Sequence[int]) -> bool:
        """Split classes by ``after``; return whether any was split.

        ``after``: for each register, the patterns on which it differs from its initial value, one bit per pattern.
        """
        numbers: dict[tuple[int, int], int] = {(0, 0): 0}
        kept: set[int] = {0}
        for place, (number, values) in enumerate(zip(self.of, after, strict=True)):
            key = number, values
            if key not in numbers:
                if number in kept:
                    numbers[key] = self._next
                    self._next += 1
                else:
                    kept.add(number)
                    numbers[key] = number
            self.of[place] = numbers[key]
        return len(numbers) > len(kept)

    def take_out(self, places: Sequence[int]) -> None:
        """Put each of ``places`` into a class of its own."""
        for place in places:
            self.of[place] = self._next
            self._next += 1

    def members(self) -> dict[int, list[int]]:
        """Return the registers of each class, by class number."""
        found: dict[int, list[int]] = {0: []}
        for place, number in enumerate(self.of):
            found.setdefault(number, []).append(place)
        return found

    def stand_ins(self) -> dict[int, int]:
        """Return, by node, the literal that replaces a register: the first register of its class, or the constant."""
        found: dict[int, int] = {}
        for number, places in self.members().items():
            first = self.registers[places[0]] if places else None
            for place in places:
                register = self.registers[place]
                inverted = register.now & 1 ^ (register.initial or 0)
                if number == 0:
                    found[register.now >> 1] = inverted
                elif first is not None and register is not first:
                    found[register.now >> 1] = first.now ^ (first.initial or 0) ^ inverted
        return found


class Draw:
    """Random bits for ``count`` patterns; blocks of patterns differ in the probability of a 1."""

    def __init__(self, rng: random.Random, count: int) -> None:
        self._rng, self._count = rng, count
        self._orders: dict[str, list[int]] = {}

    def bits(self, vector: str = "") -> int:
        """Return one bit per pattern. ``vector``: a name; bits of the same vector share the order of probabilities."""
        order = self._orders.get(vector)
        if order is None:
            order = self._orders[vector] = list(_BIASES)
            self._rng.shuffle(order)
        block = self._count // len(order)
        ones = (1 << block) - 1
        result = 0
        for bias in order:
            value = self._rng.getrandbits(block) if bias else 0
            for _ in range(abs(bias).bit_length() - 2):
                value &= self._rng.getrandbits(block)
            result = result << block | (value if bias > 0 else value ^ ones if bias else 0)
        return result << (self._count - block * len(order))

    def again(self) -> None:
        """Use new random orders of probabilities from now on."""
        self._orders.clear()


class States(NamedTuple):
    """Random patterns and their results.

    ``values``: the values of all nodes. ``after``: the values of registers after the edge, as ``Classes.split`` takes
    them.
    """

    inputs: list[int]
    values: list[int]
    after: list[int]


def step(graph: Aig, classes: Classes, draw: Draw, count: int, held: Sequence[int] | None = None) -> States:
    """Simulate one edge from states in which all registers of a class are equal.

    ``held``: the values of registers, relative to their initial values; None: random values.
    """
    ones = (1 << count) - 1
    draw.again()
    chosen: dict[int, int] = {0: 0}
    inputs: dict[int, int] = {}
    for place, register in enumerate(classes.registers):
        number = classes.of[place]
        if number not in chosen:
            chosen[number] = draw.bits(register.name.partition("[")[0]) if held is None else held[place]
        value = chosen[number] ^ (ones if register.initial else 0)
        inputs[register.now >> 1] = value ^ (ones if register.now & 1 else 0)
    given = [inputs[node] if node in inputs else draw.bits() for node, low in enumerate(graph.low) if low < 0 and node]
    return evaluated(graph, classes, given, count)


def evaluated(graph: Aig, classes: Classes, inputs: list[int], count: int) -> States:
    """Simulate one edge on ``inputs``, the patterns of all inputs of ``graph``."""
    ones = (1 << count) - 1
    values = simulate(graph, inputs, count)
    after = [value_of(values, one.after, count) ^ (ones if one.initial else 0) for one in classes.registers]
    return States(inputs, values, after)


def split_by_states(graph: Aig, classes: Classes, made: Composition, patterns: list[int]) -> None:
    """Split classes by states that a solver found, and by states in which former constants differ from 0.

    ``made``: the graph with ``stand_ins`` substituted. ``patterns``: values of the inputs of ``made.new``.
    """
    places = {node: place for place, node in enumerate(n for n, low in enumerate(made.new.low) if low < 0 and n)}
    ones = (1 << len(patterns)) - 1
    rows = columns(patterns, len(places))
    known = {node: rows[places[literal >> 1]] for node, literal in made.inputs.items()}
    for node, other in classes.stand_ins().items():
        value = 0 if other < 2 else known.get(other >> 1, 0)
        known[node] = value ^ (ones if other & 1 else 0)
    while True:
        before = list(classes.of)
        given = [known.get(node, 0) for node, low in enumerate(graph.low) if low < 0 and node]
        classes.split(evaluated(graph, classes, given, len(patterns)).after)
        woken = [n for n, (old, new) in enumerate(zip(before, classes.of, strict=True)) if new and not old]
        if not woken:
            return
        for one in (classes.registers[n] for n in woken):
            known[one.now >> 1] = 0 if one.now & 1 ^ (one.initial or 0) else ones


__all__ += ["evaluated", "split_by_states", "step"]


# Rebuild a graph with other literals in place of some of its inputs.


class Composition:
    """Copy ``old`` into ``new`` with some inputs replaced.

    ``replaced``: literals of ``old`` that replace inputs of ``old``, by node; these literals may depend on replaced
    inputs themselves, but without a cycle. ``inputs``: the literals of ``new`` for all other inputs, by node of
    ``old``.
    """

    def __init__(self, old: Aig, replaced: Mapping[int, int], new: Aig | None = None) -> None:
        self.old, self.new, self._replaced = old, new or Aig(), replaced
        self.inputs: dict[int, int] = {}
        self._at = {0: FALSE}

    def at(self, literal: int) -> int:
        """Return the literal of ``new`` for a literal of ``old``."""
        low, high, known = self.old.low, self.old.high, self._at
        waiting = [literal >> 1]
        while waiting:
            node = waiting[-1]
            if node in known:
                waiting.pop()
                continue
            other = self._replaced.get(node)
            if low[node] < 0 and other is None:
                known[node] = self.inputs[node] = self.new.input()
                continue
            behind = (low[node], high[node]) if other is None else (other,)
            missing = [one >> 1 for one in behind if one >> 1 not in known]
            if missing:
                waiting += missing
            elif other is None:
                a, b = low[node], high[node]
                known[node] = self.new.both(known[a >> 1] ^ (a & 1), known[b >> 1] ^ (b & 1))
            else:
                known[node] = known[other >> 1] ^ (other & 1)
        return known[literal >> 1] ^ (literal & 1)
