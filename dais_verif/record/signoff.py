"""The record of a sign-off: every stage that the policy requires, its findings, and whether the stages suffice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.base import NOT_KEPT, RunRecord
from dais_verif.record.coverage import Coverage
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.simulation import Decision, OutputEvidence, Times, Waiver

__all__ = [
    "CERTIFICATE",
    "CERTIFICATE_CHECK_SCHEMA",
    "CertificateFacts",
    "CertificateFinding",
    "CertificateRecord",
    "EVIDENCE",
    "NOT_RUN",
    "PROOF",
    "SIGNATURE",
    "SIGNOFF_SCHEMA",
    "SignOffRecord",
    "StageResult",
]


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


# The record of ``signoff --verify``: findings against a certificate.


CERTIFICATE_CHECK_SCHEMA = "dais-verif/verify-cert/1"


@dataclass(frozen=True)
class CertificateFinding:
    """A deviation in ``what`` (a file, or a part of the certificate), with the expected and the found value."""

    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, kw_only=True)
class CertificateFacts:
    """Facts in a certificate: the hash of the ``program``, the time of issue, and the numbers of stages and files.

    ``demanded``: what its policy demanded; ``excused``: stages without a result, which the policy accepts.
    """

    program: str
    issued: str
    stages: int
    evidence: int
    demanded: str = ""
    excused: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, repr=False)
class CertificateRecord(RunRecord):
    """A run of ``signoff --verify``. ``findings`` contradict the certificate; ``notes`` do not.

    ``checked``: each certified file with the place of the file that was checked. ``rerun``: whether the
    sign-off was repeated with the same result. ``facts``: None if the certificate cannot be read.
    JSON has no message, which follows from the other fields.
    """

    SCHEMA: ClassVar = CERTIFICATE_CHECK_SCHEMA

    message: str = field(default="", metadata=NOT_KEPT)
    findings: list[CertificateFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    rerun: bool = False
    facts: CertificateFacts | None = None

    def __post_init__(self) -> None:
        again = ", and a new run finds the same" if self.rerun else ""
        text = f"the certificate holds{again}"
        if self.facts is not None and self.facts.excused:
            text += f"; it was issued without a result of {', '.join(self.facts.excused)}"
        if self.findings:
            many = counted(len(self.findings), "finding")
            text = f"{many} against this certificate: do not rely on it"
        object.__setattr__(self, "message", text)
