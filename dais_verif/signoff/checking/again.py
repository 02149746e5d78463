"""Repeat the sign-off of a certificate, to compare the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from dais_verif.signoff.certificate import stages_in
from dais_verif.signoff.checking.comparison import Difference, Pair, differences, of_stages
from dais_verif.signoff.checking.recheck import CertificateCheck, read_certificate
from dais_verif.signoff.copies import with_paths
from dais_verif.signoff.listener import SignOffListener
from dais_verif.signoff.policy import Given, Policy
from dais_verif.signoff.session import POLICY, sign_off
from dais_verif.signoff.subject import Subject
from dais_verif.verdict import Verdict

__all__ = ["run_again"]


def run_again(
    checked: CertificateCheck,
    folder: Path,
    *,
    reproduce: str,
    jobs: int | None,
    paranoid: bool,
    listener: SignOffListener,
) -> Iterator[Difference]:
    """Yield how a new sign-off of the same files by the same policy differs. ``folder`` receives its evidence."""
    context = checked.context
    if context is None:
        return
    subject = context.subject
    policy = with_paths(context.policy, subject, _data(context.policy, subject))
    given = Given(policy, (checked.folder / POLICY).read_text(encoding="utf-8"))
    record = sign_off(
        subject.design,
        subject.path,
        subject.layout,
        given,
        folder,
        reproduce=reproduce,
        jobs=jobs,
        paranoid=paranoid,
        listener=listener,
        kernel=[Path(file.path) for file in subject.of("kernel")],
    )
    if record.verdict is not Verdict.PASS:
        yield Difference("verdict", "SIGNED OFF", f"{record.verdict.value}: {record.message}")
        yield from of_stages(checked.certificate.stages, stages_in(record.stages))
        return
    again, there, _ = read_certificate(folder)
    yield from differences(Pair(checked.certificate, again, (checked.folder, there)))


def _data(policy: Policy, subject: Subject) -> Iterator[str]:
    """Yield the current path of each data file or folder that ``policy`` names, or its old path if it is not certified.

    The name of a certified file in such a folder begins with the name of the folder.
    """
    for given in policy.rtl.data:
        path = given
        for file in subject.of("data"):
            parts = PurePath(file.name).parts
            if parts[0] == PurePath(given).name:
                path = file.path if len(parts) == 1 else str(PurePath(file.path).parents[len(parts) - 2])
                break
        yield path
