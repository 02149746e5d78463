"""``dais-verif signoff``: everything that a policy asks for, and a certificate if all of it is there."""

from __future__ import annotations

import getpass
import sys
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    reproduce,
    sandbox_option,
    tell_written,
)
from dais_verif.cli.dut import given_rtl_options
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.errors import InputError
from dais_verif.files import make_folder
from dais_verif.flows.designs import DesignRequest
from dais_verif.own_command import own_command
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.report.console import program_line
from dais_verif.report.words import signed_word, stage_word
from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE
from dais_verif.signoff.policy import BUILT_IN, GHDL, Given, policy_of, read_policy
from dais_verif.signoff.results import NOT_RUN
from dais_verif.signoff.session import Listener, Signer, require_ours, sign_off, withdraw
from dais_verif.toolchain.sources import is_vhdl
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["Shown", "locked", "signoff"]

#: RTL files that are named.
_SHOWN = 3


def _show_policy(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(BUILT_IN, nl=False)
        context.exit()


class _SignOff(GroupedCommand):
    """Whoever asks for a sign-off, however wrongly, does not rely on an earlier certificate any more."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; where it cannot be read, the certificate goes all the same."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            _withdraw(_folder_in(given))
            raise

    def invoke(self, ctx: click.Context) -> int:
        """Begin without it: the policy, the program or the key may be of no use."""
        _withdraw(ctx.params["output"] or _default_folder(ctx.params["program"]))
        code: int = super().invoke(ctx)
        return code


def _folder_in(arguments: list[str]) -> Path | None:
    """The folder that a command line names which cannot be read as a whole."""
    for number, word in enumerate(arguments):
        if word in ("-o", "--output"):
            return Path(arguments[number + 1]) if number + 1 < len(arguments) else None
        if word.startswith("--output=") or (word.startswith("-o") and len(word) > 2):
            return Path(word.removeprefix("--output=").removeprefix("-o"))
    named = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    return _default_folder(Path(named[0])) if named else None


def _default_folder(program: Path) -> Path:
    return Path(f"signoff-{program.name.partition('.')[0] or 'program'}")


def _withdraw(folder: Path | None) -> None:
    if folder is not None and ((folder / CERTIFICATE).exists() or (folder / SIGNATURE).exists()):
        with locked(folder):
            withdraw(folder)


@click.command(cls=_SignOff)
@program_argument
@layout_option
@click.option(
    "--policy", "policy_file", type=file_path, help="TOML file that says what is asked for; else a built-in one."
)
@click.option(
    "--show-policy",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_policy,
    help="Print the built-in policy, all keys explained, and exit.",
)
@given_rtl_options
@click.option("--seed", type=click.IntRange(0), help="Seed of the vectors, in place of the policy's seeds.")
@click.option(
    "--sign", "key", type=file_path, help="Sign the certificate with this Ed25519 key, as ssh-keygen makes them."
)
@jobs_option
@sandbox_option
@click.option(
    "-o", "--output", type=file_path, help="Folder for certificate, record and evidence. Default: signoff-PROGRAM."
)
@html_option
@json_option
def signoff(
    program: Path,
    layout: str | None,
    policy_file: Path | None,
    dut: DesignRequest,
    seed: int | None,
    key: Path | None,
    jobs: int | None,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Run all that a policy asks of PROGRAM and its RTL, and certify it.

    \b
    dais-verif signoff prog.bin                              our RTL, the built-in policy
    dais-verif signoff prog.bin --rtl a.v b.v --top model    somebody else's, in place of what a policy says of RTL
    dais-verif signoff --show-policy > policy.toml           a policy to edit: RTL, seeds, stages, waivers
    dais-verif signoff prog.bin --policy policy.toml -o out
    dais-verif signoff prog.bin --sign ~/.ssh/id_ed25519     the certificate is signed
    dais-verif verify-cert out                               is it still so?

    Every sign-off also plants bugs, in the RTL and in the golden model, which simulators and prover must find. Ends in
    SIGNED OFF (exit code 0) or NOT SIGNED OFF (7). What the stages found is in the folder either way.
    """
    from dais_verif.signoff.sshsig import fingerprint, load_key, public_key, sign

    folder = output or _default_folder(program)
    given = _with_rtl(read_policy(policy_file), dut, policy_file is None)
    if seed is not None:
        given = Given(given.policy.with_seed(seed), given.text)
    signer = None
    if key is not None:
        loaded_key = load_key(key, getpass.getpass if sys.stdin.isatty() else None)
        signer = Signer(fingerprint(public_key(loaded_key)), lambda data: sign(data, loaded_key))
    loaded, warnings = load_program(program, layout)
    with locked(folder), notices().status("signing off") as status:
        record = sign_off(
            loaded,
            program,
            layout,
            given,
            folder,
            reproduce=reproduce(),
            warnings=warnings,
            jobs=jobs,
            signer=signer,
            listener=Shown(status),
        )
    if as_json:
        click.echo(record.to_json())
    else:
        _print(record, folder, console())
    if html is not None:
        from dais_verif.report.html import Source, write_report

        write_report([Source(record, folder / "signoff.json")], loaded, html)
        tell_written(html, "the record as a page")
    return record.verdict.exit_code


def _with_rtl(given: Given, dut: DesignRequest, built_in: bool) -> Given:
    """The policy for the RTL of the command line. The built-in one takes the simulators of its language."""
    if not dut.rtl:
        if dut.ports or dut.pins.given:
            raise click.UsageError("--ports and --clock are for RTL of files; give them with --rtl.")
        return given
    simulators = (GHDL,) if built_in and any(map(is_vhdl, dut.rtl)) else given.policy.simulators
    pins = asdict(dut.pins)
    rtl = {"files": list(map(str, dut.rtl)), "top": dut.top, "data": list(map(str, dut.data))}
    ports = None if dut.ports is None else str(dut.ports)
    tree = {**given.policy.tree(), "rtl": {**rtl, "ports": ports, **pins}, "simulators": list(simulators)}
    return Given(policy_of(tree, "the policy, with the RTL of the command line"), given.text)


def locked(folder: Path) -> AbstractContextManager[FileLock]:
    """Nobody else signs off in ``folder``. Raises ``InputError`` if somebody does."""
    from filelock import FileLock, Timeout

    require_ours(folder)
    make_folder(folder)
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        return lock.acquire()
    except Timeout:
        raise InputError(f"{str(folder)!r} is in use by another sign-off; choose another folder with -o") from None
    except PermissionError as error:
        raise InputError(f"cannot write in {str(folder)!r}: {error.strerror}; choose another folder with -o") from None


class Shown(Listener):
    """The stage that runs, as a line that goes away; those that ended, as lines that stay."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def stage(self, name: str, number: int, total: int) -> None:
        """Stage ``name`` begins."""
        self._status.update(f"{number} of {total}: {name} ...")

    def result(self, result: StageResult) -> None:
        """A stage has ended."""
        self._status.console.print(
            f"{result.name}: {stage_word(result)}, {result.seconds:.1f} s", markup=False, style="dim"
        )


def _print(record: SignOffRecord, folder: Path, out: Console) -> None:
    files = record.rtl["files"]
    more = f" and {len(files) - _SHOWN} more files" if len(files) > _SHOWN else ""
    source = "emitted from the program" if record.rtl["emitted"] else ", ".join(files[:_SHOWN]) + more
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"rtl        module {record.rtl['top']}, {source}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("stage", "", "verdict", "s", "kept in"):
        table.add_column(name, justify="right" if name == "s" else "left", overflow="fold")
    for result in record.stages:
        style = "green" if result.passed else "yellow" if result.waived or result.optional else "bold red"
        where = str(Path(*Path(result.evidence[0]).parts[:2])) if result.evidence else "-"
        table.add_row(
            result.name, Text(stage_word(result), style=style), result.verdict.value, f"{result.seconds:.1f}", where
        )
    out.print(table)
    grades = {grade: sum(one.grade == grade for one in record.outputs) for grade in ("proved", "exhausted", "sampled")}
    shown = [f"{count} {grade}" for grade, count in grades.items() if count]
    rest = len(record.outputs) - sum(grades.values())
    shown += [f"{rest} for which no stage that passed speaks, or that have no bits"] if rest else []
    out.print(f"outputs    {', '.join(shown)}", markup=False)
    for waiver in record.waivers:
        by = f" ({waiver.by})" if waiver.by else ""
        out.print(f"waiver     {waiver.what}, until {waiver.expires}: {waiver.reason}{by}", markup=False)
    for warning in record.warnings:
        out.print(f"warning    {warning}", markup=False)
    if record.verdict is Verdict.PASS:
        out.print(Text.assemble(Text(signed_word(record.verdict), style="bold green"), f"  {record.message}"))
        signed = f" and {SIGNATURE}" if (folder / SIGNATURE).exists() else ""
        out.print(f"wrote      {folder / CERTIFICATE}{signed}", markup=False)
        out.print(f"check it   {own_command(['verify-cert', str(folder)])}", markup=False)
        return
    for result in record.stages:
        if not (result.passed or result.waived or result.optional or result.message.startswith(NOT_RUN)):
            out.print(f"why        {result.name}: {result.message}", markup=False)
            if result.ran and result.reproduce:
                out.print(f"           {result.reproduce}", markup=False)
    out.print(Text.assemble(Text(signed_word(record.verdict), style="bold red"), f"  {record.message}"))
    out.print(f"next       mend what `why` names, or change the policy; evidence is in {folder}", markup=False)
    out.print(f"reproduce  {record.reproduce}", markup=False)
