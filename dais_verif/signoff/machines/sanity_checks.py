"""Stages that must fail, for machines: a fault is seeded in the RTL or in the machine, and the same checks are run.

Each passes only if exactly this fault is detected: by every simulator with the right number of wrong cycles and the
right first one; by the prover with a sequence from power-up that a simulator confirms.
"""

from __future__ import annotations

from pathlib import Path

from dais_verif.files import make_folder, write_atomically
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    plain_path,
    program_arguments,
    prove_arguments,
    write_json,
)
from dais_verif.signoff.evidence import proved, read_tree, simulated
from dais_verif.signoff.judge import Asked, Judgement
from dais_verif.signoff.machines.cycles import (
    asked_of,
    clock_arguments,
    clock_of,
    expected_of,
    sequences_of,
    simulate_machine,
)
from dais_verif.signoff.machines.seeded_faults import poisoned_machine, sometimes_wrong_cycles
from dais_verif.signoff.seeded_faults import always_wrong
from dais_verif.signoff.seeding import (
    SEEDED_FAULT,
    is_of_what_was_seeded,
    original_design,
    problems_of_spoilt,
    with_bad,
)
from dais_verif.signoff.verbs import call
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.verdict import Verdict

__all__ = ["seed_faults_in_machine_proof", "seed_faults_in_machine_simulation"]

_POISONED = "poisoned.json"


def seed_faults_in_machine_simulation(good: str) -> list[SignOffStage]:
    """Return the stages with seeded faults for the simulation in folder ``good``."""
    known_bad, poisoned = "known-bad RTL, simulated", "poisoned model, simulated"
    return [
        SignOffStage(known_bad, "known-bad-rtl", _simulate_bad, _judge_simulated, True, (good,)),
        SignOffStage(poisoned, "poisoned-model", _simulate_poisoned, _judge_simulated, True, (good,)),
    ]


def seed_faults_in_machine_proof(good: tuple[str, ...]) -> list[SignOffStage]:
    """Return the stages with seeded faults for the proof. ``good``: the folders of the simulation and the proof."""
    known_bad, poisoned = "known-bad RTL, proof", "poisoned model, proof"
    return [
        SignOffStage(known_bad, "known-bad-proof", _prove_bad, _judge_proved, True, good),
        SignOffStage(poisoned, "poisoned-proof", _prove_poisoned, _judge_proved, True, good),
    ]


# seeding


def _simulate_bad(context: Context, folder: Path) -> None:
    asked, machine, design = _asked(context), context.subject.machine, original_design(context)
    rows = expected_of(context, machine, sequences_of(context, machine, context.policy.vectors, asked.seed))
    bad = sometimes_wrong_cycles(interface_of(machine, clock_of(context)), design, rows, asked.seed)
    files = [*with_bad(context, folder, bad, design.suffix), *clock_arguments(context)]
    simulate_machine(context, folder, files, asked, context.policy.vectors, program_arguments(context.subject))


def _simulate_poisoned(context: Context, folder: Path) -> None:
    machine = _poisoned(context, folder)
    simulate_machine(context, folder, _files(context), _asked(context), context.policy.vectors, machine)


def _prove_bad(context: Context, folder: Path) -> None:
    design = original_design(context)
    bad = always_wrong(interface_of(context.subject.machine, clock_of(context)), design)
    files = [*with_bad(context, folder, bad, design.suffix), *clock_arguments(context)]
    call("prove", prove_arguments(context, program_arguments(context.subject), files), folder)


def _prove_poisoned(context: Context, folder: Path) -> None:
    machine = _poisoned(context, folder)
    call("prove", prove_arguments(context, machine, _files(context)), folder)


def _files(context: Context) -> list[str]:
    return [*file_arguments(context.subject, context.policy), *clock_arguments(context)]


def _asked(context: Context) -> Asked:
    return asked_of(context, context.policy.seeds[0], rtl=False)


def _poisoned(context: Context, folder: Path) -> list[str]:
    """Write the poisoned machine and its description into ``folder``, and return the arguments for it."""
    made = poisoned_machine(context)
    make_folder(folder)
    path = folder / _POISONED
    write_atomically(path, made.data)
    hashes = [file.sha256 for file in context.subject.of("rtl")]
    seeded = {"program": made.machine.hash, "top": context.subject.top, "rtl": hashes, "file": path.name}
    write_json(folder / SEEDED_FAULT, {**seeded, "rows": made.cycles, "first": made.first, "what": made.what})
    return [plain_path(path)]


# judging


def _judge_simulated(context: Context, folder: Path) -> Judgement:
    record, seeded, asked = simulated(folder), read_tree(folder / SEEDED_FAULT), _asked(context)
    problems = tuple(problems_of_spoilt(context, folder, seeded, record, asked))
    what = f" ({seeded['what']})" if "what" in seeded else ""
    message = f"found in all {seeded.get('rows')} cycles that were corrupted{what}, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, problems, record.reproduce)


def _judge_proved(context: Context, folder: Path) -> Judgement:
    record, seeded = proved(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(is_of_what_was_seeded(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256))
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    replay = None if record.machine is None else record.machine.replay
    if replay is None or replay.partition(":")[0] != Verdict.RTL_MISMATCH.value:
        problems.append("no simulator confirms the sequence that was found")
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)
