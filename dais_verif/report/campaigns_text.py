"""A regression on the terminal: failures first, each with the command that reproduces it, then the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import (
    Fate,
    FuzzRecord,
    JobResult,
    MutantRow,
    MutationRecord,
    RegressionRecord,
    ShrinkRecord,
    failures_first,
)
from dais_verif.report.console import verdict_text

__all__ = ["print_fuzzing", "print_mutation", "print_regression", "print_shrinking"]


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


# The record of ``mutate`` as text.


#: Fates whose mutants are listed, in this order.
_TOLD = (Fate.UNSOUND, Fate.SURVIVED, Fate.PROOF, Fate.UNKNOWN)


def print_mutation(record: MutationRecord, out: Console) -> None:
    """Print the number of mutants by fate, the mutants that simulation did not kill, and the verdict."""
    judges = ", ".join(record.judges)
    out.print(
        f"mutants    {len(record.mutants)} of {record.possible}, seed {record.seed}; judged by {judges}", markup=False
    )
    out.print(f"vectors    {record.vectors} in {', '.join(record.simulators)}", markup=False)
    for kind, fates in record.kinds.items():
        counts = ", ".join(f"{fate} {count}" for fate, count in sorted(fates.items()))
        out.print(f"{kind:<12} {counts}", markup=False)
    for fate in _TOLD:
        rows = [row for row in record.mutants if row.fate == fate]
        if rows:
            out.print(f"\n{fate}: {len(rows)}", markup=False)
            for row in rows[:_SHOWN]:
                out.print(f"  {_line(row)}", markup=False)
            if len(rows) > _SHOWN:
                out.print(f"  and {len(rows) - _SHOWN} more: see the record", markup=False)
    for text in record.unexpected:
        out.print(f"unexpected {text}", markup=False)
    s = record.summary
    out.print(
        f"\nsummary    {counted(s.mutants, 'mutant')}: {s.killed_by_simulation} killed by simulation,"
        f" {s.killed_by_proof} by proof only,"
        f" {s.equivalent} equivalent, {s.unknown} unknown, {s.survived} survived, {s.unsound} unsound",
        markup=False,
    )
    if s.score is not None:
        out.print(f"score      {s.score:g} %", markup=False)
    out.print(f"verdict    {record.verdict.value}: {record.message}", markup=False)


def _line(row: MutantRow) -> str:
    op = "" if row.op is None else f" (op {row.op})"
    text = f"{row.file}:{row.line}{op}: {row.kind}: {row.old!r} -> {row.new!r}"
    return f"{text}; wrong for {','.join(row.inputs)}" if row.inputs else text


# The record of ``fuzz`` as text.


def print_fuzzing(record: FuzzRecord, out: Console) -> None:
    """Print the number of judged cases, a paragraph for each case that disagrees, and the verdict."""
    rate = f", {record.cases / record.seconds * 60:.0f} per minute" if record.shapes and record.seconds else ""
    until = f" from {record.first} on" if record.first else ""
    out.print(f"cases      {record.cases}{until}, seed {record.seed}, in {record.seconds:.1f} s{rate}", markup=False)
    for title, counts in (("pairs", record.pairs), ("undecided", record.undecided), ("shapes", record.shapes)):
        if counts:
            out.print(f"{title:<10} {', '.join(f'{name} {count}' for name, count in counts.items())}", markup=False)
    for case in record.found:
        size = f"{counted(case.ops, 'op')}, {counted(case.vectors, 'vector')}, {counted(case.times, 'time')}"
        size += "" if case.complete else ", not fully shrunk"
        out.print(f"\n{case.pair}: {case.kind} ({', '.join(case.opcodes)}; {size})", markup=False)
        out.print(f"  {case.text}", markup=False)
        out.print(f"  {case.folder}", markup=False)
    if record.left_out:
        out.print(f"\n{counted(record.left_out, 'more case')} like these not shrunk", markup=False)
    out.print(f"verdict    {record.verdict.value}: {record.message}", markup=False)


# The record of ``shrink`` as text.


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
