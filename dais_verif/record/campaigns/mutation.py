"""The record of ``mutate``: the fate of every mutant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.record.rtl import RtlFacts

__all__ = ["MUTATION_SCHEMA", "Fate", "MutantRow", "MutationRecord", "MutationSummary", "score_of"]

MUTATION_SCHEMA = "dais-verif/mutation/1"


class Fate:
    """The fate of a mutant, as named in rows."""

    SIMULATION = "killed by simulation"
    PROOF = "killed by proof"
    EQUIVALENT = "equivalent"
    UNKNOWN = "unknown"
    SURVIVED = "survived"
    UNSOUND = "unsound"
    INVALID = "invalid"


@dataclass(frozen=True)
class MutantRow:
    """A mutant: ``new`` replaces ``old`` in ``line`` of ``file``. ``op``: the op whose signal the statement assigns.

    ``fate``: one of ``Fate``. ``simulator``, ``vector``: the simulator and vector number of the first difference.
    ``proof``: the verdict of the prover, or ``refused``; None: the prover did not run. ``text``: the message of the
    prover. ``inputs``: a vector on which the mutant is wrong, found by the prover, as decimals.
    """

    number: int
    kind: str
    file: str
    line: int
    op: int | None
    old: str
    new: str
    fate: str
    simulator: str | None = None
    vector: int | None = None
    proof: str | None = None
    text: str = ""
    inputs: list[str] | None = None


@dataclass(frozen=True)
class MutationSummary:
    """The numbers of mutants by fate. ``mutants``: all mutants except ``invalid`` ones, which no tool can read.

    ``score``: the share of killed mutants among those that are not equivalent, in percent, rounded down; None if there
    are none.
    """

    mutants: int
    killed_by_simulation: int
    killed_by_proof: int
    equivalent: int
    unknown: int
    survived: int
    unsound: int
    invalid: int
    score: float | None

    @property
    def killed(self) -> int:
        """The number of killed mutants."""
        return self.killed_by_simulation + self.killed_by_proof

    @property
    def to_kill(self) -> int:
        """The number of mutants that a check can kill."""
        return self.mutants - self.equivalent

    def reaches(self, floor: float) -> bool:
        """Return True if at least ``floor`` percent of the killable mutants are killed; False without such mutants."""
        return self.to_kill > 0 and 100 * self.killed >= floor * self.to_kill


def score_of(killed: int, to_kill: int) -> float | None:
    """Return percent with two decimals, rounded down, so that 100 means all; None if there are no mutants."""
    return 10_000 * killed // to_kill / 100 if to_kill > 0 else None


@dataclass(frozen=True, kw_only=True, repr=False)
class MutationRecord(RunRecord):
    """A run of ``mutate``.

    ``verdict``: PASS if all mutants were judged and all requirements are met; UNSOUND if a mutant was proved that
    differs from the program in a simulator; else NOT_SIGNED_OFF.

    ``possible``: the number of possible mutants. ``vectors``: the number of simulated vectors. ``kinds``: for each kind
    of mutant, the number of mutants by fate. ``unexpected``: deviations from the manifest of expected judges.
    """

    SCHEMA: ClassVar = MUTATION_SCHEMA

    program: ProgramInfo
    rtl: RtlFacts
    judges: list[str]
    simulators: list[str]
    vectors: int
    seed: int
    possible: int
    summary: MutationSummary
    kinds: dict[str, dict[str, int]]
    mutants: list[MutantRow]
    unexpected: list[str]
    seconds: float
    warnings: list[str]
    reproduce: str
