"""The rows of a campaign, one line of JSON each; work whose row exists is not repeated."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

__all__ = ["Row", "parser_of", "read", "worked"]

Row = dict[str, Any]


def parser_of(description: str | None, name: str, unit: str, count: int) -> argparse.ArgumentParser:
    """Return a parser of the options of every campaign: the count, the file of rows, the number of processes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path("build/evidence") / f"{name}.jsonl"
    parser.add_argument("-o", "--output", type=Path, default=default, help="rows (%(default)s)")
    parser.add_argument("--count", type=int, default=count, help=f"{unit} (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (%(default)s)")
    return parser


def read(path: Path) -> list[Row]:
    """Return the complete rows of ``path``; a partial line, which an interrupted run may leave, is ignored."""
    found = []
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def worked(path: Path, keys: Iterable[str], judge: Callable[[str], Row], jobs: int) -> Iterator[Row]:
    """Yield the row of each of ``keys``: first those in ``path``, then those that ``judge`` returns, as they finish."""
    known = {row["key"]: row for row in read(path)}
    asked = list(keys)
    yield from (known[key] for key in asked if key in known)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file, ProcessPoolExecutor(jobs) as pool:
        if path.stat().st_size:
            file.write("\n")
        waiting = {pool.submit(judge, key): key for key in asked if key not in known}
        for done in as_completed(waiting):
            row = {"key": waiting[done], **done.result()}
            file.write(json.dumps(row) + "\n")
            file.flush()
            yield row
