"""``dais-verif signoff --verify``: does a certificate still hold?"""

from __future__ import annotations

import click

from dais_verif.doors.cli.common import console, file_path, json_option, show_record
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.declared import requested
from dais_verif.doors.cli.terminal.signoff import SignOffProgress
from dais_verif.report.signoff_text import print_certificate_check
from dais_verif.verbs.verify_certificate import CertificateRequest, verify_certificate


@click.command(cls=GroupedCommand)
@click.option(
    "--verify", is_flag=True, expose_value=False, help="Check a certificate: a file, or the folder of a sign-off."
)
@click.argument("certificate", type=file_path)
@requested(CertificateRequest)
@json_option
def verify(request: CertificateRequest, as_json: bool) -> int:
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
    record = verify_certificate(request, progress=SignOffProgress())
    return show_record(record, as_json, lambda: print_certificate_check(record, console()))
