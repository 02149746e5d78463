"""The check of a certificate, as text on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from dais_verif.counts import counted
from dais_verif.record.certificate import CertificateRecord
from dais_verif.report.words import signed_word

__all__ = ["print_certificate_check"]


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
