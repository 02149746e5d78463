"""Check a certificate against its files, judge its evidence again, and on request sign off again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.own_command import own_command
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
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.argv import option_words
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.read_back.bitstreams import deployed_findings

__all__ = ["CertificateRequest", "absolute_time", "verify_certificate"]


@dataclass(frozen=True, kw_only=True)
class CertificateRequest:
    """A certificate, given as its file or as the folder of the sign-off, and the current locations of its files.

    ``program``, ``rtl``: files, or folders that hold them, if they were moved; folders of RTL must hold all of it, and
    no other HDL. ``policy``: a policy of which the certificate's policy must demand as much. ``allowed_signers``: a
    file of signers, one of whom must have signed and be allowed to sign at ``verify_time`` (None: now).
    ``same_tools``: require the tools with which the certificate was made. ``rerun``: sign off again by the same policy,
    and compare the findings; ``paranoid``: with a runtime of Verilator that is compiled for it, even if one is
    installed. ``command``: the command line of this request; None: derived from the request. ``bitstream``: a bitstream
    to be deployed, which must configure the device in the same way as the certified one.
    """

    certificate: Path
    program: Path | None = None
    rtl: tuple[Path, ...] = ()
    bitstream: Path | None = None
    policy: Path | None = None
    allowed_signers: Path | None = None
    verify_time: datetime | None = None
    same_tools: bool = False
    rerun: bool = False
    paranoid: bool = False
    jobs: int | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.verify_time is not None and self.allowed_signers is None:
            raise RequestError.of("{verify_time} judges the signer; give it with {allowed_signers}.")
        if self.paranoid and not self.rerun:
            raise RequestError.of("{paranoid} is about a new run; give it with {rerun}.")
        if self.verify_time is not None and self.verify_time.tzinfo is None:
            raise RequestError.of("{verify_time} {value} must have a time zone.", value=self.verify_time)

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        when = self.verify_time
        valued = {
            "--program": self.program,
            "--bitstream": self.bitstream,
            "--policy": self.policy,
            "--allowed-signers": self.allowed_signers,
            "--verify-time": when and when.astimezone(UTC).strftime("%Y%m%d%H%M%SZ"),
        }
        flags = {"--same-tools": self.same_tools, "--rerun": self.rerun, "--paranoid": self.paranoid}
        rtl = [word for path in self.rtl for word in ("--rtl", str(path))]
        return ["signoff", "--verify", str(self.certificate), *option_words(valued, flags), *rtl]


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
    command = own_command(request.words()) if request.command is None else request.command
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
