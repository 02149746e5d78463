"""The record of ``fuzz`` as text."""

from __future__ import annotations

from rich.console import Console

from dais_verif.counts import counted
from dais_verif.record.fuzzing import FuzzRecord

__all__ = ["print_fuzzing"]


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
