"""Approximation configurations as a table: the gain and cost of each, and the knob of each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import Console

from dais_verif.record.configurations import ConfigurationInfo, ConfigurationsRecord

__all__ = ["print_configurations", "short", "skipping_words"]


def print_configurations(record: ConfigurationsRecord, out: Console, *, nodes: bool = False) -> None:
    """Print ``record``. A narrow terminal wraps lists of knobs and never truncates a number.

    ``nodes``: also print every op of every node.
    """
    for line in _table(record.configurations, out.width):
        out.print(line)
    if nodes:
        out.print("")
        for one in record.configurations:
            for node in one.nodes:
                ops = ", ".join(f"{op.op} {op.approximation} {op.knob}" for op in node.ops)
                out.print(f"node {node.id:<4} {node.device}  {ops}")
    if record.knobs:
        out.print("")
    for number, words in sorted(record.knobs.items()):
        out.print(f"knob {number}  {words}")
    shown = len(record.configurations)
    left_out = f"; {record.total - shown} are left out" if shown < record.total else ""
    out.print("")
    out.print(f"{record.path}{f', baseline {record.baseline:g} ms' if record.baseline else ''}")
    out.print(f"{record.message}{left_out}")


#: Minimum width of the knob column, in characters, on narrow terminals.
_NARROWEST = 20

_COLUMNS = ("name", "speed-up", "energy", "accuracy", "loss", "curve", "half", "node:knob")


def _table(configurations: Sequence[ConfigurationInfo], width: int) -> Iterator[str]:
    rows = [_COLUMNS, *(tuple(_cells(one)) for one in configurations)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    for name, *numbers, knobs in rows:
        cells = [name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]
        first, *more = wrap(knobs, max(width - indent, _NARROWEST), break_on_hyphens=False) or [""]
        yield "  ".join([*cells, first]).rstrip()
        yield from (" " * indent + line for line in more)


def _cells(one: ConfigurationInfo) -> Iterator[str]:
    yield one.name
    yield f"{short(one.speedup)}x"
    yield from map(short, (one.energy, one.accuracy, one.loss))
    yield "yes" if one.on_curve else ""
    yield f"{one.n_half}/{one.n_ops}"
    yield skipping_words(one)


def short(number: float) -> str:
    """Return ``number`` with two decimal places, or with a few significant digits where two places say little."""
    return f"{number + 0.0:.2f}" if not number or 0.01 <= abs(number) < 1e6 else f"{number:.3g}"


def skipping_words(one: ConfigurationInfo) -> str:
    """Return the nodes that skip computation, each with its knob, as ``node:knob``."""
    return " ".join(f"{node}:{op.knob}" for node, op in one.skipping)
