"""Find which bits of which memory each block RAM column holds, from edges at which both are written.

The result is a proposal: a wrong one fails in the proof.
"""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.prover.bit_level.aig import FALSE, Aig
from dais_verif.prover.sequential.sides import Bank, BitOf, Memory, RegisterBit

__all__ = ["Column", "Seen", "in_column", "held_by", "hosts_of", "same_place", "written"]

#: The number of a bank, and the number of one of its columns.
Column = tuple[int, int]

#: The least number of edges with a write of both from which a column is assigned to a memory.
_LEAST = 4


class Seen:
    """Observed signals of memories and banks: one integer per bit, with one bit per pattern."""

    def __init__(self, memories: Sequence[Memory], banks: Sequence[Bank]) -> None:
        self.count = 0
        self.places = [[0] * len(memory.place) for memory in memories]
        self.written = [[0] * memory.width for memory in memories]
        self.words = [[0] * memory.width for memory in memories]
        self.rows = [[0] * len(bank.row) for bank in banks]
        self.writes = [[0] * len(bank.writes) for bank in banks]
        self.data = [[0] * len(bank.data) for bank in banks]


def held_by(seen: Seen) -> dict[Column, BitOf]:
    """Return what each column holds; columns with unknown content have no entry."""
    found: dict[Column, BitOf] = {}
    for bank, columns in enumerate(seen.writes):
        for column, writes in enumerate(columns):
            for memory in range(len(seen.places)):
                one = _held(seen, memory, bank, column, writes)
                if one is not None:
                    found[bank, column] = one
                    break
    return found


def _held(seen: Seen, memory: int, bank: int, column: int, writes: int) -> BitOf | None:
    places = seen.places[memory]
    either = 0
    for one in seen.written[memory]:
        either |= one
    both = writes & either
    if both.bit_count() < _LEAST:
        return None
    rows: list[int] = []
    for row in seen.rows[bank]:
        fitting = [n for n, place in enumerate(places) if n not in rows and not (row ^ place) & both]
        if not fitting:
            return None
        rows.append(fitting[0])
    fixed = {}
    for number, place in enumerate(places):
        if number not in rows:
            if place & both not in (0, both):
                return None
            fixed[number] = int(place & both == both)
    data = seen.data[bank][column]
    for bit, (written, word) in enumerate(zip(seen.written[memory], seen.words[memory], strict=True)):
        if not both & ~written and not (data ^ word) & both:
            return BitOf(memory, bit, tuple(rows), fixed)
    return None


def in_column(graph: Aig, place: Sequence[int], fixed: BitOf) -> int:
    """Return a literal that is 1 if the column holds the word at ``place``."""
    return graph.all([place[n] ^ value ^ 1 for n, value in fixed.fixed.items()])


def same_place(graph: Aig, place: Sequence[int], row: Sequence[int], held: BitOf) -> int:
    """Return a literal that is 1 if the column holds the word at ``place``, in row ``row``."""
    equal = [graph.differ(place[n], bit) ^ 1 for n, bit in zip(held.rows, row, strict=True)]
    return graph.both(graph.all(equal), in_column(graph, place, held))


def written(graph: Aig, bank: Bank, column: int, memory: Memory, held: BitOf) -> list[tuple[str, int, int]]:
    """Return pairs of literals that must be equal so that an edge leaves the same bits in memory and column.

    The first pair concerns the row that the bank writes, the second a place that only the memory changes. Each pair has
    a name for messages.
    """
    old, new = memory.old[held.bit], memory.new[held.bit]
    here = same_place(graph, memory.place, bank.row, held)
    left = graph.choice(bank.writes[column], bank.data[column], old)
    what = f"what is written to {memory.name}, bit {held.bit}"
    elsewhere = graph.both(in_column(graph, memory.place, held), here ^ 1)
    changed = graph.both(elsewhere, graph.differ(old, new))
    return [(what, left, graph.choice(here, new, old)), (what, changed, FALSE)]


def hosts_of(
    banks: Sequence[Bank], registers: Sequence[RegisterBit], held: dict[Column, BitOf], memory: int, bit: int
) -> list[tuple[RegisterBit, dict[int, int]]]:
    """Return the block RAM outputs that read this bit, each with the address bits that are constant for the output."""
    named = {one.name: one for one in registers}
    found: list[tuple[RegisterBit, dict[int, int]]] = []
    for b, bank in enumerate(banks):
        for output in bank.outputs:
            ones = [held.get((b, column)) for column in output.columns]
            known = [one for one in ones if one is not None]
            if len(known) == len(ones) and all(one.memory == memory and one.bit == bit for one in known):
                fixed = [set(one.fixed.items()) for one in known]
                found.append((named[output.name], dict(set.intersection(*fixed))))
    return found
