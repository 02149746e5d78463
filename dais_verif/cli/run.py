"""``dais-verif run``: the golden model on vectors from a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from dais_verif.cli.common import (
    file_path,
    jobs_option,
    json_option,
    layout_option,
    load_program,
    output_path,
    program_argument,
    progress,
    tell_written,
    unchecked_option,
)
from dais_verif.cli.verb import Verb
from dais_verif.errors import InputError
from dais_verif.files import write_atomically
from dais_verif.golden import ENGINES, Engine, Golden
from dais_verif.program import Program
from dais_verif.program.numbers import IntArray, doubles_of_raw
from dais_verif.program.ports import ports_of
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo
from dais_verif.stimulus import read_batch, read_raw_batch
from dais_verif.verdict import Verdict


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--inputs", type=file_path, required=True, help="Vectors: .npy or CSV, a row each, a column an input.")
@click.option("--raw-inputs", is_flag=True, help="Inputs are raw integers, in units of the port element's last bit.")
@click.option("-o", "--output", type=output_path, help="File to write: .npy, else CSV; CSV on stdout if not given.")
@click.option("--raw", is_flag=True, help="Write raw integers, in units of each output's 2**-f, not real values.")
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="Golden engine.")
@jobs_option
@unchecked_option
@json_option
def run(
    program: Path,
    layout: str | None,
    inputs: Path,
    raw_inputs: bool,
    output: Path | None,
    raw: bool,
    engine: Engine,
    jobs: int | None,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Evaluate PROGRAM on the vectors of a file: float64 rows x n_out, exact, or raw integers.

    Ends in PROGRAM_INVALID (exit code 2) with row and op if a promise of the program is broken.
    """
    loaded, _ = load_program(program, layout)
    batch = read_raw_batch(inputs, ports_of(loaded)) if raw_inputs else read_batch(inputs, loaded.n_in)
    golden = Golden(loaded, engine=engine)
    with progress(f"{batch.rows} vectors"):
        columns = golden.run_raw(batch, check=not unchecked, jobs=jobs)
    if not raw:
        kinds = loaded.output_types
        columns = tuple(doubles_of_raw(column, kinds[j].f, j) for j, column in enumerate(columns))
    if output is not None:
        as_npy = output.suffix == ".npy"
        write_atomically(output, _npy(columns, batch.rows, raw) if as_npy else _csv(loaded, columns).encode())
        if not as_json:
            form = "raw integers" if raw else "real numbers"
            tell_written(output, f"{batch.rows} rows of {loaded.n_out} outputs, {form}")
    elif not as_json:
        click.echo(_csv(loaded, columns), nl=False)
    if as_json:
        facts = {
            "schema": SCHEMA,
            "verdict": Verdict.PASS.value,
            "exit_code": 0,
            "program": ProgramInfo.of(loaded).__dict__,
            "rows": batch.rows,
            "engine": golden.engine,
            "unchecked": unchecked,
            "output": str(output) if output else None,
        }
        click.echo(json.dumps(facts, indent=2))


def _npy(columns: tuple[Any, ...], rows: int, raw: bool) -> bytes:
    table = np.zeros((rows, len(columns)), dtype=np.int64 if raw else np.float64)
    for j, column in enumerate(columns):
        if column.dtype == object:
            raise InputError(f"output {j} has raw integers beyond 62 bits, which .npy cannot hold; write a .csv file")
        table[:, j] = column
    file = io.BytesIO()
    np.save(file, table)
    return file.getvalue()


def _csv(program: Program, columns: tuple[IntArray, ...]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([f"out_{j}" for j in range(program.n_out)])
    writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return file.getvalue()
