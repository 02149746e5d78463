"""What is kept of cases that disagree: made small, one folder a cause."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dais_verif.flows.fuzzing.requests import FuzzRequest
from dais_verif.flows.fuzzing.versions import versions
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.cause import opcodes_of
from dais_verif.fuzzing.crashers import folder_name
from dais_verif.fuzzing.files import KeptCase, form_of, spelled, write_case
from dais_verif.fuzzing.fuzzer import Finding
from dais_verif.fuzzing.generate.cases import made_case
from dais_verif.fuzzing.pairs.disagreement import Pair, found_by
from dais_verif.fuzzing.pairs.table import PAIRS
from dais_verif.fuzzing.shrinking.steps import shrunk
from dais_verif.own_command import own_command
from dais_verif.record.fuzzing import FoundCase

__all__ = ["Keeper"]

#: So many cases of one pair and kind are made small; whoever mends these runs the fuzzer again.
_MOST_ALIKE = 6
#: Seconds to make a case small.
_SECONDS = 10.0


class Keeper:
    """Keeps the cases of ``request`` that disagree. ``tool``: what judges those of a tool of somebody else."""

    def __init__(self, request: FuzzRequest, tool: Pair | None) -> None:
        self._request, self._tool = request, tool
        self._alike: Counter[str] = Counter()
        self._places: dict[str, int] = {}
        self.found: list[FoundCase] = []
        #: Cases that disagreed and were not looked at.
        self.left_out = 0

    def keep(self, finding: Finding) -> None:
        """Make the case of ``finding`` small and keep it, unless one of the same cause is kept."""
        cause = finding.found.cause
        self._alike[cause] += 1
        if self._alike[cause] > _MOST_ALIKE:
            self.left_out += 1
            return
        made = made_case(self._request.seed, finding.number, plain=self._tool is not None)
        case, text = self._small(made.case, finding)
        kept = KeptCase(
            finding.found.pair,
            finding.found.kind,
            text,
            opcodes_of(case),
            finding.seed,
            self._request.against or self._request.rtl_from,
            versions(),
            "",
            spelled(case.rows),
        )
        name = folder_name(kept)
        if name in self._places:
            place = self._places[name]
            self.found[place] = replace(self.found[place], times=self.found[place].times + 1)
            return
        folder = self._request.output / name
        words = ["fuzz", "--replay", str(folder)]
        if kept.against is not None:
            words += ["--rtl-from" if self._request.rtl_from else "--against", kept.against]
            words += ["--form", self._request.program_form]
        form = self._request.program_form if self._tool is not None else form_of(case.program)
        write_case(case, replace(kept, replay=own_command(words)), folder, form)
        self._places[name] = len(self.found)
        self.found.append(
            FoundCase(
                kept.pair,
                kept.kind,
                text,
                list(kept.opcodes),
                case.program.n_ops,
                len(case.rows),
                str(folder),
                finding.number,
                finding.seed,
            )
        )

    def _small(self, case: Case, finding: Finding) -> tuple[Case, str]:
        """The smallest case of the same pair and kind, and what disagrees there."""
        pair = finding.found.pair
        judge = self._tool if self._tool is not None else PAIRS[pair].judge

        def fails(one: Case) -> bool:
            again = found_by(pair, judge, one)
            return again is not None and again.cause == finding.found.cause

        small = shrunk(case, fails, _SECONDS).case
        again = found_by(pair, judge, small)
        return small, finding.found.text if again is None else again.text
