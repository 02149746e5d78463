"""Which op is wrong on a board: asked of bitstreams with taps, as many ops in each as fit, and else by halves.

Ops after a cut of the program depend on earlier ones only through the values that cross it. If all of those are right
and an output is wrong, the fault is after the cut; if one is wrong, it is before. So the number of bitstreams grows
with the logarithm of the number of ops. Every operand of the op that is named in the end was read, and was right.
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

    #: An op whose operands are right.
    OP = auto()
    #: All ops are right: how the output is put together.
    OUTPUT = auto()
    #: Nowhere: a bitstream with taps gives what is right.
    NOT_REPEATED = auto()
    #: Not found out: no bitstream could be made with the taps that it takes.
    NO_ROOM = auto()


@dataclass(frozen=True)
class Reading:
    """The result of a bitstream with taps for the vector: the wrong taps, and whether the output is wrong."""

    wrong: frozenset[int]
    output_is_wrong: bool


@dataclass(frozen=True)
class Located:
    """``op``: the one that is wrong, or None. ``between``: the ops of which it is one, as far as that is known."""

    where: Where
    op: int | None = None
    between: tuple[int, ...] = ()


def locate(program: Program, output: int, read: Callable[[Sequence[int]], Reading | None], most_bits: int) -> Located:
    """Find the op from which a wrong ``output`` comes.

    ``read``: what a bitstream with taps of some ops gives; None: it does not fit. ``most_bits``: of taps that may fit.
    """
    root = program.outputs[output][0]
    ops = tappable(program, root) if root >= 0 else []
    before, wrong = -1, None  # all values that cross the cut after ``before`` are right; ``wrong`` is not
    too_many = None  # bits of taps that did not fit
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
        else:  # it was wrong in another bitstream, and the output is still: what is wrong moves about
            return Located(Where.NOT_REPEATED, between=tuple(window))


def _taps(program: Program, ops: Sequence[int], window: Sequence[int], most_bits: int) -> tuple[list[int], int | None]:
    """Choose what to read next: all of ``window``, or what crosses a cut near its middle, and the op before it."""
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
