"""Optional stages of a policy: coverage, netlist, AXI4-Stream wrapper, board, bitstream, timing and mutants."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dais_verif.base.errors import CertificateError, CertificateFailure
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.bitstreams.stages import bitstream_stages
from dais_verif.signoff.bitstreams.timing import timing_stage
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    pin_arguments,
    pipeline_arguments,
    program_arguments,
    simulate,
    simulator_arguments,
)
from dais_verif.signoff.evidence import read_tree, simulated
from dais_verif.signoff.judge import Asked, Judgement, judge_simulation, of_subject
from dais_verif.signoff.mutation import mutation_stage
from dais_verif.signoff.policy import is_simulated
from dais_verif.signoff.signed_design import sha256_of
from dais_verif.signoff.verbs import PRINTED, RUN, call, read_call

__all__ = ["NETLIST", "coverage_stage", "extra_stages", "require_call"]

_SYNTH, _SIM = "synth", "sim"
_WRAPPER = "shell"

#: The synthesized netlist, in the folder of its stage.
NETLIST = f"{_SYNTH}/{RUN}/netlist.v"


def extra_stages(context: Context) -> list[SignOffStage]:
    """Return the optional stages of the policy, which run after the first simulation."""
    policy = context.policy
    good = f"simulation-{policy.seeds[0]}" if policy.seeds else "simulation"
    stages = [coverage_stage(good)] if policy.coverage else []
    known = {
        "netlist": SignOffStage(
            "netlist", "netlist", partial(_run_netlist, good=good), _judge_netlist, needs=(good,), waiver="netlist"
        ),
        "axis": SignOffStage("axis", "axis", _run_axis, _judge_axis, waiver="axis"),
        "board": SignOffStage(
            "simulated board" if is_simulated(policy.board.target) else "board",
            "board",
            _run_board,
            _judge_board,
            waiver="board",
        ),
    }
    asked = dict.fromkeys(policy.stages)
    stages += [known[name] for name in asked if name in known]
    stages += bitstream_stages(good, policy) if "bitstream" in asked else []
    stages += [timing_stage()] if "timing" in asked else []
    return stages + ([mutation_stage(good)] if "mutation" in asked else [])


# coverage, which the first simulation has counted


def coverage_stage(good: str) -> SignOffStage:
    """Return the stage that judges the coverage counted by the simulation in folder ``good``."""
    judge = partial(_judge_coverage, good=good)
    return SignOffStage("coverage", "coverage", _run_nothing, judge, needs=(good,), waiver="coverage")


def _run_nothing(context: Context, folder: Path) -> None:
    pass


def _judge_coverage(context: Context, folder: Path, good: str) -> Judgement:
    record, floor = simulated(context.folder / good), context.policy.coverage
    found = record.coverage
    if found is None or found.vectors < 1:
        return Judgement(Verdict.NOT_RUN, "coverage was not counted", ("coverage was not counted",))
    reachable = sum(group.bins - group.unreachable for group in found.groups)
    percent = sum(group.hit for group in found.groups) * 1000 // max(reachable, 1) / 10
    message = f"{found.percent:g} % of the reachable bins were hit, at least {floor:g} % is required"
    problems = []
    if found.percent < floor:
        problems.append(f"{message}; {found.open_total} bins are open")
    if reachable < 1 or percent != found.percent:
        problems.append(f"the record states a coverage of {found.percent:g} %, but its groups give {percent:g} %")
    if found.vectors != record.vectors:
        problems.append(f"coverage was counted over {found.vectors} vectors, but {record.vectors} were simulated")
    return Judgement(Verdict.PASS, message, tuple(problems))


# the netlist


def _run_netlist(context: Context, folder: Path, good: str) -> None:
    subject, policy = context.subject, context.policy
    program = program_arguments(subject)
    if subject.emitted:
        design = ["--top", subject.top, *pipeline_arguments(policy)]
    else:
        design = [part for file in subject.rtl for part in ("--rtl", file)] + ["--top", subject.top]
    call("synth", [*program, *design, "--target", policy.netlist.target], folder / _SYNTH)
    require_call(folder / _SYNTH, "no netlist was made")
    netlist = ["--netlist", str(folder / _SYNTH / RUN), "--top", subject.top]
    netlist += [] if policy.rtl.ports is None else ["--ports", policy.rtl.ports]
    pins = pin_arguments(context, simulated(context.folder / good))
    simulate(context, folder / _SIM, [*netlist, *pins], _of_netlist(context), policy.netlist.vectors)


def require_call(folder: Path, without: str) -> None:
    """Raise an error if the call in ``folder`` failed: ``without``, followed by the message of the command."""
    if read_call(folder).exit_code:
        tree = read_tree(folder / PRINTED)
        kind = CertificateFailure if tree.get("verdict") == Verdict.TOOL_FAILURE.value else CertificateError
        raise kind(f"{without}: {tree.get('message')}")


def _of_netlist(context: Context) -> Asked:
    return context.asked(context.policy.seeds[0], context.policy.netlist.vectors, rtl=False, swept=False)


def _judge_netlist(context: Context, folder: Path) -> Judgement:
    judged = judge_simulation(context.subject, context.policy, folder / _SIM, _of_netlist(context))
    problems = list(judged.problems)
    if read_call(folder / _SYNTH).exit_code:
        problems.append("the synthesis failed")
    netlist = sha256_of(folder / NETLIST)
    if netlist not in simulated(folder / _SIM).rtl.sha256:
        problems.append("the simulated netlist is not the one that was made")
    return Judgement(judged.verdict, judged.message, tuple(problems), judged.reproduce)


# simulations of streams, and runs on a board: every beat is compared, but no digest is computed


def _run_axis(context: Context, folder: Path) -> None:
    policy, program = context.policy, program_arguments(context.subject)
    wrapper = folder / _WRAPPER / "axis"
    wrap = [*program, "--wrap", "axis", "--stages", str(policy.axis.pipeline), "-o", str(wrapper)]
    call("emit", wrap, folder / _WRAPPER, keeps=False)
    require_call(folder / _WRAPPER, "no wrapper was made")
    arguments = [
        *program,
        "--wrapped",
        str(wrapper),
        *_vectors(context, policy.axis.vectors),
        *simulator_arguments(policy.simulators),
    ]
    call("sim", arguments, folder / _SIM)


def _vectors(context: Context, vectors: int) -> list[str]:
    """Return the arguments for the vectors of files, and for ``vectors`` generated ones."""
    policy = context.policy
    arguments = ["--vectors", str(vectors), "--seed", str(policy.seeds[0] if policy.seeds else 0)]
    arguments += [part for file in context.subject.of("input") for part in ("--inputs", file.path)]
    return arguments + (["--unchecked"] if policy.overflow == "unchecked" else [])


def _judge_axis(context: Context, folder: Path) -> Judgement:
    policy = context.policy
    seed = policy.seeds[0] if policy.seeds else 0
    return _judge_beats(context, folder / _SIM, context.asked(seed, policy.axis.vectors, rtl=False))


def _run_board(context: Context, folder: Path) -> None:
    policy = context.policy
    assert policy.board.target is not None
    program = program_arguments(context.subject)
    call("hil", [*program, "--target", policy.board.target, *_vectors(context, policy.board.vectors)], folder)


def _judge_board(context: Context, folder: Path) -> Judgement:
    policy = context.policy
    seed = policy.seeds[0] if policy.seeds else 0
    asked = context.asked(seed, policy.board.vectors, rtl=False)
    record = simulated(folder)
    if record.board is None or record.board.target != policy.board.target:
        return Judgement(record.verdict, record.message, (f"{record.message}: not on the board of the policy",))
    if record.board.program != context.subject.design.hash:
        return Judgement(record.verdict, record.message, ("the board runs another program",))
    return _judge_beats(
        context, folder, Asked(asked.rows, seed, tuple(one.name for one in record.simulators), rtl=False)
    )


def _judge_beats(context: Context, folder: Path, asked: Asked) -> Judgement:
    record = simulated(folder)
    if record.verdict is not Verdict.PASS:
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce)
    problems = [*_beats(record, asked)]
    problems += of_subject(context.subject, context.policy, record, asked)
    return Judgement(record.verdict, record.message, tuple(problems), record.reproduce)


def _beats(record: SimulationRecord, asked: Asked) -> Iterator[str]:
    if asked.rows < 1 or record.vectors != asked.rows:
        yield f"{counted(record.vectors, 'vector')}, must be {asked.rows}"
    for simulator in record.simulators:
        if simulator.failure is not None or simulator.mismatches or simulator.vectors_with_x:
            yield f"{simulator.name}: {simulator.failure or f'{simulator.mismatches} mismatches'}"
        if simulator.vectors_compared < max(asked.rows, 1) or simulator.bits_compared < simulator.vectors_compared:
            yield f"{simulator.name} compared {simulator.vectors_compared} of {asked.rows} vectors"
