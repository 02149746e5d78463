"""Prove random clocked designs one by one, and compare the answers with both simulators.

Run it as ``python -m prove.soundness.clocked``. A design that is proved must never differ from its program in Icarus
or Verilator, at the latency that was proved, over thousands of edges with resets, stalls and bubbles wherever its
pins permit them. A design that is refuted must be wrong in Icarus where the prover says so. Designs may be refused;
they are counted, with the results of the simulators. Results are stored as they are found, and an interrupted
campaign resumes.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from prove.soundness.clocked_designs import ClockedDesign, random_clocked_design
from prove.soundness.clocked_witnesses import confirmed, trace_of
from prove.soundness.streams import Stream, simulate
from prove.soundness.tasks import TASKS

from dais_verif.base.errors import InputError, ToolError
from dais_verif.base.files import write_atomically
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.prover import slang, yosys
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.spec.program import Program

__all__ = ["PROGRAMS", "PROVED", "REFUTED", "Record", "answer", "exceptions", "judge", "reasons", "table"]

Record = dict[str, Any]

#: The prover's answers. Refused: with a message; crashed: with a traceback.
PROVED, REFUTED, UNKNOWN, REFUSED, CRASHED = "proved", "refuted", "unknown", "refused", "crashed"
_STATUS = {Verdict.PASS: PROVED, Verdict.RTL_MISMATCH: REFUTED, Verdict.UNKNOWN: UNKNOWN}

PROGRAMS: dict[str, Program] = {name: task.program for name, task in TASKS.items()}
_LIMITS = Limits(120, 4096)
_DEPTH = 50_000


def _read(design: ClockedDesign, front_end: str, folder: Path) -> Netlist:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in design.files]
    for path in paths:
        path.write_text(design.files[path.name])
    if front_end == "slang":
        return slang.elaborate(paths, design.name, {})
    slang.refuse_misread(paths, design.name, {})  # as the command does if Yosys is the only front end
    form = elaborated(paths, design.name, [], folder / "yosys", _LIMITS)
    slang.refuse_events(paths, design.name, {})
    return yosys.elaborate(form, design.name)


def answer(design: ClockedDesign, program: Program, front_end: str, folder: Path) -> tuple[Record, Proof | None]:
    """Return the prover's answer on a design: its record, and the proof if there is one."""
    sys.setrecursionlimit(_DEPTH)
    said = replace(design.clocking, latency=None) if design.told else None
    start = time.process_time()
    try:
        netlist = _read(design, front_end, folder)
        proof = prove(program, netlist, packed(program, said), ProofOptions(check=False, jobs=1, declared=False))
    except (InputError, ToolError) as error:
        return {"status": REFUSED, "why": str(error).replace(str(folder), "")[:400]}, None
    except Exception:
        return {"status": CRASHED, "why": traceback.format_exc()[-1500:]}, None
    record: Record = {"status": _STATUS[proof.verdict], "why": proof.message}
    record["seconds"] = round(time.process_time() - start, 3)
    if proof.timing is not None:
        record["latency"] = proof.timing.latency
    return record, proof


def proved_stream(design: ClockedDesign, proof: Proof) -> Stream:
    """Return a proved design as a stream, with the pins and the latency that the proof found."""
    pins = design.clocking
    latency = proof.timing.latency if proof.timing else 0
    if design.told:
        how = proof.handshake.how if proof.handshake else ""
        return Stream(design.name, design.files, design.task, replace(pins, latency=latency), {},
                      reset_enabled="takes effect only at edges" in how)  # fmt: skip
    timing = proof.timing
    alone = Clocking(timing.clock if timing else pins.clock, latency, enable=timing.enable if timing else None)
    known = {alone.clock, alone.enable, *proof.held}
    others = tuple(pin for pin in pins.driven if pin not in known)
    return Stream(design.name, design.files, design.task, alone, proof.held, others)


def meant_stream(design: ClockedDesign) -> Stream:
    """Return a design as a stream, with its intended pins and latency."""
    return Stream(design.name, design.files, design.task, design.clocking, {})


def judge(
    designs: Sequence[ClockedDesign],
    cycles: int,
    folder: Path,
    front_end: str = "slang",
    simulators: Sequence[str] = ("icarus", "verilator"),
    *,
    programs: Mapping[str, Program] = PROGRAMS,
    seed: int = 0,
    others: Sequence[str] | None = None,
) -> dict[str, Record]:
    """Return the record of each design, by name.

    ``others``: the simulators for designs that are not proved; by default all of ``simulators``.
    """
    records: dict[str, Record] = {}
    streams: dict[bool, dict[str, Stream]] = {True: {}, False: {}}
    witnesses = []
    for design in designs:
        program = programs[design.task]
        record, proof = answer(design, program, front_end, folder / "rtl" / design.name)
        records[design.name] = {
            "task": design.task, "features": list(design.features), "mistake": design.mistake, "told": design.told,
            "reader": front_end, **record,
        }  # fmt: skip
        proved = record["status"] == PROVED and proof is not None
        streams[proved][design.name] = proved_stream(design, proof) if proved and proof else meant_stream(design)
        if record["status"] == REFUTED and proof is not None:
            trace = trace_of(program, proof, design.clocking, design.told)
            witnesses.append((design.name, design.files, program, trace))
    for proved, some in streams.items():
        asked = simulators if proved or others is None else others
        where = folder / ("proved" if proved else "others")
        seen = simulate([*some.values()], programs, cycles, seed, where, asked) if some else []
        for name, one in zip(some, seen, strict=True):
            records[name] |= {"cycles": cycles, "ran": list(one.ran), "wrong": dict(one.wrong)}
    answers = confirmed(witnesses, folder / "witnesses") if witnesses else []
    for (name, *_), found in zip(witnesses, answers, strict=True):
        records[name]["confirmed"] = found
    return records


