"""Store cases that disagree: shrunk, one folder per cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dais_verif.flows.fuzzing.requests import FuzzRequest
from dais_verif.flows.fuzzing.versions import versions
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.cause import opcodes_of
from dais_verif.fuzzing.crashers import folder_name
from dais_verif.fuzzing.files import KeptCase, case_names, form_of, require_place, spelled, write_case
from dais_verif.fuzzing.fuzzer import Finding
from dais_verif.fuzzing.generate.cases import made_case
from dais_verif.fuzzing.machines.case import MachineCase, parts_of
from dais_verif.fuzzing.machines.files import MACHINE_NAMES, write_machine_case
from dais_verif.fuzzing.machines.fuzzer import MACHINE_KINDS, judge_machine
from dais_verif.fuzzing.machines.smaller import shrunk_machine
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged, Pair, found_by
from dais_verif.fuzzing.pairs.table import PAIRS
from dais_verif.fuzzing.shrinking.steps import shrunk
from dais_verif.own_command import own_command
from dais_verif.record.fuzzing import FoundCase

__all__ = ["Keeper", "smallest_machine", "smallest_program"]

#: The largest number of cases of one pair and kind that are shrunk; run the fuzzer again after these are fixed.
_MOST_ALIKE = 6
#: Seconds of CPU time to shrink a case: normally, and if each step runs external tools.
_SECONDS, _TOOL_SECONDS = 10.0, 60.0


class Smallest(NamedTuple):
    """A shrunk case: its disagreement, its opcodes, ops and vectors, and the function that writes its files.

    ``complete``: all smaller cases were tried; otherwise the opcodes say little about the cause.
    """

    text: str
    opcodes: tuple[str, ...]
    ops: int
    vectors: int
    rows: tuple[tuple[str, ...], ...]
    complete: bool
    write: Callable[[KeptCase, Path], None]


class Keeper:
    """A store for the cases of ``request`` that disagree. ``smallest``: a function that shrinks a case."""

    def __init__(self, request: FuzzRequest, smallest: Callable[[Finding], Smallest]) -> None:
        self._request, self._smallest = request, smallest
        self._alike: Counter[str] = Counter()
        self._places: dict[str, int] = {}
        self.found: list[FoundCase] = []
        #: The number of cases that disagreed and were not shrunk.
        self.left_out = 0

    def keep(self, finding: Finding) -> None:
        """Shrink the case of ``finding`` and keep it, unless a case of the same cause is kept."""
        cause = finding.found.cause
        self._alike[cause] += 1
        if self._alike[cause] > _MOST_ALIKE:
            self.left_out += 1
            return
        small = self._smallest(finding)
        against = self._request.against or self._request.rtl_from
        pair, kind = finding.found.pair, finding.found.kind
        kept = KeptCase(pair, kind, small.text, small.opcodes, finding.seed, against, versions(), "", small.rows)
        name = folder_name(kept)
        place = self._places.get(name)
        if place is None and not small.complete:  # what is left of it is no cause of its own beside others
            place = next((at for at, one in enumerate(self.found) if (one.pair, one.kind) == (pair, kind)), None)
        if place is not None:
            self.found[place] = replace(self.found[place], times=self.found[place].times + 1)
            return
        folder = self._request.output / name
        require_place(folder, (*case_names(), *MACHINE_NAMES), "fuzz")
        words = ["fuzz", "--replay", str(folder)]
        if against is not None:
            words += ["--rtl-from" if self._request.rtl_from else "--against", against]
            words += ["--form", self._request.program_form]
        small.write(replace(kept, replay=own_command(words)), folder)
        self._places[name] = len(self.found)
        self.found.append(
            FoundCase(
                pair,
                kind,
                small.text,
                list(small.opcodes),
                small.ops,
                small.vectors,
                str(folder),
                finding.number,
                finding.seed,
                complete=small.complete,
            )
        )


def smallest_program(request: FuzzRequest, tool: Pair | None, finding: Finding) -> Smallest:
    """Return the smallest program with the same kind of disagreement. ``tool``: the pair of an external tool."""
    made, pair = made_case(request.seed, finding.number, plain=tool is not None), finding.found.pair
    judge = tool if tool is not None else PAIRS[pair].judge

    def fails(one: Case) -> bool:
        again = found_by(pair, judge, one)
        return again is not None and again.cause == finding.found.cause

    seconds = _TOOL_SECONDS if tool is None and PAIRS[pair].needs else _SECONDS
    outcome = shrunk(made.case, fails, seconds)
    case = outcome.case
    again = found_by(pair, judge, case)
    text = finding.found.text if again is None else again.text
    form = request.program_form if tool is not None else form_of(case.program)
    rows = spelled(case.rows)
    return Smallest(
        text,
        opcodes_of(case),
        case.program.n_ops,
        len(case.rows),
        rows,
        outcome.complete,
        lambda kept, folder: write_case(case, kept, folder, form),
    )


def smallest_machine(request: FuzzRequest, finding: Finding) -> Smallest:
    """Return the smallest machine with the same kind of disagreement; its vectors are cycles."""
    kind, pair = MACHINE_KINDS[request.kind], finding.found.pair

    def found(one: MachineCase) -> Disagreement | None:
        with suppress(NotJudged):
            return judge_machine(pair, kind.pairs[pair], one)
        return None

    def fails(one: MachineCase) -> bool:
        again = found(one)
        return again is not None and again.cause == finding.found.cause

    case, complete = shrunk_machine(kind.made(request.seed, finding.number)[2], fails, _SECONDS)
    again = found(case)
    text = finding.found.text if again is None else again.text
    return Smallest(
        text,
        parts_of(case),
        case.ops,
        case.cycles * len(case.sequences),
        (),
        complete,
        lambda kept, folder: write_machine_case(case, kept, folder),
    )
