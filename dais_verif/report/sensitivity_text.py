"""The effects of flipped bits on the outputs, as text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from dais_verif.counts import counted
from dais_verif.record.sensitivity import FlipEffect, FlippedBit, SensitivityRecord
from dais_verif.report.console import program_line, verdict_text

__all__ = ["print_sensitivity"]

_SHOWN = 10
#: The width limit of a table, in characters: output may also go to files and pipes, where nothing may be truncated.
_WIDTH = 10_000


def print_sensitivity(record: SensitivityRecord, out: Console, *, top: int) -> None:
    """Print ``record``, with the ``top`` worst ops."""
    count, bits = record.count, record.bits
    unchecked = ", overflow unchecked" if record.unchecked else ""
    what = "every bit" if bits else "the last bit"
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    out.print(f"stimulus   {counted(record.vectors, 'vector')}, seed {record.seed}{unchecked}", markup=False)
    out.print(f"flipped    {what} of every op, one at a time, in every vector", markup=False)
    worst_of_ops: dict[int, FlipEffect] = {}
    for effect in record.effects:
        worst_of_ops.setdefault(effect.op, effect)
    shown = list(worst_of_ops.values())[:top]
    if shown:
        out.width = _WIDTH
        out.print(_table(record, shown))
    if len(shown) < len(worst_of_ops):
        out.print(f"... {len(worst_of_ops) - len(shown)} more ops (--top, or -o for all)", markup=False)
    if bits and shown:
        out.print("bits, most significant first: # matters, . silent, - dead", markup=False)
    silent = [effect for effect in record.effects if not effect.changed]
    total = count.matter + count.silent + count.dead
    out.print(f"matter     {count.matter} of {total} bits: flipping them changes an output on some vector")
    out.print(f"silent     {count.silent}: no vector shows it, another might{_listing(silent, bits)}")
    out.print(f"dead       {count.dead}: no output depends on it, whatever the vectors{_listing(record.dead, bits)}")
    if not record.passed:
        out.print(verdict_text(record.verdict, record.message))


def _table(record: SensitivityRecord, effects: Sequence[FlipEffect]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("op", "", "type", *(("bits", "worst bit") if record.bits else ())):
        table.add_column(name, justify="right" if name in ("op", "worst bit") else "left")
    for name in ("worst change", "output", "vector", "mean change", "vectors changed"):
        table.add_column(name, justify="right")
    patterns = _patterns(record) if record.bits else {}
    for effect in effects:
        table.add_row(
            str(effect.op),
            effect.mnemonic,
            effect.type,
            *((patterns[effect.op], str(effect.bit)) if record.bits else ()),
            effect.worst,
            "-" if effect.output is None else str(effect.output),
            "-" if effect.vector is None else str(effect.vector),
            _about(effect.mean),
            str(effect.changed),
        )
    return table


def _patterns(record: SensitivityRecord) -> dict[int, str]:
    """Return one character per bit for every op, most significant first."""
    bits: dict[int, dict[int, str]] = {}
    for effect in record.effects:
        bits.setdefault(effect.op, {})[effect.bit] = "#" if effect.changed else "."
    for flip in record.dead:
        bits.setdefault(flip.op, {})[flip.bit] = "-"
    return {op: "".join(known[bit] for bit in sorted(known, reverse=True)) for op, known in bits.items()}


def _about(text: str) -> str:
    """Return an exact number to six digits, or unchanged if it has no float equivalent."""
    try:
        value = Fraction(*(int(part, 16) for part in text.split("/"))) if "x" in text else Fraction(text)
        near = float(value)
    except OverflowError:
        return text
    return f"{near:.6g}" if near or not value else text


def _listing(flips: Sequence[FlippedBit], bits: bool) -> str:
    named = [f"op {flip.op}" + (f" bit {flip.bit}" if bits else "") for flip in flips[:_SHOWN]]
    more = f", ... {len(flips) - _SHOWN} more" if len(flips) > _SHOWN else ""
    return f" ({', '.join(named)}{more})" if flips else ""
