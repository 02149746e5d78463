"""Find the op that is wrong on a board, by bitstreams with taps: all ops if they fit, otherwise by bisection.

Ops after a cut of the program depend on earlier ops only through the values that cross the cut. If all these values are
right and an output is wrong, the fault is after the cut; if one of them is wrong, the fault is before the cut.
Therefore the number of bitstreams grows with the logarithm of the number of ops. All operands of the op that is found
were read and were right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from dais_verif.golden import oracle
from dais_verif.record.simulation import Value
from dais_verif.simulation.boards.compare import as_bytes, as_words
from dais_verif.simulation.boards.identity import Identity
from dais_verif.simulation.boards.session import Session
from dais_verif.simulation.diagnosis.blame import value_of_bits, value_of_raw
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, unpack_element
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.taps import live, tappable, tapped

__all__ = ["Located", "Reading", "TappedRow", "Where", "locate", "read_taps"]


class Where(Enum):
    """The origin of a wrong output."""

    #: An op whose operands are right and whose value is wrong.
    OP = auto()
    #: All ops are right, but the output is not made correctly from its op.
    OUTPUT = auto()
    #: Unknown, since a bitstream with taps gives the right output.
    NOT_REPEATED = auto()
    #: Unknown, since no bitstream could be made with the necessary taps.
    NO_ROOM = auto()


@dataclass(frozen=True)
class Reading:
    """The result of a bitstream with taps for the failing vector: the wrong taps, and whether the output is wrong."""

    wrong: frozenset[int]
    output_is_wrong: bool


@dataclass(frozen=True)
class Located:
    """The origin of a wrong output. ``op``: the wrong op, if known. ``between``: else the ops that may be wrong."""

    where: Where
    op: int | None = None
    between: tuple[int, ...] = ()


def locate(program: Program, output: int, read: Callable[[Sequence[int]], Reading | None], most_bits: int) -> Located:
    """Find the op that makes ``output`` wrong.

    ``read``: returns the result of a bitstream with taps of the given ops, or None if this bitstream does not fit.
    ``most_bits``: the largest number of bits of taps that may fit.
    """
    root = program.outputs[output][0]
    ops = tappable(program, root) if root >= 0 else []
    before, wrong = -1, None  # all values that cross the cut after ``before`` are right; ``wrong`` is not
    too_many = None  # the smallest number of bits of taps that did not fit
    while True:
        window = [index for index in ops if before < index]
        if wrong is not None and window == [wrong]:
            return Located(Where.OP, wrong)
        if not window:
            return Located(Where.OUTPUT)
        taps, cut = _taps(program, ops, window, most_bits)
        bits = _bits(program, taps)
        found = None if too_many is not None and bits >= too_many else read(taps)
        if found is None:
            if bits > most_bits or len(window) == 1:
                return Located(Where.NO_ROOM, between=tuple(window))
            too_many, most_bits = bits, min(most_bits // 2, bits - 1)
            continue
        bad = sorted(found.wrong & set(taps))
        if bad:
            if cut is None:
                return Located(Where.OP, bad[0])
            wrong, ops = bad[0], [index for index in tappable(program, bad[0]) if index in set(ops)]
        elif not found.output_is_wrong:
            return Located(Where.NOT_REPEATED, between=tuple(window))
        elif cut is not None:
            before = cut
        elif wrong is None:
            return Located(Where.OUTPUT)
        else:  # a value was wrong in an earlier bitstream, and no tap is wrong in this one: the fault is not stable
            return Located(Where.NOT_REPEATED, between=tuple(window))


def _taps(program: Program, ops: Sequence[int], window: Sequence[int], most_bits: int) -> tuple[list[int], int | None]:
    """Choose the ops to read next: all of ``window``, or the values that cross a cut near its middle.

    Returns these ops, and the last op before the cut, or None if there is no cut.
    """
    if _bits(program, window) <= most_bits or len(window) == 1:
        return list(window), None
    quarter = len(window) // 4
    for places in (window[quarter : len(window) - max(quarter, 1)], window[:-1]):
        # Values that also cross the earlier cut are known to be right.
        crossing = {cut: [index for index in live(program, ops, cut) if index >= window[0]] for cut in places}
        cut = min(places, key=lambda cut: (_bits(program, crossing[cut]), abs(cut - window[len(window) // 2])))
        if _bits(program, crossing[cut]) <= most_bits:
            break
    return crossing[cut], cut


def _bits(program: Program, ops: Sequence[int]) -> int:
    return sum(program.ops[index].type.width for index in ops)


# Compare the results that a board with taps gives for a few vectors with the oracle: find wrong taps and outputs.


@dataclass(frozen=True)
class TappedRow:
    """The result for a vector: the ``expected`` and ``found`` values of each tap, and the wrong outputs."""

    row: int
    expected: dict[int, Value]
    found: dict[int, Value]
    wrong_outputs: frozenset[int]

    @property
    def wrong(self) -> frozenset[int]:
        """The ops whose taps are wrong."""
        return frozenset(op for op, value in self.expected.items() if value.bits != self.found[op].bits)


def read_taps(
    program: Program, ops: Sequence[int], batch: Batch, rows: Sequence[int], session: Session, identity: Identity
) -> list[TappedRow]:
    """Send ``batch`` to a board that runs ``program`` with taps of ``ops``, and return the result of each vector.

    ``rows``: the numbers of the vectors, which the results contain.
    """
    with_taps = tapped(program, ops)
    ports = ports_of(with_taps)
    (results,) = session.run([as_bytes(pack_inputs(batch, ports), ports.input_bits)], identity)
    words = as_words(np.asarray(results), ports.output_bits)
    return [
        _row(with_taps, program.n_out, ops, batch, position, row, bits_of_row(words, position, ports.output_bits))
        for position, row in enumerate(rows)
    ]


def _row(
    with_taps: Program, n_out: int, ops: Sequence[int], batch: Batch, position: int, row: int, bits: str
) -> TappedRow:
    elements, kinds = ports_of(with_taps).outputs, with_taps.output_types
    values = oracle.outputs_of(with_taps, oracle.trace(with_taps, batch.row(position), violations=[]))
    right = [value_of_raw((v * oracle.two(kind.f)).numerator, kind) for v, kind in zip(values, kinds, strict=True)]
    found = [
        value_of_bits(unpack_element(bits, element) or "0", kind) for element, kind in zip(elements, kinds, strict=True)
    ]
    wrong = {n for n in range(n_out) if elements[n].width and right[n].bits != found[n].bits}
    return TappedRow(
        row,
        dict(zip(ops, right[n_out:], strict=True)),
        dict(zip(ops, found[n_out:], strict=True)),
        frozenset(wrong),
    )
