"""The record of ``mutate`` as text."""

from __future__ import annotations

from rich.console import Console

from dais_verif.counts import counted
from dais_verif.record.campaigns.mutation import Fate, MutantRow, MutationRecord

__all__ = ["print_mutation"]

#: The number of mutants shown for each fate; the record lists all of them.
_SHOWN = 20
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
