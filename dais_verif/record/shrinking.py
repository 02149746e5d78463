"""The record of ``shrink``: what failed, the smallest case that still does, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.program import ProgramInfo

__all__ = ["SHRINKING_SCHEMA", "CaseSize", "ShrinkRecord"]

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
        return f"{self.ops} ops, {self.inputs} inputs, {self.outputs} outputs, {self.vectors} vectors"


@dataclass(frozen=True, kw_only=True)
class ShrinkRecord(RunRecord):
    """A run of ``shrink``. ``verdict``: PASS with the smallest case, NOT_RUN where nothing fails.

    ``failure``: what fails, in words. ``text``: the smallest program, as text. ``vectors``: its vectors, exact.
    ``attempts``: cases that were tried; ``complete``: nothing smaller was left to try. ``folder``: where the case is.
    ``replay``: the line that shows the failure again.
    """

    SCHEMA: ClassVar = SHRINKING_SCHEMA

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
