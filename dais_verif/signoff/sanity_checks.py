"""Stages that must fail: what is signed off, with a fault seeded in it, run just as without.

Each passes only if the very bug is found: in every simulator on as many vectors as were spoilt, the first of them
first; by the prover with an input that a simulator confirms. A chain that cannot fail finds none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dais_verif.dut.discover import ports_in
from dais_verif.dut.vhdl_ports import vhdl_ports_in, vhdl_types_in
from dais_verif.errors import InputError
from dais_verif.files import write_atomically
from dais_verif.program import load
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    interface_of,
    pin_arguments,
    program_arguments,
    prove_arguments,
    simulate,
    write_json,
)
from dais_verif.signoff.evidence import Sent, proved, read_tree, simulated
from dais_verif.signoff.judge import SENT, Asked, Judgement, same_inputs, same_simulators
from dais_verif.signoff.seeded_faults import SeededFault, always_wrong, poison, sometimes_wrong
from dais_verif.signoff.subject import file_hash, sha256_of
from dais_verif.signoff.verbs import RUN, call
from dais_verif.signoff.wrappers import OriginalDesign
from dais_verif.stimulus import Generated, Stimulus, read_batch
from dais_verif.toolchain.sources import is_vhdl
from dais_verif.verdict import Verdict

__all__ = ["SEEDED_FAULT", "seed_faults_in_proof", "seed_faults_in_simulation"]

#: In the folder of a stage: what was seeded.
SEEDED_FAULT = "planted.json"


def seed_faults_in_simulation(good: str) -> list[SignOffStage]:
    """Beside the simulation in folder ``good``."""
    return [
        SignOffStage(
            "known-bad RTL, simulated",
            "known-bad-rtl",
            partial(_simulate_bad, good=good),
            _judge_simulated,
            True,
            (good,),
        ),
        SignOffStage(
            "poisoned model, simulated",
            "poisoned-model",
            partial(_simulate_poisoned, good=good),
            _judge_simulated,
            True,
            (good,),
        ),
    ]


def seed_faults_in_proof(good: tuple[str, ...]) -> list[SignOffStage]:
    """Beside the proof; ``good``: the simulation and the proof."""
    return [
        SignOffStage(
            "known-bad RTL, proof", "known-bad-proof", partial(_prove_bad, good=good[0]), _judge_proved, True, good
        ),
        SignOffStage(
            "poisoned model, proof",
            "poisoned-proof",
            partial(_prove_poisoned, good=good[0]),
            _judge_proved,
            True,
            good,
        ),
    ]


# planting


def _simulate_bad(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    interface, design = interface_of(context, record), _design(context)
    bad = sometimes_wrong(interface, design, context.folder / good / RUN, asked.rows, asked.seed)
    files = _with_bad(context, folder, bad, design.suffix)
    simulate(context, folder, [*files, *pin_arguments(context, record)], asked, context.policy.vectors)


def _simulate_poisoned(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    program = _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    simulate(context, folder, design, asked, context.policy.vectors, program)


def _prove_bad(context: Context, folder: Path, good: str) -> None:
    record = simulated(context.folder / good)
    design = _design(context)
    bad = always_wrong(interface_of(context, record), design)
    files = [*_with_bad(context, folder, bad, design.suffix), *pin_arguments(context, record)]
    call("prove", prove_arguments(context, program_arguments(context.subject), files), folder)


def _prove_poisoned(context: Context, folder: Path, good: str) -> None:
    record, program = simulated(context.folder / good), _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    call("prove", prove_arguments(context, program, design), folder)


def _asked(context: Context) -> Asked:
    return context.asked(context.policy.seeds[0], rtl=False, swept=False)


def _with_bad(context: Context, folder: Path, bad: SeededFault, suffix: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    path = folder / f"{bad.top}{suffix}"
    # Where one Verilog module has a time scale, all must.
    timed = suffix == ".v" and any(b"`timescale" in Path(source).read_bytes() for source in context.subject.rtl)
    write_atomically(path, (("`timescale 1ns/1ps\n" if timed else "") + bad.text).encode())
    hashes = [file.sha256 for file in context.subject.of("rtl")] + [file_hash("rtl", path).sha256]
    seeded = {"program": context.subject.program.hash, "top": bad.top, "rtl": hashes, "file": path.name}
    write_json(folder / SEEDED_FAULT, {**seeded, "rows": bad.rows, "first": bad.first})
    return file_arguments(context.subject, context.policy, path, top=bad.top)


def _poisoned(context: Context, folder: Path) -> list[str]:
    """The arguments for the poisoned program, which goes into ``folder``."""
    subject, policy = context.subject, context.policy
    program = subject.program
    given = [read_batch(Path(file.path), program.n_in) for file in subject.of("input")]
    vectors = Stimulus([*given, Generated([program], policy.vectors, policy.seeds[0])])
    made = poison(program, subject.path.read_bytes(), vectors, check=policy.overflow != "unchecked")
    folder.mkdir(exist_ok=True)
    path = folder / made.name
    write_atomically(path, made.data)
    layout = [] if made.name.endswith("json") else ["--layout", "v1"]
    changed = load(path, layout=layout[-1] if layout else None)
    hashes = [file.sha256 for file in subject.of("rtl")]
    seeded = {"program": changed.hash, "top": subject.top, "rtl": hashes, "file": path.name}
    found = {"rows": made.rows, "first": made.first, "output": made.output, "value": str(made.value)}
    write_json(folder / SEEDED_FAULT, {**seeded, **found})
    return [str(path), *layout]


def _design(context: Context) -> OriginalDesign:
    sources, top = [Path(path) for path in context.subject.rtl], context.subject.top
    vhdl = any(map(is_vhdl, sources))
    ports = vhdl_ports_in(sources, top) if vhdl else ports_in(sources, top)
    if ports is None:
        raise InputError("no known-bad RTL can be made: that takes a design whose ports can be told from its text")
    return OriginalDesign(top, ports, vhdl_types_in(sources, top) if vhdl else None)


# judging


def _judge_simulated(context: Context, folder: Path) -> Judgement:
    record, seeded, asked = simulated(folder), read_tree(folder / SEEDED_FAULT), _asked(context)
    problems = [*_another(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256)]
    problems += [*same_simulators(record, asked.simulators), *same_inputs(context.subject, record)]
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, and the verdict is {record.verdict.value}: {record.message}")
    if record.vectors != asked.rows or Sent.load(folder / SENT).total != asked.rows:
        problems.append(f"{record.vectors} vectors, must be {asked.rows}")
    rows, first = seeded.get("rows"), seeded.get("first")
    if not isinstance(rows, int) or rows < 1:
        problems.append("no vector was spoilt")
    for simulator in record.simulators:
        if (simulator.vectors_compared, simulator.mismatches) != (asked.rows, rows) or simulator.failure is not None:
            problems.append(
                f"{simulator.name} found {simulator.mismatches} of {rows} spoilt vectors"
                f" among {simulator.vectors_compared} ({simulator.failure or 'no failure'})"
            )
    found = record.first_mismatch
    if found is None or found.row != first:
        problems.append(f"the first spoilt vector is {first}, and found was {'none' if found is None else found.row}")
    message = f"found on all {rows} vectors that were spoilt, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, tuple(problems), record.reproduce)


def _judge_proved(context: Context, folder: Path) -> Judgement:
    record, seeded = proved(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(_another(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256))
    problems += _refuted(record)
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)


def _refuted(record: ProofRecord) -> Iterator[str]:
    if record.verdict is not Verdict.RTL_MISMATCH:
        yield f"a fault was seeded, and the verdict is {record.verdict.value}: {record.message}"
    replay = None if record.counterexample is None else record.counterexample.replay
    if replay is None or replay.verdict is not Verdict.RTL_MISMATCH:
        yield "no simulator confirms the counterexample"


def _another(
    context: Context, folder: Path, seeded: dict[str, Any], program: ProgramInfo, top: str | None, sha256: list[str]
) -> Iterator[str]:
    """Does the record speak of what was seeded, which is still there, and is that not what is signed off?"""
    subject = context.subject
    hashes = [file.sha256 for file in subject.of("rtl")]
    told = seeded.get("program"), seeded.get("top"), seeded.get("rtl")
    if (program.hash, top, sha256) != told:
        yield "the record is of something else than what was seeded"
    path = folder / Path(str(seeded.get("file"))).name
    if seeded.get("program") == subject.program.hash:
        made = [*hashes, file_hash("rtl", path).sha256]
        given = subject.of("program")[0].sha256
    else:
        made, given = hashes, sha256_of(path)
        poisoned = load(path, layout=None if path.suffix == ".json" else "v1")
        if told[:2] != (poisoned.hash, subject.top):
            yield f"{path.name} is not the program that was seeded"
    if told[2] != made or program.file_sha256 != given:
        yield "what was seeded is not what is signed off with a bug in it"
