"""Collect the lines and toggles of the RTL that a run in Verilator reached, from the files of its processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.files import write_atomically
from dais_verif.record.coverage import RtlCoverage, RtlPoints

__all__ = ["COVERAGE_FILES", "collect"]

#: Files that simulations leave in their folders.
COVERAGE_FILES = "coverage*.dat"

_DATA, _MISSED = "rtl_coverage.dat", "rtl_missed.txt"
_HEADER = "# SystemC::Coverage-3\n"


class _Point(NamedTuple):
    """A point. ``fields``: its key without the instance, so that all instances of a module count as one."""

    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        return dict(self.fields).get(name, "")

    @property
    def kind(self) -> str:
        """``line``, ``branch``, ``toggle``."""
        return self.get("page").partition("/")[0].removeprefix("v_")

    @property
    def place(self) -> tuple[str, int, str]:
        return self.get("f"), int(self.get("l") or 0), self.get("o")


def collect(folder: Path) -> RtlCoverage:
    """Read the counts below ``folder``, where Verilator ran; write both result files into its parent folder.

    Raises ``ToolError`` if there are none.
    """
    counts: Counter[_Point] = Counter()
    for path in sorted(folder.rglob(COVERAGE_FILES)):
        for point, count in _read(path):
            counts[point] += count
    if not counts:
        raise SimulatorFailure(f"Verilator's simulation left no coverage in {folder}")
    kinds = sorted({point.kind for point in counts})
    totals = [[count for point, count in counts.items() if point.kind == kind] for kind in kinds]
    data, missed = folder.parent / _DATA, folder.parent / _MISSED
    write_atomically(data, (_HEADER + "".join(map(_line, counts.items()))).encode())
    lost = sorted((*point.place, point.kind) for point, count in counts.items() if not count)
    write_atomically(missed, "".join(f"{f}:{line}: {kind} {what}\n" for f, line, what, kind in lost).encode())
    points = [RtlPoints(kind, len(t), sum(count > 0 for count in t)) for kind, t in zip(kinds, totals, strict=True)]
    return RtlCoverage(points, str(data), str(missed))


def _read(path: Path) -> Iterable[tuple[_Point, int]]:
    """Return the points of a file, each with its count."""
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        if not line.startswith("C '"):
            continue
        text, _, count = line[3:].rpartition("' ")
        pairs = (field.partition("\2") for field in text.split("\1") if field)
        yield _Point(tuple((name, value) for name, _, value in pairs if name != "h")), int(count)


def _line(pair: tuple[_Point, int]) -> str:
    text = "".join(f"\1{name}\2{value}" for name, value in pair[0].fields)
    return f"C '{text}' {pair[1]}\n"
