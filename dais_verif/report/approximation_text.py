"""Networks under configurations, as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.record.approximation import AppliedRecord, Measured, MeasuredRecord, TunedRecord
from dais_verif.report.console import verdict_text

__all__ = ["print_applied", "print_measured", "print_tuned"]

_COLUMNS = ("name", "accuracy", "95 %", "loss", "speed-up", "ops", "largest difference", "bound")


def print_applied(record: AppliedRecord, out: Console) -> None:
    """Print what was written."""
    rows = [
        ("network", record.network),
        ("config", f"{record.config} of {record.configurations}"),
        ("program", f"{record.program.n_ops} ops, {record.exact_ops} without approximation"),
        ("hash", record.program.hash),
        ("written", f"{record.output}: {', '.join(record.files)}"),
        *(("note", note) for note in record.notes),
    ]
    for title, text in rows:
        out.print(f"{title:<10} {text}", markup=False)


def print_measured(record: MeasuredRecord, out: Console) -> None:
    """Print a line for each configuration, and why some are left out."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name == "name" else "right")
    for one in record.measured:
        if one.refused is None:
            table.add_row(*_cells(one))
    out.print(table)
    for one in record.measured:
        if one.refused is not None:
            out.print(f"left out   {one.name}: {one.refused}", markup=False)
    for note in dict.fromkeys(f"{one.name}: {note}" for one in record.measured for note in one.notes):
        out.print(f"note       {note}", markup=False)
    if record.output is not None:
        out.print(f"written    {record.output}", markup=False)
    out.print(verdict_text(record.verdict, record.message))


def _cells(one: Measured) -> tuple[str, ...]:
    low, high = one.interval or (0.0, 0.0)
    return (
        one.name,
        f"{one.accuracy:.2f} %",
        f"{low:.1f} to {high:.1f}",
        f"{one.loss:.2f}",
        f"{one.speedup:.2f}x",
        str(one.ops),
        f"{one.largest:g}",
        f"{one.bound:g}",
    )


def print_tuned(record: TunedRecord, out: Console) -> None:
    """Print what was found."""
    out.print(f"tried      {record.tried} configurations on {record.data}", markup=False)
    out.print(f"written    {record.output}: {', '.join(record.configurations)}", markup=False)
    out.print(verdict_text(record.verdict, record.message))
