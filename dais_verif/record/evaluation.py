"""The records of ``run`` and ``run --profile``: requests to the golden model, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record
from dais_verif.record.program import ProgramInfo

__all__ = [
    "EvaluationRecord",
    "InstructionKind",
    "ProfileRecord",
    "TimedInstruction",
    "TimedSequence",
]


@dataclass(frozen=True, kw_only=True)
class _Done(Record):
    """A record whose verdict is always PASS: failures are raised as errors."""

    verdict: Verdict = Verdict.PASS
    exit_code: int = 0


@dataclass(frozen=True, kw_only=True)
class EvaluationRecord(_Done):
    """A run of ``run``: the number of output ``rows``, computed by ``engine``. ``output``: the written file.

    For a machine, the record has the numbers of ``sequences`` and ``cycles``, and whether outputs are those before or
    after edges. For a kernel, it has the text that members ``printed`` for each sample, if requested.
    """

    SCHEMA: ClassVar = "dais-verif/run/1"

    LEFT_OUT_IF_NONE: ClassVar = ("sequences", "cycles", "sample", "printed")

    program: ProgramInfo
    rows: int
    engine: str
    unchecked: bool
    output: str | None
    sequences: int | None = None
    cycles: int | None = None
    sample: str | None = None
    printed: list[str] | None = None


@dataclass(frozen=True)
class TimedInstruction:
    """An instruction: its ``position`` in the sequence, the ``op`` that it implements, and its nanoseconds per call."""

    position: int
    instruction: str
    op: int | None
    ns: int
    above_average: bool


@dataclass(frozen=True)
class InstructionKind:
    """All instructions of a kind. ``ns``: total nanoseconds. ``share``: of the sequence's time (None if that is 0)."""

    kind: str
    count: int
    ns: int
    share: float | None


@dataclass(frozen=True)
class TimedSequence:
    """The instructions of one direction, ``forward`` or ``pullback``. Nanoseconds are means over ``calls``."""

    direction: str
    engine: str
    calls: int
    total_ns: int
    instructions: list[TimedInstruction]
    kinds: list[InstructionKind]


@dataclass(frozen=True, kw_only=True)
class ProfileRecord(_Done):
    """A run of ``profile``. ``reproduce``: the command that repeats the run."""

    SCHEMA: ClassVar = "dais-verif/profile/1"

    program: ProgramInfo
    seed: int
    vectors: int
    reproduce: str
    sequences: list[TimedSequence]
