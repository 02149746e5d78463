"""Prove thousands of mutants of pipelines, and compare the answers with simulators.

Run it as ``python -m prove.soundness.pipeline_campaign``. A mutant that is refuted must be wrong in Icarus where the
prover says so; a mutant that is proved must never differ from its program over thousands of edges, in Icarus and in
Verilator. Others are refused, and counted with the results of Icarus. Records are stored as they are found, and an
interrupted campaign resumes.
"""

from __future__ import annotations

import json
import multiprocessing
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from prove.soundness.clocked import PROVED, REFUSED, REFUTED, UNKNOWN, Record, exceptions, judge, reasons
from prove.soundness.clocked_designs import ClockedDesign
from prove.soundness.mutants import Mutant, sample
from prove.soundness.pipelines import PIPELINES, Pipeline, pipeline, with_suffix
from prove.soundness.register_mutants import ALL_KINDS

from dais_verif.base.files import write_atomically

__all__ = ["judged", "summary"]


def judged(
    one: Pipeline,
    mutants: Mapping[str, Mutant],
    cycles: int,
    folder: Path,
    simulators: Sequence[str] = ("icarus", "verilator"),
    seed: int = 0,
) -> dict[str, Record]:
    """Return a record of each mutant, by its key."""
    designs = {}
    for number, (key, mutant) in enumerate(mutants.items()):
        files = with_suffix(mutant.applied(one.files), f"_{number}")
        designs[key] = ClockedDesign(f"model_{number}", files, one.name, one.clocking, True, (), mutant.kind)
    records = judge(
        [*designs.values()], cycles, folder, simulators=simulators, programs={one.name: one.program}, seed=seed,
        others=simulators[:1],
    )  # fmt: skip
    return {key: {**records[design.name], **mutants[key]._asdict()} for key, design in designs.items()}


def summary(records: Mapping[str, Record]) -> list[str]:
    """Return the numbers of all pipelines and kinds, as Markdown.

    A text that neither the prover nor a simulator accepts does not count as a mutant.
    """
    every = len(records)
    records = {key: record for key, record in records.items() if record["ran"] or record["status"] != REFUSED}
    header = [
        "", "mutants", "refuted, confirmed by Icarus", "proved, never told apart", "refused, wrong in Icarus",
        "refused, right there", "unknown",
    ]  # fmt: skip
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    for column in ("task", "kind"):
        for name in dict.fromkeys(record[column] for record in records.values()):
            lines.append([name, *_numbers([r for r in records.values() if r[column] == name])])
    lines.append(["all", *_numbers([*records.values()])])
    text = [f"| {' | '.join(line)} |" for line in lines]
    return [*text, f"Not counted: {every - len(records)} that are no Verilog."]


def _numbers(records: Sequence[Record]) -> list[str]:
    said = Counter(record["status"] for record in records)
    wrong = sum(record["status"] == REFUSED and bool(record["wrong"]) for record in records)
    confirmed = sum(record["status"] == REFUTED and record["confirmed"] is True for record in records)
    same = sum(record["status"] == PROVED and bool(record["ran"]) and not record["wrong"] for record in records)
    counts = (len(records), confirmed, same, wrong, said[REFUSED] - wrong, said[UNKNOWN])
    return [f"{n:,}" for n in counts]


def _work(job: tuple[str, dict[str, Mutant], int, int]) -> dict[str, Record]:
    name, mutants, cycles, seed = job
    with TemporaryDirectory(prefix="dais-verif-pipelines-") as scratch:
        return judged(pipeline(name), mutants, cycles, Path(scratch), seed=seed)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/pipelines.json"))
@click.option("--mutants", "count", default=230, show_default=True, help="At most, of a pipeline.")
@click.option("--pipeline", "names", multiple=True, type=click.Choice(list(PIPELINES)), help="Default: all.")
@click.option("--cycles", default=2500, show_default=True, help="Edges that each is simulated for.")
@click.option("--together", default=90, show_default=True, help="Mutants in one simulation.")
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", default=1, show_default=True)
def main(output: Path, count: int, names: tuple[str, ...], cycles: int, together: int, seed: int, jobs: int) -> None:
    """Test the prover with mutants of pipelines, and compare its answers with simulators."""
    output.parent.mkdir(parents=True, exist_ok=True)
    question = {"mutants": count, "seed": seed, "cycles": cycles}
    records: dict[str, Record] = {}
    if output.is_file():
        tree = json.loads(output.read_text())
        records = tree["mutants"] if tree["question"] == question else {}
    work, wanted = [], 0
    for name in names or PIPELINES:
        chosen = sample(pipeline(name).files, count, random.Random(seed), ALL_KINDS)
        wanted += len(chosen)
        keyed = {f"{name}: {m.kind}, {m.file} at {m.offset}: {m.old!r} -> {m.new!r}": m for m in chosen}
        new = [(key, mutant) for key, mutant in keyed.items() if key not in records]
        work += [(name, dict(new[n : n + together]), cycles, seed) for n in range(0, len(new), together)]
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as workers:
        for found in workers.imap_unordered(_work, work):
            records |= found
            tree = {
                "question": question, "exceptions": exceptions(records), "table": summary(records), "mutants": records,
            }  # fmt: skip
            write_atomically(output, json.dumps(tree, indent=1).encode())
            said = Counter(record["status"] for record in records.values())
            click.echo(f"{len(records)} of {wanted}: {dict(said)}, exceptions: {len(exceptions(records))}")
    click.echo("\n".join(summary(records)))
    for right in (True, False):
        click.echo(f"not decided, and {'right' if right else 'wrong'} in simulation:")
        click.echo("\n".join(f"  {n:5} {reason}" for reason, n in reasons(records, right).most_common(25)))
    wrong = exceptions(records)
    if wrong:
        raise click.ClickException(f"{len(wrong)} exceptions, the first: {wrong[0]}")
    click.echo("no exception")


if __name__ == "__main__":
    main()
