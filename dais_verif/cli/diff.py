"""``dais-verif diff``: do two programs compute the same, and if not, where do they first differ?"""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from dais_verif.cli.common import (
    console,
    file_path,
    inputs_option,
    json_option,
    layout_option,
    output_path,
    reproduce,
    seconds,
    seed_option,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.flows.diff import DiffRequest
from dais_verif.flows.diff import diff as run_diff
from dais_verif.golden import ENGINES, Engine
from dais_verif.program import LAYOUTS
from dais_verif.record.diff import DiffRecord, OpDifference, OutputDifference
from dais_verif.report.console import program_line, verdict_text


@click.command(cls=GroupedCommand)
@click.argument("a", type=file_path)
@click.argument("b", type=file_path)
@layout_option
@click.option("--layout-b", type=click.Choice(LAYOUTS), help="Layout of B, if it is not that of A.")
@vectors_option(1000)
@seed_option
@inputs_option
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="Golden engine.")
@unchecked_option
@click.option(
    "--prove", is_flag=True, help="Where no vector shows a difference, prove that no input does, or find one."
)
@click.option(
    "--timeout",
    type=seconds,
    default=20.0,
    show_default=True,
    help="Seconds for each question of a proof.",
)
@click.option("-o", "--output", type=output_path, help="File for the witness, if there is one: .npy, else CSV.")
@json_option
def diff(
    a: Path,
    b: Path,
    layout: str | None,
    layout_b: str | None,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    engine: Engine,
    unchecked: bool,
    prove: bool,
    timeout: float,
    output: Path | None,
    as_json: bool,
) -> int:
    """Evaluate the programs A and B on the same vectors and compare their outputs as exact real numbers.

    \b
    dais-verif diff a.bin b.bin
    dais-verif diff a.bin b.json --vectors 100000 --seed 7
    dais-verif diff a.bin b.bin --inputs x.npy --vectors 0 -o witness.npy
    dais-verif diff a.bin b.bin --prove

    Both must have as many inputs and outputs; types and ops may differ. Generated vectors hold the corners of the
    input types of both.

    \b
    PASS              no difference on these vectors, which is no proof that there is none
    PROGRAMS_DIFFER   exit code 1; the first vector and output that differ, an input vector that shows it with as
                      many zeros and short numbers as were found, and the first op that differs
    PROGRAM_INVALID   exit code 2; A or B breaks a promise on a vector (--unchecked carries on)
    UNKNOWN           exit code 6; with --prove: neither proved nor refuted, for the outputs that are named

    --prove compares what hardware computes, for all inputs: what breaks a promise is quantised, in A and B alike.
    """
    request = DiffRequest(
        a=a,
        b=b,
        layout=layout,
        layout_b=layout_b,
        vectors=vectors,
        seed=seed,
        inputs=inputs,
        engine=engine,
        unchecked=unchecked,
        prove=prove,
        timeout=timeout,
        output=output,
        command=reproduce(),
    )
    record = run_diff(request, progress=TerminalProgress())
    if as_json:
        click.echo(record.to_json())
    else:
        _print(record, console())
    return record.verdict.exit_code


def _print(record: DiffRecord, out: Console) -> None:
    unchecked = ", overflow unchecked" if record.unchecked else ""
    out.print(f"a          {program_line(record.a)}", markup=False)
    out.print(f"b          {program_line(record.b)}", markup=False)
    first, difference = record.first_different_op, record.difference
    if record.identical:
        out.print(f"structure  the same program, hash {record.a.hash}", markup=False)
    elif first is None:
        out.print("structure  all ops are the same; outputs, or what no op uses, differ", markup=False)
    else:
        out.print(f"structure  op {first.op} is the first that is not the same in both", markup=False)
        for name, words in (("a", first.a), ("b", first.b)):
            out.print(f"           {name}: {words or 'has no such op'}", markup=False)
    out.print(f"stimulus   {record.vectors} vectors, seed {record.seed}{unchecked}", markup=False)
    if record.proof:
        methods = ", ".join(f"{name} {count}" for name, count in record.proof.methods.items())
        merged, seconds = record.proof.merged_ops, record.proof.seconds
        out.print(f"proof      {merged} ops of b equal one of a ({methods}), {seconds:.1f} s", markup=False)
    if difference:
        _print_difference(difference, out)
    out.print(verdict_text(record.verdict, record.message))
    if difference:
        out.print(f"reproduce  {record.reproduce}", markup=False)
    if record.replay:
        out.print(f"replay     {record.replay}", markup=False)


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
