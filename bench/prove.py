"""``python -m bench.prove``: times of ``dais-verif prove``, with an empty cache and once more, against its goals."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bench.networks import network, ternary_network
from bench.report import Table, as_markdown, show
from bench.rounds import Spread
from bench.shapes import attention, convolution
from bench.sim.__main__ import _cpu
from bench.sim.goals import exponent
from bench.sim.plot import missing
from bench.sim.sides import DONE, LATE, Run
from bench.sim.subjects import CORPUS, ROOT
from bench.sim.timing import timed
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.doors.cli.common import console, notices
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.spec.program.json_writers import alir_json

__all__ = ["goals", "main", "markdown", "svg"]

SIZES = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 95_000, 250_000, 1_000_000)
QUICK_SIZES = (100, 200, 400)
REAL = ("p02_mlp_jet", "p13_hgq_jet")
#: Wide programs whose ops read far earlier ops, one with ALIR's sums, and the seconds that a proof of each may take.
SHAPES: Mapping[str, tuple[Callable[[], Program], float]] = {
    "attention": (partial(attention, 16, 16), 10.0),
    "convolution": (partial(convolution, 14), 20.0),
    "wide convolution": (partial(convolution, 21), 60.0),
    "network of ternary adders": (partial(ternary_network, 80_600), 30.0),
}

#: Limits by ops, of wall time (seconds) and of memory (bytes); then the least ops and the largest share of a second
#: run, and the largest exponent by which time may grow.
_SECONDS, _BYTES = {5_000: 3.0, 50_000: 20.0, 1_000_000: 120.0}, {95_000: 2e9, 1_000_000: 6e9}
_SECOND_RUN, _LINEAR = (5_000, 1 / 3), 1.1

Results = dict[str, Any]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--limit", type=click.FloatRange(1), default=600, show_default=True, help="Seconds for one process.")
@click.option("--quick", is_flag=True, help="Small sizes, one round: only checks that all works.")
@click.option("--plot", type=click.Path(), help="File of the plot, '' for none. Default: in docs, not if quick.")
@click.option("--json", "as_json", is_flag=True, help="Print all times as one JSON object instead of tables.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the tables as Markdown to this file, too.")
def main(rounds: int, limit: float, quick: bool, plot: str | None, as_json: bool, output: Path | None) -> None:
    """Measure proofs of synthetic and real networks, each in a separate process, from a file to a verdict.

    Run nothing else on the machine meanwhile.
    """
    picture = ("" if quick else str(ROOT / "docs" / "developers" / "speed-prove.svg")) if plot is None else plot
    if picture and missing():
        raise click.ClickException(missing())
    results: Results = {
        "schema": "dais-verif/bench-prove/1",
        "machine": {"cpu": _cpu(), "cores": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0]},
        "rounds": 1 if quick else rounds,
        "quick": quick,
    }
    with tempfile.TemporaryDirectory(prefix="bench-prove-") as folder:
        results["designs"] = list(_measured(Path(folder), results["rounds"], limit, quick))
    if output is not None:
        make_folder(output.parent)
        write_atomically(output, markdown(results).encode())
    if picture:
        write_atomically(Path(picture), svg(results))
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        show(_legend(results), _tables(results), Console(width=160) if not sys.stdout.isatty() else console())


def _programs(folder: Path, quick: bool) -> Iterator[tuple[str, int, Path]]:
    for size in QUICK_SIZES if quick else SIZES:
        path = folder / f"network{size}.bin"
        path.write_bytes(write_binary(network(size), "v1"))
        yield "network", size, path
    for name, (make, _) in () if quick else SHAPES.items():
        program = make()
        sums = len(program.terms.op) > 0
        path = folder / f"{name}.{'json' if sums else 'bin'}"
        path.write_bytes(alir_json(program) if sums else write_binary(program, "v1"))
        yield name, program.n_ops, path
    for name in () if quick or not CORPUS.is_dir() else REAL:
        path = CORPUS / name / "prog.v1.bin"
        yield name, load(path).n_ops, path


def _measured(folder: Path, rounds: int, limit: float, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield both runs of each design in all rounds; the second run has the cache of the first."""
    for name, ops, path in _programs(folder, quick):
        found: dict[str, Any] = {"name": name, "ops": ops, "first": [], "second": []}
        for _ in range(rounds):
            shutil.rmtree(folder / "cache", ignore_errors=True)
            for which in ("first", "second"):
                run = _proved(path, ops, folder / "cache", limit)
                found[which].append(run)
                words = f"{run['wall']:.2f} s, CPU {run['cpu']:.2f} s, {run['ending']}"
                notices().print(f"{name}, {ops:,} ops, {which} run: {words}", markup=False)
        yield found


def _proved(path: Path, ops: int, cache: Path, limit: float) -> Run:
    """Return one run, which is done only if it passes and every op is proved."""
    command = [sys.executable, "-m", "dais_verif", "prove", str(path), "--unchecked", "--json"]
    done = timed(command, env={**os.environ, "DAIS_VERIF_CACHE": str(cache)}, cwd=ROOT, limit=limit)
    run: Run = {"size": ops, "wall": done.wall, "cpu": done.cpu, "peak": done.peak, "ending": LATE}
    if done.code is None:
        return run
    try:
        record = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {**run, "ending": done.last_words}
    if record["verdict"] != "PASS":
        return {**run, "ending": f"{record['verdict']}: {record['message']}"}
    run |= {"obligations": record["obligations"], "methods": record["methods"], "stages": record["seconds"]}
    proved = record["claims"]["PROVED"]["ops"]
    return {**run, "ending": DONE if proved == ops else f"proved {proved} of {ops} ops"}


