"""``dais-verif coverage``: which of the things that a program can do some vectors make it do."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    inputs_option,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    program_argument,
    reproduce,
    seed_option,
    tell_written,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.verb import FiniteRange
from dais_verif.files import make_folder, write_atomically
from dais_verif.flows.covering import DIRECTED
from dais_verif.flows.vectors import decimal_rows
from dais_verif.report.coverage import Coverage
from dais_verif.report.coverage_record import COVERAGE_SCHEMA
from dais_verif.report.record import ProgramInfo
from dais_verif.stimulus import Generated, Stimulus, read_batch
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.coverage import Measured


@click.command(cls=GroupedCommand)
@program_argument
@layout_option
@vectors_option(1000)
@seed_option
@inputs_option
@click.option(
    "--directed/--no-directed",
    default=True,
    show_default=True,
    help="Compute vectors from the program for bins that are open, and count them too.",
)
@click.option(
    "--unreachable/--no-unreachable", default=True, show_default=True, help="Show which bins no input whatever can hit."
)
@click.option("--floor", type=FiniteRange(0, 100), help="Percent below which the exit code is 7.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, max=1e9),
    default=10.0,
    show_default=True,
    help="Seconds for the solver, in all; without it the answer does not depend on the machine.",
)
@unchecked_option
@click.option("--out-of-range", is_flag=True, help="Inputs also beyond the intervals that da4ml's JSON declares.")
@jobs_option
@click.option(
    "-o", "--output", type=file_path, help="Folder for coverage.json, open.csv, unreachable.csv, directed.csv."
)
@html_option
@json_option
def coverage(
    program: Path,
    layout: str | None,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    directed: bool,
    unreachable: bool,
    floor: float | None,
    timeout: float,
    unchecked: bool,
    out_of_range: bool,
    jobs: int | None,
    output: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Count what vectors make PROGRAM do: bits, signs, mux arms, wraps, table entries of every op and output.

    \b
    dais-verif coverage prog.bin                          of generated vectors, then directed ones
    dais-verif coverage prog.bin --no-directed            of generated ones alone
    dais-verif coverage prog.bin --vectors 0 --inputs x.npy --no-directed     of yours
    dais-verif coverage prog.bin --floor 95               exit code 7 below 95 %
    dais-verif coverage prog.bin -o out                   all bins that are open or unreachable; directed.csv

    A bin is one thing that should happen at least once: that bit 3 of an op is 1, that a relu's operand is exactly 0.
    Every bin is hit, shown to be unreachable, or open. The percentage is of those that are not unreachable.
    """
    from dais_verif.coverage import Effort, measured, summary
    from dais_verif.golden.fast import threads

    loaded, warnings = load_program(program, layout)
    given = [read_batch(path, loaded.n_in) for path in inputs]
    stimulated = replace(loaded, intervals=None) if out_of_range else loaded
    with notices().status("counting coverage") as status:
        found = measured(
            stimulated,
            Stimulus([*given, Generated([stimulated], vectors, seed)]),
            directed=directed,
            unreachable=unreachable,
            seed=seed,
            check=not unchecked,
            declared=not out_of_range,
            effort=Effort(seconds=timeout),
            jobs=threads(jobs),
            notice=status.update,
        )
    result = summary(found)
    verdict, message = _verdict(result, floor)
    tree = {
        "schema": COVERAGE_SCHEMA,
        "verdict": verdict.value,
        "exit_code": verdict.exit_code,
        "message": message,
        "program": asdict(ProgramInfo.of(loaded)),
        "seed": seed,
        "unchecked": unchecked,
        "warnings": warnings,
        "reproduce": reproduce(),
        "coverage": asdict(result),
    }
    if output is not None:
        make_folder(output)
        (output / DIRECTED).unlink(missing_ok=True)
        write_atomically(output / "coverage.json", _json(tree))
        for name, text in _files(found).items():
            write_atomically(output / name, text.encode())
        tell_written(output, "the record, and the bins as CSV")
    if as_json:
        click.echo(_json(tree), nl=False)
    else:
        _print(found, result, tree, verdict)
    if html is not None:
        from dais_verif.report.html import source_of, write_report

        kept = None if output is None else output / "coverage.json"
        write_report([source_of(_json(tree), kept)], loaded, html)
        tell_written(html, "the record as a page")
    return verdict.exit_code


def _json(tree: dict[str, Any]) -> bytes:
    return (json.dumps(tree, indent=2) + "\n").encode()


def _verdict(result: Coverage, floor: float | None) -> tuple[Verdict, str]:
    from dais_verif.report.coverage_text import coverage_line

    bins = sum(group.bins for group in result.groups)
    if not bins:
        return Verdict.NOT_RUN, "nothing was counted: nothing in the program has a bit"
    if not result.vectors:
        return Verdict.NOT_RUN, "nothing was counted: there was no vector"
    line = coverage_line(result)
    if floor is not None and result.percent < floor:
        return Verdict.NOT_SIGNED_OFF, f"{line}; the floor is {floor:g} %"
    return Verdict.PASS, line


def _print(found: Measured, result: Coverage, tree: dict[str, Any], verdict: Verdict) -> None:
    from dais_verif.report.console import program_line, verdict_text
    from dais_verif.report.coverage_text import print_coverage

    out, program = console(), found.bins.program
    out.print(f"program    {program_line(ProgramInfo(**tree['program']))}", markup=False)
    more = f", {result.directed} of them directed" if result.directed else ""
    out.print(f"stimulus   {result.vectors} vectors{more}, seed {tree['seed']}", markup=False)
    print_coverage(result, out, mnemonics={op.index: op.spec.mnemonic for op in program.ops})
    out.print(verdict_text(verdict, tree["message"]))
    if verdict is not Verdict.PASS:
        out.print(f"reproduce  {tree['reproduce']}", markup=False)


def _files(found: Measured) -> dict[str, str]:
    """Every bin that is open, every one that is unreachable and how that was shown; the directed vectors."""
    from dais_verif.coverage import How

    never = (found.how != How.NOT).nonzero()[0].tolist()
    left = (~found.hit & (found.how == How.NOT)).nonzero()[0].tolist()
    rows = [[found.bins.text(bin), How(found.how[bin]).name.lower()] for bin in never]
    return {
        "open.csv": _csv([["bin"], *([found.bins.text(bin)] for bin in left)]),
        "unreachable.csv": _csv([["bin", "shown by"], *rows]),
        **({DIRECTED: decimal_rows(found.directed)} if found.directed.rows else {}),
    }


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
