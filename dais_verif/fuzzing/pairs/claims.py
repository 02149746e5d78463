"""Claims about all inputs of a program, checked with vectors: ranges, unreachable bins, idle bits."""

from __future__ import annotations

import numpy as np

from dais_verif.coverage.bins import bins_of
from dais_verif.coverage.count import count_batch
from dais_verif.coverage.unreachable import by_ranges
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement
from dais_verif.golden import oracle
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.program.ranges import PromiseStatus, analyse

__all__ = ["ranges", "unreachable_bins"]


def ranges(case: Case) -> Disagreement | None:
    """Check that values are in the intervals of range analysis, and that promises are kept or broken as stated."""
    program, found = case.program, analyse(case.program)
    for number, row in enumerate(case.rows):
        violations: list[oracle.Violation] = []
        values = oracle.trace(program, row, violations=violations)
        for op, value, interval in zip(program.ops, values, found.intervals, strict=True):
            raw = value * oracle.two(interval.f)
            if raw.denominator != 1 or not interval.lo <= raw <= interval.hi or int(raw) % (1 << interval.zeros):
                where = f"{interval.lo}..{interval.hi} in units of 2**-{interval.f}"
                return Disagreement(
                    "ranges", "interval", f"{op} of vector {number} is {oracle.show(value)}, not {where}"
                )
        broken = {violation.op.index for violation in violations}
        for op in program.ops:
            status = found.changes[op.index]
            if op.spec.promise and (
                (op.index in broken and status is PromiseStatus.SAFE)
                or (op.index not in broken and status is PromiseStatus.CERTAIN)
            ):
                said = "breaks" if op.index in broken else "keeps"
                return Disagreement(
                    "ranges", "promise", f"{op} {said} its promise on vector {number}, but its status is {status.name}"
                )
    return None


def unreachable_bins(case: Case) -> Disagreement | None:
    """Return a disagreement if a vector hits a coverage bin that is called unreachable."""
    bins = bins_of(case.program, declared=False)
    never = bins.never(by_ranges(bins, analyse(case.program)))
    seen = bins.nothing()
    count_batch(bins, CoverageProbes(case.program, check=False), case.batch, seen)
    wrong = np.flatnonzero(never & bins.hit(seen)).tolist()
    if wrong:
        return Disagreement("coverage", "unreachable", f"{bins.text(wrong[0])}: called unreachable, but hit")
    return None
