"""``dais-verif check``: is it a valid program, what is in it, and can anything overflow?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from dais_verif.cli.common import console, json_option, layout_option, program_argument, seconds
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import Verb
from dais_verif.flows.check import CheckRequest
from dais_verif.flows.check import check as run_check
from dais_verif.record.check import CheckRecord, Overflow

_SHOWN = 10


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--all", "show_all", is_flag=True, help=f"List every op concerned, not only the first {_SHOWN}.")
@click.option("--proof/--no-proof", default=True, show_default=True, help="Examine what intervals leave possible.")
@click.option(
    "--timeout",
    type=seconds,
    default=5.0,
    show_default=True,
    help="Seconds for each question to the solver.",
)
@json_option
def check(program: Path, layout: str | None, show_all: bool, proof: bool, timeout: float, as_json: bool) -> int:
    """Read PROGRAM, check its structure, and say what intervals prove about overflow.

    \b
    For every op that promises not to change its value (add, sub, add_const, const, mul, lookup, bitwise):
      proved     no input can make it overflow or lose a fraction
      possible   intervals cannot exclude it: then a proof is tried, over the ops before it and down to the inputs
                 (at most 200 ops; --all: all of them)
      broken     that found an input that breaks it: PROGRAM_INVALID, exit code 2
      undecided  it did neither: UNKNOWN, exit code 6; run and sim check such ops on every vector
      certain    every input breaks it: PROGRAM_INVALID, exit code 2
    With --no-proof what is possible stays so, and PASS speaks of the structure and of what is certain alone.
    """
    request = CheckRequest(program=program, layout=layout, proof=proof, everything=show_all, timeout=timeout)
    record = run_check(request, progress=TerminalProgress())
    if as_json:
        click.echo(record.to_json())
    else:
        _print(record, show_all)
    return record.verdict.exit_code


def _print(record: CheckRecord, show_all: bool) -> None:
    out, info, overflow = console(), record.program, record.overflow
    assumed = " (assumed)" if info.layout_assumed else ""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    rows = [
        ("program", info.path),
        ("hash", info.hash),
        ("layout", f"{info.layout}{assumed}"),
        ("shape", f"{info.n_in} inputs, {info.n_out} outputs, {info.n_ops} ops"),
        ("ports", f"model_inp {record.ports.model_inp} bits, model_out {record.ports.model_out} bits"),
        ("ops", ", ".join(f"{name.split()[1]} {count}" for name, count in record.opcodes.items()) or "none"),
        ("tables", ", ".join(map(str, record.tables)) or "none"),
        ("widths", f"up to {record.width.max} bits, {record.width.zero} ops of width 0"),
        ("depth", f"{record.depth} ops"),
        ("dead ops", _listing(record.dead_ops, show_all)),
        ("overflow", f"{overflow.proved_impossible} ops proved safe from {overflow.inputs} of the inputs"),
        ("  possible", _listing(overflow.possible, show_all)),
        *_proof_rows(overflow, show_all),
        ("  certain", _listing(overflow.certain, show_all)),
    ]
    if record.meaningless_data:
        rows.append(("note", f"data without meaning kept in ops {_listing(record.meaningless_data, show_all)}"))
    for name, value in rows:
        table.add_row(name, str(value))
    out.print(table, markup=False)
    out.print(f"{record.verdict.value}: {record.message}")


def _proof_rows(overflow: Overflow, show_all: bool) -> list[tuple[str, str]]:
    """What became of the possible ones, if somebody asked."""
    if overflow.proved_by_proof is None or overflow.broken is None:
        return []
    rows = [("    proved safe", _listing(overflow.proved_by_proof, show_all))]
    rows.append(("    broken", _listing(overflow.broken, show_all)))
    if overflow.broken:
        first = overflow.broken[0]
        rows.append((f"      op {first.op}", f"by inputs {', '.join(first.inputs or [])}"))
    if overflow.undecided:
        rows.append(("    undecided", _listing(overflow.undecided, show_all)))
    return rows


def _listing(items: Sequence[object], show_all: bool) -> str:
    if not items:
        return "none"
    shown = items if show_all else items[:_SHOWN]
    more = f", ... {len(items) - len(shown)} more (--all)" if len(shown) < len(items) else ""
    return f"{len(items)}: {', '.join(map(str, shown))}{more}"
