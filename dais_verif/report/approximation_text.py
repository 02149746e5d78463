"""Networks under configurations, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from rich.console import Console
from rich.table import Table

from dais_verif.base.text import counted
from dais_verif.record.approximation import (
    AppliedRecord,
    ConfigurationInfo,
    ConfigurationsRecord,
    Measured,
    MeasuredRecord,
    TunedRecord,
)
from dais_verif.report.console import verdict_text
from dais_verif.report.hardware_text import print_folded

__all__ = [
    "measured_columns",
    "measured_notes",
    "print_applied",
    "print_configurations",
    "print_measured",
    "print_tuned",
    "short",
    "skipping_words",
]


_COLUMNS = ("name", "accuracy", "95 %", "loss", "speed-up", "ops", "largest difference", "bound")


def print_applied(record: AppliedRecord, out: Console) -> None:
    """Print what was written."""
    rows = [
        ("network", record.network),
        ("config", f"{record.config} of {record.configurations}"),
        ("program", f"{counted(record.program.n_ops, 'op')}, {record.exact_ops} without approximation"),
        ("hash", record.program.hash),
        ("written", f"{record.output}: {', '.join(record.files)}"),
        *(("note", note) for note in record.notes),
    ]
    for title, text in rows:
        if record.folded is None or title not in ("program", "written"):
            out.print(f"{title:<10} {text}", markup=False)
    if record.folded is not None:
        print_folded(record.folded, out)


def print_measured(record: MeasuredRecord, out: Console) -> None:
    """Print a line for each configuration, and the reason for each that is skipped."""
    more = measured_columns(record)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (*_COLUMNS, *more):
        table.add_column(name, justify="left" if name == "name" else "right")
    for one in record.measured:
        if one.refused is None:
            table.add_row(*_cells(one), *(column(one) for column in more.values()))
    out.print(table)
    for one in record.measured:
        if one.refused is not None:
            out.print(f"left out   {one.name}: {one.refused}", markup=False)
    for by, names in record.curves.items():
        out.print(f"curve      by {by}: {', '.join(names)}", markup=False)
    for note in measured_notes(record):
        out.print(f"note       {note}", markup=False)
    if record.output is not None:
        out.print(f"written    {record.output}", markup=False)
    out.print(verdict_text(record.verdict, record.message))


def measured_columns(record: MeasuredRecord) -> dict[str, Callable[[Measured], str]]:
    """Return, by title, the columns that only some records have."""
    found: dict[str, Callable[[Measured], str]] = {}
    if record.sharpened:
        found["reached"] = lambda one: f"{max(one.reached or [0.0]):g}"
    kinds = dict.fromkeys(kind for one in record.measured for kind, count in (one.cells or {}).items() if count)
    for kind in kinds:
        found[kind] = lambda one, kind=kind: str((one.cells or {}).get(kind, 0))  # type: ignore[misc]
    if kinds:
        found["depth"] = lambda one: str(one.depth)
    if any(one.cycles is not None for one in record.measured):
        found["cycles"] = lambda one: "" if one.cycles is None else str(one.cycles)
    return found


def measured_notes(record: MeasuredRecord) -> list[str]:
    """Return the notes on each configuration, and the outputs for which the solver left a gap, by configuration."""
    notes = [f"{one.name}: {note}" for one in record.measured for note in one.notes]
    for one in record.measured:
        if one.unfinished:
            outputs = ", ".join(map(str, one.unfinished))
            notes.append(
                f"{one.name}: the solver did not close the gap between reached value and bound of outputs {outputs}"
            )
    return list(dict.fromkeys(notes))


def _cells(one: Measured) -> tuple[str, ...]:
    low, high = one.interval or (0.0, 0.0)
    return (
        one.name,
        f"{one.accuracy:.2f} %",
        f"{low:.1f} to {high:.1f}",
        f"{one.loss:.2f}",
        f"{one.speedup:.2f}x",
        "" if one.ops is None else str(one.ops),
        f"{one.largest:g}",
        f"{one.bound:g}",
    )


def print_tuned(record: TunedRecord, out: Console) -> None:
    """Print what was found."""
    out.print(f"tried      {counted(record.tried, 'configuration')} on {record.data}", markup=False)
    out.print(f"written    {record.output}: {', '.join(record.configurations)}", markup=False)
    out.print(verdict_text(record.verdict, record.message))


# Approximation configurations as a table: the gain and cost of each, and the knob of each node.


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

_COLUMNS_OF_CONFIGURATIONS_TEXT = ("name", "speed-up", "energy", "accuracy", "loss", "curve", "half", "node:knob")


def _table(configurations: Sequence[ConfigurationInfo], width: int) -> Iterator[str]:
    rows = [_COLUMNS_OF_CONFIGURATIONS_TEXT, *(tuple(_cells_of_configurations_text(one)) for one in configurations)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    for name, *numbers, knobs in rows:
        cells = [name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]
        first, *more = wrap(knobs, max(width - indent, _NARROWEST), break_on_hyphens=False) or [""]
        yield "  ".join([*cells, first]).rstrip()
        yield from (" " * indent + line for line in more)


def _cells_of_configurations_text(one: ConfigurationInfo) -> Iterator[str]:
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
