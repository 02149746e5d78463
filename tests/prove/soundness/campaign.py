"""Prove thousands of mutants one by one, and compare the answers with simulators.

Run it as ``python -m prove.soundness.campaign``. A mutant that is refuted must be wrong on its witness in Icarus. A
mutant that is proved equal must never differ in Verilator, on corner values and 100,000 random vectors; some get a
million. A violation of this rule is an exception: a bug of the prover. Results are written as they are found, and an
interrupted campaign resumes.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from prove.soundness.equivalents import told_apart
from prove.soundness.judge import EQUIVALENT, REFUSED, REFUTED, judged
from prove.soundness.mutants import Mutant, sample
from prove.soundness.subjects import SUBJECTS, Subject, subject

from dais_verif.base.files import write_atomically

__all__ = ["exceptions", "table"]

_PROVED_TOGETHER, _SIMULATED_TOGETHER = 40, 24
_MANY = 1_000_000


class Campaign:
    """The records of all mutants so far, by their keys; ``path`` is the file that stores them."""

    def __init__(self, path: Path, question: dict[str, Any]) -> None:
        self._path, self._question = path, question
        self.records: dict[str, dict[str, Any]] = {}
        if path.is_file():
            found = json.loads(path.read_text())
            if found["question"] == question:
                self.records = found["mutants"]

    def keep(self) -> None:
        """Write all records."""
        tree = {
            "question": self._question,
            "exceptions": exceptions(self.records),
            "table": table(self.records),
            "mutants": self.records,
        }
        write_atomically(self._path, json.dumps(tree, indent=1).encode())


def key_of(name: str, mutant: Mutant) -> str:
    """Return the key of a mutant, which distinguishes it from all others."""
    return f"{name}: {mutant.kind}, {mutant.file} at {mutant.offset}: {mutant.old!r} -> {mutant.new!r}"


def exceptions(records: dict[str, dict[str, Any]]) -> list[str]:
    """Return the mutants on which prover and simulators disagree, or which the prover could not decide."""
    return [key for key, record in records.items() if _exception(record)]


def _exception(record: dict[str, Any]) -> bool:
    if record["status"] == REFUTED:
        return record["confirmed"] is not True
    if record["status"] == EQUIVALENT:
        return record.get("told_apart") is not False  # it was not simulated yet, or differed
    return record["status"] != REFUSED


def table(records: dict[str, dict[str, Any]]) -> list[str]:
    """Return the numbers of all programs and kinds, as Markdown."""
    header = ["", "mutants", "refuted, confirmed by Icarus", "proved equal", "never told apart", "by a million vectors"]
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    for column in ("program", "kind"):
        for name in dict.fromkeys(record[column] for record in records.values()):
            lines.append([name, *_numbers([r for r in records.values() if r[column] == name])])
    lines.append(["all", *_numbers(list(records.values()))])
    refused = Counter(record["status"] for record in records.values())[REFUSED]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return [*text, f"Not counted: {refused} mutants that are no Verilog of one meaning, and were refused."]


def _numbers(records: list[dict[str, Any]]) -> list[str]:
    decided = [record for record in records if record["status"] != REFUSED]
    equal = [record for record in decided if record["status"] == EQUIVALENT]
    same = [record for record in equal if record.get("vectors") and not record["told_apart"]]
    confirmed = sum(record.get("confirmed") is True for record in decided)
    many = sum(record["vectors"] >= _MANY for record in same)
    return [f"{n:,}" for n in (len(decided), confirmed, len(equal), len(same), many)]


def _proved(job: tuple[str, list[Mutant], int]) -> tuple[str, list[Mutant], list[dict[str, Any]]]:
    name, mutants, seed = job
    return name, mutants, judged(subject(name), mutants, seed)


def _prove(campaign: Campaign, chosen: dict[str, list[Mutant]], seed: int, jobs: int) -> None:
    work = []
    for name, mutants in chosen.items():
        new = [mutant for mutant in mutants if key_of(name, mutant) not in campaign.records]
        work += [(name, new[n : n + _PROVED_TOGETHER], seed) for n in range(0, len(new), _PROVED_TOGETHER)]
    done = len(campaign.records)
    # Each batch has its own process, since terms are never freed.
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as workers:
        for name, mutants, records in workers.imap_unordered(_proved, work):
            campaign.records |= {key_of(name, m): record for m, record in zip(mutants, records, strict=True)}
            campaign.keep()
            done += len(mutants)
            found = Counter(record["status"] for record in campaign.records.values())
            click.echo(f"proved {done} of {sum(map(len, chosen.values()))}: {dict(found)}")


def _simulate(campaign: Campaign, subjects: dict[str, Subject], keys: set[str], vectors: int, seed: int) -> None:
    """Simulate those of ``keys`` that were not yet simulated on at least ``vectors`` vectors."""
    for name, one in subjects.items():
        waiting = [
            (key, record)
            for key, record in campaign.records.items()
            if key in keys and record["program"] == name and record.get("vectors", 0) < vectors
        ]
        for batch in _batches(waiting, _SIMULATED_TOGETHER):
            designs = [Mutant(*(record[field] for field in Mutant._fields)).applied(one.files) for _, record in batch]
            with TemporaryDirectory(prefix="dais-verif-soundness-") as scratch:
                apart = told_apart(one, designs, vectors, seed, Path(scratch))
            for n, (key, record) in enumerate(batch):
                campaign.records[key] = {**record, "vectors": vectors, "told_apart": n in apart}
            campaign.keep()
            click.echo(f"simulated {len(batch)} of {name} on {vectors:,} vectors; told apart: {len(apart)}")


def _batches(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/soundness.json"))
@click.option("--mutants", "count", default=600, show_default=True, help="At most, of a program.")
@click.option("--program", "names", multiple=True, type=click.Choice(list(SUBJECTS)), help="Default: all.")
@click.option("--vectors", default=100_000, show_default=True, help="Random vectors for what was proved equal.")
@click.option("--many", default=20, show_default=True, help="So many of these get a million.")
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", default=1, show_default=True)
def main(output: Path, count: int, names: tuple[str, ...], vectors: int, many: int, seed: int, jobs: int) -> None:
    """Test the prover with mutants of RTL, and compare its answers with simulators."""
    if shutil.which("iverilog") is None:
        raise click.ClickException("Icarus is needed; run make setup-test")
    output.parent.mkdir(parents=True, exist_ok=True)
    subjects = {name: subject(name) for name in names or SUBJECTS}
    rng = random.Random(seed)
    chosen = {name: sample(one.files, count, rng) for name, one in subjects.items()}
    campaign = Campaign(output, {"seed": seed, "mutants": count, "programs": list(subjects)})
    _prove(campaign, chosen, seed, jobs)
    equal = {key for key, record in campaign.records.items() if record["status"] == EQUIVALENT}
    _simulate(campaign, subjects, equal, vectors, seed)
    most = random.Random(seed).sample(sorted(equal), min(many, len(equal)))
    _simulate(campaign, subjects, set(most), _MANY, seed + 1)
    campaign.keep()
    click.echo("\n".join(table(campaign.records)))
    wrong = exceptions(campaign.records)
    if wrong:
        raise click.ClickException(f"{len(wrong)} exceptions, the first: {wrong[0]}")
    click.echo("no exception")


if __name__ == "__main__":
    main()
