"""The context of all stages, and the command-line arguments that they derive from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface, packed
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.evidence import bits_of, simulated, summary
from dais_verif.signoff.judge import SENT, Asked, Judgement
from dais_verif.signoff.policy import GHDL, Policy
from dais_verif.signoff.signed_design import Subject
from dais_verif.signoff.verbs import RUN, call
from dais_verif.stimulus import read_batch

__all__ = [
    "Context",
    "SignOffStage",
    # arguments of commands
    "design_arguments",
    "interface_of",
    "file_arguments",
    "pin_arguments",
    "pipeline_arguments",
    "plain_path",
    "program_arguments",
    "prove_arguments",
    "refutation_arguments",
    "reader_arguments",
    "simulator_arguments",
    # running commands
    "simulate",
    "write_json",
]


@dataclass(frozen=True)
class Context:
    """The signed-off design, the policy, and the folder of the evidence."""

    subject: Subject
    policy: Policy
    folder: Path
    jobs: int | None = None

    def asked(self, seed: int, vectors: int | None = None, **more: Any) -> Asked:
        """Return the requirements on a simulation with ``seed``, and ``vectors``, or if None, the policy's number."""
        given = sum(read_batch(Path(file.path), self.subject.program.n_in).rows for file in self.subject.of("input"))
        rows = given + (self.policy.vectors if vectors is None else vectors)
        distinct = self.policy.distinct if vectors is None and self.policy.distinct is not None else rows // 10
        return Asked(rows, seed, self.policy.simulators, distinct, **more)


@dataclass(frozen=True)
class SignOffStage:
    """A stage: ``run`` leaves evidence in ``folder``, and ``judge`` reads it.

    ``must_fail``: a bug is seeded, and the stage passes if the bug is detected. ``needs``: the folders of stages that
    must have passed first. ``waiver``: the stage's name in waivers; empty if it cannot be waived. ``gate``: if this
    stage is waived, stages that need it run nevertheless.
    """

    name: str
    folder: str
    run: Callable[[Context, Path], None]
    judge: Callable[[Context, Path], Judgement]
    must_fail: bool = False
    needs: tuple[str, ...] = ()
    waiver: str = ""
    gate: bool = False


# arguments of commands


def program_arguments(subject: Subject) -> list[str]:
    """Return the arguments for the program or machine, with a path that no command mistakes for an option."""
    return [plain_path(subject.path), *(["--layout", subject.layout] if subject.layout else [])]


