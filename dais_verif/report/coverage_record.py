"""The record of a run of ``coverage``, as its folder keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dais_verif.report.coverage import Coverage
from dais_verif.report.record import ProgramInfo
from dais_verif.verdict import Verdict

__all__ = ["COVERAGE_SCHEMA", "CoverageRecord"]

COVERAGE_SCHEMA = "dais-verif/coverage/1"


@dataclass(frozen=True)
class CoverageRecord:
    """What vectors made a program do. A PASS says nothing of any RTL: none was looked at."""

    verdict: Verdict
    message: str
    program: ProgramInfo
    seed: int
    reproduce: str
    coverage: Coverage
    unchecked: bool = False
    warnings: list[str] = field(default_factory=list)
