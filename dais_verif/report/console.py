"""A record on the terminal: the verdict first, then what was compared, then the first mismatch."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dais_verif.report.record import Mismatch, ProgramInfo, Record, Value
from dais_verif.verdict import Verdict

__all__ = ["print_record", "program_line", "verdict_text"]

_STYLE = {Verdict.PASS: "bold green", Verdict.NOT_RUN: "bold yellow", Verdict.UNKNOWN: "bold yellow"}
_SHOWN_INPUTS = 32
_SHOWN_BITS = 128


def print_record(record: Record, out: Console) -> None:
    """Print ``record`` for a person."""
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    source = "emitted from the program" if record.rtl["emitted"] else ", ".join(record.rtl["files"])
    out.print(f"rtl        module {record.rtl['top']}, {source}", markup=False)
    out.print(f"stimulus   {record.vectors} vectors, seed {record.seed}{_unchecked(record)}", markup=False)
    if record.simulators:
        out.print(_simulators(record))
    if record.first_mismatch is not None:
        _print_mismatch(record.first_mismatch, out)
    out.print(verdict_text(record.verdict, record.message))
    if record.verdict is not Verdict.PASS:
        out.print(f"reproduce  {record.reproduce}", markup=False)


def program_line(program: ProgramInfo) -> str:
    """Which program it is and how large, in one line."""
    assumed = " (layout assumed)" if program.layout_assumed else ""
    shape = f"{program.n_in} inputs, {program.n_out} outputs, {program.n_ops} ops"
    return f"{program.path}  {program.layout}{assumed}, {shape}"


def verdict_text(verdict: Verdict, message: str) -> Text:
    """The last word of a run: the verdict, in its colour, and why."""
    return Text.assemble(Text(verdict.value, style=_STYLE.get(verdict, "bold red")), "  ", message)


def _unchecked(record: Record) -> str:
    return ", overflow unchecked" if record.unchecked else ""


def _simulators(record: Record) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("simulator", "version", "vectors", "bits compared", "mismatches", "X", "build", "run"):
        table.add_column(name, justify="left" if name in ("simulator", "version") else "right")
    for s in record.simulators:
        if s.failure:
            table.add_row(s.name, Text("failed", style="red"), "-", "-", "-", "-", "-", "-")
            continue
        version = (s.version or "").split(" ")[0]
        counts = (s.vectors_compared, s.bits_compared, s.mismatches, s.vectors_with_x)
        times = (f"{s.build_seconds:.1f} s", f"{s.run_seconds:.1f} s")
        table.add_row(s.name, version, *map(str, counts), *times)
    return table


def _print_mismatch(mismatch: Mismatch, out: Console) -> None:
    out.print(
        f"\nfirst mismatch: vector {mismatch.row}, output {mismatch.output}, in {mismatch.simulator}",
        markup=False,
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "real", "raw", "bits"):
        table.add_column(name, overflow="fold")
    for given in mismatch.inputs[:_SHOWN_INPUTS]:
        table.add_row(f"input {given.index}", given.real, "", _cut(given.bits))
    if len(mismatch.inputs) > _SHOWN_INPUTS:
        table.add_row("", f"... {len(mismatch.inputs) - _SHOWN_INPUTS} more inputs in the record")
    _add_value(table, "expected", mismatch.expected)
    _add_value(table, "found", mismatch.found)
    blame = mismatch.blame
    if blame is not None and blame.expected is not None and blame.found is not None:
        _add_value(table, f"op {blame.op} expected", blame.expected)
        _add_value(table, f"op {blame.op} found", blame.found)
    out.print(table)
    if blame is not None:
        where = f" (type {blame.type})" if blame.type else ""
        out.print(f"blame      {blame.text}{where}", markup=False)


def _add_value(table: Table, name: str, value: Value) -> None:
    known = value.raw is not None
    table.add_row(name, value.real if known else "?", str(value.raw) if known else "?", _cut(value.bits))


def _cut(bits: str) -> str:
    return bits if len(bits) <= _SHOWN_BITS else f"{bits[:_SHOWN_BITS]}... ({len(bits)} bits)"
