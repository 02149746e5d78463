"""What a policy demands: in one line for people, and compared with what another policy demands at least."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dais_verif.base.text import counted
from dais_verif.record.signoff import CertificateFinding
from dais_verif.signoff.policy import Policy, is_simulated
from dais_verif.signoff.subject import sha256_of

__all__ = ["demanded", "less_than"]

#: The values of choices, from the least demand to the greatest.
_ORDERS: dict[str, tuple[str, ...]] = {
    "overflow": ("unchecked", "checked", "proved"),
    "proof": ("off", "optional", "required"),
    "front_end": ("slang", "available", "both"),
    "synthesis": ("proved", "refused"),
}
_NUMBERS = ("vectors", "exhaustive_bits", "coverage")
#: Numbers in tables that demand more if they are smaller, or that demand nothing.
_SMALLER, _TIMES = ("most_unknown",), ("timeout",)


def demanded(policy: Policy) -> str:
    """Return what ``policy`` demands, in one line: vectors, grades, proof, and what was only simulated."""
    seeds = counted(len(policy.seeds), "seed")
    simulators = " and ".join(policy.simulators) or "nothing"
    parts = [f"{counted(policy.vectors, 'vector')} for each of {seeds} in {simulators}"]
    parts += [f"{counted(len(policy.inputs), 'file')} of vectors"] if policy.inputs else []
    exhausted = f"outputs of up to {policy.exhaustive_bits} input bits exhausted"
    parts += [exhausted if policy.exhaustive_bits else "no output exhausted"]
    parts += [f"overflow {policy.overflow}", f"proof {policy.proof}"]
    parts += [f"coverage {policy.coverage:g} %"] if policy.coverage else []
    for stage in dict.fromkeys(policy.stages):
        if stage == "board":
            board = policy.board
            kind = f"{board.target} simulated, no board" if is_simulated(board.target) else f"board {board.target}"
            parts.append(f"{kind}, {counted(board.vectors, 'vector')}")
        elif stage == "mutation":
            parts.append(f"{policy.mutation.floor:g} % of {policy.mutation.mutants} mutants killed")
        elif stage == "timing":
            parts.append(f"timing {policy.bitstream.required:g} MHz by icetime")
        elif stage == "diff":
            parts.append("diff proved")
        else:
            parts.append(f"{stage} simulated, {counted(getattr(policy, stage).vectors, 'vector')}")
    parts += [f"{waiver.what} waived" for waiver in policy.waivers]
    return "; ".join(parts)


def less_than(policy: Policy, least: Policy, inputs: Collection[str]) -> Iterator[CertificateFinding]:
    """Yield a finding for each demand of ``least`` that ``policy``, of a certificate, does not make.

    ``inputs``: the hashes of the certified files. Raises ``InputError`` if a file that ``least`` names cannot be read.
    """
    for name, order in _ORDERS.items():
        found, wanted = getattr(policy, name), getattr(least, name)
        if order.index(found) < order.index(wanted):
            yield _less(name, wanted, found)
    yield from _less_numbers(policy, least)
    effective = _distinct(policy), _distinct(least)
    if effective[0] < effective[1]:
        yield _less("distinct", *reversed(effective))
    if len(policy.seeds) < len(least.seeds):
        yield _less("seeds", len(least.seeds), len(policy.seeds))
    missing: Mapping[str, tuple[Collection[str], Collection[str]]] = {
        "simulators": (least.simulators, policy.simulators),
        "stages": (least.stages, policy.stages),
    }
    for name, (wanted, found) in missing.items():
        if lacking := [one for one in wanted if one not in found]:
            yield _less(name, ", ".join(lacking), ", ".join(found) or "none")
    if more := [name for name in policy.allowed if name not in least.allowed]:
        yield _less("allowed", f"only {', '.join(least.allowed) or 'nothing'}", ", ".join(more))
    covered = {waiver.what for waiver in least.waivers}
    if waived := [waiver.what for waiver in policy.waivers if waiver.what not in covered]:
        yield _less("waivers", f"only of {', '.join(sorted(covered)) or 'nothing'}", ", ".join(waived))
    named = [*least.inputs, *least.diff.files.values(), *least.bitstream.files.values()]
    for file in named:
        if sha256_of(Path(file)) not in inputs:
            yield _less("files", file, "not one of the certified files")
    if "board" in least.stages and policy.board.target != least.board.target:
        yield _less("[board] target", least.board.target, policy.board.target)
    if {"bitstream", "timing"} & {*least.stages} and policy.bitstream.device != least.bitstream.device:
        yield _less("[bitstream] device", least.bitstream.device, policy.bitstream.device)
    if "netlist" in least.stages and policy.netlist.target != least.netlist.target:
        yield _less("[netlist] target", least.netlist.target, policy.netlist.target)


def _less_numbers(policy: Policy, least: Policy) -> Iterator[CertificateFinding]:
    """Yield a finding for each number of the policy, or of the table of a demanded stage, that demands less."""
    tables = {"bitstream" if stage == "timing" else stage for stage in least.stages} - {"diff"}
    pairs: list[tuple[str, Any, Any]] = [(name, getattr(policy, name), getattr(least, name)) for name in _NUMBERS]
    for table in sorted(tables):
        found, wanted = getattr(policy, table), getattr(least, table)
        pairs += [
            (f"[{table}] {name}", getattr(found, name), getattr(wanted, name))
            for name in type(wanted).__struct_fields__
            if isinstance(getattr(wanted, name), int | float) and name not in (*_TIMES, "pipeline")
        ]
    for name, one, other in pairs:
        smaller = name.rpartition(" ")[2] in _SMALLER
        if one > other if smaller else one < other:
            yield _less(name, other, one)


def _distinct(policy: Policy) -> int:
    return policy.vectors // 10 if policy.distinct is None else policy.distinct


def _less(name: str, wanted: object, found: object) -> CertificateFinding:
    return CertificateFinding(f"policy's {name}", f"at least {wanted}", str(found))
