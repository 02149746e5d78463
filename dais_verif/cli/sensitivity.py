"""``dais-verif sensitivity``: where a wrong bit would hurt, and which bits never matter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from dais_verif.cli.common import (
    console,
    inputs_option,
    json_option,
    layout_option,
    output_path,
    program_argument,
    seconds,
    seed_option,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import Verb
from dais_verif.flows.rank_sensitivity import SensitivityRequest, rank_sensitivity
from dais_verif.golden.fault_injection import BitFlip
from dais_verif.golden.oracle import show
from dais_verif.golden.sensitivity import Effect, Sensitivity
from dais_verif.record.sensitivity import SensitivityRecord
from dais_verif.report.console import program_line, verdict_text

_SHOWN = 10
#: Columns a table may take: it is read in files and pipes as well, where nothing may be cut.
_WIDTH = 10_000


@click.command(cls=Verb)
@program_argument
@layout_option
@click.option("--bits", is_flag=True, help="Flip every bit of every op, not only the last one.")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="How many ops the table shows.")
@vectors_option(64)
@seed_option
@inputs_option
@unchecked_option
@click.option(
    "--timeout",
    type=seconds,
    default=120.0,
    show_default=True,
    help="Seconds after which no more flips are begun; the answer then says what was left out.",
)
@click.option("-o", "--output", type=output_path, help="File for all effects: .json, else CSV.")
@json_option
def sensitivity(
    program: Path,
    layout: str | None,
    bits: bool,
    top: int,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    unchecked: bool,
    timeout: float,
    output: Path | None,
    as_json: bool,
) -> int:
    """Flip bits of the values in PROGRAM and rank the ops by what that changes at the outputs.

    For every op its last bit is inverted, one unit of the type's 2^-f up or down, in every vector, and all that depends
    on the op is evaluated again, with values that wrap as in hardware. A vector counts with the largest change
    of any output, as an exact real value; ops are ranked by the worst vector.

    \b
    dais-verif sensitivity prog.bin                     the last bit of every op
    dais-verif sensitivity prog.bin --bits --top 5      every bit; which of them never matter
    dais-verif sensitivity prog.bin --vectors 0 --inputs x.npy -o effects.csv

    \b
    A bit that changes no output in any vector is
      silent     here; another vector may show it
      dead       if no output depends on it at all, whatever the vectors: it is floored away or above what a
                 narrower type keeps, or nothing reads the op. Such bits need no flipping.
    """
    request = SensitivityRequest(
        program=program,
        layout=layout,
        bits=bits,
        vectors=vectors,
        seed=seed,
        inputs=inputs,
        unchecked=unchecked,
        timeout=timeout,
        output=output,
    )
    run = rank_sensitivity(request, progress=TerminalProgress())
    if as_json:
        click.echo(run.record.to_json())
    else:
        _print(run.record, run.found, top, console())
    return run.record.verdict.exit_code


def _print(record: SensitivityRecord, found: Sensitivity, top: int, out: Console) -> None:
    count, bits = record.count, record.bits
    unchecked = ", overflow unchecked" if record.unchecked else ""
    what = "every bit" if bits else "the last bit"
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    out.print(f"stimulus   {record.vectors} vectors, seed {record.seed}{unchecked}", markup=False)
    out.print(f"flipped    {what} of every op, one at a time, in every vector", markup=False)
    worst_of_ops: dict[int, Effect] = {}
    for effect in found.ranked():
        worst_of_ops.setdefault(effect.flip.op, effect)
    shown = list(worst_of_ops.values())[:top]
    if shown:
        out.width = _WIDTH
        out.print(_table(found, shown, bits))
    if len(shown) < len(worst_of_ops):
        out.print(f"... {len(worst_of_ops) - len(shown)} more ops (--top, or -o for all)", markup=False)
    if bits and shown:
        out.print("bits, most significant first: # matters, . silent, - dead", markup=False)
    silent = [effect.flip for effect in found.effects if not effect.changed]
    total = count.matter + count.silent + count.dead
    out.print(f"matter     {count.matter} of {total} bits: some vector shows it at an output")
    out.print(f"silent     {count.silent}: no vector shows it, another might{_listing(silent, bits)}")
    out.print(f"dead       {count.dead}: no output depends on it, whatever the vectors{_listing(found.dead, bits)}")
    if not record.passed:
        out.print(verdict_text(record.verdict, record.message))


def _table(found: Sensitivity, effects: Sequence[Effect], bits: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("op", "", "type", *(("bits", "worst bit") if bits else ())):
        table.add_column(name, justify="right" if name in ("op", "worst bit") else "left")
    for name in ("worst change", "output", "vector", "mean change", "vectors changed"):
        table.add_column(name, justify="right")
    patterns = _patterns(found) if bits else {}
    for effect in effects:
        op = found.program.ops[effect.flip.op]
        table.add_row(
            str(op.index),
            op.spec.mnemonic,
            str(op.type),
            *((patterns[op.index], str(effect.flip.bit)) if bits else ()),
            show(effect.worst),
            "-" if effect.output is None else str(effect.output),
            "-" if effect.row is None else str(effect.row),
            _about(effect.mean),
            str(effect.changed),
        )
    return table


def _patterns(found: Sensitivity) -> dict[int, str]:
    """For every op a character a bit, most significant first."""
    bits: dict[int, dict[int, str]] = {}
    for effect in found.effects:
        bits.setdefault(effect.flip.op, {})[effect.flip.bit] = "#" if effect.changed else "."
    for flip in found.dead:
        bits.setdefault(flip.op, {})[flip.bit] = "-"
    return {op: "".join(known[bit] for bit in sorted(known, reverse=True)) for op, known in bits.items()}


def _about(value: Fraction) -> str:
    """``value`` to six digits, or exactly where a float knows no such number."""
    try:
        near = float(value)
    except OverflowError:
        return show(value)
    return f"{near:.6g}" if near or not value else show(value)


def _listing(flips: Sequence[BitFlip], bits: bool) -> str:
    named = [f"op {op}" + (f" bit {bit}" if bits else "") for op, bit in flips[:_SHOWN]]
    more = f", ... {len(flips) - _SHOWN} more" if len(flips) > _SHOWN else ""
    return f" ({', '.join(named)}{more})" if flips else ""
