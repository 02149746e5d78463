"""A regression on the terminal: failures first, each with the command that reproduces it, then the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dais_verif.record.regression import JobResult, RegressionRecord, failures_first
from dais_verif.report.console import verdict_text
from dais_verif.verdict import Verdict

__all__ = ["print_regression"]

#: The number of failures that are printed; the record has all of them.
_SHOWN = 20


def print_regression(record: RegressionRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    jobs = failures_first(record.jobs)
    failed = [result for result in jobs if result.verdict is not Verdict.PASS and result.attempts]
    for result in failed[:_SHOWN]:
        _print_failure(result, out)
    if len(failed) > _SHOWN:
        out.print(f"... {len(failed) - _SHOWN} more failures in the record\n", markup=False)
    for result in jobs:
        if result.flaky and result.verdict is Verdict.PASS:
            out.print(f"flaky      {result.job.id}: {result.message}", markup=False)
    if jobs:
        out.print(_table(jobs))
    for warning in record.warnings:
        out.print(f"warning    {warning}", markup=False)
    out.print(verdict_text(record.verdict, record.message))
    if record.verdict is not Verdict.PASS:
        out.print(f"reproduce  {record.reproduce}", markup=False)


def _print_failure(result: JobResult, out: Console) -> None:
    out.print(verdict_text(result.verdict, result.job.id))
    out.print(f"  {result.message}", markup=False)
    if result.blame:
        out.print(f"  {result.blame}", markup=False)
    out.print(f"  reproduce  {result.reproduce}\n", markup=False)


def _table(jobs: Sequence[JobResult]) -> Table:
    """Return the numbers of passed and failed jobs by variant and simulator, in order of the first job."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for result in jobs:
        counts = rows.setdefault((result.job.variant, result.job.simulator), Counter())
        counts["jobs"] += 1
        counts["passed"] += result.verdict is Verdict.PASS
        counts["failed"] += result.verdict is not Verdict.PASS and bool(result.attempts)
        counts["flaky"] += result.flaky
        counts["bits compared"] += result.bits_compared
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("variant", "simulator"):
        table.add_column(name)
    numbers = ("jobs", "passed", "failed", "flaky", "bits compared")
    for name in numbers:
        table.add_column(name, justify="right")
    for (variant, simulator), counts in rows.items():
        table.add_row(variant, simulator, *(str(counts[name]) for name in numbers))
    return table
