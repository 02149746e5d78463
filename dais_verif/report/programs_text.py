"""The content of a program and the overflow analysis, as text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from dais_verif.base.text import counted
from dais_verif.record.check import CheckRecord, Overflow
from dais_verif.record.coverage import CoverageRecord
from dais_verif.record.diff import DiffRecord, FrameInfo, FrameValue, OpDifference, OutputDifference
from dais_verif.record.sensitivity import FlipEffect, FlippedBit, SensitivityRecord
from dais_verif.report.console import program_line, verdict_text
from dais_verif.report.coverage_text import print_coverage
from dais_verif.spec.program import Program

__all__ = ["SHOWN", "print_check", "print_coverage_record", "print_diff", "print_sensitivity"]


#: The number of ops that are listed per kind of finding.
SHOWN = 10


def print_check(record: CheckRecord, out: Console, *, everything: bool = False) -> None:
    """Print ``record``; ``everything``: print all ops concerned, not only the first ``SHOWN``."""
    info, ports, overflow = record.program, record.ports, record.overflow
    alir = info.layout == "alir"
    assumed = " (assumed)" if info.layout_assumed else ""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    rows: list[tuple[str, object]] = [
        ("program", info.path),
        *([] if record.project is None else [("project", str(record.project))]),
        ("hash", info.hash),
        ("layout", f"{info.layout}, spec {record.spec_version}" if alir else f"{info.layout}{assumed}"),
        ("shape", f"{counted(info.n_in, 'input')}, {counted(info.n_out, 'output')}, {counted(info.n_ops, 'op')}"),
        ("ports", f"model_inp {counted(ports.model_inp, 'bit')}, model_out {counted(ports.model_out, 'bit')}"),
        ("ops", ", ".join(f"{_name(name, alir)} {count}" for name, count in record.opcodes.items()) or "none"),
        ("tables", ", ".join(map(str, record.tables)) or "none"),
        ("widths", f"up to {counted(record.width.max, 'bit')}, {counted(record.width.zero, 'op')} of width 0"),
        ("depth", counted(record.depth, "op")),
        ("dead ops", _listing(record.dead_ops, everything)),
        ("overflow", f"{counted(overflow.proved_impossible, 'op')} proved safe from {overflow.inputs} of the inputs"),
        ("  possible", _listing(overflow.possible, everything)),
        *_proof_rows(overflow, everything),
        ("  certain", _listing(overflow.certain, everything)),
    ]
    if record.meaningless_data:
        rows.append(("note", f"data without meaning kept in ops {_listing(record.meaningless_data, everything)}"))
    if record.machine is not None:
        rows = _machine_rows(record, rows, everything)
    for name, value in rows:
        table.add_row(name, str(value))
    out.print(table, markup=False)
    if record.network is not None:
        for line in record.network.text().splitlines():
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    out.print(f"{record.verdict.value}: {record.message}")


def _name(opcode: str, alir: bool) -> str:
    """Return the name of the opcode; for ALIR also its number, because -2, 3 and 4 differ from those of DAIS."""
    number, word = opcode.split()
    return f"{word} ({number})" if alir else word


#: Rows that are also shown for machines.
_OF_ALL = ("program", "hash", "layout", "ops", "tables", "widths", "overflow", "  possible", "  certain")


def _machine_rows(
    record: CheckRecord, rows: Sequence[tuple[str, object]], everything: bool
) -> list[tuple[str, object]]:
    """Return the rows of a machine: its parts instead of the shape of a program."""
    of = record.machine
    assert of is not None
    parts = [
        ("blocks", ", ".join(f"{name} {ops}" for name, ops in of.blocks.items()) or "none"),
        ("registers", f"{of.registers} of {of.state_bits} bits, {of.connections} connections"),
        ("uninitialised", _listing(of.uninitialised, everything)),
        ("inputs", ", ".join(f"{name}[{n}]" for name, n in of.inputs.items()) or "none"),
        ("outputs", ", ".join(f"{name}[{n}]" for name, n in of.outputs.items()) or "none"),
        ("depth", f"{counted(record.depth, 'op')} in one cycle"),
    ]
    kept = [row for row in rows if row[0] in _OF_ALL]
    return [*kept[:3], *parts, *kept[3:]]


def _proof_rows(overflow: Overflow, everything: bool) -> list[tuple[str, str]]:
    """Return how possible overflows were decided, if a proof was requested."""
    if overflow.proved_by_proof is None or overflow.broken is None:
        return []
    rows = [("    proved safe", _listing(overflow.proved_by_proof, everything))]
    rows.append(("    broken", _listing(overflow.broken, everything)))
    if overflow.broken:
        first = overflow.broken[0]
        rows.append((f"      op {first.op}", f"by inputs {', '.join(first.inputs or [])}"))
    if overflow.undecided:
        rows.append(("    undecided", _listing(overflow.undecided, everything)))
    return rows


def _listing(items: Sequence[object], everything: bool) -> str:
    if not items:
        return "none"
    shown = items if everything else items[:SHOWN]
    more = f", ... {len(items) - len(shown)} more (--all)" if len(shown) < len(items) else ""
    return f"{len(items)}: {', '.join(map(str, shown))}{more}"


# The first difference between two programs, as text.


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


# The effects of flipped bits on the outputs, as text.


_SHOWN = 10
#: The width limit of a table, in characters: output may also go to files and pipes, where nothing may be truncated.
_WIDTH = 10_000


def print_sensitivity(record: SensitivityRecord, out: Console, *, top: int) -> None:
    """Print ``record``, with the ``top`` worst ops."""
    count, bits = record.count, record.bits
    unchecked = ", overflow unchecked" if record.unchecked else ""
    what = "every bit" if bits else "the last bit"
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    out.print(f"stimulus   {counted(record.vectors, 'vector')}, seed {record.seed}{unchecked}", markup=False)
    out.print(f"flipped    {what} of every op, one at a time, in every vector", markup=False)
    worst_of_ops: dict[int, FlipEffect] = {}
    for effect in record.effects:
        worst_of_ops.setdefault(effect.op, effect)
    shown = list(worst_of_ops.values())[:top]
    if shown:
        out.width = _WIDTH
        out.print(_table(record, shown))
    if len(shown) < len(worst_of_ops):
        out.print(f"... {len(worst_of_ops) - len(shown)} more ops (--top, or -o for all)", markup=False)
    if bits and shown:
        out.print("bits, most significant first: # matters, . silent, - dead", markup=False)
    silent = [effect for effect in record.effects if not effect.changed]
    total = count.matter + count.silent + count.dead
    out.print(f"matter     {count.matter} of {total} bits: flipping them changes an output on some vector")
    out.print(f"silent     {count.silent}: no vector shows it, another might{_bits_listed(silent, bits)}")
    out.print(
        f"dead       {count.dead}: no output depends on it, whatever the vectors{_bits_listed(record.dead, bits)}"
    )
    if not record.passed:
        out.print(verdict_text(record.verdict, record.message))


def _table(record: SensitivityRecord, effects: Sequence[FlipEffect]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("op", "", "type", *(("bits", "worst bit") if record.bits else ())):
        table.add_column(name, justify="right" if name in ("op", "worst bit") else "left")
    for name in ("worst change", "output", "vector", "mean change", "vectors changed"):
        table.add_column(name, justify="right")
    patterns = _patterns(record) if record.bits else {}
    for effect in effects:
        table.add_row(
            str(effect.op),
            effect.mnemonic,
            effect.type,
            *((patterns[effect.op], str(effect.bit)) if record.bits else ()),
            effect.worst,
            "-" if effect.output is None else str(effect.output),
            "-" if effect.vector is None else str(effect.vector),
            _about(effect.mean),
            str(effect.changed),
        )
    return table


def _patterns(record: SensitivityRecord) -> dict[int, str]:
    """Return one character per bit for every op, most significant first."""
    bits: dict[int, dict[int, str]] = {}
    for effect in record.effects:
        bits.setdefault(effect.op, {})[effect.bit] = "#" if effect.changed else "."
    for flip in record.dead:
        bits.setdefault(flip.op, {})[flip.bit] = "-"
    return {op: "".join(known[bit] for bit in sorted(known, reverse=True)) for op, known in bits.items()}


def _about(text: str) -> str:
    """Return an exact number to six digits, or unchanged if it has no float equivalent."""
    try:
        value = Fraction(*(int(part, 16) for part in text.split("/"))) if "x" in text else Fraction(text)
        near = float(value)
    except OverflowError:
        return text
    return f"{near:.6g}" if near or not value else text


def _bits_listed(flips: Sequence[FlippedBit], bits: bool) -> str:
    named = [f"op {flip.op}" + (f" bit {flip.bit}" if bits else "") for flip in flips[:_SHOWN]]
    more = f", ... {len(flips) - _SHOWN} more" if len(flips) > _SHOWN else ""
    return f" ({', '.join(named)}{more})" if flips else ""


# The record of ``coverage``, as text: program, vectors, bins, verdict.


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
