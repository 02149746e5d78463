"""``python -m bench.sim``: ``dais-verif sim`` and da4ml's own flow, measured alternately and compared with goals."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import numpy as np
from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.sim.plan import Plan, Step
from bench.sim.plot import missing, write_plots
from bench.sim.report import markdown, print_report
from bench.sim.sides import Ours, Peer
from bench.sim.subjects import CORPUS, LARGE, NETWORKS, REAL, REAL_SHAPES, ROOT, SHAPES, Subject
from dais_verif import __version__
from dais_verif.base.errors import DaisError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.toolchain import tools
from dais_verif.doors.cli.common import console, notices

__all__ = ["main"]

GROWTH = "growth"
_CHOICE = ", ".join((*REAL, *NETWORKS, *SHAPES, *REAL_SHAPES, GROWTH))

#: The smaller sizes of a quick run.
_QUICK: dict[str, Any] = {
    "vectors": 100,
    "many": 2_000,
    "few": 50,
    "growth_ops": (100, 200, 400),
    "growth_vectors": (50, 100, 400),
    "growth_design": 200,
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only",
    multiple=True,
    metavar="PROGRAM",
    help=f"Measure only this; may be repeated: {_CHOICE}, or a program's file.",
)
@click.option("--rounds", type=click.IntRange(1), help="Rounds of programs that are not large. Default: 3.")
@click.option("--skip-peer", is_flag=True, help="Leave out da4ml, which takes nearly all the time.")
@click.option("--limit", type=click.FloatRange(1), default=1800, show_default=True, help="Seconds for one process.")
@click.option("--quick", is_flag=True, help="Small sizes, one round: only checks that all works.")
@click.option("--cache", type=click.Path(path_type=Path), help="Our cache, which is emptied. Default: in build/.")
@click.option("--plots", type=click.Path(), help="Folder of the plots, '' for none. Default: docs, not if quick.")
@click.option("--json", "as_json", is_flag=True, help="Print all times as one JSON object instead of tables.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the tables as Markdown to this file, too.")
def main(
    only: tuple[str, ...],
    rounds: int | None,
    skip_peer: bool,
    limit: float,
    quick: bool,
    cache: Path | None,
    plots: str | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Measure how long dais-verif sim and da4ml's own emulation take to a verdict, and compare them with the goals.

    Every run is a separate process. Run nothing else on the machine meanwhile.
    """
    names = [name for name in only if name != GROWTH] if only else _names(quick)
    grows = not only or GROWTH in only
    pictures = ("" if quick else str(ROOT / "docs" / "developers")) if plots is None else plots
    if pictures and grows and missing():
        raise click.ClickException(missing())
    machine = _machine(skip_peer)
    cache = (cache or ROOT / "build" / "bench-sim").absolute()
    make_folder(cache)
    try:
        with FileLock(f"{cache}.lock", timeout=0), tempfile.TemporaryDirectory(prefix="bench-sim-") as folder:
            plan = Plan(
                ours=Ours(cache, limit),
                peer=None if skip_peer else Peer(limit),
                folder=Path(folder),
                rounds=rounds or (1 if quick else 3),
                **(_QUICK if quick else {}),
            )
            results = _results(plan, names, grows, {"machine": machine, "limit": limit, "quick": quick})
    except Timeout:
        raise click.ClickException(
            f"another benchmark uses {cache}; wait for it, or name another with --cache"
        ) from None
    if output is not None:
        write_atomically(output, markdown(results).encode())
    if pictures and results["growth"]:
        make_folder(Path(pictures))
        write_plots(results, Path(pictures))
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        print_report(results, Console(width=220, highlight=False) if not sys.stdout.isatty() else console())


def _names(quick: bool) -> list[str]:
    if not CORPUS.is_dir():
        raise click.ClickException(f"no corpus at {CORPUS}; DAIS_CORPUS names it, or choose with --only")
    if quick:
        return [REAL[0], "convolution9k"]
    return [*REAL, *NETWORKS, *SHAPES, *(name for name in REAL_SHAPES if (LARGE / name).is_dir())]


def _results(plan: Plan, names: list[str], grows: bool, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the results, measured in the order of the plan: programs, the largest last, then shapes, then growth."""
    try:
        wide = [name for name in names if name in (*SHAPES, *REAL_SHAPES)]
        parts = [plan.program(Subject.of(name, plan.folder)) for name in names if name not in wide]
        shapes = [plan.shape(Subject.of_shape(name, plan.folder)) for name in wide]
    except (ValueError, DaisError) as error:
        raise click.ClickException(str(error)) from None
    growth, steps = plan.growth() if grows else ({}, [])
    _take([step for _, some in parts for step in some] + [step for _, step in shapes] + steps, plan)
    return {
        "schema": "dais-verif/bench-sim/1",
        **facts,
        "rounds": plan.rounds,
        "vectors": plan.vectors,
        "many": plan.many,
        "few": plan.few,
        "design": plan.growth_design,
        "programs": [found for found, _ in parts],
        "shapes": [found for found, _ in shapes],
        "growth": growth,
    }


def _take(steps: list[Step], plan: Plan) -> None:
    """Measure, and print each result as soon as it is there, since a run may take hours."""
    err = notices()
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("runtime library", total=len(steps))
        plan.ours.prepare()
        for step in steps:
            progress.update(task, description=step.label)
            run = step.take()
            if run is not None:
                found = f"{run['wall']:.2f} s, CPU {run['cpu']:.2f} s, {run['ending']}"
                err.print(f"{step.label}: {found}", markup=False)
            progress.advance(task)


def _machine(skip_peer: bool) -> dict[str, Any]:
    try:
        da4ml = version("da4ml")
    except PackageNotFoundError:
        if not skip_peer:
            raise click.ClickException("da4ml is not installed; pip install da4ml==0.6.0, or --skip-peer") from None
        da4ml = "none"
    verilator = tools.verilator()
    return {
        "cpu": _cpu() or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "icarus": tools.icarus().version,
        "verilator": verilator.version,
        "compiler": verilator.compiler_version,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "da4ml": da4ml,
        "dais-verif": __version__,
    }


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


if __name__ == "__main__":
    main()
