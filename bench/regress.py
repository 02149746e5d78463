"""``python -m bench.regress``: one ``regress`` of many small designs in both simulators, against a goal.

The designs are random programs of all opcodes but lookups, and keep their promises. The cache of builds is empty.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.spec.program import write_binary

__all__ = ["main"]

#: The goal: so many designs within so many seconds, on two idle cores.
DESIGNS, SECONDS = 1000, 300.0
_MOST_OPS = 99


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--designs", type=click.IntRange(1), default=DESIGNS, show_default=True, help="Number of designs.")
@click.option("--vectors", type=click.IntRange(1), default=1000, show_default=True, help="Vectors for each design.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the designs.")
def main(designs: int, vectors: int, seed: int) -> None:
    """Make small designs, run ``dais-verif regress`` on all of them with an empty cache, and print the times.

    Run nothing else on the machine meanwhile. CPU time includes all simulators and compilers.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_designs(folder / "designs", designs, seed)
        command = [sys.executable, "-m", "dais_verif", "regress", str(folder / "designs"), "--vectors", str(vectors)]
        environment = {**os.environ, "DAIS_VERIF_CACHE": str(folder / "cache")}
        began, before = time.monotonic(), _cpu_of_children()
        done = subprocess.run(
            [*command, "-o", str(folder / "out"), "--json"], env=environment, stdout=subprocess.PIPE, check=False
        )
        wall, cpu = time.monotonic() - began, _cpu_of_children() - before
        record = json.loads(done.stdout)
    allowed = SECONDS * designs / DESIGNS
    click.echo(f"{record['verdict']}  {designs} designs: {record['message']}")
    click.echo(f"{wall:.0f} s wall, {cpu:.0f} s CPU, load {os.getloadavg()[0]:.1f} at the end")
    click.echo(f"goal: {allowed:.0f} s wall: {'met' if wall <= allowed else 'NOT MET'}")
    sys.exit(done.returncode)


def write_designs(folder: Path, number: int, seed: int) -> None:
    """Write so many programs of 1 to 99 ops into ``folder``; all have output bits."""
    folder.mkdir()
    rng = random.Random(seed)
    made = 0
    while made < number:
        program = random_program(rng, rng.randint(1, _MOST_OPS), promise_keeping=True, tables=False)
        if any(kind.width for kind in program.output_types):
            (folder / f"d{made:04}.bin").write_bytes(write_binary(program, "v1"))
            made += 1


def _cpu_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
