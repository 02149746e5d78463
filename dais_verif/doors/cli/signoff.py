"""``dais-verif signoff``: run all checks of a policy, and write a certificate if all of them pass."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dais_verif.base.errors import DaisError
from dais_verif.doors.cli import common
from dais_verif.doors.cli.common import console, file_path, json_option, notices, show_record
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import GroupedCommand, Option, TwoForms
from dais_verif.record.program import MACHINE_LAYOUTS
from dais_verif.record.read import SIGNOFF_NAME
from dais_verif.record.signoff import StageResult
from dais_verif.report.signoff_text import print_certificate_check, print_sign_off
from dais_verif.report.spoken import spoken
from dais_verif.report.verdict_words import stage_word
from dais_verif.subject.programs import load_program
from dais_verif.verbs.sign_off import BUILT_IN, SignOffRequest, default_folder, sign_off, withdraw_certificate
from dais_verif.verbs.verify_certificate import CertificateRequest, verify_certificate

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["signoff", "verify"]


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


@click.command(cls=_SignOff, flag="--verify", other="signoff:verify")
@common.program_argument
@requested(SignOffRequest)
@click.option(
    "--show-policy",
    cls=Option,
    group="Sign-off",
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
    record = sign_off(request, progress=_Progress())
    code = common.show_record(record, as_json, lambda: print_sign_off(record, request.folder, common.console()))
    if html is not None:
        program = None
        if record.program.layout not in MACHINE_LAYOUTS:
            program = load_program(request.program, request.layout)
        common.write_page(record, program, html, request.folder / SIGNOFF_NAME)
    return code


@click.command(cls=GroupedCommand)
@click.option(
    "--verify",
    cls=Option,
    group="Certificate",
    is_flag=True,
    expose_value=False,
    help="Check a certificate: a file, or the folder of a sign-off.",
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
    record = verify_certificate(request, progress=_Progress())
    return show_record(record, as_json, lambda: print_certificate_check(record, console()))


class _Progress(TerminalProgress):
    """A listener that shows stages in the line of the work that contains them."""

    def __init__(self) -> None:
        super().__init__()
        self._status: Status | None = None

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a line, in which stages are shown, and which disappears after the block."""
        if spoken().quiet:
            with super().working(what) as tell:
                yield tell
            return
        with notices().status(what) as self._status:
            yield self._status.update

    def stage_begins(self, name: str, number: int, total: int) -> None:
        """Show that stage ``name`` runs."""
        if self._status is not None:
            self._status.update(f"{number} of {total}: {name} ...")

    def stage_ends(self, result: StageResult) -> None:
        """Print the result of a stage."""
        if self._status is not None:
            line = f"{result.name}: {stage_word(result)}, {result.seconds:.1f} s"
            self._status.console.print(line, markup=False, style="dim")
