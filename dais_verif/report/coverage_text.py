"""Coverage on the terminal: kinds of bins, the ops with the most open bins, and the first open bins."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dais_verif.record.coverage import Coverage

__all__ = ["print_coverage"]


def print_coverage(
    coverage: Coverage, out: Console, *, mnemonics: dict[int, str] | None = None, shown: int = 10
) -> None:
    """Print the table of groups, the ``shown`` worst ops and as many open bins. ``mnemonics``: one for each op."""
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column("coverage")
    for column in ("bins", "hit", "unreachable", "open"):
        table.add_column(column, justify="right")
    for group in coverage.groups:
        left = group.bins - group.hit - group.unreachable
        table.add_row(group.name, *map(str, (group.bins, group.hit, group.unreachable, left)))
    out.print(table)
    worst = sorted(
        (op for op, (bins, hit, never) in enumerate(coverage.ops) if bins > hit + never),
        key=lambda op: (_left(coverage.ops[op]), -op),
        reverse=True,
    )
    for op in worst[:shown]:
        bins, _, never = coverage.ops[op]
        name = f" ({mnemonics[op]})" if mnemonics else ""
        line = f"op {op}{name}: {_left(coverage.ops[op])} of {bins - never} open"
        out.print(f"{'worst' if op == worst[0] else '':<10} {line}", markup=False)
    if len(worst) > shown:
        out.print(f"{'':<10} and {len(worst) - shown} more ops", markup=False)
    for number, one in enumerate(coverage.open[:shown]):
        out.print(f"{'' if number else 'open':<10} {one.text}", markup=False)
    if coverage.open_total > shown:
        out.print(f"{'':<10} and {coverage.open_total - shown} more", markup=False)
    for number, limit in enumerate(coverage.limits):
        out.print(f"{'' if number else 'limits':<10} {limit}", markup=False)


def _left(counts: list[int]) -> int:
    bins, hit, never = counts
    return bins - hit - never
