"""``dais-verif check``: is it a valid program, what is in it, and can anything overflow?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from dais_verif.cli.common import console, json_option, layout_option, load_program, program_argument
from dais_verif.program import OPCODES, Program
from dais_verif.program.checks import meaningless_data
from dais_verif.program.graph import dead_ops, depths
from dais_verif.program.ports import ports_of
from dais_verif.program.ranges import Analysis, Status, analyse
from dais_verif.report.record import SCHEMA, ProgramInfo
from dais_verif.verdict import Verdict

_SHOWN = 10


@click.command()
@program_argument
@layout_option
@click.option("--all", "show_all", is_flag=True, help=f"List every op concerned, not only the first {_SHOWN}.")
@json_option
def check(program: Path, layout: str | None, show_all: bool, as_json: bool) -> int:
    """Read PROGRAM, check its structure, and say what intervals prove about overflow.

    \b
    For every op that promises not to change its value (add, sub, add_const, const, mul, lookup, bitwise):
      proved     no input can make it overflow or lose a fraction
      possible   intervals cannot exclude it; run and sim check it on every vector
      certain    every input breaks it: the program is invalid (exit code 2)
    """
    loaded, warnings = load_program(program, layout)
    facts = _facts(loaded, warnings)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        _print(loaded, facts, show_all)
    return Verdict[str(facts["verdict"])].exit_code


def _facts(program: Program, warnings: list[str]) -> dict[str, Any]:
    analysis = analyse(program, declared=True)
    certain = analysis.promises(Status.CERTAIN)
    widths = [op.type.width for op in program.ops]
    ports = ports_of(program)
    verdict = Verdict.PROGRAM_INVALID if certain else Verdict.PASS
    info = ProgramInfo.of(program)
    return {
        "schema": SCHEMA,
        "verdict": verdict.value,
        "exit_code": verdict.exit_code,
        "program": info.__dict__,
        "warnings": warnings,
        "spec_version": program.origin.spec_version,
        "firmware_version": program.origin.firmware_version,
        "tables": [len(table) for table in program.tables],
        "opcodes": _histogram(program),
        "width": {"max": max(widths, default=0), "zero": widths.count(0), "sum": sum(widths)},
        "widths": {str(width): count for width, count in sorted(Counter(widths).items())},
        "depth": max(depths(program), default=0),
        "ports": {"model_inp": max(ports.input_bits, 1), "model_out": max(ports.output_bits, 1)},
        "dead_ops": dead_ops(program),
        "meaningless_data": meaningless_data(program).tolist(),
        "overflow": {
            "proved_impossible": len(analysis.promises(Status.SAFE)),
            "possible": _suspects(analysis, Status.POSSIBLE),
            "certain": _suspects(analysis, Status.CERTAIN),
            "inputs": "declared intervals" if program.intervals else "types",
        },
    }


def _histogram(program: Program) -> dict[str, int]:
    counts = Counter(program.columns.code.tolist())
    return {f"{code} {OPCODES[code].mnemonic}": counts[code] for code in sorted(counts)}


def _suspects(analysis: Analysis, status: Status) -> list[dict[str, Any]]:
    ops = analysis.program.ops
    return [{"op": i, "mnemonic": ops[i].spec.mnemonic, "type": str(ops[i].type)} for i in analysis.promises(status)]


def _print(program: Program, facts: dict[str, Any], show_all: bool) -> None:
    out = console()
    info, overflow = facts["program"], facts["overflow"]
    assumed = " (assumed)" if info["layout_assumed"] else ""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    rows = [
        ("program", info["path"]),
        ("hash", info["hash"]),
        ("layout", f"{info['layout']}{assumed}"),
        ("shape", f"{program.n_in} inputs, {program.n_out} outputs, {program.n_ops} ops"),
        (
            "ports",
            f"model_inp {facts['ports']['model_inp']} bits, model_out {facts['ports']['model_out']} bits",
        ),
        (
            "ops",
            ", ".join(f"{name.split()[1]} {count}" for name, count in facts["opcodes"].items()) or "none",
        ),
        ("tables", ", ".join(map(str, facts["tables"])) or "none"),
        ("widths", f"up to {facts['width']['max']} bits, {facts['width']['zero']} ops of width 0"),
        ("depth", f"{facts['depth']} ops"),
        ("dead ops", _listing(facts["dead_ops"], show_all)),
        (
            "overflow",
            f"{overflow['proved_impossible']} ops proved safe from {overflow['inputs']} of the inputs",
        ),
        ("  possible", _listing([_named(item) for item in overflow["possible"]], show_all)),
        ("  certain", _listing([_named(item) for item in overflow["certain"]], show_all)),
    ]
    if facts["meaningless_data"]:
        rows.append(("note", f"data without meaning kept in ops {_listing(facts['meaningless_data'], show_all)}"))
    for name, value in rows:
        table.add_row(name, str(value))
    out.print(table, markup=False)
    out.print(f"{facts['verdict']}: " + ("the program is valid" if facts["exit_code"] == 0 else "see certain overflow"))


def _named(item: dict[str, Any]) -> str:
    return f"op {item['op']} ({item['mnemonic']} {item['type']})"


def _listing(items: list[Any], show_all: bool) -> str:
    if not items:
        return "none"
    shown = items if show_all else items[:_SHOWN]
    more = f", ... {len(items) - len(shown)} more (--all)" if len(shown) < len(items) else ""
    return f"{len(items)}: {', '.join(map(str, shown))}{more}"
