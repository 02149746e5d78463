"""``dais-verif show``: the program as text."""

from __future__ import annotations

from pathlib import Path

import click

from dais_verif.cli.common import layout_option, load_program, output_path, program_argument, tell_written
from dais_verif.cli.verb import Verb
from dais_verif.files import write_atomically
from dais_verif.golden.vm import compile_forward_and_backward, disassemble
from dais_verif.program.listing import listing


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--vm", is_flag=True, help="The instructions that the golden model's machine runs, and their pullback.")
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given.")
def show(program: Path, layout: str | None, vm: bool, output: Path | None) -> None:
    """Write PROGRAM as text: layout, inputs, tables, one line an op, outputs.

    \b
    s8.3, u8.3   a type: signed or unsigned, 8 bits of which 3 are fractional
    %5           the value of op 5
    %4 - %2>>1   op 4 minus half of op 2: a shift acts on the operand before it and loses nothing
    ; ...        a comment

    asm turns the text into the identical binary. docs/text-form.md has a tutorial and the grammar; docs/vm.md
    explains what --vm shows.
    """
    loaded, _ = load_program(program, layout)
    text = disassemble(compile_forward_and_backward(loaded)) if vm else listing(loaded)
    if output is not None:
        write_atomically(output, text.encode())
        tell_written(output, f"{'instructions' if vm else 'text'} of a program of {loaded.n_ops} ops")
    else:
        click.echo(text, nl=False)
