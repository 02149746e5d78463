"""The records of ``fuzz``, with the disagreements found, and ``shrink``, with the smallest case that still fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.counts import counted
from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["FUZZING_SCHEMA", "SHRINKING_SCHEMA", "CaseSize", "FoundCase", "FuzzRecord", "ShrinkRecord", "ShrunkRtl"]

FUZZING_SCHEMA = "dais-verif/fuzzing/1"


@dataclass(frozen=True)
class FoundCase:
    """A case on which a pair disagreed. ``number``, ``seed``: those of the generated case; None for a replayed folder.

    ``ops``, ``vectors``: the numbers of ops and vectors of the smallest case. ``times``: the number of cases with the
    same cause, including this one. ``fails``: whether the case still fails; None if this was not checked, in which case
    ``text`` states why. ``complete``: False if the case is not fully shrunk, since its time was up.
    """

    pair: str
    kind: str
    text: str
    opcodes: list[str]
    ops: int
    vectors: int
    folder: str
    number: int | None = None
    seed: int | None = None
    times: int = 1
    fails: bool | None = True
    complete: bool = True


@dataclass(frozen=True, kw_only=True, repr=False)
class FuzzRecord(RunRecord):
    """A run of ``fuzz``.

    ``verdict``: PASS if all pairs agreed, DISAGREEMENT if a case was kept, NOT_RUN if nothing was compared.

    ``kind``: the kind of the cases. ``first``, ``cases``: the first number and the count of generated cases. ``pairs``:
    the number of cases that each pair judged; ``undecided``: the number of those without an answer, because there was
    nothing to compare or a proof was UNKNOWN. ``shapes``: the number of cases per shape. ``found``: kept cases, one per
    cause. ``left_out``: the number of disagreeing cases that were not examined, because many similar ones were.
    ``seconds``: wall time.
    """

    SCHEMA: ClassVar = FUZZING_SCHEMA

    seed: int
    first: int
    cases: int
    pairs: dict[str, int]
    shapes: dict[str, int]
    found: list[FoundCase]
    left_out: int
    seconds: float
    versions: dict[str, str]
    warnings: list[str]
    reproduce: str
    kind: str = "program"
    undecided: dict[str, int] = field(default_factory=dict)


SHRINKING_SCHEMA = "dais-verif/shrinking/1"


@dataclass(frozen=True)
class CaseSize:
    """The size of a case. ``computing``: the number of ops that are neither inputs nor constants."""

    ops: int
    computing: int
    inputs: int
    outputs: int
    vectors: int

    def __str__(self) -> str:
        counts = ((self.ops, "op"), (self.inputs, "input"), (self.outputs, "output"), (self.vectors, "vector"))
        return ", ".join(counted(count, what) for count, what in counts)


@dataclass(frozen=True)
class ShrunkRtl:
    """RTL that was shrunk with its program: ``files`` in the folder, the module ``top``, and the number of lines."""

    files: list[str]
    top: str
    lines_before: int
    lines: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ShrinkRecord(RunRecord):
    """A run of ``shrink``. ``verdict``: PASS if there is a smallest case, NOT_RUN if nothing fails.

    ``failure``: the failure in words. ``text``: the smallest program, as text. ``vectors``: the exact vectors of the
    smallest case. ``attempts``: the number of tried cases. ``complete``: no smaller case was left to try. ``folder``:
    the folder of the case. ``replay``: the command that shows the failure again. ``rtl``: the RTL of the case, if it
    has any.
    """

    SCHEMA: ClassVar = SHRINKING_SCHEMA
    LEFT_OUT_IF_NONE: ClassVar = ("rtl",)

    program: ProgramInfo
    failure: str
    before: CaseSize
    after: CaseSize
    text: str
    vectors: list[list[str]]
    attempts: int
    seconds: float
    complete: bool
    folder: str
    replay: str
    warnings: list[str]
    reproduce: str
    rtl: ShrunkRtl | None = None
