"""The record of a sign-off: every stage that the policy requires, its findings, and whether the stages suffice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.record.base import RunRecord
from dais_verif.record.coverage import Coverage
from dais_verif.record.program import ProgramInfo
from dais_verif.record.rtl import RtlFacts
from dais_verif.record.simulation import Decision, OutputEvidence, Times, Waiver
from dais_verif.verdict import Verdict

__all__ = ["CERTIFICATE", "EVIDENCE", "NOT_RUN", "PROOF", "SIGNATURE", "SIGNOFF_SCHEMA", "SignOffRecord", "StageResult"]

SIGNOFF_SCHEMA = "dais-verif/signoff/1"

#: The files of the certificate and of its signature, in the folder of a sign-off.
CERTIFICATE, SIGNATURE = "certificate.json", "certificate.json.sig"

#: The beginning of the message of a stage that did not run because of another stage.
NOT_RUN = "not run:"

#: The name of the stage that proves the RTL.
PROOF = "proof"

#: The folder with the files of the stages, in the folder of a sign-off.
EVIDENCE = "evidence"


@dataclass(frozen=True)
class StageResult:
    """One stage. ``passed``: the stage meets the policy. ``ran``: False if the stage could not begin.

    ``must_fail``: the stage shows that the tools can detect a failure (of a poisoned golden model, or of RTL known to
    be bad), and passes only if ``verdict`` is that of the seeded failure. ``evidence``: files in the folder of the
    sign-off, such as a run's ``result.json``. ``waived``: the stage has not passed, but a waiver covers it.
    ``optional``: the policy accepts this stage without a result.
    """

    name: str
    verdict: Verdict
    message: str
    ran: bool
    passed: bool
    must_fail: bool = False
    waived: bool = False
    optional: bool = False
    seconds: float = 0.0
    evidence: list[str] = field(default_factory=list)
    reproduce: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class SignOffRecord(RunRecord):
    """A run of ``signoff``: PASS (signed off) or NOT_SIGNED_OFF, or the error that ended it."""

    SCHEMA: ClassVar = SIGNOFF_SCHEMA
    EXIT_CODE_LAST: ClassVar = True

    program: ProgramInfo
    policy: dict[str, Any]
    seed: int
    reproduce: str
    rtl: RtlFacts
    tools: dict[str, str]
    stages: list[StageResult] = field(default_factory=list)
    #: What the policy demanded, in one line.
    demanded: str = ""
    #: The best evidence for each output.
    outputs: list[OutputEvidence] = field(default_factory=list)
    coverage: Coverage | None = None
    decisions: list[Decision] = field(default_factory=list)
    waivers: list[Waiver] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    times: Times | None = None
    #: ``running`` until the run ends, then ``complete``.
    state: str = "complete"
