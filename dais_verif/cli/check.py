"""``dais-verif check``: is it a valid program, what is in it, and can anything overflow?

What intervals cannot exclude is put to the prover, which proves that it never happens or finds an input for it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from dais_verif.cli.common import (
    console,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    progress,
    seconds,
)
from dais_verif.cli.verb import Verb
from dais_verif.flows.vectors import decimal, real_inputs
from dais_verif.program import OPCODES, Program
from dais_verif.program.checks import meaningless_data
from dais_verif.program.graph import dead_ops, depths
from dais_verif.program.ports import ports_of
from dais_verif.program.ranges import Analysis, Status, analyse
from dais_verif.report.record import SCHEMA, ProgramInfo
from dais_verif.verdict import Verdict

_SHOWN = 10
#: The most ops that a proof is tried of, if nobody asks for all.
_EXAMINED = 200


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
    loaded, warnings = load_program(program, layout)
    facts = _facts(loaded, warnings)
    if proof:
        _examine(loaded, facts["overflow"], timeout, show_all)
        verdict = _verdict(facts["overflow"])
        facts |= {"verdict": verdict.value, "exit_code": verdict.exit_code}
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


def _verdict(overflow: dict[str, Any]) -> Verdict:
    """What is known of all promises together."""
    if overflow["certain"] or overflow.get("broken"):
        return Verdict.PROGRAM_INVALID
    return Verdict.UNKNOWN if overflow.get("undecided") else Verdict.PASS


def _examine(program: Program, overflow: dict[str, Any], timeout: float, everything: bool) -> None:
    """Ask the prover of what is possible; add what it found."""
    suspects = [item["op"] for item in overflow["possible"]]
    if not suspects:
        return
    try:
        from dais_verif.prove.overflow import examine
        from dais_verif.prove.results import Options, Watcher
    except ImportError as error:
        notices().print(f"warning: {error.name} is missing: intervals are all that is known of overflow", markup=False)
        overflow |= {"proved_by_proof": [], "broken": [], "undecided": overflow["possible"]}
        return
    asked = suspects if everything else suspects[:_EXAMINED]
    with progress("examining promises") as tell:

        class Shown(Watcher):
            def progress(self, what: str, done: int, total: int) -> None:
                if what == "promises":
                    tell(done, total)

        found = examine(program, asked, Options(timeout=timeout, jobs=1), declared=True, watcher=Shown())
    kinds = {"PROVED": "proved_by_proof", "REFUTED": "broken", "UNKNOWN": "undecided"}
    for status, name in kinds.items():
        overflow[name] = [
            {
                **_named_op(program, promise.op),
                **({"how": promise.how} if promise.how else {}),
                **({"inputs": _reals(program, promise.vector)} if promise.vector is not None else {}),
            }
            for promise in found
            if promise.status.value == status
        ]
    overflow["undecided"] += [_named_op(program, index) for index in suspects[len(asked) :]]


def _reals(program: Program, vector: tuple[int, ...]) -> list[str]:
    """The inputs as exact numbers."""
    return [decimal(value) for value in real_inputs(program, vector)]


def _named_op(program: Program, index: int) -> dict[str, Any]:
    op = program.ops[index]
    return {"op": index, "mnemonic": op.spec.mnemonic, "type": str(op.type)}


def _histogram(program: Program) -> dict[str, int]:
    counts = Counter(program.columns.code.tolist())
    return {f"{code} {OPCODES[code].mnemonic}": counts[code] for code in sorted(counts)}


def _suspects(analysis: Analysis, status: Status) -> list[dict[str, Any]]:
    return [_named_op(analysis.program, index) for index in analysis.promises(status)]


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
        *_proof_rows(overflow, show_all),
        ("  certain", _listing([_named(item) for item in overflow["certain"]], show_all)),
    ]
    if facts["meaningless_data"]:
        rows.append(("note", f"data without meaning kept in ops {_listing(facts['meaningless_data'], show_all)}"))
    for name, value in rows:
        table.add_row(name, str(value))
    out.print(table, markup=False)
    broken, undecided = len(overflow.get("broken", [])), len(overflow.get("undecided", []))
    if overflow["certain"]:
        answer = "see certain overflow"
    elif broken:
        answer = f"{broken} op{'s' if broken > 1 else ''} can be made to break a promise by the inputs shown"
    elif undecided:
        answer = f"{undecided} promises are neither proved nor broken; --all or a longer --timeout may decide them"
    else:
        answer = "the program is valid"
    out.print(f"{facts['verdict']}: {answer}")


def _proof_rows(overflow: dict[str, Any], show_all: bool) -> list[tuple[str, str]]:
    """What became of the possible ones, if somebody asked."""
    if "broken" not in overflow:
        return []
    rows = [("    proved safe", _listing([_named(item) for item in overflow["proved_by_proof"]], show_all))]
    rows.append(("    broken", _listing([_named(item) for item in overflow["broken"]], show_all)))
    if overflow["broken"]:
        first = overflow["broken"][0]
        rows.append((f"      op {first['op']}", f"by inputs {', '.join(first['inputs'])}"))
    if overflow["undecided"]:
        rows.append(("    undecided", _listing([_named(item) for item in overflow["undecided"]], show_all)))
    return rows


def _named(item: dict[str, Any]) -> str:
    return f"op {item['op']} ({item['mnemonic']} {item['type']})"


def _listing(items: list[Any], show_all: bool) -> str:
    if not items:
        return "none"
    shown = items if show_all else items[:_SHOWN]
    more = f", ... {len(items) - len(shown)} more (--all)" if len(shown) < len(items) else ""
    return f"{len(items)}: {', '.join(map(str, shown))}{more}"
