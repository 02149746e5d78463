"""Find places that no input can set by range analysis: constant bits, values that are never negative, and so on.

This is also sound for unchecked runs, since the ranges hold for them as well. Places that ranges leave open may still
be unreachable: see ``enumerate_cones`` and ``solve``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dais_verif.coverage.bins import Bins
from dais_verif.golden.coverage_probes import ARM, LOST, WRAPPED
from dais_verif.spec.program import FixedType, Op
from dais_verif.spec.program.opcodes import MUXES, QUANTS, RELUS, Code, high_int32, low_int32
from dais_verif.spec.program.ranges import Analysis, Interval

__all__ = ["by_ranges"]

Mask = NDArray[np.bool_]


def by_ranges(bins: Bins, found: Analysis) -> Mask:
    """Return for each place whether the intervals in ``found`` exclude it; shape (size,)."""
    program, places = bins.program, bins.places
    impossible = np.zeros(bins.size, dtype=np.bool_)
    impossible[-2] = True  # the place that is never set
    for op in program.ops:
        if op.type.width:
            _value(found.intervals[op.index], op.type.width, impossible[places.at[op.index] :])
            _beyond_the_value(found, op, impossible[places.more[op.index] :])
    for j, (index, _, negated) in enumerate(program.outputs):
        width = program.output_types[j].width
        if width:
            x = found.intervals[index]
            _value(_negated(x) if negated else x, width, impossible[places.at[program.n_ops + j] :])
    return impossible


def _value(x: Interval, width: int, impossible: Mask) -> None:
    differs = x.lo ^ x.hi
    # Bits from ``above`` on are the same for all values of the interval; the lowest ``x.zeros`` bits are always 0.
    above = width if differs < 0 else differs.bit_length()
    for bit in range(width):
        if bit < x.zeros or bit >= above:
            impossible[width * (1 - (0 if bit < x.zeros else x.lo >> bit & 1)) + bit] = True
    impossible[2 * width] = x.lo > 0 or x.hi < 0
    impossible[2 * width + 1] = x.hi <= 0


def _beyond_the_value(found: Analysis, op: Op, impossible: Mask) -> None:
    known = [found.intervals[i] for i in op.operands]
    if op.code == Code.LOOKUP:
        _entries(found, op, impossible)
    elif op.code in RELUS:
        x = _negated(known[0]) if op.spec.negate else known[0]
        _changes([Interval(max(x.lo, 0), max(x.hi, 0), x.f, x.zeros)], op.type, impossible)
    elif op.code in QUANTS:
        _changes([_negated(known[0]) if op.spec.negate else known[0]], op.type, impossible)
    elif op.code == Code.SHIFT:
        _changes([known[0]._replace(f=known[0].f - op.data)], op.type, impossible)
    elif op.code in MUXES:
        a, b, condition = known
        b = (_negated(b) if op.spec.negate else b)._replace(f=b.f - high_int32(op.data))
        kind = found.program.ops[op.condition].type
        half = 1 << (kind.width - 1) if kind.width else 1
        can_be_first = condition.lo < 0 if kind.k else condition.hi >= half
        can_be_second = condition.hi >= 0 if kind.k else condition.lo < half
        _changes([x for x, can in ((a, can_be_first), (b, can_be_second)) if can], op.type, impossible)
        same = op.id0 == op.id1 and not op.spec.negate and high_int32(op.data) == 0
        impossible[ARM] = same or not can_be_first
        impossible[ARM + 1] = same or not can_be_second


def _changes(exact: list[Interval], kind: FixedType, impossible: Mask) -> None:
    """Mark the impossible wraps and truncations. ``exact``: intervals, one of which contains the exact result."""
    for place, possible in enumerate(_wraps(exact, kind), WRAPPED):
        impossible[place] = not possible
    for place, possible in enumerate(_loses(exact, kind), LOST):
        impossible[place] = not possible


def _wraps(exact: list[Interval], kind: FixedType) -> tuple[bool, bool, bool]:
    """Return whether a negative result can wrap, whether another can wrap, and whether a result can stay unchanged."""
    floored = [(_to_grid(x.lo, x.f - kind.f), _to_grid(x.hi, x.f - kind.f)) for x in exact]
    return (
        any(lo < kind.raw_min for lo, _ in floored),
        any(hi > kind.raw_max for _, hi in floored),
        any(lo <= kind.raw_max and hi >= kind.raw_min for lo, hi in floored),
    )


def _to_grid(raw: int, drop: int) -> int:
    return raw >> drop if drop > 0 else raw << -drop


def _loses(exact: list[Interval], kind: FixedType) -> tuple[bool, bool, bool]:
    """Return whether a negative result can lose bits, whether another can, and whether one can be on the grid."""
    negative = other = whole = False
    for x in exact:
        drop = x.f - kind.f
        can = drop > 0 and x.lo % (1 << drop) != 0 if x.lo == x.hi else x.zeros < drop
        negative |= can and x.lo < 0
        other |= can and x.hi >= 0
        whole |= not can or x.lo != x.hi
    return negative, other, whole


def _entries(found: Analysis, op: Op, impossible: Mask) -> None:
    x = found.intervals[op.id0]
    offset = found.program.ops[op.id0].type.raw_min + high_int32(op.data)
    size = len(found.program.tables[low_int32(op.data)])
    first, last = max(x.lo - offset, 0), min(x.hi - offset, size - 1)
    impossible[:size] = True
    step = 1 << min(x.zeros, 62)
    start = first + (-(first + offset)) % step  # raw values are multiples of the step
    impossible[start : last + 1 : step] = False


def _negated(x: Interval) -> Interval:
    return Interval(-x.hi, -x.lo, x.f, x.zeros)
