"""The record of ``coverage``, as text: program, vectors, bins, verdict."""

from __future__ import annotations

from rich.console import Console

from dais_verif.counts import counted
from dais_verif.program import Program
from dais_verif.record.coverage import CoverageRecord
from dais_verif.report.console import program_line, verdict_text
from dais_verif.report.coverage_text import print_coverage

__all__ = ["print_coverage_record"]


def print_coverage_record(record: CoverageRecord, program: Program, out: Console) -> None:
    """Print ``record``, the coverage of ``program``, as text for users."""
    coverage = record.coverage
    out.print(f"program    {program_line(record.program)}", markup=False)
    more = f", {coverage.directed} of them directed" if coverage.directed else ""
    out.print(f"stimulus   {counted(coverage.vectors, 'vector')}{more}, seed {record.seed}", markup=False)
    print_coverage(coverage, out, mnemonics={op.index: op.spec.mnemonic for op in program.ops})
    out.print(verdict_text(record.verdict, record.message))
    if not record.passed:
        out.print(f"reproduce  {record.reproduce}", markup=False)
