"""Adders and multipliers in structures that no synthesis tool used here builds, as graphs and as Verilog."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word

__all__ = ["adder", "inputs", "multiplier", "verilog"]


def inputs(graph: Aig, *widths: int) -> list[Word]:
    return [[graph.input() for _ in range(width)] for width in widths]


def adder(graph: Aig, a: Word, b: Word, ahead: bool) -> Word:
    """Return the sum of two words with its carry; ``ahead``: a carry-lookahead adder, not a ripple-carry adder."""
    propagated, generated = [graph.differ(x, y) for x, y in zip(a, b, strict=True)], []
    if not ahead:
        carry, word = FALSE, []
        for x, y in zip(a, b, strict=True):
            bit, carry = graph.sum(x, y, carry)
            word.append(bit)
        return [*word, carry]
    generated = [graph.both(x, y) for x, y in zip(a, b, strict=True)]
    groups, distance = list(zip(generated, propagated, strict=True)), 1
    while distance < len(a):
        groups = [
            (graph.either(g, graph.both(p, groups[n - distance][0])), graph.both(p, groups[n - distance][1]))
            if n >= distance
            else (g, p)
            for n, (g, p) in enumerate(groups)
        ]
        distance *= 2
    carries = [FALSE, *(g for g, _ in groups)]
    return [graph.differ(p, c) for p, c in zip(propagated, carries[:-1], strict=True)] + [carries[-1]]


def multiplier(graph: Aig, *pairs: tuple[Word, Word], width: int, ahead: bool) -> Word:
    """Return the sum of the products of ``pairs``, added in one carry-save tree that turns three bits into two."""
    columns: list[list[int]] = [[] for _ in range(width)]
    for a, b in pairs:
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                columns[i + j].append(graph.both(x, y))
    while max(map(len, columns)) > 2:
        following: list[list[int]] = [[] for _ in range(width + 1)]
        for place, column in enumerate(columns):
            whole = len(column) - len(column) % 3
            for first in range(0, whole, 3):
                bit, carry = graph.sum(*column[first : first + 3])
                following[place].append(bit)
                following[place + 1].append(carry)
            following[place] += column[whole:]
        columns = following[:width]
    rows = [[column[n] if n < len(column) else FALSE for column in columns] for n in range(2)]
    return adder(graph, rows[0], rows[1], ahead)[:width]


def verilog(graph: Aig, name: str, given: Sequence[int], found: Sequence[int]) -> str:
    """Return a module of gates with the input literals ``given`` (all, in order) and the output literals ``found``."""
    place = {literal >> 1: bit for bit, literal in enumerate(given)}

    def text(literal: int) -> str:
        node = literal >> 1
        plain = "1'b0" if not node else f"model_inp[{place[node]}]" if node in place else f"n{node}"
        return f"~{plain}" if literal & 1 else plain

    gates = [node for node in range(1, len(graph)) if graph.low[node] >= 0]
    lines = [f"module {name}(input [{len(given) - 1}:0] model_inp, output [{len(found) - 1}:0] model_out);"]
    lines += [f"  wire n{node};" for node in gates]
    lines += [f"  assign n{node} = {text(graph.low[node])} & {text(graph.high[node])};" for node in gates]
    lines += [f"  assign model_out[{bit}] = {text(literal)};" for bit, literal in enumerate(found)]
    return "\n".join([*lines, "endmodule", ""])
