"""What a policy demands: in one line for people, and compared with what another policy demands at least."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dais_verif.base.text import counted
from dais_verif.record.signoff import CertificateFinding
from dais_verif.signoff.certificate import CertifiedFile
from dais_verif.signoff.policy import Policy, Rtl, is_simulated
from dais_verif.signoff.signed_design import files_of_rtl, sha256_of

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
#: Keys of ``[rtl]`` with files.
_RTL_FILES = ("files", "data", "ports")


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


def less_than(policy: Policy, least: Policy, files: Collection[CertifiedFile]) -> Iterator[CertificateFinding]:
    """Yield a finding for each demand of ``least`` that ``policy``, of a certificate, does not make.

    ``files``: the certified files. Raises ``InputError`` if a file that ``least`` names cannot be read.
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
    until = {waiver.what: waiver.expires for waiver in least.waivers}
    covered = [f"{what} until {last}" for what, last in sorted(until.items())]
    if waived := [w for w in policy.waivers if w.what not in until or w.expires > until[w.what]]:
        told = ", ".join(f"{waiver.what} until {waiver.expires}" for waiver in waived)
        yield _less("waivers", f"only {', '.join(covered) or 'nothing'}", told)
    yield from _less_rtl(policy.rtl, least.rtl)
    certified = {(file.role, file.sha256) for file in files}
    wanted = [("input", file) for file in least.inputs]
    wanted += [*least.diff.files.items(), *least.bitstream.files.items()]
    pairs = [(path, (role, sha256_of(Path(path)))) for role, path in wanted]
    if least.rtl.files:
        read = files_of_rtl(least.rtl)
        pairs += [(file.path, (file.role, file.sha256)) for file in read]
        own = {file.sha256 for file in read if file.role == "rtl"}
        if more := [file.path for file in files if file.role == "rtl" and file.sha256 not in own]:
            yield _less("[rtl] files", "only what they name", ", ".join(more))
    for path, pair in pairs:
        if pair not in certified:
            yield _less("files", path, f"not one of the certified files of role {pair[0]}")
    if "board" in least.stages and policy.board.target != least.board.target:
        yield _less("[board] target", least.board.target, policy.board.target)
    if {"bitstream", "timing"} & {*least.stages} and policy.bitstream.device != least.bitstream.device:
        yield _less("[bitstream] device", least.bitstream.device, policy.bitstream.device)
    if "axis" in least.stages and policy.axis.pipeline != least.axis.pipeline:
        yield _less("[axis] pipeline", least.axis.pipeline, policy.axis.pipeline)
    if "netlist" in least.stages and policy.netlist.target != least.netlist.target:
        yield _less("[netlist] target", least.netlist.target, policy.netlist.target)


def _less_rtl(rtl: Rtl, least: Rtl) -> Iterator[CertificateFinding]:
    """Yield a finding for each key of ``[rtl]`` that differs. A table that says nothing is for any design."""
    if least == Rtl():
        return
    if bool(rtl.files) != bool(least.files):
        kinds = ("RTL that dais-verif emits", "RTL files")
        yield _less("[rtl] files", kinds[bool(least.files)], kinds[bool(rtl.files)])
    for name in Rtl.__struct_fields__:
        found, wanted = getattr(rtl, name), getattr(least, name)
        if name in _RTL_FILES or (wanted == "auto" and found is not None):  # content counts; any latency was found
            continue
        if found != wanted:
            yield CertificateFinding(f"policy's [rtl] {name}", str(wanted or "none"), str(found or "none"))


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
