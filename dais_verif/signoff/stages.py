"""The stages of a policy: how each is run, and how its output is judged.

Running a stage leaves evidence in a separate folder; judging it reads only that evidence, so that the same judges can
check a certificate later.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from dais_verif.base.errors import PolicyError
from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.discover import unused_in
from dais_verif.hardware.ports.vhdl_ports import vhdl_roots_in
from dais_verif.record.signoff import PROOF
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    design_arguments,
    program_arguments,
    prove_arguments,
    reader_arguments,
    simulate,
)
from dais_verif.signoff.evidence import read_tree
from dais_verif.signoff.extras import extra_stages
from dais_verif.signoff.judge import Asked, Judgement, judge_check, judge_simulation
from dais_verif.signoff.machines.cycles import asked_of, machine_design, simulate_machine
from dais_verif.signoff.machines.extras import more_machine_stages
from dais_verif.signoff.machines.judge import judge_machine_simulation, judge_proof_of
from dais_verif.signoff.machines.kernel import kernel_arguments, kernel_readers, poisoned_kernel_stages, tensor_stages
from dais_verif.signoff.machines.limits import require_for_machines, require_for_programs
from dais_verif.signoff.machines.sanity_checks import seed_faults_in_machine_proof, seed_faults_in_machine_simulation
from dais_verif.signoff.outside_effects import outside_stage, synthesis_stages
from dais_verif.signoff.seeded_faults import seed_faults_in_proof, seed_faults_in_simulation
from dais_verif.signoff.signed_design import FileHash, Subject
from dais_verif.signoff.verbs import call

__all__ = ["RTL", "emit", "ignored_in", "stages_of"]

#: The folder of the emitted RTL, and of the facts about its modules.
RTL = "rtl"

#: The number of ignored modules that a message names.
_SHOWN = 8


def stages_of(context: Context) -> list[SignOffStage]:
    """Return the stages of the policy, in running order. Raises ``InputError`` for missing files."""
    policy, is_machine = context.policy, context.subject.is_machine
    if is_machine:
        require_for_machines(policy, context.subject.layout)
    else:
        require_for_programs(policy)
    stages = [
        SignOffStage("rtl", RTL, _look_at_rtl, _judge_rtl),
        SignOffStage("check", "check", _run_check, _judge_check, waiver="check"),
    ]
    folders = [f"simulation-{seed}" for seed in policy.seeds]
    for seed, folder in zip(policy.seeds, folders, strict=True):
        run, judge = partial(_run_simulation, seed=seed), partial(_judge_simulation, seed=seed)
        stages.append(SignOffStage(f"simulation, seed {seed}", folder, run, judge))
    if folders:
        faults = seed_faults_in_machine_simulation if is_machine else seed_faults_in_simulation
        stages += faults(folders[0])
    else:
        stages.append(SignOffStage("simulation", "simulation", _run_nothing, _judge_nothing))
    stages += tensor_stages() if context.subject.is_kernel else []
    if policy.proof != "off":
        stages.append(SignOffStage(PROOF, "proof", _run_proof, _judge_proof, waiver="proof"))
        seed_faults = seed_faults_in_machine_proof if is_machine else seed_faults_in_proof
        stages += seed_faults((*folders[:1], "proof")) if folders else []
        stages += poisoned_kernel_stages((*folders[:1], "proof")) if context.subject.is_kernel else []
    extra = more_machine_stages(context) if is_machine else extra_stages(context)
    first, *rest = [*stages, *synthesis_stages(context), *extra]
    # All other stages wait for these two: missing files are found before long simulations, and RTL that is not hardware
    # must not run.
    outside = replace(outside_stage(), needs=(first.folder,))
    return [first, outside, *(replace(stage, needs=(*stage.needs, first.folder, outside.folder)) for stage in rest)]


# the RTL itself


def emit(program: list[str], top: str, pipeline: list[str], folder: Path) -> Path:
    """Emit our own RTL into ``folder / RTL``, and return its path. Raises ``InputError`` if that fails."""
    path = folder / RTL / f"{top}.v"
    done = call("emit", [*program, "--top", top, *pipeline, "-o", str(path)], folder / RTL, keeps=False)
    if done.exit_code:
        tree = read_tree(folder / RTL / "printed.json")
        raise PolicyError(f"no RTL was emitted: {tree.get('message')}")
    return path


def _look_at_rtl(context: Context, folder: Path) -> None:
    """Leave no evidence, since the RTL is judged by reading it."""


def _judge_rtl(context: Context, folder: Path) -> Judgement:
    subject = context.subject
    what = "emitted" if subject.emitted else "given"
    message = f"module {subject.top} in {counted(len(subject.rtl), 'file')}, {what}"
    ignored = ignored_in(subject)
    return Judgement(Verdict.PASS, f"{message}; {ignored}" if ignored else message)


def ignored_in(subject: Subject) -> str:
    """Return a text that names the modules above or beside the top, which are not signed off; empty if there are none.

    Raises ``InputError`` if the RTL does not contain the top.
    """
    others = () if subject.emitted else _others(tuple(subject.of("rtl")), subject.top)
    if not others:
        return ""
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return f"ignored, not part of {subject.top}: {', '.join(others[:_SHOWN])}{more}"


@lru_cache(maxsize=1)
def _others(files: tuple[FileHash, ...], top: str) -> tuple[str, ...]:
    sources = [Path(file.path) for file in files]
    if any(map(is_vhdl, sources)):
        return tuple(name for name in vhdl_roots_in(sources) if name != top)
    return tuple(unused_in(sources, top) or ())


# check, sim, prove


def _run_check(context: Context, folder: Path) -> None:
    call("check", [*program_arguments(context.subject), "--all"], folder, keeps=False)


def _judge_check(context: Context, folder: Path) -> Judgement:
    return judge_check(context.subject, context.policy, folder)


def _run_simulation(context: Context, folder: Path, seed: int) -> None:
    if context.subject.is_machine:
        asked = _of_simulation(context, seed)
        simulate_machine(context, folder, machine_design(context), asked, context.policy.vectors)
        return
    design = design_arguments(context.subject, context.policy)
    first = seed == context.policy.seeds[0]  # the others do not take its build
    simulate(context, folder, design, _of_simulation(context, seed), context.policy.vectors, builds=first)


def _judge_simulation(context: Context, folder: Path, seed: int) -> Judgement:
    asked = _of_simulation(context, seed)
    if context.subject.is_machine:
        return judge_machine_simulation(context, folder, asked)
    return judge_simulation(context.subject, context.policy, folder, asked)


def _of_simulation(context: Context, seed: int) -> Asked:
    """Return the requirements on the simulation with ``seed``. Only the first simulation counts coverage."""
    covered = bool(context.policy.coverage) and seed == context.policy.seeds[0]
    if context.subject.is_machine:
        return asked_of(context, seed, covered=covered)
    return context.asked(seed, covered=covered)


def _run_nothing(context: Context, folder: Path) -> None:
    raise PolicyError("the policy names no seed, so nothing is simulated; use, for example, seeds = [0]")


def _judge_nothing(context: Context, folder: Path) -> Judgement:
    return Judgement(Verdict.NOT_RUN, "nothing was simulated", ("nothing was simulated",))


def _run_proof(context: Context, folder: Path) -> None:
    subject = context.subject
    design = machine_design(context) if subject.is_machine else design_arguments(subject, context.policy)
    program = kernel_arguments(context) if subject.is_kernel else program_arguments(subject)
    arguments = prove_arguments(context, program, design)
    call(
        "prove",
        [*arguments, *(kernel_readers(context, folder) if subject.is_kernel else reader_arguments(context))],
        folder,
    )


def _judge_proof(context: Context, folder: Path) -> Judgement:
    return judge_proof_of(context.subject, context.policy, folder)
