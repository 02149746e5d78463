"""Judge kept cases again, as a regression test."""

from __future__ import annotations

import sys
import time as clock
from collections import Counter
from pathlib import Path

from dais_verif.flows.fuzzing.requests import FuzzRequest
from dais_verif.flows.fuzzing.tools import FOREIGN, tool_of
from dais_verif.flows.fuzzing.versions import versions
from dais_verif.flows.progress import Progress
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.crashers import cases_in
from dais_verif.fuzzing.files import KeptCase, case_of, read_tree
from dais_verif.fuzzing.machines.case import MachineCase
from dais_verif.fuzzing.machines.files import machine_case_of
from dais_verif.fuzzing.machines.fuzzer import MACHINE_KINDS, judge_machine
from dais_verif.fuzzing.pairs.disagreement import NotJudged, Pair, judged
from dais_verif.fuzzing.pairs.table import PAIRS
from dais_verif.fuzzing.shrinking.failures import first_violation
from dais_verif.own_command import own_command
from dais_verif.record.fuzzing import FoundCase, FuzzRecord
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["replayed"]

_DEPTH = 20_000


def replayed(request: FuzzRequest, folder: Path, progress: Progress) -> FuzzRecord:
    """Judge every case in ``folder`` by its own pair. External tools come from ``request``, never from the file.

    A case that no longer fails passes; a case whose tool is not given does not. Raises ``InputError`` without cases.
    """
    begun = clock.monotonic()
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    found: list[FoundCase] = []
    with temporary_folder() as scratch, progress.working("judging kept cases ...") as tell:
        tool = tool_of(request)(scratch.path) if request.foreign else None
        for path in cases_in(folder):
            tell(f"judging {path.name}")
            tree, kept = read_tree(path)
            if "machine" in tree:
                found.append(_judged_machine(machine_case_of(path, tree), kept, path))
            else:
                found.append(_judged(case_of(path, tree, kept), kept, path, tool))
    failing = [one for one in found if one.fails]
    unknown = [one for one in found if one.fails is None]
    verdict, message = Verdict.PASS, f"none of {len(found)} kept cases fails any more"
    if failing:
        verdict, message = Verdict.DISAGREEMENT, f"{len(failing)} of {len(found)} kept cases still fail"
    elif unknown:
        verdict, message = (
            Verdict.UNKNOWN,
            f"{len(unknown)} of {len(found)} kept cases were not judged: {unknown[0].text}",
        )
    return FuzzRecord(
        verdict=verdict,
        message=message,
        seed=request.seed,
        first=0,
        cases=len(found),
        pairs=dict(Counter(one.pair for one in found)),
        shapes={},
        found=[*failing, *unknown],
        left_out=0,
        seconds=round(clock.monotonic() - begun, 3),
        versions=versions(),
        warnings=[],
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )


def _judged_machine(case: MachineCase, kept: KeptCase, folder: Path) -> FoundCase:
    """Return the case of a machine with its current result, judged by the pair that the case names."""
    pairs = MACHINE_KINDS["machine" if case.kernel is None else "kernel"].pairs
    fails, text = None, f"{folder.name} belongs to an unknown pair: {kept.pair}"
    if kept.pair in pairs:
        try:
            again = judge_machine(kept.pair, pairs[kept.pair], case)
            fails, text = again is not None, "" if again is None else again.text
        except NotJudged as reason:
            text = f"{folder.name} was not compared: {reason}"
    cycles = case.cycles * len(case.sequences)
    return FoundCase(
        kept.pair, kept.kind, text, list(kept.opcodes), case.ops, cycles, str(folder), None, kept.seed, fails=fails
    )


def _judged(case: Case, kept: KeptCase, folder: Path, tool: Pair | None) -> FoundCase:
    """Return the case with its current result."""
    try:
        fails, text = _outcome(case, kept, folder, tool)
    except NotJudged as reason:
        fails, text = None, f"{folder.name} was not compared: {reason}"
    return FoundCase(
        kept.pair,
        kept.kind,
        text,
        list(kept.opcodes),
        case.program.n_ops,
        len(case.rows),
        str(folder),
        None,
        kept.seed,
        fails=fails,
    )


def _outcome(case: Case, kept: KeptCase, folder: Path, tool: Pair | None) -> tuple[bool | None, str]:
    """Return whether a case fails now (None: undecided), and why. Raises ``NotJudged`` if nothing was compared."""
    if kept.pair in FOREIGN and tool is not None:
        again = judged(kept.pair, tool, case)
        return again is not None, "" if again is None else again.text
    if kept.pair in PAIRS:
        again = judged(kept.pair, PAIRS[kept.pair].judge, case)
        return again is not None, "" if again is None else again.text
    if kept.pair == "golden":
        violation = first_violation(case)
        return violation is not None, "" if violation is None else f"PROGRAM_INVALID: {violation}"
    return None, f"{folder.name} belongs to another tool ({kept.pair}); give that tool"
