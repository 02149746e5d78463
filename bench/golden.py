"""``python -m bench.golden``: our golden engine and the interpreters of da4ml and alkaid, measured alternately."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench.report import markdown, print_report
from bench.subjects import Subject
from dais_verif import __version__
from dais_verif.base.files import write_atomically
from dais_verif.doors.cli.common import console, notices
from dais_verif.golden import ENGINES, fast
from dais_verif.spec.program import load

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("DAIS_CORPUS") or ROOT / "tests" / "corpus")
ISA = "DAIS_VERIF_ISA"

#: Samples of the measurement in a new process.
FIRST_SAMPLES = 1000
#: Ops, and inputs and outputs, of the network that is measured with every input type.
FORMAT_OPS, FORMAT_WIDTH = 2048, 128
#: Samples of a run of the virtual machine, and runs of one measurement.
LEVEL_SAMPLES, LEVEL_RUNS = 1000, 100


@dataclass(frozen=True)
class Plan:
    """The measurements to make, and their sizes."""

    engine: str
    programs: Sequence[Path]
    samples: int
    rounds: int
    isas: Sequence[str]
    quick: bool
    folder: Path
    progress: Progress = field(repr=False)

    def size(self, full: int) -> int:
        """Return ``full``, or a hundredth of it in a quick run."""
        return full // 100 if self.quick else full

    def ask(self, task: str, isa: str = "auto", **arguments: Any) -> dict[str, Any]:
        """Return the result of a task of ``bench.tasks``, which runs in a separate process."""
        what = " ".join([task, Path(arguments.get("program", "")).parent.name, "" if isa == "auto" else isa])
        self.progress.update(self.progress.task_ids[0], description=what)
        environment = {**os.environ, **({} if isa == "auto" else {ISA: isa})}
        command = [sys.executable, "-m", "bench.tasks", task]
        found: dict[str, Any] = json.loads(_output(command, environment, json.dumps(arguments)))
        return found


def _output(command: list[str], environment: dict[str, str] | None = None, stdin: str = "") -> str:
    done = subprocess.run(command, input=stdin, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        raise click.ClickException(f"{' '.join(command[2:4])} {stdin}: {last}")
    return done.stdout


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--programs",
    type=click.Path(exists=True, resolve_path=True, path_type=Path),
    multiple=True,
    help="A binary, or a folder with prog.v1.bin and inputs.npy (rows, n_in); may be repeated. Default: the corpus.",
)
@click.option("--samples", type=click.IntRange(1), help="Samples per call. Default: 100,000.")
@click.option("--rounds", type=click.IntRange(1), help="Rounds to measure. Default: 7.")
@click.option("--engine", type=click.Choice(ENGINES), default="fast", show_default=True, help="Our engine to measure.")
@click.option("--quick", is_flag=True, help="Small sizes, two rounds: only checks that all works.")
@click.option("--json", "as_json", is_flag=True, help="Print all times as one JSON object instead of tables.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the tables as Markdown to this file, too.")
def main(
    programs: tuple[Path, ...],
    samples: int | None,
    rounds: int | None,
    engine: str,
    quick: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Measure our golden engine and the C++ interpreters of da4ml and alkaid, and compare the results with its goals.

    Every measurement is a separate process, in which all sides run alternately on the same values, and all outputs are
    compared first. Run nothing else on the machine meanwhile.
    """
    machine = _machine()
    with _progress() as progress, tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            engine=engine,
            programs=programs or sorted(path for path in CORPUS.glob("*") if path.is_dir()),
            samples=samples or (1000 if quick else 100_000),
            rounds=rounds or (2 if quick else 7),
            isas=["auto", *fast.ISAS[fast.ISAS.index(machine["isa"]) + 1 :]],
            quick=quick,
            folder=Path(folder),
            progress=progress,
        )
        if not plan.programs:
            raise click.ClickException(f"no program in {CORPUS}; DAIS_CORPUS names the corpus, --programs a program")
        results = _results(plan, machine)
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        print_report(results, Console(width=220, highlight=False) if not sys.stdout.isatty() else console())
    if output is not None:
        write_atomically(output, markdown(results).encode())


def _results(plan: Plan, machine: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": "dais-verif/bench-golden/1",
        "machine": machine,
        "engine": plan.engine,
        "samples": plan.samples,
        "rounds": plan.rounds,
        "isas": plan.isas,
        "quick": plan.quick,
        "programs": [_program(plan, path) for path in plan.programs],
        "formats": plan.ask(
            "formats",
            engine=plan.engine,
            n_ops=FORMAT_OPS,
            width=FORMAT_WIDTH,
            rows=plan.samples,
            rounds=plan.rounds,
        ),
        "preparation": [_preparation(plan)],
        "first_samples": FIRST_SAMPLES,
        "first": list(_first(plan)),
        "memory": list(_memory(plan)),
        "level_runs": plan.size(LEVEL_RUNS),
        "levels": list(_levels(plan)),
    }


