"""Find input vectors on which given ops reach their largest and smallest values; random vectors rarely do.

Types of programs are usually just wide enough. A sign bit that is taken one bit too low, for example, is wrong for the
largest values only. The search starts with the vectors on which an op is largest or smallest. Each turn tries every
input at the ends of its range, and keeps either the best single change or all changes that help, whichever is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.program import Program
from dais_verif.program.graph import cone
from dais_verif.program.opcodes import INPUT
from dais_verif.program.ports import Element
from dais_verif.prover.random_simulation import Bools, Columns, Trace, trace

__all__ = ["stretched_vectors"]

#: The number of turns; the largest number of inputs that one turn tries; and the number of vectors from which the
#: search starts in each direction.
_TURNS, _INPUTS, _BEGINNINGS = 5, 64, 2


class _Lane(NamedTuple):
    """One search: op ``op`` is to be large (``sign`` 1) or small (-1); ``vector``: the best vector so far."""

    op: int
    sign: int
    vector: tuple[int, ...]


def stretched_vectors(
    program: Program, elements: Sequence[Element], found: Trace, valid: Bools, ops: Iterable[int], seed: int
) -> tuple[Columns, int]:
    """Return vectors on which each of ``ops`` and its operands is large or small, and the number of vectors.

    The vectors have one column per input. ``found``: the values of all ops on many vectors, from which the search
    starts. ``valid``: the rows of ``found`` that may be used.
    """
    targets = sorted({i for op in ops for i in (op, *program.ops[op].operands) if program.ops[i].type.width > 1})
    needed = cone(program, targets)
    inputs = sorted({program.ops[i].id0 for i in needed if program.ops[i].code == INPUT and program.ops[i].type.width})
    rng = np.random.default_rng(seed)
    lanes = list(_beginnings(program, found, valid, targets))
    kept = [lane.vector for lane in lanes]
    for _ in range(_TURNS if lanes and inputs else 0):
        some = inputs if len(inputs) <= _INPUTS else sorted(rng.choice(inputs, _INPUTS, replace=False).tolist())
        lanes = _moved(program, elements, needed, lanes, some)
        kept += [lane.vector for lane in lanes]
    rows = list(dict.fromkeys(kept))
    return _columns(rows, len(elements)), len(rows)


def _beginnings(program: Program, found: Trace, valid: Bools, targets: Sequence[int]) -> Iterator[_Lane]:
    rows = np.flatnonzero(valid)
    for op in targets:
        order = rows[np.argsort(_numbers(program, op, found)[rows], kind="stable")]
        for row in order[:_BEGINNINGS]:
            yield _Lane(op, -1, found.vector(int(row)))
        for row in order[len(order) - _BEGINNINGS :]:
            yield _Lane(op, 1, found.vector(int(row)))


def _moved(
    program: Program, elements: Sequence[Element], needed: Sequence[int], lanes: Sequence[_Lane], inputs: Sequence[int]
) -> list[_Lane]:
    """Return all lanes, each with the best vector that one turn finds for it."""
    changes = [(j, end) for j in inputs for end in _ends(elements[j].width)]
    rows = [lane.vector for lane in lanes]
    rows += [_with(lane.vector, {j: end}) for lane in lanes for j, end in changes]
    scores = _scores(program, elements, needed, lanes, rows, len(changes))
    together = []
    for n, lane in enumerate(lanes):
        best: dict[int, tuple[float, int]] = {}
        for (j, end), score in zip(changes, scores[n][1:], strict=True):
            if score > best.get(j, (scores[n][0], 0))[0]:
                best[j] = score, end
        alone = max(best, key=lambda j: best[j][0], default=None)
        together += [
            lane.vector,
            _with(lane.vector, {j: end for j, (_, end) in best.items()}),
            lane.vector if alone is None else _with(lane.vector, {alone: best[alone][1]}),
        ]
    found = _traced(program, elements, needed, together)
    moved = []
    for n, lane in enumerate(lanes):
        own = _numbers(program, lane.op, found)[3 * n : 3 * n + 3] * lane.sign
        moved.append(lane._replace(vector=together[3 * n + int(np.argmax(own))]))
    return moved


def _scores(
    program: Program,
    elements: Sequence[Element],
    needed: Sequence[int],
    lanes: Sequence[_Lane],
    rows: Sequence[tuple[int, ...]],
    changes: int,
) -> list[list[float]]:
    """Return, for each lane, the score of its vector, followed by the score of each change to the vector."""
    found = _traced(program, elements, needed, rows)
    scores = []
    for n, lane in enumerate(lanes):
        own = _numbers(program, lane.op, found) * lane.sign
        first = len(lanes) + n * changes
        scores.append([own[n], *own[first : first + changes].tolist()])
    return scores


def _traced(
    program: Program, elements: Sequence[Element], needed: Sequence[int], rows: Sequence[tuple[int, ...]]
) -> Trace:
    return trace(program, elements, _columns(rows, len(elements)), len(rows), needed)


def _ends(width: int) -> list[int]:
    """Return the bits of the least and the largest number of ``width`` bits, both signed and unsigned."""
    top = (1 << width) - 1
    return list(dict.fromkeys((0, top, top >> 1, (top >> 1) + 1)))


def _with(vector: tuple[int, ...], changes: dict[int, int]) -> tuple[int, ...]:
    return tuple(changes.get(j, value) for j, value in enumerate(vector))


def _columns(rows: Sequence[tuple[int, ...]], inputs: int) -> Columns:
    return [np.array([row[j] for row in rows], dtype=object) for j in range(inputs)]


def _numbers(program: Program, op: int, found: Trace) -> NDArray[Any]:
    """Return the values of an op as floats: approximate, for comparison only."""
    kind = program.ops[op].type
    values = found.values[op].astype(float)
    return np.where(values >= 2.0 ** (kind.width - 1), values - 2.0**kind.width, values) if kind.k else values
