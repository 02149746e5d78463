"""Networks under configurations, as text."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.approximation import AppliedRecord, Measured, MeasuredRecord, TunedRecord
from dais_verif.report.console import verdict_text
from dais_verif.report.emission_text import print_folded

__all__ = ["measured_columns", "measured_notes", "print_applied", "print_measured", "print_tuned"]

_COLUMNS = ("name", "accuracy", "95 %", "loss", "speed-up", "ops", "largest difference", "bound")


def print_applied(record: AppliedRecord, out: Console) -> None:
    """Print what was written."""
    rows = [
        ("network", record.network),
        ("config", f"{record.config} of {record.configurations}"),
        ("program", f"{counted(record.program.n_ops, 'op')}, {record.exact_ops} without approximation"),
        ("hash", record.program.hash),
        ("written", f"{record.output}: {', '.join(record.files)}"),
        *(("note", note) for note in record.notes),
    ]
    for title, text in rows:
        if record.folded is None or title not in ("program", "written"):
            out.print(f"{title:<10} {text}", markup=False)
    if record.folded is not None:
        print_folded(record.folded, out)


def print_measured(record: MeasuredRecord, out: Console) -> None:
    """Print a line for each configuration, and the reason for each that is skipped."""
    more = measured_columns(record)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (*_COLUMNS, *more):
        table.add_column(name, justify="left" if name == "name" else "right")
    for one in record.measured:
        if one.refused is None:
            table.add_row(*_cells(one), *(column(one) for column in more.values()))
    out.print(table)
    for one in record.measured:
        if one.refused is not None:
            out.print(f"left out   {one.name}: {one.refused}", markup=False)
    for by, names in record.curves.items():
        out.print(f"curve      by {by}: {', '.join(names)}", markup=False)
    for note in measured_notes(record):
        out.print(f"note       {note}", markup=False)
    if record.output is not None:
        out.print(f"written    {record.output}", markup=False)
    out.print(verdict_text(record.verdict, record.message))


def measured_columns(record: MeasuredRecord) -> dict[str, Callable[[Measured], str]]:
    """Return, by title, the columns that only some records have."""
    found: dict[str, Callable[[Measured], str]] = {}
    if record.sharpened:
        found["reached"] = lambda one: f"{max(one.reached or [0.0]):g}"
    kinds = dict.fromkeys(kind for one in record.measured for kind, count in (one.cells or {}).items() if count)
    for kind in kinds:
        found[kind] = lambda one, kind=kind: str((one.cells or {}).get(kind, 0))  # type: ignore[misc]
    if kinds:
        found["depth"] = lambda one: str(one.depth)
    if any(one.cycles is not None for one in record.measured):
        found["cycles"] = lambda one: "" if one.cycles is None else str(one.cycles)
    return found


def measured_notes(record: MeasuredRecord) -> list[str]:
    """Return the notes on each configuration, and the outputs for which the solver left a gap, by configuration."""
    notes = [f"{one.name}: {note}" for one in record.measured for note in one.notes]
    for one in record.measured:
        if one.unfinished:
            outputs = ", ".join(map(str, one.unfinished))
            notes.append(
                f"{one.name}: the solver did not close the gap between reached value and bound of outputs {outputs}"
            )
    return list(dict.fromkeys(notes))


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
    out.print(f"tried      {counted(record.tried, 'configuration')} on {record.data}", markup=False)
    out.print(f"written    {record.output}: {', '.join(record.configurations)}", markup=False)
    out.print(verdict_text(record.verdict, record.message))