def _files(path: Path) -> tuple[str, str | None]:
    """Return the paths of program and vectors; the latter may be None."""
    if path.is_dir():
        return str(path / "prog.v1.bin"), str(path / "inputs.npy")
    return str(path), None


def _program(plan: Plan, path: Path) -> dict[str, Any]:
    program, vectors = _files(path)
    files = {"engine": plan.engine, "program": program, "vectors": vectors, "rounds": plan.rounds}
    throughput = {isa: plan.ask("throughput", isa, **files, rows=plan.samples) for isa in plan.isas}
    loaded = load(program)
    return {
        "name": path.stem,
        "ops": loaded.n_ops,
        "throughput": throughput,
        "threads": plan.ask("threads", **files, rows=plan.samples),
        "single": plan.ask("single", **files),
    }


def _smallest_and_largest(plan: Plan) -> list[Path]:
    by_size = sorted(plan.programs, key=lambda path: load(_files(path)[0]).n_ops)
    return list(dict.fromkeys([by_size[0], by_size[-1]]))


def _network(plan: Plan, n_ops: int) -> str:
    path = str(plan.folder / f"network{n_ops}.bin")
    plan.ask("synthesize", n_ops=n_ops, path=path)
    return path


def _preparation(plan: Plan) -> dict[str, Any]:
    n_ops = plan.size(500_000)
    found = plan.ask("preparation", engine=plan.engine, program=_network(plan, n_ops), rounds=plan.rounds)
    return {"ops": n_ops, **found}


def _first(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the seconds of whole processes, measured alternately."""
    for path in _smallest_and_largest(plan):
        program, vectors = _files(path)
        subject = Subject.of(Path(program), Path(vectors) if vectors else None, FIRST_SAMPLES)
        binary, rows = plan.folder / "first.bin", plan.folder / "first.npy"
        binary.write_bytes(subject.words.tobytes())
        np.save(rows, subject.doubles)
        seconds: dict[str, list[float]] = {"peer": [], "ours": []}
        digests = set()
        for number in range(plan.rounds + 1):
            for side in list(seconds)[:: -1 if number % 2 else 1]:
                start = time.perf_counter()
                digests.add(_output([sys.executable, "-m", "bench.first", side, str(binary), str(rows), plan.engine]))
                seconds[side].append(time.perf_counter() - start)
        if len(digests) > 1:
            raise click.ClickException(f"{path.stem}: the first outputs of both sides differ")
        yield {"name": path.stem, **{side: values[1:] for side, values in seconds.items()}}  # the first is a warm-up


def _levels(plan: Plan) -> Iterator[dict[str, Any]]:
    for path in _smallest_and_largest(plan):
        program, vectors = _files(path)
        size = {"rows": LEVEL_SAMPLES, "runs": plan.size(LEVEL_RUNS), "rounds": plan.rounds}
        yield {"name": path.stem, **plan.ask("levels", program=program, vectors=vectors, **size)}


def _memory(plan: Plan) -> Iterator[dict[str, Any]]:
    n_ops, rows = plan.size(50_000), plan.size(1_000_000)
    program = _network(plan, n_ops)
    expected = plan.ask("peer_digest", program=program, rows=rows)["first rows"]
    for kind in ("integers", "doubles"):
        found = plan.ask("memory", engine=plan.engine, program=program, rows=rows, kind=kind)
        if found["first rows"] != expected:
            raise click.ClickException(f"synthetic network, {kind}: the first outputs differ from da4ml's")
        yield {"ops": n_ops, "rows": rows, "kind": kind, **found}


def _machine() -> dict[str, Any]:
    peers = {}
    for name, known in (("da4ml", "0.6.0"), ("alkaid", "0.8.2")):
        try:
            peers[name] = version(name)
        except PackageNotFoundError:
            raise click.ClickException(f"{name} is not installed; pip install {name}=={known}") from None
    if fast.why_not():
        raise click.ClickException(fast.why_not())
    return {
        "cpu": _cpu() or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "isa": fast.isa(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        **peers,
        "load": os.getloadavg()[0],
        "dais-verif": __version__,
    }


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


@contextmanager
def _progress() -> Iterator[Progress]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=notices(), transient=True) as progress:
        progress.add_task("")
        yield progress


if __name__ == "__main__":
    main()
