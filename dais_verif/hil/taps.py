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

from dais_verif.program import Program
from dais_verif.program.taps import live, tappable

__all__ = ["Located", "Reading", "Where", "locate"]


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
