"""``dais-verif explain``: every value on the way from one input vector to the outputs."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import click

from dais_verif.cli.common import (
    inputs_option,
    layout_option,
    load_program,
    notices,
    output_path,
    program_argument,
    seed_option,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.verb import Verb
from dais_verif.errors import InputError, ViolationError
from dais_verif.files import write_atomically
from dais_verif.flows.vectors import batch_of
from dais_verif.golden.vm import (
    ViolationWarning,
    accept_instructions,
    compile_forward_and_backward,
    logging_vm_execution,
)


@click.command(cls=Verb)
@program_argument
@layout_option
@inputs_option
@vectors_option(1000)
@seed_option
@click.option("--row", type=click.IntRange(0), default=0, show_default=True, help="The vector to explain, from 0 on.")
@click.option("--only-cone", "output_number", type=click.IntRange(0), metavar="OUT", help="Only what output OUT needs.")
@unchecked_option
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, an object an op, instead of text.")
def explain(
    program: Path,
    layout: str | None,
    inputs: tuple[Path, ...],
    vectors: int,
    seed: int,
    row: int,
    output_number: int | None,
    unchecked: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show every op of PROGRAM at work on one vector: type, opcode, real value, raw integer, bits, what it computes.

    \b
    dais-verif explain prog.bin --inputs v.npy --row 3
    dais-verif explain prog.bin --row 17 --only-cone 2        vector 17 of sim, and what output 2 needs
    dais-verif explain prog.bin --row 17 --json               an object a line

    Vectors and their numbers are those of sim with the same --inputs, --vectors and --seed. Where a promise is
    broken the line is marked with an exclamation mark; after the last line that ends in PROGRAM_INVALID (exit code
    2), unless --unchecked. The last line counts promises: made, proved for all inputs, checked.
    """
    loaded, _ = load_program(program, layout)
    batch = batch_of([loaded], inputs, vectors, seed)
    if row >= batch.rows:
        raise InputError(f"--row {row}: there are {batch.rows} vectors, numbered from 0 on")
    text = io.StringIO()
    with (
        notices().status("explaining"),
        warnings.catch_warnings(),
        logging_vm_execution(text, as_json=as_json, only_cone=output_number),
    ):
        warnings.simplefilter("ignore", ViolationWarning)  # told below, in one line
        compiled = compile_forward_and_backward(loaded, need_backward=False, fuse=False, optimize_locality=False)
        run = accept_instructions(compiled.forward, batch.slice(row, row + 1), opt_level=1, on_violation="warn")
    text.write((json.dumps({"checks": run.checks._asdict()}) if as_json else f"; {run.checks}") + "\n")
    if output is not None:
        write_atomically(output, text.getvalue().encode())
    else:
        click.echo(text.getvalue(), nl=False)
    if run.violation is not None and not unchecked:
        raise ViolationError(f"row {row}: {run.violation.words}")
