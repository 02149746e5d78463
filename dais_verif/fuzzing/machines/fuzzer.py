"""Judge stretches of cases of machines, in the same way as cases of programs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from dais_verif.fuzzing.fuzzer import Finding, Judged, Stretch
from dais_verif.fuzzing.generate.cases import chosen
from dais_verif.fuzzing.machines.case import MachineCase
from dais_verif.fuzzing.machines.made import made_kernel, made_machine
from dais_verif.fuzzing.machines.pairs import KERNEL_PAIRS, MACHINE_PAIRS, MachinePair
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged

__all__ = ["MACHINE_KINDS", "MachineKind", "judge_machine", "judge_machines"]

#: Python's recursion limit, since expressions of modules are read recursively.
_DEPTH = 20_000


class MachineKind(NamedTuple):
    """``made``: returns seed, shape and case for the seed of a run and a number. ``pairs``: those that judge cases."""

    made: Callable[[int, int], tuple[int, str, MachineCase]]
    pairs: Mapping[str, MachinePair]


MACHINE_KINDS = {"machine": MachineKind(made_machine, MACHINE_PAIRS), "kernel": MachineKind(made_kernel, KERNEL_PAIRS)}


def judge_machines(stretch: Stretch) -> Judged:
    """Judge all cases of ``stretch``, one after the other; at most one finding per case."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    kind = MACHINE_KINDS[stretch.kind]
    findings: list[Finding] = []
    pairs: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for number in range(stretch.first, stretch.first + stretch.count):
        seed, shape, case = kind.made(stretch.seed, number)
        shapes[shape] += 1
        for name in stretch.pairs:
            if not chosen(seed, name, kind.pairs[name].every):
                continue
            try:
                found = judge_machine(name, kind.pairs[name], case)
            except NotJudged:
                undecided[name] += 1
                continue
            pairs[name] += 1
            if found is not None:
                findings.append(Finding(number, seed, found))
                break
    return Judged(stretch.count, findings, pairs, shapes, undecided)


def judge_machine(name: str, pair: MachinePair, case: MachineCase) -> Disagreement | None:
    """Return the finding of ``pair``; its exceptions are findings. Raises ``NotJudged`` if nothing was compared."""
    try:
        return pair.judge(case)
    except (MemoryError, NotJudged):
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:400]
        return Disagreement(name, f"raises {type(error).__name__}", f"{type(error).__name__}: {said}")