def exceptions(records: Mapping[str, Record]) -> list[str]:
    """Return the designs on which the prover and the simulators disagree, or on which the prover crashed."""
    return [f"{name}: {said}" for name, record in records.items() if (said := _exception(record))]


def _exception(record: Record) -> str:
    if record["status"] == PROVED and not _right(record):
        return f"proved, and wrong: {record['wrong']}" if record["ran"] else "proved, and no simulator takes it"
    if record["status"] == REFUTED and not (record["wrong"] if record["confirmed"] is None else record["confirmed"]):
        return f"refuted, and right in simulation: {record['why']}"
    return str(record["why"]) if record["status"] == CRASHED else ""


def _right(record: Record) -> bool:
    """Return whether at least one simulator ran the design, and none found an error."""
    return bool(record["ran"]) and not record["wrong"]


def table(records: Mapping[str, Record]) -> list[str]:
    """Return the number of right and wrong designs for each answer, as Markdown."""
    lines = ["| answer | right in simulation | wrong in simulation | in no simulator |", "| --- | ---: | ---: | ---: |"]
    every = [*records.values()]
    for status in (PROVED, REFUTED, UNKNOWN, REFUSED):
        some = [record for record in every if record["status"] == status]
        counts = (sum(map(_right, some)), sum(bool(r["wrong"]) for r in some), sum(not r["ran"] for r in some))
        lines.append(f"| {status} | {' | '.join(f'{n:,}' for n in counts)} |")
    return lines


def reasons(records: Mapping[str, Record], right: bool) -> Counter[str]:
    """Count the reasons why designs were not decided, without names and places."""
    found: Counter[str] = Counter()
    for record in records.values():
        if record["status"] in (UNKNOWN, REFUSED) and _right(record) == right:
            text = re.sub(r"^\S+:\d+(:\d+)?: |\(.*?\)", "", record["why"])
            found[re.sub(r"'[^']*'|\b\w*\d\w*\b|(?<=needs )\w+", "_", text)[:110]] += 1
    return found


def _judged(job: tuple[int, int, int, str, tuple[str, ...]]) -> dict[str, Record]:
    first, count, cycles, front_end, simulators = job
    designs = [random_clocked_design(seed) for seed in range(first, first + count)]
    with TemporaryDirectory(prefix="dais-verif-clocked-") as scratch:
        return judge(designs, cycles, Path(scratch), front_end, simulators, seed=first)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/clocked.json"))
@click.option("--designs", "count", default=2000, show_default=True)
@click.option("--first", default=0, show_default=True, help="The seed of the first design.")
@click.option("--cycles", default=4000, show_default=True, help="Edges that each is simulated for.")
@click.option("--together", default=50, show_default=True, help="Designs in one simulation.")
@click.option("--yosys-every", default=5, show_default=True, help="Of so many simulations one is read by Yosys.")
@click.option("--jobs", default=1, show_default=True)
def main(output: Path, count: int, first: int, cycles: int, together: int, yosys_every: int, jobs: int) -> None:
    """Test the prover with random clocked designs."""
    output.parent.mkdir(parents=True, exist_ok=True)
    records: dict[str, Record] = json.loads(output.read_text())["designs"] if output.is_file() else {}
    work = []
    for number, start in enumerate(range(first, first + count, together)):
        some = min(together, first + count - start)
        if not all(f"d{seed}" in records for seed in range(start, start + some)):
            reader = "yosys" if number % yosys_every == yosys_every - 1 else "slang"
            work.append((start, some, cycles, reader, ("icarus", "verilator")))
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as workers:
        for found in workers.imap_unordered(_judged, work):
            records |= found
            tree = {"exceptions": exceptions(records), "table": table(records), "designs": records}
            write_atomically(output, json.dumps(tree, indent=1).encode())
            said = Counter(record["status"] for record in records.values())
            click.echo(f"{len(records)} designs: {dict(said)}, exceptions: {len(exceptions(records))}")
    click.echo("\n".join(table(records)))
    for right in (True, False):
        click.echo(f"not decided, and {'right' if right else 'wrong'} in simulation:")
        click.echo("\n".join(f"  {n:5} {reason}" for reason, n in reasons(records, right).most_common()))
    wrong = exceptions(records)
    if wrong:
        raise click.ClickException(f"{len(wrong)} exceptions, the first: {wrong[0]}")
    click.echo("no exception")


if __name__ == "__main__":
    main()
