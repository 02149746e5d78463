"""The first difference between two programs, as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.diff import DiffRecord, FrameInfo, FrameValue, OpDifference, OutputDifference
from dais_verif.report.console import program_line, verdict_text

__all__ = ["print_diff"]


def print_diff(record: DiffRecord, out: Console) -> None:
    """Print ``record`` as text for users."""
    unchecked = ", overflow unchecked" if record.unchecked else ""
    out.print(f"a          {program_line(record.a)}", markup=False)
    out.print(f"b          {program_line(record.b)}", markup=False)
    first, difference = record.first_different_op, record.difference
    if record.frame:
        pass  # the ops of a frame's program are not ops of the machine
    elif record.identical:
        out.print(f"structure  the same program, hash {record.a.hash}", markup=False)
    elif first is None:
        out.print("structure  all ops are the same; outputs, or what no op uses, differ", markup=False)
    else:
        out.print(f"structure  op {first.op} is the first that is not the same in both", markup=False)
        for name, words in (("a", first.a), ("b", first.b)):
            out.print(f"           {name}: {words or 'has no such op'}", markup=False)
    out.print(f"stimulus   {counted(record.vectors, 'vector')}, seed {record.seed}{unchecked}", markup=False)
    if record.frame:
        of = record.frame
        shown = [of.stalled and "a stall changes nothing", of.reset and "a frame can begin after a reset"]
        stalled = "".join(f", and {words}" for words in shown if words)
        out.print(
            f"frame      {counted(of.cycles, 'cycle')} as {counted(of.ops, 'op')},"
            f" {counted(len(of.free), 'input')} left open{stalled}",
            markup=False,
        )
    if record.proof:
        methods = ", ".join(f"{name} {count}" for name, count in record.proof.methods.items())
        merged, seconds = record.proof.merged_ops, record.proof.seconds
        out.print(f"proof      {counted(merged, 'op')} of b equal one of a ({methods}), {seconds:.1f} s", markup=False)
    if record.frame and record.frame.output and difference:
        _print_sequence(record.frame, difference, out)
    elif difference:
        _print_difference(difference, out)
    out.print(verdict_text(record.verdict, record.message))
    if difference:
        out.print(f"reproduce  {record.reproduce}", markup=False)
    if record.replay:
        out.print(f"replay     {record.replay}", markup=False)


#: The number of values of a sequence that are printed; its file holds all of them.
_MOST_VALUES = 32


def _print_sequence(frame: FrameInfo, difference: OutputDifference, out: Console) -> None:
    """Print the inputs of a machine, cycle by cycle, and the difference in the last cycle."""
    values, output = frame.witness or [], frame.output
    assert output is not None
    begin = "in some state" if frame.frame is None else "from power-up"
    out.print(f"\ndifference {_at(output)}, {begin}: {difference.a.real}, must be {difference.b.real}", markup=False)
    out.print("sequence   inputs that are neither held nor in this list are 0", markup=False)
    for value in values[:_MOST_VALUES]:
        out.print(f"           {_at(value)} = {value.value}", markup=False)
    if len(values) > _MOST_VALUES:
        out.print(f"           and {len(values) - _MOST_VALUES} more", markup=False)


def _at(value: FrameValue) -> str:
    return f"{value.signal} at the start" if value.cycle is None else f"{value.signal} in cycle {value.cycle}"


def _print_difference(difference: OutputDifference, out: Console) -> None:
    out.print(f"\nfirst difference: vector {difference.vector}, output {difference.output}", markup=False)
    if difference.witness != difference.inputs:
        out.print("a simpler vector shows it as well", markup=False)
    out.print(f"witness    {', '.join(difference.witness)}", markup=False)
    rows: list[tuple[str, OutputDifference | OpDifference]] = [(f"output {difference.output}", difference)]
    op = difference.op
    if op:
        rows.append((f"op {op.op} ({op.mnemonic})", op))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "a", "type in a", "b", "type in b"):
        table.add_column(heading)
    for name, values in rows:
        table.add_row(name, values.a.real, values.a.type, values.b.real, values.b.type)
    out.print(table)
    if op:
        out.print(f"inside     op {op.op} is the first whose value differs there", markup=False)