def plain_path(path: Path) -> str:
    """Return ``path`` as text, with ``./`` in front if it begins with a dash."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def pipeline_arguments(policy: Policy) -> list[str]:
    """Return the arguments for our own RTL as a pipeline with all pins, for commands with an option for each pin."""
    stages = policy.rtl.pipeline
    return [] if stages is None else ["--stages", str(stages), "--reset", "--enable", "--valid"]


def design_arguments(subject: Subject, policy: Policy) -> list[str]:
    """Return the signed-off RTL as arguments of ``sim``."""
    rtl = policy.rtl
    if subject.emitted:
        return ["--top", subject.top, *([] if rtl.pipeline is None else ["--stages", str(rtl.pipeline)])]
    pins = [part for name, value in rtl.pins.items() for part in (f"--{name}", value)]
    return [*file_arguments(subject, policy), *pins]


def file_arguments(subject: Subject, policy: Policy, *more: Path, top: str | None = None) -> list[str]:
    """Return the arguments for the RTL as files, even if it is our own RTL, without those for pins.

    ``more``: files with a module around the design, which is its new ``top``.
    """
    rtl = policy.rtl
    arguments = [part for file in (*subject.rtl, *map(str, more)) for part in ("--rtl", file)]
    arguments += ["--top", top or subject.top, *(part for name in rtl.data for part in ("--data", name))]
    return arguments + ([] if rtl.ports is None else ["--ports", rtl.ports])


def interface_of(context: Context, record: SimulationRecord) -> DesignInterface:
    """Return the ports of the design in ``record``, with the latency that was found."""
    if record.rtl.face is None:
        return packed(context.subject.program).interface
    interface = DesignInterface.from_tree(record.rtl.face)
    return interface.with_latency(record.simulators[0].latency) if record.simulators else interface


def pin_arguments(context: Context, record: SimulationRecord) -> list[str]:
    """Return all pins of the design in ``record`` as options of ``sim``.

    The latency is among them, since it may not be detectable in a design with a seeded bug.
    """
    pins = interface_of(context, record).clocking
    if pins is None:
        return []
    reset = f"{pins.reset}:low" if pins.reset and pins.reset_low else pins.reset
    given = {
        "clock": pins.clock,
        "latency": pins.latency,
        "reset": reset,
        "enable": pins.enable,
        "valid-in": pins.valid_in,
        "valid-out": pins.valid_out,
    }
    return [part for name, value in given.items() if value is not None for part in (f"--{name}", str(value))]


def simulator_arguments(simulators: Sequence[str]) -> list[str]:
    """Return the arguments for one simulator or for both."""
    return ["--sim", "both" if len(simulators) == 2 else simulators[0]] if simulators else []


def prove_arguments(
    context: Context, program: list[str], design: list[str], simulators: Sequence[str] | None = None
) -> list[str]:
    """Return the arguments of ``prove`` for ``program`` and ``design``. Cached proofs are not used.

    ``simulators``: those that replay a counterexample; None: all of the policy.
    """
    policy = context.policy
    arguments = [*program, *design, "--no-cache", "--timeout", f"{policy.proof_timeout:g}"]
    arguments += simulator_arguments([name for name in simulators or policy.simulators if name != GHDL])
    arguments += ["--unchecked"] if policy.overflow == "unchecked" else []
    return arguments + (["--jobs", str(context.jobs)] if context.jobs else [])


def refutation_arguments(context: Context, program: list[str], design: list[str]) -> list[str]:
    """Return the arguments of ``prove`` where it must refute, and a simulator must confirm the counterexample.

    Nothing is built to confirm a proof that must fail, and Icarus replays, if the policy has it: it builds at once.
    """
    simulators = ("icarus",) if "icarus" in context.policy.simulators else None
    return [*prove_arguments(context, program, design, simulators), "--no-confirm"]


def reader_arguments(context: Context, both: bool = False) -> list[str]:
    """Return the front ends of a proof as arguments; for our RTL none, unless the policy or ``both`` requires both."""
    asked = context.policy.front_end
    if both or asked == "both":
        return ["--front-end", "both"]
    return [] if context.subject.emitted else ["--front-end", asked]


def simulate(
    context: Context,
    folder: Path,
    design: list[str],
    asked: Asked,
    vectors: int,
    program: list[str] | None = None,
    *,
    builds: bool = False,
) -> None:
    """Run ``sim`` on ``design`` with ``vectors`` generated vectors, and write a summary of all its vectors.

    ``program``: the arguments of a program other than the signed-off one. ``builds``: as in ``call``.
    """
    policy, subject = context.policy, context.subject
    arguments = [*(program or program_arguments(subject)), *design]
    arguments += ["--vectors", str(vectors), "--seed", str(asked.seed)]
    arguments += simulator_arguments(asked.simulators)
    # The policy's number of vectors applies to each simulator.
    arguments += ["--icarus-vectors", "all"] if len(asked.simulators) == 2 else []
    arguments += [part for file in subject.of("input") for part in ("--inputs", file.path)]
    # How many vectors there are must not depend on a solver's time; the proof is confirmed on vectors for conditions.
    arguments.append("--no-conditions")
    bits = policy.exhaustive_bits if asked.swept else 0
    arguments += ["--exhaustive-bits", str(bits), *(["--exhaustive"] if bits else [])]
    arguments += ["--unchecked"] if policy.overflow == "unchecked" else []
    arguments += ["--coverage"] if asked.covered else []
    arguments += ["--jobs", str(context.jobs)] if context.jobs else []
    call("sim", arguments, folder, builds=builds)
    record = simulated(folder)
    compared = min((simulator.vectors_compared for simulator in record.simulators), default=0)
    sent = summary(folder / RUN, bits_of(record, subject.program), record.vectors, compared)
    write_json(folder / SENT, asdict(sent))


def write_json(path: Path, tree: dict[str, Any]) -> None:
    """Write ``tree`` as a file of evidence."""
    write_atomically(path, (json.dumps(tree, indent=2) + "\n").encode())
