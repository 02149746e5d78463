"""Names of coverage bins, and small programs on which every claim can be checked with all possible inputs."""

from __future__ import annotations

import itertools
import random

import numpy as np
from numpy.typing import NDArray

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.coverage import How, Measured
from dais_verif.coverage.bins import GROUPS, Bins
from dais_verif.coverage.count import count_batch
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Vectors
from support.slow_coverage import Bin, hit_bins

__all__ = ["all_inputs", "names", "reachable", "small_program", "verify_claims"]


def names(bins: Bins) -> list[Bin]:
    """Return the name of each bin, as the slow counter writes it."""
    found: list[Bin] = []
    for number in range(len(bins.owner)):
        op, source, output = bins.where(number)
        where = ("op", op) if op is not None else ("input", source) if output is None else ("output", output)
        assert where[1] is not None
        found.append((GROUPS[bins.group[number]], where[0], where[1], int(bins.which[number])))
    return found


def small_program(rng: random.Random, bits: int = 10, *, promise_keeping: bool = False, alir: bool = False) -> Program:
    """Return a random program with at most ``bits`` input bits, and at least one."""
    while True:
        sizes, widest = rng.choice((4, 8, 12, 20)), rng.choice((3, 4, 6))
        program = random_program(rng, sizes, widest=widest, promise_keeping=promise_keeping, alir=alir)
        if 0 < ports_of(program).input_bits <= bits:
            return program


def all_inputs(program: Program) -> Batch:
    """Return every combination of the input port bits."""
    elements = ports_of(program).inputs
    rows = list(itertools.product(*(range(1 << element.width) for element in elements)))
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), len(elements)).T
    return Batch(len(rows), tuple(Column(column, e.lo) for column, e in zip(columns, elements, strict=True)))


def reachable(bins: Bins) -> NDArray[np.bool_]:
    """Return which bins some input hits; all bins of the inputs themselves are taken to be reachable."""
    seen = bins.nothing()
    count_batch(bins, CoverageProbes(bins.program, check=False), all_inputs(bins.program), seen)
    seen[bins.places.size : -2] = 1
    return bins.hit(seen)


def verify_claims(found: Measured, vectors: Vectors) -> NDArray[np.bool_]:
    """Check the result ``found`` against all inputs, and return the bins that it leaves open."""
    bins = found.bins
    can = reachable(bins)
    wrong = np.flatnonzero(can & (found.how != How.NOT)).tolist()
    assert not wrong, f"{bins.text(wrong[0])}: said to be unreachable by {How(found.how[wrong[0]]).name}"
    counted = [vectors.slice(0, vectors.rows), *([found.directed] if found.directed.rows else [])]
    assert found.vectors == sum(batch.rows for batch in counted)
    hit = {name for name, is_hit in zip(names(bins), found.hit.tolist(), strict=True) if is_hit}
    assert hit == hit_bins(bins.program, [batch.row(row) for batch in counted for row in range(batch.rows)])
    return ~found.hit & (found.how == How.NOT)
