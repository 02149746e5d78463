"""``dais-verif signoff``: run all checks of a policy, and write a certificate if all of them pass."""

from __future__ import annotations

import getpass
import sys
from dataclasses import replace
from pathlib import Path

import click

from dais_verif.base.errors import DaisError
from dais_verif.doors.cli import common
from dais_verif.doors.cli.forms import TwoForms
from dais_verif.doors.cli.options.declared import requested
from dais_verif.doors.cli.terminal.signoff import SignOffProgress
from dais_verif.record.program import MACHINE_LAYOUTS
from dais_verif.record.read import SIGNOFF_NAME
from dais_verif.report.signoff_text import print_sign_off
from dais_verif.subject.programs import load_program
from dais_verif.verbs.sign_off import BUILT_IN, SignOffRequest, default_folder, sign_off, withdraw_certificate

__all__ = ["signoff"]


def _show_policy(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(BUILT_IN, nl=False)
        context.exit()


class _SignOff(TwoForms):
    """A command that first removes an earlier certificate, on which users must not rely, even if the call is wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; remove the certificate even if the command line is wrong."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except (click.UsageError, DaisError):
            folder = _folder_in(given)
            if folder is not None:
                withdraw_certificate(folder)
            raise

    def invoke(self, ctx: click.Context) -> int:
        """Remove the certificate before the call, which may fail early because of policy, program or key."""
        withdraw_certificate(ctx.params["output"] or default_folder(ctx.params["program"]))
        code: int = super().invoke(ctx)
        return code


def _folder_in(arguments: list[str]) -> Path | None:
    """Return the output folder named by a command line that could not be parsed."""
    for number, word in enumerate(arguments):
        if word in ("-o", "--output"):
            return Path(arguments[number + 1]) if number + 1 < len(arguments) else None
        if word.startswith("--output=") or (word.startswith("-o") and len(word) > 2):
            return Path(word.removeprefix("--output=").removeprefix("-o"))
    named = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    return default_folder(Path(named[0])) if named else None


@click.command(cls=_SignOff, flag="--verify", other="verify")
@common.program_argument
@requested(SignOffRequest)
@click.option(
    "--show-policy",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_policy,
    help="Print the built-in policy with all keys explained, and exit.",
)
@common.sandbox_option
@common.html_option
@common.json_option
def signoff(request: SignOffRequest, html: Path | None, as_json: bool) -> int:
    """Run all checks that a policy requires of PROGRAM and its RTL, and certify it.

    \b
    dais-verif signoff prog.bin                              emitted RTL, the built-in policy
    dais-verif signoff prog.bin --rtl a.v b.v --top model    your RTL, instead of the RTL that the policy names
    dais-verif signoff --show-policy > policy.toml           a policy to edit: RTL, seeds, stages, waivers
    dais-verif signoff prog.bin --policy policy.toml -o out
    dais-verif signoff prog.bin --sign ~/.ssh/id_ed25519     the certificate is signed
    dais-verif signoff --verify out                          does it still hold? --verify --help has its options

    Every sign-off also seeds faults, in the RTL and in the golden model, which simulators and prover must find. The
    result is SIGNED OFF (exit code 0) or NOT SIGNED OFF (7). The folder has the findings of all stages in both cases.
    """
    if sys.stdin.isatty():
        request = replace(request, passphrase=getpass.getpass)
    record = sign_off(request, progress=SignOffProgress())
    code = common.show_record(record, as_json, lambda: print_sign_off(record, request.folder, common.console()))
    if html is not None:
        program = None
        if record.program.layout not in MACHINE_LAYOUTS:
            program = load_program(request.program, request.layout)
        common.write_page(record, program, html, request.folder / SIGNOFF_NAME)
    return code
