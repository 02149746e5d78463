"""The content of a program and the overflow analysis, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.check import CheckRecord, Overflow

__all__ = ["SHOWN", "print_check"]

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
