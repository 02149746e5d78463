"""The record of ``signoff --verify``: findings against a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dais_verif.counts import counted
from dais_verif.record.base import NOT_KEPT, RunRecord

__all__ = ["CERTIFICATE_CHECK_SCHEMA", "CertificateFacts", "CertificateRecord", "CertificateFinding"]

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
