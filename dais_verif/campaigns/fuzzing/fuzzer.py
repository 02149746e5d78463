"""Judge stretches of cases: each case by the pairs that its seed selects, and collect the findings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.campaigns.fuzzing.generate.cases import Made, chosen, made_case
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged, judged
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS

__all__ = ["Finding", "Judged", "Stretch", "judge_stretch", "judged_case"]

#: Programs with more ops take long; pairs that judge only some of the cases judge even fewer of these.
_LARGE = 100
#: Python's recursion limit, since expressions of modules are read recursively.
_DEPTH = 20_000


@dataclass(frozen=True)
class Stretch:
    """Cases ``first`` to ``first + count`` of the run with ``seed``, of one ``kind``, and the pairs that judge them."""

    seed: int
    first: int
    count: int
    pairs: tuple[str, ...]
    kind: str = "program"


class Finding(NamedTuple):
    """The disagreement on case ``number``."""

    number: int
    seed: int
    found: Disagreement


class Judged(NamedTuple):
    """The findings in a stretch, and the numbers of cases by pair and by shape.

    ``undecided``: the number of cases per pair without a result.
    """

    cases: int
    findings: list[Finding]
    pairs: Counter[str]
    shapes: Counter[str]
    undecided: Counter[str]


def judge_stretch(stretch: Stretch) -> Judged:
    """Judge all cases of ``stretch``, one after the other; at most one finding per case."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    findings: list[Finding] = []
    pairs: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    numbers = range(stretch.first, stretch.first + stretch.count)
    cases = [made_case(stretch.seed, number) for number in numbers]
    passing = _passing(cases, stretch.pairs)
    for made in cases:
        shapes[made.shape] += 1
        for name, found in judged_case(made, stretch.pairs, passing):
            if isinstance(found, NotJudged):
                undecided[name] += 1
                continue
            pairs[name] += 1
            if found is not None:
                findings.append(Finding(made.number, made.seed, found))
                break
    return Judged(stretch.count, findings, pairs, shapes, undecided)


def judged_case(
    made: Made, names: Sequence[str], passing: Collection[tuple[str, int]] = ()
) -> Iterator[tuple[str, Disagreement | NotJudged | None]]:
    """Yield each pair that the seed of a case selects, with its finding, or the reason why it has no result.

    ``passing``: names of pairs and numbers of cases that are already known to agree.
    """
    for name in names:
        if not _chosen(made, name):
            continue
        try:
            yield name, None if (name, made.number) in passing else judged(name, PAIRS[name].judge, made.case)
        except NotJudged as reason:
            yield name, reason


def _chosen(made: Made, name: str) -> bool:
    every = PAIRS[name].every
    return chosen(made.seed, name, every if made.case.program.n_ops <= _LARGE else every**2)


def _passing(cases: Sequence[Made], names: Sequence[str]) -> set[tuple[str, int]]:
    """Judge cases by the pairs that judge many at once; return (name of a pair, number of a case) where they agree."""
    found: set[tuple[str, int]] = set()
    for name in names:
        passing = PAIRS[name].passing
        if passing is not None:
            asked = [made for made in cases if _chosen(made, name)]
            agree = passing([made.case for made in asked])
            found |= {(name, made.number) for made, agrees in zip(asked, agree, strict=True) if agrees}
    return found
