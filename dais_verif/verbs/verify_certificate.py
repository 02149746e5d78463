"""Check a certificate against its files, judge its evidence again, and on request sign off again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import CERTIFICATE, CertificateFacts, CertificateFinding, CertificateRecord
from dais_verif.signoff.certificate import excused_in
from dais_verif.signoff.checking.comparison import Difference
from dais_verif.signoff.checking.recheck import (
    CertificateCheck,
    check_certificate,
    read_certificate,
    run_again,
    shortened,
)
from dais_verif.signoff.demands import demanded, less_than
from dais_verif.signoff.places import Places
from dais_verif.signoff.policy import read_policy
from dais_verif.signoff.signatures import Trust, absolute_time
from dais_verif.verbs import common_options as common
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.read_back.bitstreams import deployed_findings

__all__ = ["CertificateRequest", "absolute_time", "verify_certificate"]


@dataclass(frozen=True, kw_only=True)
class CertificateRequest(Request):
    """A certificate, given as its file or as the folder of the sign-off, and the current locations of its files."""

    verb: ClassVar[str] = "signoff --verify"

    certificate: Path
    program: Path | None = option(None, "The program, if it was moved.", group="Certificate", rare=True)
    rtl: tuple[Path, ...] = option(
        (), "RTL and its data, if moved: files, or folders with all of it and no other HDL.", group="Design"
    )
    policy: Path | None = option(
        None, "TOML file: the certificate's policy must demand at least as much as this one.", group="Sign-off"
    )
    bitstream: Path | None = option(
        None, "Bitstream to be loaded: it must configure the signed-off hardware.", group="Design"
    )
    allowed_signers: Path | None = option(
        None, "Allowed signers file, as for ssh-keygen; requires a signature.", group="Certificate", rare=True
    )
    verify_time: datetime | None = option(
        None,
        "Time of the signature, from a trusted source: 20270131120000Z. Default: now.",
        group="Certificate",
        rare=True,
        metavar="TIME",
        parse=absolute_time,
        show=lambda time: time.astimezone(UTC).strftime("%Y%m%d%H%M%SZ"),
    )
    same_tools: bool = option(
        False, "Require the tool versions that the certificate was made with.", group="Certificate", rare=True
    )
    rerun: bool = option(False, "Sign off again by the same policy, and compare the findings.", group="Certificate")
    paranoid: bool = common.paranoid()
    jobs: int | None = common.jobs()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
        if self.verify_time is not None and self.allowed_signers is None:
            raise RequestError.of("{verify_time} judges the signer; give it with {allowed_signers}.")
        if self.paranoid and not self.rerun:
            raise RequestError.of("{paranoid} is about a new run; give it with {rerun}.")
        if self.verify_time is not None and self.verify_time.tzinfo is None:
            raise RequestError.of("{verify_time} {value} must have a time zone.", value=self.verify_time)

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.certificate)]


def verify_certificate(request: CertificateRequest, *, progress: Progress = SILENT) -> CertificateRecord:
    """Compute all hashes again, and judge all evidence again by the policy.

    Verdicts: PASS, or NOT_SIGNED_OFF with findings, each with the file, the expected value and the found value. Raises
    ``InputError`` if there is no certificate.
    """
    try:
        held, folder, data = read_certificate(request.certificate)
    except InputError as error:
        if not _is_there(request.certificate):
            raise
        finding = CertificateFinding(str(request.certificate), "an unedited certificate", str(error))
        return CertificateRecord(verdict=Verdict.NOT_SIGNED_OFF, findings=[finding])
    trust = Trust(request.allowed_signers, request.verify_time) if request.allowed_signers else None
    places = Places(request.program, request.rtl)
    least = None if request.policy is None else read_policy(request.policy)
    with progress.working("checking"):
        checked = check_certificate(held, folder, data, places=places, trust=trust, same_tools=request.same_tools)
    findings, notes, different = list(checked.findings), list(checked.notes), list[Difference]()
    if request.bitstream is not None:
        findings += _deployed(checked, request.bitstream)
    if request.rerun and findings:
        notes.append("not run again: the files here are not those that were signed off")
    elif request.rerun:
        different = _run_again(checked, request, progress)
        findings += [_finding(one) for one in different if not one.note]
        notes += [f"{_finding(one)}; {one.note}" for one in different if one.note]
    policy = None if checked.context is None else checked.context.policy
    if least is not None and policy is not None:
        findings += less_than(policy, least.policy, held.files)
    facts = CertificateFacts(
        program=held.program,
        issued=held.issued,
        stages=len(held.stages),
        evidence=len(held.evidence),
        demanded="" if policy is None else demanded(policy),
        excused=excused_in(held.stages),
    )
    verdict = Verdict.NOT_SIGNED_OFF if findings else Verdict.PASS
    again = request.rerun and not findings and not different
    return CertificateRecord(
        verdict=verdict, findings=findings, notes=notes, checked=list(_checked(checked)), rerun=again, facts=facts
    )


def _checked(checked: CertificateCheck) -> Iterator[str]:
    """Yield each certified file, with the place of the file that was checked if that is another one."""
    for file, now in zip(checked.certificate.files, checked.files, strict=False):
        yield f"{file.role} {now}" + ("" if str(now) == file.path else f", signed off as {file.path}")


def _deployed(checked: CertificateCheck, deployed: Path) -> list[CertificateFinding]:
    """Return findings about ``deployed``; none if the certificate's files were not examined."""
    if checked.context is None:
        return []
    certified = [Path(file.path) for file in checked.context.subject.of("bitstream")]
    with temporary_folder() as temporary:
        return list(deployed_findings(deployed, next(iter(certified), None), temporary.path))


def _run_again(checked: CertificateCheck, request: CertificateRequest, progress: Progress) -> list[Difference]:
    command = request.reproduce()
    with temporary_folder() as temporary, progress.working("again"):
        again = temporary.path / "again"
        again.mkdir()
        found = run_again(
            checked, again, reproduce=command, jobs=request.jobs, paranoid=request.paranoid, listener=progress
        )
        return list(found)


def _finding(one: Difference) -> CertificateFinding:
    return CertificateFinding(f"{one.what} in a new run", *shortened(one.claimed, one.found))


def _is_there(path: Path) -> bool:
    return (path / CERTIFICATE if path.is_dir() else path).is_file()
