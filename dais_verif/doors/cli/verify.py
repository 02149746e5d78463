"""``dais-verif signoff --verify``: does a certificate still hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli.common import (
    console,
    file_path,
    jobs_option,
    json_option,
    paranoid_option,
    parsed_by,
    reproduce,
    show_record,
)
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.terminal.signoff import SignOffProgress
from dais_verif.report.signoff_text import print_certificate_check
from dais_verif.verbs.verify_certificate import CertificateRequest, absolute_time, verify_certificate


@click.command(cls=GroupedCommand)
@click.option(
    "--verify", is_flag=True, expose_value=False, help="Check a certificate: a file, or the folder of a sign-off."
)
@click.argument("certificate", type=file_path)
@click.argument("more_rtl", nargs=-1, type=file_path)
@click.option("--program", type=file_path, help="The program, if it was moved.")
@click.option(
    "--rtl",
    type=file_path,
    multiple=True,
    help="RTL and its data, if moved: files, or folders with all of it and no other HDL.",
)
@click.option(
    "--policy", type=file_path, help="TOML file: the certificate's policy must demand at least as much as this one."
)
@click.option("--bitstream", type=file_path, help="Bitstream to be loaded: it must configure the signed-off hardware.")
@click.option(
    "--allowed-signers", type=file_path, help="Allowed signers file, as for ssh-keygen; requires a signature."
)
@click.option(
    "--verify-time",
    callback=parsed_by(absolute_time),
    metavar="TIME",
    help="Time of the signature, from a trusted source: 20270131120000Z. Default: now.",
)
@click.option("--same-tools", is_flag=True, help="Require the tool versions that the certificate was made with.")
@click.option("--rerun", is_flag=True, help="Sign off again by the same policy, and compare the findings.")
@paranoid_option
@jobs_option
@json_option
def verify(rtl: tuple[Path, ...], more_rtl: tuple[Path, ...], as_json: bool, **asked: Any) -> int:
    """Check CERTIFICATE, a file or the folder of a sign-off, against the files that it lists.

    \b
    dais-verif signoff --verify signoff-prog
    dais-verif signoff --verify out --program moved/prog.bin --rtl moved/rtl
    dais-verif signoff --verify out --policy mine.toml            and its policy demanded at least what mine demands
    dais-verif signoff --verify out --allowed-signers signers     and signed by an allowed signer
    dais-verif signoff --verify out --bitstream deployed.bin      and this bitstream configures the signed-off hardware
    dais-verif signoff --verify out --rerun                       and a new sign-off has the same findings

    Every hash is computed again, and all evidence is judged again by the policy. Each finding names the file, the
    expected value and the value found. Exit code 0: the certificate holds; 7: it does not.
    """
    if more_rtl and not rtl:
        raise click.UsageError(f"Got unexpected extra argument ({more_rtl[0]}); RTL files follow --rtl.")
    request = CertificateRequest(rtl=(*rtl, *more_rtl), command=reproduce(), **asked)
    record = verify_certificate(request, progress=SignOffProgress())
    return show_record(record, as_json, lambda: print_certificate_check(record, console()))
