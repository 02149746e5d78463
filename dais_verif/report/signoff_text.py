"""A sign-off on the terminal: its stages, their findings for the outputs, and the result."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dais_verif.base.own_command import own_command
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.signoff import CERTIFICATE, NOT_RUN, PROOF, SIGNATURE, CertificateRecord, SignOffRecord
from dais_verif.report.console import program_line
from dais_verif.report.verdict_words import signed_word, stage_word

__all__ = ["print_certificate_check", "print_sign_off"]


#: The number of RTL files that are printed.
_SHOWN = 3


def print_sign_off(record: SignOffRecord, folder: Path, out: Console) -> None:
    """Print ``record``; ``folder``: its location."""
    files = record.rtl.files
    more = f" and {len(files) - _SHOWN} more files" if len(files) > _SHOWN else ""
    source = "emitted from the program" if record.rtl.emitted else ", ".join(files[:_SHOWN]) + more
    out.print(f"program    {program_line(record.program)}", markup=False)
    if record.rtl.project is not None:
        out.print(f"project    {record.rtl.project}", markup=False)
    out.print(f"rtl        module {record.rtl.top}, {source}", markup=False)
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
    out.print(f"demanded   {record.demanded}", markup=False)
    grades = {grade: sum(one.grade == grade for one in record.outputs) for grade in ("proved", "exhausted", "sampled")}
    shown = [f"{count} {grade}" for grade, count in grades.items() if count]
    rest = len(record.outputs) - sum(grades.values())
    shown += [f"{rest} not covered by any stage that passed, or without bits"] if rest else []
    out.print(f"outputs    {', '.join(shown)}", markup=False)
    for result in record.stages:
        if result.passed and result.name == PROOF:
            out.print(f"proof      {result.message}", markup=False)
    for waiver in record.waivers:
        by = f" ({waiver.by})" if waiver.by else ""
        out.print(f"waiver     {waiver.what}, until {waiver.expires}: {waiver.reason}{by}", markup=False)
    for warning in record.warnings:
        out.print(f"warning    {warning}", markup=False)
    if record.verdict is Verdict.PASS:
        out.print(Text.assemble(Text(signed_word(record.verdict), style="bold green"), f"  {record.message}"))
        signed = f" and {SIGNATURE}" if (folder / SIGNATURE).exists() else ""
        out.print(f"wrote      {folder / CERTIFICATE}{signed}", markup=False)
        out.print(f"check it   {own_command(['signoff', '--verify', str(folder)])}", markup=False)
        return
    for result in record.stages:
        if not (result.passed or result.waived or result.optional or result.message.startswith(NOT_RUN)):
            out.print(f"why        {result.name}: {result.message}", markup=False)
            if result.ran and result.reproduce:
                out.print(f"           {result.reproduce}", markup=False)
    out.print(Text.assemble(Text(signed_word(record.verdict), style="bold red"), f"  {record.message}"))
    out.print(f"next       fix what `why` names, or change the policy; evidence is in {folder}", markup=False)
    out.print(f"reproduce  {record.reproduce}", markup=False)


# The check of a certificate, as text on the terminal.


def print_certificate_check(record: CertificateRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    facts = record.facts
    if facts is not None:
        out.print(f"program    {facts.program}", markup=False)
        kept = f"{counted(facts.stages, 'stage')}, {counted(facts.evidence, 'file')}"
        out.print(f"issued     {facts.issued}, {kept}", markup=False)
        out.print(f"demanded   {facts.demanded}", markup=False)
    for line in record.checked:
        out.print(f"checked    {line}", markup=False)
    for finding in record.findings:
        out.print(f"finding    {finding}", markup=False)
    for note in record.notes:
        out.print(f"note       {note}", markup=False)
    word = Text(signed_word(record.verdict), style="bold green" if record.passed else "bold red")
    out.print(Text.assemble(word, f"  {record.message}"))
