"""The record of ``shrink`` as text."""

from __future__ import annotations

from rich.console import Console

from dais_verif.counts import counted
from dais_verif.record.fuzzing import ShrinkRecord

__all__ = ["print_shrinking"]

#: The number of lines of a program that are printed; its file has all of them.
_LINES = 40


def print_shrinking(record: ShrinkRecord, out: Console) -> None:
    """Print the failure, the smallest case, and its location."""
    rows = [("failure", record.failure), ("before", str(record.before)), ("after", str(record.after))]
    if record.rtl is not None:
        rows.append(
            ("rtl", f"{counted(record.rtl.lines_before, 'line')} became {record.rtl.lines}, module {record.rtl.top}")
        )
    rows.append(("tried", f"{counted(record.attempts, 'case')} in {record.seconds:.1f} s"))
    if not record.complete:
        rows[-1] = ("tried", f"{rows[-1][1]}; the time limit was reached, --time raises it")
    for name, text in rows:
        out.print(f"{name:<10} {text}", markup=False)
    lines = record.text.splitlines()
    for line in lines[:_LINES]:
        out.print(f"  {line}", markup=False)
    if len(lines) > _LINES:
        out.print(f"  ... {counted(len(lines) - _LINES, 'line')} more", markup=False)
    for vector in record.vectors[:4]:
        out.print(f"vector     {', '.join(vector) or '(no inputs)'}", markup=False)
    if record.folder:
        out.print(f"files      {record.folder}", markup=False)
        out.print(f"replay     {record.replay}", markup=False)
    out.print(f"verdict    {record.verdict.value}: {record.message}", markup=False)
