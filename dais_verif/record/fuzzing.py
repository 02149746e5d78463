"""The records of ``fuzz``, what disagreed in how many cases, and of ``shrink``, the smallest case that still fails."""

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
    """A case on which a pair disagreed. ``number`` and ``seed`` of the run's case; None of a folder that is replayed.

    ``ops``, ``vectors``: of the smallest case. ``times``: cases of the same cause, this one included. ``fails``:
    whether it still fails; None if that was not asked, ``text`` says why.
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


@dataclass(frozen=True, kw_only=True)
class FuzzRecord(RunRecord):
    """A run of ``fuzz``.

    ``verdict``: PASS if all agreed, DISAGREEMENT if a case was kept, NOT_RUN if nothing was compared.

    ``kind``: what the cases are. ``first``, ``cases``: the numbers of the cases that were made. ``pairs``: how many
    each judged; ``undecided``: of how many each was asked and had no answer, since there was nothing to compare or a
    proof was UNKNOWN. ``shapes``: how many had which shape. ``found``: kept cases, one a cause. ``left_out``: cases
    that disagreed and were not looked at, as there were so many alike. ``seconds``: of the clock.
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
    """A case in numbers. ``computing``: ops that are neither inputs nor constants."""

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
    """RTL that was made small with its program: ``files`` in the folder, the module ``top``, and its lines."""

    files: list[str]
    top: str
    lines_before: int
    lines: int


@dataclass(frozen=True, kw_only=True)
class ShrinkRecord(RunRecord):
    """A run of ``shrink``. ``verdict``: PASS with the smallest case, NOT_RUN where nothing fails.

    ``failure``: what fails, in words. ``text``: the smallest program, as text. ``vectors``: its vectors, exact.
    ``attempts``: cases that were tried; ``complete``: nothing smaller was left to try. ``folder``: where the case is.
    ``replay``: the line that shows the failure again. ``rtl``: of a case of RTL.
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
