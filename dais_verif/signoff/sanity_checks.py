"""Stages that must fail: the signed-off design with a seeded fault is run in the same way as without the fault.

Each passes only if exactly this fault is detected: by every simulator with the right number of wrong vectors and the
right first one; by the prover with an input that a simulator confirms. A verification that cannot fail does not detect
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dais_verif.coverage.boundaries import with_boundaries
from dais_verif.files import write_atomically
from dais_verif.program import Program, load
from dais_verif.record.proof import ProofRecord
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    interface_of,
    pin_arguments,
    program_arguments,
    refutation_arguments,
    simulate,
    write_json,
)
from dais_verif.signoff.evidence import Sent, proved, read_tree, simulated
from dais_verif.signoff.judge import SENT, Asked, Judgement
from dais_verif.signoff.seeded_faults import always_wrong, differing_rows, poison, sometimes_wrong
from dais_verif.signoff.seeding import (
    SEEDED_FAULT,
    is_of_what_was_seeded,
    original_design,
    problems_of_spoilt,
    with_bad,
)
from dais_verif.signoff.verbs import RUN, call
from dais_verif.stimulus import Stimulus, read_batch
from dais_verif.verdict import Verdict

__all__ = ["seed_faults_in_proof", "seed_faults_in_simulation"]


def seed_faults_in_simulation(good: str) -> list[SignOffStage]:
    """Return the stages with seeded faults for the simulation in folder ``good``."""
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
    """Return the stages with seeded faults for the proof. ``good``: the folders of the simulation and the proof."""
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


# seeding


def _simulate_bad(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    interface, design = interface_of(context, record), original_design(context)
    bad = sometimes_wrong(interface, design, context.folder / good / RUN, asked.rows, asked.seed)
    files = with_bad(context, folder, bad, design.suffix)
    simulate(context, folder, [*files, *pin_arguments(context, record)], asked, context.policy.vectors)


def _simulate_poisoned(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    program = _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    # The build is that of the run without a fault: the same RTL in the same simulators.
    simulate(context, folder, design, asked, context.policy.vectors, program, builds=True)


def _prove_bad(context: Context, folder: Path, good: str) -> None:
    record = simulated(context.folder / good)
    design = original_design(context)
    bad = always_wrong(interface_of(context, record), design)
    files = [*with_bad(context, folder, bad, design.suffix), *pin_arguments(context, record)]
    call("prove", refutation_arguments(context, program_arguments(context.subject), files), folder)


def _prove_poisoned(context: Context, folder: Path, good: str) -> None:
    record, program = simulated(context.folder / good), _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    call("prove", refutation_arguments(context, program, design), folder)


def _asked(context: Context) -> Asked:
    return context.asked(context.policy.seeds[0], rtl=False, swept=False)


def _poisoned(context: Context, folder: Path) -> list[str]:
    """Write the poisoned program into ``folder``, and return the arguments for it."""
    subject, policy = context.subject, context.policy
    program = subject.program
    given = [read_batch(Path(file.path), program.n_in) for file in subject.of("input")]
    check = policy.overflow != "unchecked"

    def vectors(of: Program) -> Stimulus:  # those of ``sim``, which reach boundaries of the program that it is given
        return Stimulus([*given, with_boundaries(of, policy.vectors, policy.seeds[0], check=check)[0]])

    made = poison(program, subject.path.read_bytes(), vectors(program), check=check)
    folder.mkdir(exist_ok=True)
    path = folder / made.name
    write_atomically(path, made.data)
    changed = load(path, layout=made.layout)
    rows, first = differing_rows(program, made, vectors(changed), check=check)
    hashes = [file.sha256 for file in subject.of("rtl")]
    seeded = {"program": changed.hash, "top": subject.top, "rtl": hashes, "file": path.name}
    found = {"rows": rows, "first": first, "output": made.output, "value": str(made.value)}
    write_json(folder / SEEDED_FAULT, {**seeded, **found})
    return [str(path), *([] if made.layout is None else ["--layout", made.layout])]


# judging


def _judge_simulated(context: Context, folder: Path) -> Judgement:
    record, seeded, asked = simulated(folder), read_tree(folder / SEEDED_FAULT), _asked(context)
    problems = list(problems_of_spoilt(context, folder, seeded, record, asked))
    if Sent.load(folder / SENT).total != asked.rows:
        problems.append(f"not all of {asked.rows} vectors were sent")
    message = f"found on all {seeded.get('rows')} vectors that were corrupted, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, tuple(problems), record.reproduce)


def _judge_proved(context: Context, folder: Path) -> Judgement:
    record, seeded = proved(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(is_of_what_was_seeded(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256))
    problems += _refuted(record)
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)


def _refuted(record: ProofRecord) -> Iterator[str]:
    if record.verdict is not Verdict.RTL_MISMATCH:
        yield f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}"
    replay = None if record.counterexample is None else record.counterexample.replay
    if replay is None or replay.verdict is not Verdict.RTL_MISMATCH:
        yield "no simulator confirms the counterexample"
