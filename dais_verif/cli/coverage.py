"""``dais-verif coverage``: which of the things that a program can do some vectors make it do."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    inputs_option,
    jobs_option,
    json_option,
    layout_option,
    program_argument,
    reproduce,
    seed_option,
    tell_written,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import FiniteRange
from dais_verif.flows.cover import CoverageRequest, cover
from dais_verif.program import Program
from dais_verif.record.coverage import CoverageRecord


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
    request = CoverageRequest(
        program=program,
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=inputs,
        directed=directed,
        unreachable=unreachable,
        floor=floor,
        timeout=timeout,
        unchecked=unchecked,
        out_of_range=out_of_range,
        jobs=jobs,
        output=output,
        command=reproduce(),
    )
    done = cover(request, progress=TerminalProgress())
    record = done.record
    if output is not None:
        tell_written(output, "the record, and the bins as CSV")
    if as_json:
        click.echo(record.to_json())
    else:
        _print(record, done.program)
    if html is not None:
        from dais_verif.report.html import Source, write_report

        write_report([Source(record, None if output is None else output / "coverage.json")], done.program, html)
        tell_written(html, "the record as a page")
    return record.verdict.exit_code


def _print(record: CoverageRecord, program: Program) -> None:
    from dais_verif.report.console import program_line, verdict_text
    from dais_verif.report.coverage_text import print_coverage

    out, coverage = console(), record.coverage
    out.print(f"program    {program_line(record.program)}", markup=False)
    more = f", {coverage.directed} of them directed" if coverage.directed else ""
    out.print(f"stimulus   {coverage.vectors} vectors{more}, seed {record.seed}", markup=False)
    print_coverage(coverage, out, mnemonics={op.index: op.spec.mnemonic for op in program.ops})
    out.print(verdict_text(record.verdict, record.message))
    if not record.passed:
        out.print(f"reproduce  {record.reproduce}", markup=False)