# goals


def goals(results: Results) -> list[tuple[str, str, bool]]:
    """Return each goal for which there are measurements, the measurement in words, and whether the goal is met."""
    designs = [design for design in results["designs"] if design["name"] == "network"]
    by_size = {design["ops"]: design for design in designs}
    found = []
    for ops, limit in _SECONDS.items():
        if ops in by_size:
            words, value = _of(by_size[ops]["first"], "wall")
            found.append((f"{ops:,} ops, first run: under {limit:.0f} s", f"{words} s", value < limit))
    for ops, most in _BYTES.items():
        if ops in by_size:
            peak = max((run["peak"] if run["ending"] == DONE else float("inf")) for run in by_size[ops]["first"])
            found.append((f"{ops:,} ops: under {most / 1e9:.0f} GB", f"{peak / 1e9:.2f} GB", peak < most))
    for design in results["designs"]:
        if design["name"] in SHAPES:
            words, value = _of(design["first"], "wall")
            limit = SHAPES[design["name"]][1]
            goal = f"{design['name']}, {design['ops']:,} ops, first run: under {limit:.0f} s"
            found.append((goal, f"{words} s", value < limit))
    runs = [run for design in designs for run in design["first"]]
    sizes = f"{min(by_size):,} to {max(by_size):,}"
    for key, words in (("cpu", "CPU time"), ("wall", "wall time")):
        k = exponent(runs, key) if all(run["ending"] == DONE for run in runs) else None
        if k is not None:
            found.append((f"{words} of {sizes} ops: exponent at most {_LINEAR}", f"{k:.2f}", k <= _LINEAR))
    least, share = _SECOND_RUN
    shares = {d["ops"]: _share(d) for d in designs if d["ops"] >= least}
    if shares:
        worst = max(shares, key=lambda ops: shares[ops])
        goal = f"second run from {least:,} ops on: at most a third of the first"
        found.append((goal, f"{shares[worst]:.0%} ({worst:,} ops, worst of {len(shares)})", shares[worst] <= share))
    return found


def _share(design: dict[str, Any]) -> float:
    first, second = (_of(design[which], "wall")[1] for which in ("first", "second"))
    return second / first if first < float("inf") else float("inf")


def _of(runs: Sequence[Run], key: str) -> tuple[str, float]:
    """Return the median in words and as a number; the number is infinite if a run was not done."""
    if any(run["ending"] != DONE for run in runs):
        return next(str(run["ending"]) for run in runs if run["ending"] != DONE), float("inf")
    spread = Spread.of([run[key] for run in runs])
    words = f"{spread.median:.2f}"
    return words + (f" ({spread.low:.2f}..{spread.high:.2f})" if len(runs) > 1 else ""), spread.median


# tables and the plot


def markdown(results: Results) -> str:
    """Return legend and tables as Markdown."""
    return as_markdown(_legend(results), _tables(results))


def _legend(results: Results) -> list[str]:
    machine = results["machine"]
    text = [
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']:.1f} before the run.",
        "Every run is a whole process, from a program in a file over its Verilog to a verdict on all ops and outputs. "
        f"Seconds, median (least..greatest) of {results['rounds']} rounds. The second run has the cache that the first "
        "has left: the same program, the same RTL.",
    ]
    if results["quick"]:
        text.insert(0, "A quick run, which only shows that everything works; its numbers are not results.")
    return text


def _tables(results: Results) -> list[Table]:
    header = ["design", "ops", "obligations", "first run", "CPU", "second run", "CPU", "peak MB"]
    rows = []
    for design in results["designs"]:
        first, second = design["first"], design["second"]
        times = [_of(runs, key)[0] for runs in (first, second) for key in ("wall", "cpu")]
        peak = max(run["peak"] for run in first) / 1e6
        rows.append(
            [design["name"], f"{design['ops']:,}", str(first[0].get("obligations", "")), *times, f"{peak:,.0f}"]
        )
    lines = [(goal, found, "met" if met else "NOT MET") for goal, found, met in goals(results)]
    return [Table("proofs", header, rows), Table("goals", ["goal", "found", ""], lines, 3)]


def svg(results: Results) -> bytes:
    """Return a plot of time against ops as SVG; the same results give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    designs = [design for design in results["designs"] if design["name"] == "network"]
    with matplotlib.rc_context({"svg.hashsalt": "prove", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for which, colour in (("first", "#1f5fa8"), ("second", "#c05a1c")):
            runs = [run for design in designs for run in design[which]]
            k = exponent(runs, "cpu")
            label = f"{which} run" + (f", CPU = fixed + ops^{k:.2f}" if k is not None else "")
            for key, style in (("wall", "o-"), ("cpu", ":")):
                points = [(d["ops"], _of(d[which], key)[1]) for d in designs if _of(d[which], key)[1] < float("inf")]
                axes.plot(*zip(*points, strict=True), style, color=colour, label=label if key == "wall" else None)
        axes.set(xscale="log", yscale="log", xlabel="ops", ylabel="seconds, whole process (dotted: CPU)")
        axes.set_title("Time of dais-verif prove against ops: from a file to a verdict for all inputs", fontsize=10)
        axes.grid(which="major", color="#dddddd")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
        axes.legend(frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


if __name__ == "__main__":
    main()
