"""``dais-verif verify-cert``: does a certificate still hold?"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.text import Text

from dais_verif.cli.common import console, file_path, jobs_option, json_option, notices, reproduce
from dais_verif.cli.verb import Verb
from dais_verif.report.words import signed_word
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

_SCHEMA = "dais-verif/verify-cert/1"


def _time(context: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    from dais_verif.signoff.allowed_signers import absolute_time

    if value is None:
        return None
    try:
        return absolute_time(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(cls=Verb)
@click.argument("certificate", type=file_path)
@click.argument("more_rtl", nargs=-1, type=file_path)
@click.option("--program", type=file_path, help="The program, if it is not where it was.")
@click.option(
    "--rtl",
    type=file_path,
    multiple=True,
    help="RTL and what it reads, as signed off, if moved: files or folders.",
)
@click.option("--allowed-signers", type=file_path, help="Who may sign, as for ssh-keygen; then it must be signed.")
@click.option(
    "--verify-time",
    callback=_time,
    metavar="TIME",
    help="When it was signed, as somebody says whom you trust: 20270131120000Z. Default: now.",
)
@click.option("--same-tools", is_flag=True, help="The tools here must be those that it was made with.")
@click.option("--rerun", is_flag=True, help="Sign off again by the same policy, and compare what is found.")
@jobs_option
@json_option
def verify_cert(
    certificate: Path,
    program: Path | None,
    rtl: tuple[Path, ...],
    more_rtl: tuple[Path, ...],
    allowed_signers: Path | None,
    verify_time: datetime | None,
    same_tools: bool,
    rerun: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Check CERTIFICATE, a file or the folder of a sign-off, against the files that it speaks of.

    \b
    dais-verif verify-cert signoff-prog
    dais-verif verify-cert out --program moved/prog.bin --rtl moved/rtl
    dais-verif verify-cert out --allowed-signers signers     and signed by somebody who may
    dais-verif verify-cert out --rerun                       and the same comes out again

    Every hash is taken again and all evidence judged again by the policy. Each line of what is found says which file,
    what is expected and what is there. Exit code 0: it holds; 7: it does not.
    """
    from dais_verif.errors import InputError
    from dais_verif.signoff.again import run_again
    from dais_verif.signoff.places import Places
    from dais_verif.signoff.recheck import check_certificate, read_certificate
    from dais_verif.signoff.signed import Trust

    if more_rtl and not rtl:
        raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
    if verify_time is not None and allowed_signers is None:
        raise click.UsageError("--verify-time judges the signer; give it with --allowed-signers.")
    trust = Trust(allowed_signers, verify_time) if allowed_signers else None
    held, folder, data, findings, notes = None, certificate, b"", [], []
    try:
        held, folder, data = read_certificate(certificate)
    except InputError as error:
        if not _is_there(certificate):
            raise
        findings.append({"what": str(certificate), "expected": "a certificate as it was written", "found": str(error)})
    if held is not None:
        places = Places(program, (*rtl, *more_rtl))
        with notices().status("checking"):
            checked = check_certificate(held, folder, data, places=places, trust=trust, same_tools=same_tools)
        found, notes = list(checked.findings), list(checked.notes)
        if rerun and not found:
            from dais_verif.cli.signoff import Shown

            with temporary_folder() as temporary, notices().status("again") as status:
                again = temporary.path / "again"
                again.mkdir()
                found += run_again(checked, again, reproduce=reproduce(), jobs=jobs, listener=Shown(status))
        elif rerun:
            notes.append("not run again: what is here is not what was signed off")
        findings = [asdict(finding) for finding in found]
    verdict = Verdict.NOT_SIGNED_OFF if findings else Verdict.PASS
    if as_json:
        tree = {"schema": _SCHEMA, "verdict": verdict.value, "exit_code": verdict.exit_code}
        click.echo(
            json.dumps({**tree, "findings": findings, "notes": notes, "rerun": rerun and not findings}, indent=2)
        )
        return verdict.exit_code
    out = console()
    if held is not None:
        out.print(f"program    {held.program}", markup=False)
        out.print(f"issued     {held.issued}, {len(held.stages)} stages, {len(held.evidence)} files", markup=False)
    for finding in findings:
        line = f"{finding['what']}: expected {finding['expected']}, found {finding['found']}"
        out.print(f"finding    {line}", markup=False)
    for note in notes:
        out.print(f"note       {note}", markup=False)
    if findings:
        word = Text(signed_word(verdict), style="bold red")
        many = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
        out.print(
            Text.assemble(
                word,
                f"  {many} against this certificate: do not rely on it",
            )
        )
    else:
        again_too = ", and a new run finds the same" if rerun else ""
        out.print(Text.assemble(Text(signed_word(verdict), style="bold green"), f"  the certificate holds{again_too}"))
    return verdict.exit_code


def _is_there(path: Path) -> bool:
    from dais_verif.signoff.certificate import CERTIFICATE

    return (path / CERTIFICATE if path.is_dir() else path).is_file()
