"""Two plots of growth, as SVG; the same results give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.sim.goals import exponent
from bench.sim.plan import PEER
from bench.sim.sides import DONE, Run
from dais_verif.base.files import write_atomically

__all__ = ["missing", "write_plots"]

_COLOURS = {"verilator": "#1f5fa8", "icarus": "#c05a1c", PEER: "#555555"}


def missing() -> str:
    """Return how to install matplotlib if it is missing, else an empty text."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return "matplotlib is not installed, which draws the plots; make setup-test, or --plots ''"
    return ""


def write_plots(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``speed-ops.svg`` and ``speed-vectors.svg``, and return their paths."""
    fixed = {
        "ops": f"a new design, {results['few']:,} vectors",
        "vectors": f"{results['design']:,} ops, built before",
    }
    written = []
    for what, all_runs in results["growth"].items():
        path = folder / f"speed-{what}.svg"
        peers = _peers(results) if what == "ops" else []
        write_atomically(path, _svg(what, fixed[what], all_runs, peers, results["vectors"]))
        written.append(path)
    return written


def _peers(results: dict[str, Any]) -> list[tuple[int, float]]:
    """Return the ops and seconds of da4ml's runs that finished."""
    programs = results["programs"]
    return [(one["ops"], run["wall"]) for one in programs for run in one["runs"][PEER] if run["ending"] == DONE]


def _svg(
    what: str, fixed: str, all_runs: dict[str, list[Run]], peers: Sequence[tuple[int, float]], vectors: int
) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    with matplotlib.rc_context({"svg.hashsalt": what, "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for simulator, runs in all_runs.items():
            done = [run for run in runs if run["ending"] == DONE]
            sizes, colour = [run["size"] for run in done], _COLOURS[simulator]
            k = exponent(runs, "cpu")
            words = simulator.capitalize() + (f", CPU = fixed + {what}^{k:.2f}" if k is not None else "")
            axes.plot(sizes, [run["wall"] for run in done], "o-", color=colour, label=words)
            axes.plot(sizes, [run["cpu"] for run in done], ":", color=colour)
        if peers:
            label = f"da4ml in Verilator, {vectors:,} vectors"
            axes.plot(*zip(*peers, strict=True), "x", color=_COLOURS[PEER], label=label)
        axes.set(xscale="log", yscale="log", xlabel=what, ylabel="seconds, whole process (dotted: CPU)")
        axes.set_title(f"Time of dais-verif sim against {what}: {fixed}", fontsize=10)
        axes.grid(which="major", color="#dddddd")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
            axis.set_minor_formatter(NullFormatter())
        axes.legend(frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
