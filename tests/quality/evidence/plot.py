"""Plot the share of faults that escape against vectors: ``python -m quality.evidence.plot -o escapes.svg``."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from quality.evidence.faults import COUNTS, total
from quality.evidence.rows import Row, read

from dais_verif.base.files import write_atomically

__all__ = ["drawn", "main"]

#: The forms of faults with a curve each, and their names in the legend.
_FORMS = {"rtl": "combinational RTL", "pipeline": "pipelines", "netlist": "netlists"}


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=Path, default=Path("build/evidence/faults.jsonl"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args(arguments)
    rows = [row for row in read(asked.rows) if row.get("to_kill")]
    if not rows:
        print(f"{asked.rows} has no faults that can be seen")
        return 1
    write_atomically(asked.output, drawn(rows))
    return 0


def drawn(rows: list[Row]) -> bytes:
    """Return an SVG of the share of faults that escape, in percent, against vectors."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "dais-verif", "font.family": "sans-serif"}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for form, name in _FORMS.items():
            of = [row for row in rows if row["key"].partition("/")[0].endswith(f" {form}")]
            if of:
                axes.plot(*_escaped(of), marker="o", label=f"{name}: {sum(row['to_kill'] for row in of)} faults")
        directed = 100 * sum(row["escaped_directed"] for row in rows) / sum(row["to_kill"] for row in rows)
        axes.axhline(directed, linestyle="--", label="vectors that coverage directs")
        axes.set(xscale="log", xlabel="generated vectors", ylabel="faults that escape, %", ylim=(0, None))
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _escaped(rows: list[Row]) -> tuple[list[int], list[float]]:
    most = min(len(row["escaped"]) for row in rows)
    sums = total(rows)
    return list(COUNTS[:most]), [100 * count / sums["to_kill"] for count in sums["escaped"][:most]]


if __name__ == "__main__":
    sys.exit(main())
