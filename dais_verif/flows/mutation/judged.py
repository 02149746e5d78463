"""The judges' results for mutants, and the fates that follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from dais_verif.flows.mutation.proofs import Proved
from dais_verif.flows.mutation.simulations import Wrong
from dais_verif.record.campaigns.mutation import Fate
from dais_verif.verdict import Verdict

__all__ = ["Judged", "fate_of"]


@dataclass(frozen=True)
class Judged:
    """The judges' results for mutants, by number.

    ``ran``: mutants that a simulator or a board ran. ``again``: for mutants that were proved and yet found wrong,
    whether a separate build is wrong, too. Results are added while judges run.
    """

    wrong: dict[int, Wrong] = field(default_factory=dict)
    ran: set[int] = field(default_factory=set)
    refused: dict[int, list[str]] = field(default_factory=dict)
    proved: dict[int, Proved] = field(default_factory=dict)
    again: dict[int, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, asked: Iterable[int], wrong: Mapping[int, Wrong], refused: Mapping[int, str]) -> None:
        """Add the results of a simulator or of boards for the mutants in ``asked``."""
        self.wrong.update(wrong)
        self.ran.update(number for number in asked if number not in refused)
        for number, text in refused.items():
            self.refused.setdefault(number, []).append(text)


def fate_of(number: int, judged: Judged, judges: Collection[str]) -> str:
    """Return the fate of a mutant. The fate is unknown if the batch and a separate build of the mutant differ."""
    proved = judged.proved.get(number)
    verdict = None if proved is None else proved.verdict
    if number in judged.again:
        return Fate.UNSOUND if judged.again[number] else Fate.UNKNOWN
    if number in judged.wrong:
        return Fate.SIMULATION
    if verdict is None and number in judged.refused and number not in judged.ran:
        return Fate.INVALID
    if verdict is Verdict.PASS:
        return Fate.EQUIVALENT
    if verdict is Verdict.RTL_MISMATCH and "prove" in judges:
        return Fate.PROOF
    if verdict is Verdict.RTL_MISMATCH or proved is None:
        return Fate.SURVIVED
    return Fate.UNKNOWN
