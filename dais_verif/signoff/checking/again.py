"""Repeat the sign-off of a certificate, to compare the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from dais_verif.signoff.bitstreams.table import with_files
from dais_verif.signoff.certificate import stages_in
from dais_verif.signoff.checking.comparison import Difference, Pair, differences, of_stages
from dais_verif.signoff.checking.recheck import CertificateCheck, read_certificate
from dais_verif.signoff.context import Context
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.policy import Diff, Given, Policy
from dais_verif.signoff.session import POLICY, sign_off
from dais_verif.verdict import Verdict

__all__ = ["run_again"]


def run_again(
    checked: CertificateCheck, folder: Path, *, reproduce: str, jobs: int | None, listener: SignOffListener
) -> Iterator[Difference]:
    """Yield the differences of a new sign-off of the same files by the same policy. ``folder``: for its evidence."""
    context = checked.context
    if context is None:
        return
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
    if record.verdict is not Verdict.PASS:
        yield Difference("verdict", "SIGNED OFF", f"{record.verdict.value}: {record.message}")
        yield from of_stages(checked.certificate.stages, stages_in(record.stages))
        return
    again, there, _ = read_certificate(folder)
    yield from differences(Pair(checked.certificate, again, (checked.folder, there)))


def _where_they_are(context: Context) -> Policy:
    """Return the policy with the current paths of its files."""
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
