"""Approximation configurations as a table: what each gains and costs, and which knob is where."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from dais_verif.record.configurations import ConfigurationInfo, ConfigurationsRecord

__all__ = ["print_configurations", "skipping_words"]


def print_configurations(record: ConfigurationsRecord, out: Console) -> None:
    """Print ``record`` for a person."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("name", "speed-up", "energy", "accuracy", "loss", "curve", "half precision", "skipping node:knob"):
        table.add_column(name, justify="left" if name in ("name", "skipping node:knob") else "right", no_wrap=True)
    table.columns[-1].no_wrap = False
    table.columns[-1].overflow = "fold"
    for one in record.configurations:
        table.add_row(*_cells(one))
    out.print(table)
    if record.knobs:
        legend = Table(box=None, pad_edge=False, show_header=False)
        for number, words in sorted(record.knobs.items()):
            legend.add_row(f"knob {number}", words)
        out.print("")
        out.print(legend)
    shown = len(record.configurations)
    out.print("")
    out.print(f"{record.path}{f', baseline {record.baseline:g} ms' if record.baseline else ''}")
    out.print(
        record.message + (f"; {record.total - shown} that are not on it are left out" if shown < record.total else "")
    )


def _cells(one: ConfigurationInfo) -> Iterator[str]:
    yield one.name
    yield f"{one.speedup:.2f}x"
    yield f"{one.energy:.2f}"
    yield f"{one.accuracy:.2f}"
    yield f"{one.loss + 0.0:.2f}"
    yield "yes" if one.on_curve else ""
    yield f"{one.n_half} of {one.n_ops}"
    yield skipping_words(one)


def skipping_words(one: ConfigurationInfo) -> str:
    """Return which nodes leave something out, each with its knob, as ``node:knob``."""
    return " ".join(f"{node}:{op.knob}" for node, op in one.skipping)
