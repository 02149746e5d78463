"""Faults at the ports of RTL: inputs or outputs that are exchanged, reversed or inverted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.frontier.findings import Moved
from dais_verif.prover.frontier.matching import Matching
from dais_verif.prover.random_simulation import Columns, Trace, differs, trace
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["exchanged_outputs", "wrong_inputs"]

#: The largest number of inputs of which all pairs are tried, and the seconds for all that is tried.
_PAIRS, _SECONDS = 8, 2.0


def exchanged_outputs(moved: Sequence[Moved]) -> tuple[list[str], list[Moved]]:
    """Return what is exchanged, in words, and the rest of ``moved``."""
    goes = {one.output: one.outputs[0] for one in moved if len(one.outputs) == 1}
    if len(goes) > 2 and sorted(goes) == sorted(goes.values()):
        low, high = min(goes), max(goes)
        if all(a + b == low + high for a, b in goes.items()):
            return [f"outputs {low} to {high} are in reverse order"], [one for one in moved if one.output not in goes]
    pairs = [(a, b) for a, b in goes.items() if a < b and goes.get(b) == a]
    said = {output for pair in pairs for output in pair}
    return [f"outputs {a} and {b} are exchanged" for a, b in pairs], [one for one in moved if one.output not in said]


class _Guess(NamedTuple):
    """Inputs that the RTL takes from others, ``source``, or ``inverted``; ``text``: in words."""

    text: str
    source: Mapping[int, int]
    inverted: frozenset[int] = frozenset()

    @property
    def inputs(self) -> set[int]:
        return {number for number, other in self.source.items() if number != other} | self.inverted

    def applied(self, vectors: Columns, widths: Sequence[int]) -> Columns:
        """Return what the RTL takes from ``vectors``."""
        taken = [vectors[self.source.get(number, number)] for number in range(len(vectors))]
        return [
            column ^ ((1 << width) - 1) if number in self.inverted else column
            for number, (column, width) in enumerate(zip(taken, widths, strict=True))
        ]


def wrong_inputs(
    program: Program, boundary: Boundary, matching: Matching, found: Trace, outputs: Sequence[int]
) -> str | None:
    """Return in words how the RTL takes other inputs than it should, if that explains all of ``outputs``.

    Several ops must read these inputs: if it is one, the expression that reads them may be wrong as well.
    """
    users = _lost_users(program, matching)
    widths = [one.width for one in boundary.inputs]
    end = time.monotonic() + _SECONDS
    for guess in _guesses(widths, sorted(number for number, ops in users.items() if ops)):
        if time.monotonic() > end:
            return None
        if len(set().union(*(users.get(number, set()) for number in guess.inputs))) < 2:
            continue
        if _explains(guess, program, boundary, matching, found, outputs, widths):
            return guess.text
    return None


def _lost_users(program: Program, matching: Matching) -> dict[int, set[int]]:
    """Return for each input the ops that read it and that no signal carries."""
    carried, raw = matching.carriers(), matching.op_values.raw
    users: dict[int, set[int]] = {}
    for op in program.ops:
        if op.code == INPUT:
            lost = {one for one in matching.op_values.users[op.index] if one in raw and one not in carried}
            users.setdefault(op.id0, set()).update(lost)
    return users


def _guesses(widths: Sequence[int], lost: Sequence[int]) -> Iterator[_Guess]:
    """Yield what may be wrong with the inputs ``lost``."""
    alike: dict[int, list[int]] = {}
    for number, width in enumerate(widths):
        if width:
            alike.setdefault(width, []).append(number)
    if len(lost) > 2:
        everything = _all_of_one_width(alike)
        if everything is not None:
            first, last = everything[0], everything[-1]
            name = f"inputs {first} to {last}"
            yield _Guess(f"{name} are in reverse order", {a: first + last - a for a in everything})
            yield _Guess(f"{name} are shifted by one", {a: a - 1 if a > first else last for a in everything})
            yield _Guess(f"{name} are shifted by one", {a: a + 1 if a < last else first for a in everything})
            pairs = {a: first + ((a - first) ^ 1) for a in everything}
            if len(everything) % 2 == 0:
                yield _Guess(f"{name} are exchanged in pairs", pairs)
        yield _Guess("all inputs are inverted", {}, frozenset(n for n, width in enumerate(widths) if width))
    for number in lost[:_PAIRS]:
        yield _Guess(f"input {number} is inverted ({counted(widths[number], 'bit')})", {}, frozenset((number,)))
    for a, b in combinations(lost[:_PAIRS], 2):
        if widths[a] == widths[b]:
            yield _Guess(f"inputs {a} and {b} are exchanged", {a: b, b: a})


def _all_of_one_width(alike: Mapping[int, list[int]]) -> list[int] | None:
    """Return the inputs if all that have bits have the same number, and are neighbours."""
    if len(alike) != 1:
        return None
    (numbers,) = alike.values()
    return numbers if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1 else None


def _explains(
    guess: _Guess,
    program: Program,
    boundary: Boundary,
    matching: Matching,
    found: Trace,
    outputs: Sequence[int],
    widths: Sequence[int],
) -> bool:
    other = trace(program, boundary.inputs, guess.applied(found.inputs, widths), found.rows)
    kept = ~(found.broken | other.broken)
    if kept.sum() < found.rows // 4:
        return False
    return not any((differs(program, boundary, j, [matching.wires], other) & kept).any() for j in outputs)
