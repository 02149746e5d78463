"""The contents of the cache on this machine, as text."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from dais_verif.record.cache import CacheContents, RemovedFromCache

__all__ = ["print_cache", "removed_line"]

_MEGABYTE = 1_000_000


def print_cache(contents: CacheContents, out: Console) -> None:
    """Print the contents of the cache."""
    found = contents.builds
    if found:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name, justify in (("simulator", "left"), ("top", "left"), ("size", "right"), ("last used", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        for entry in found:
            names = (str(entry.facts.get(name, "?")) for name in ("simulator", "top"))
            table.add_row(*names, _megabytes(entry.bytes), _ago(entry.used))
        out.print(table)
    total, limit = _megabytes(contents.builds_bytes), _megabytes(contents.limit_bytes)
    out.print(f"folder     {contents.folder}", markup=False)
    out.print(f"builds     {len(found)}, {total} of at most {limit}", markup=False)
    out.print(f"proofs     {_megabytes(contents.proofs_bytes)}", markup=False)
    out.print(f"runtime    {_megabytes(contents.runtime_bytes)}, compiled once for this machine", markup=False)


def removed_line(removed: RemovedFromCache) -> str:
    """Return one line about what was removed."""
    more = f", {_megabytes(removed.proofs_bytes)} of proofs" if removed.proofs_bytes else ""
    more += f", {_megabytes(removed.runtime_bytes)} of Verilator's runtime" if removed.runtime_bytes else ""
    more += f", {removed.abandoned} temporary folders of runs that were killed" if removed.abandoned else ""
    return f"removed {removed.builds} builds, {_megabytes(removed.builds_bytes)}{more}"


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def _ago(when: float) -> str:
    seconds = max(time.time() - when, 0.0)
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
