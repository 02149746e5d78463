"""Repeating the sign-off behind a certificate, to compare the results."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dais_verif.errors import DaisError
from dais_verif.record.certificate import CertificateFinding
from dais_verif.signoff.bitstreams.table import with_files
from dais_verif.signoff.certificate import stages_in
from dais_verif.signoff.context import Context
from dais_verif.signoff.evidence import read_tree, simulated
from dais_verif.signoff.judge import SENT
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.policy import Diff, Given, Policy
from dais_verif.signoff.recheck import CertificateCheck, shortened
from dais_verif.signoff.results import EVIDENCE
from dais_verif.signoff.session import POLICY, sign_off
from dais_verif.verdict import Verdict

__all__ = ["run_again"]


def run_again(
    checked: CertificateCheck, folder: Path, *, reproduce: str, jobs: int | None, listener: SignOffListener
) -> list[CertificateFinding]:
    """Return the differences of a new sign-off of the same files by the same policy. ``folder``: for its evidence."""
    context = checked.context
    if context is None:
        return []
    subject, policy = context.subject, _where_they_are(context)
    given = Given(policy, (checked.folder / POLICY).read_text(encoding="utf-8"))
    record = sign_off(
        subject.design,
        subject.path,
        subject.layout,
        given,
        folder,
        reproduce=reproduce,
        jobs=jobs,
        listener=listener,
        kernel=[Path(file.path) for file in subject.of("kernel")],
    )
    findings = []
    if record.verdict is not Verdict.PASS:
        findings.append(CertificateFinding("a new run", "SIGNED OFF", f"{record.verdict.value}: {record.message}"))
    now = {stage.name: stage for stage in stages_in(record.stages)}
    for stage in checked.certificate.stages:
        found = now.get(stage.name)
        if found != stage:
            told = f"{found.verdict.value}" if found else "no such stage"
            findings.append(CertificateFinding(f"stage {stage.name} in a new run", stage.verdict.value, told))
    if record.rtl.sha256 != [file.sha256 for file in subject.of("rtl")]:
        findings.append(CertificateFinding("RTL in a new run", "the same", "other RTL is emitted"))
    for seed in policy.seeds:
        pairs = [_digests(at / f"simulation-{seed}") for at in (context.folder, folder / EVIDENCE)]
        if pairs[0] != pairs[1]:
            findings.append(CertificateFinding(f"digests of simulation, seed {seed}, in a new run", *shortened(*pairs)))
    return findings


def _digests(folder: Path) -> dict[str, str | None]:
    try:
        found = {one.name: one.digest for one in simulated(folder).simulators}
        return {"golden model": str(read_tree(folder / SENT).get("digest")), **found}
    except DaisError as error:
        return {"none": str(error)}


def _where_they_are(context: Context) -> Policy:
    """Return the policy, with the files where they are now."""
    subject, policy = context.subject, context.policy
    if subject.emitted:
        files: tuple[str, ...] = ()
    else:
        files = tuple(subject.rtl)
    ports = [file.path for file in subject.of("ports")]
    rtl = msgspec.structs.replace(policy.rtl, files=files, ports=ports[0] if ports else None)
    diff = Diff(**{role: subject.only(role).path for role in policy.diff.files})
    bits = with_files(policy.bitstream, {role: subject.only(role).path for role in policy.bitstream.files})
    inputs = tuple(file.path for file in subject.of("input"))
    return msgspec.structs.replace(policy, rtl=rtl, inputs=inputs, diff=diff, bitstream=bits)
