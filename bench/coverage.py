"""``python -m bench.coverage``: the cost of counting coverage relative to ``sim``, and the coverage that is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click

from dais_verif.base.files import write_atomically
from dais_verif.coverage import Effort, measured, summary
from dais_verif.spec.program import Program, load
from dais_verif.stimulus import Generated

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("DAIS_CORPUS") or ROOT / "tests" / "corpus")

#: Programs whose cost is measured.
COST = ("p02_mlp_jet", "p09_dense64", "p13_hgq_jet")
GOAL = 30.0

COUNTED = Effort(seconds=0.0, rounds=0, evaluations=0)


class Cost(NamedTuple):
    """Seconds of ``sim`` as a whole process, with its design already built, and of counting the same vectors."""

    name: str
    ops: int
    sim: list[float]
    counting: list[float]

    @property
    def percent(self) -> list[float]:
        """Return the time of counting relative to ``sim``, in percent, for each round."""
        return [100 * c / s for c, s in zip(self.counting, self.sim, strict=True)]


def cost(path: Path, vectors: int, rounds: int) -> Cost:
    """Measure ``sim`` and counting alternately."""
    program = load(path)
    found = Cost(path.parent.name, program.n_ops, [], [])
    for number in range(rounds + 1):
        sim, counting = _sim(path, vectors), _counting(program, vectors)
        if number:  # the first round builds the design and is a warm-up
            found.sim.append(sim)
            found.counting.append(counting)
    return found


def _sim(path: Path, vectors: int) -> float:
    command = [sys.executable, "-m", "dais_verif", "sim", str(path), "--sim", "verilator", "--exhaustive-bits", "0"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--vectors", str(vectors), "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode or json.loads(done.stdout)["simulators"][0]["vectors_compared"] != vectors:
        raise click.ClickException(
            f"{path}: sim ended with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
        )
    return seconds


def _counting(program: Program, vectors: int) -> float:
    start = time.perf_counter()
    found = measured(program, Generated([program], vectors, 0), directed=False, unreachable=False, effort=COUNTED)
    seconds = time.perf_counter() - start
    assert found.vectors == vectors
    assert found.hit.any()
    return seconds


def found_rows(paths: Sequence[Path], vectors: int, seconds: float) -> Iterator[list[Any]]:
    """Yield a row per program: percent with random vectors only, with bins that ranges exclude, and with everything."""
    for path in paths:
        program = load(path)
        given = Generated([program], vectors, 0)
        plain = summary(measured(program, given, directed=False, unreachable=False, effort=COUNTED))
        ranges = summary(measured(program, given, directed=False, effort=COUNTED))
        start = time.perf_counter()
        whole = summary(measured(program, given, effort=Effort(seconds=seconds)))
        took = time.perf_counter() - start
        bins, never = (sum(getattr(group, name) for group in whole.groups) for name in ("bins", "unreachable"))
        yield [
            path.parent.name,
            f"{bins:,}",
            plain.percent,
            ranges.percent,
            whole.percent,
            f"{never:,}",
            whole.directed,
            f"{whole.open_total:,}",
            f"{took:.1f}",
        ]


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as Markdown; the first column is text."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in (head, rule, *rows))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--vectors", type=click.IntRange(1), default=100_000, show_default=True, help="Vectors per run of sim.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds to measure.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=10.0, show_default=True, help="Seconds for the solver."
)
@click.option("--quick", is_flag=True, help="Few vectors, one round, one program: only checks that all works.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the tables to this file, too.")
def main(vectors: int, rounds: int, timeout: float, quick: bool, output: Path | None) -> None:
    """Measure the cost of counting coverage relative to sim, and the coverage of real programs."""
    if quick:
        vectors, rounds, timeout = 1000, 1, 0.1
    paths = sorted(CORPUS.glob("*/prog.v1.bin"))
    if not paths:
        raise click.ClickException(f"no program in {CORPUS}; DAIS_CORPUS can name the corpus")
    measured_paths = [path for path in paths if path.parent.name in COST]
    costs = [cost(path, vectors, rounds) for path in measured_paths[: 1 if quick else None]]
    lines = []
    for one in costs:
        share = median(one.percent)
        verdict = "met" if max(one.percent) < GOAL else "NOT MET"
        spread = f"{share:.1f}% ({min(one.percent):.1f}..{max(one.percent):.1f})"
        lines.append(
            [one.name, f"{one.ops:,}", f"{median(one.sim):.2f}", f"{median(one.counting):.3f}", spread, verdict]
        )
    head = ["program", "ops", f"sim, {vectors:,} vectors, s", "counting, s", "of sim", f"goal: under {GOAL:g}%"]
    text = table(head, lines)
    head = ["program", "bins", "random, %", "ranges too, %", "all, %", "unreachable", "directed", "open", "seconds"]
    text += "\n" + table(head, list(found_rows(paths[: 2 if quick else None], 1000, timeout)))
    click.echo(text, nl=False)
    if output is not None:
        write_atomically(output, text.encode())


if __name__ == "__main__":
    main()
