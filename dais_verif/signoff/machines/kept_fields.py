"""The forms of all files of a machine's stages: a form keeps the judged parts of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import Method, Status
from dais_verif.signoff.bitstreams.stages import READ_BACK
from dais_verif.signoff.bitstreams.timing import TIMING, kept_timing
from dais_verif.signoff.context import Context
from dais_verif.signoff.extras import NETLIST
from dais_verif.signoff.judge import SENT, Asked, distinct_of
from dais_verif.signoff.kept_parts import (
    Form,
    Tree,
    both,
    kept_call,
    kept_check,
    kept_coverage,
    kept_hashes,
    kept_head,
    kept_stimulus,
    only,
)
from dais_verif.signoff.machines.cycles import asked_of, input_combinations
from dais_verif.signoff.machines.difference import DIFFERENCE, POISONED_DIFFERENCE
from dais_verif.signoff.machines.extras import BITSTREAM, KNOWN_BAD, PROVED_BITSTREAM, PROVED_NETLIST
from dais_verif.signoff.machines.judge import elements_with_bits
from dais_verif.signoff.machines.kernel import POISONED_KERNEL, POISONED_TENSORS, TENSORS
from dais_verif.signoff.outside_effects import FOUND, kept_uses
from dais_verif.signoff.seeded_faults import SEEDED_FAULT
from dais_verif.signoff.signed_design import sha256_of
from dais_verif.signoff.verbs import CALL, PRINTED, RUN

__all__ = ["MACHINE_FORMS"]


def _stage(folder: Path) -> Path:
    """Return the folder of a call; ``folder`` may be the command's own folder within it."""
    return folder.parent if folder.name == RUN else folder


# simulations


def _simulated(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of a run: every simulator, every cycle, every known bit of the signed-off RTL."""
    policy, subject = context.policy, context.subject
    covered = bool(policy.coverage) and _stage(folder).name == f"simulation-{policy.seeds[0]}"
    certified = {file.sha256 for role in ("rtl", "include") for file in subject.of(role)}
    kept = _run(tree)
    kept["rtl"] = only(tree["rtl"], "top", "sha256", "data")
    for one, given in zip(kept["simulators"], tree["simulators"], strict=True):
        also = given.get("also_read", {}).items()
        one["also_read"] = {path: sha256 for path, sha256 in also if sha256 not in certified}
    kept["coverage"] = kept_coverage(tree.get("coverage"), context) if covered else None
    return kept


def _run(tree: Tree) -> Tree:
    names = ("name", "version", "vectors_compared", "bits_compared", "mismatches", "vectors_with_x", "digest", "cached")
    return {
        **kept_head(tree),
        "program": kept_hashes(tree["program"]),
        **only(tree, "seed", "vectors", "unchecked", "state"),
        "reproduce": "",
        "tools": {},
        "simulators": [only(one, *names, "failure") for one in tree["simulators"]],
        "stimulus": kept_stimulus(tree, False),
    }


def _netlist(tree: Tree, context: Context, folder: Path) -> Tree:
    netlist = sha256_of(_stage(folder).parent / NETLIST)
    return {**_run(tree), "rtl": {"sha256": [netlist] if netlist in tree["rtl"]["sha256"] else []}}


def _bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    made = sha256_of(_stage(folder) / READ_BACK)
    return {**_run(tree), "rtl": {"sha256": [made] if made in tree["rtl"]["sha256"] else []}}


def _sent_to_bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    policy = context.policy
    return _cycles(tree, context, asked_of(context, policy.seeds[0], policy.bitstream.vectors))


def _seeded_in_bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "file", "sha256")


def _spoilt(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained result for a seeded fault: that it was detected, by which tool, and in how many cycles."""
    nothing = {"real": None, "raw": None, "bits": ""}
    fixed = {"simulator": "", "output": 0, "expected": nothing, "found": nothing, "inputs": []}
    return {
        **kept_head(tree),
        "program": kept_hashes(tree["program"]),
        "seed": 0,
        **only(tree, "vectors", "state"),
        "reproduce": "",
        "rtl": only(tree["rtl"], "top", "sha256"),
        "tools": {},
        "simulators": [only(one, "name", "vectors_compared", "mismatches", "failure") for one in tree["simulators"]],
        "stimulus": kept_stimulus(tree, False),
        "first_mismatch": {**fixed, "row": tree["first_mismatch"]["row"]},
    }


def _sent(tree: Tree, context: Context, folder: Path) -> Tree:
    return _cycles(tree, context, asked_of(context, int(folder.name.removeprefix("simulation-"))))


def _sent_to_netlist(tree: Tree, context: Context, folder: Path) -> Tree:
    policy = context.policy
    return _cycles(tree, context, asked_of(context, policy.seeds[0], policy.netlist.vectors))


def _cycles(tree: Tree, context: Context, asked: Asked) -> Tree:
    distinct = min(tree["distinct"], distinct_of(input_combinations(context.subject.machine), asked))
    return {
        **only(tree, "cycles", "bits", "unseen", "digest"),
        "sequences": 0,
        "distinct": distinct,
        "inputs_sha256": "",
    }


# tensors of a kernel


def _tensors(tree: Tree, context: Context, folder: Path) -> Tree:
    return {**_simulated(tree, context, folder), "coverage": None, "kernel": _of_kernel(tree)}


def _of_kernel(tree: Tree) -> Tree | None:
    """Return the result for a kernel's tensors: whether any element was compared, and whether one is wrong."""
    found = tree.get("kernel")
    if found is None:
        return None
    names = ("members", "samples", "ranges", "broken_off", "stalls")
    wrong = None if found.get("wrong") is None else ""
    return {"kernel": "", "form": "", **dict.fromkeys(names, 0), "elements": int(found["elements"] > 0), "wrong": wrong}


def _poisoned_tensors(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the result for a faulty block: whether the tensors differ from those that its members compute."""
    return {
        **_run({**tree, "simulators": []}),
        "rtl": only(tree["rtl"], "top", "sha256", "data"),
        "vectors": 0,
        "simulators": [only(one, "name", "failure") for one in tree["simulators"]],
        "first_mismatch": None,
        "kernel": _of_kernel(tree),
    }


def _sent_of_tensors(tree: Tree, context: Context, folder: Path) -> Tree:
    fixed = {"sequences": 0, "distinct": 0, "unseen": [], "inputs_sha256": ""}
    return {**only(tree, "cycles", "bits", "digest"), **fixed}


# proofs


def _proof(tree: Tree) -> Tree:
    return {
        **kept_head(tree),
        "tools": {},
        "program": kept_hashes(tree["program"]),
        "rtl": {"emitted": False, "files": [], "data": {}, "front_ends": [], **only(tree["rtl"], "top", "sha256")},
        "unchecked": False,
        "conditional": False,
        "cached_claims": 0,
        "ops": [],
        "outputs": [],
        "reproduce": "",
        "counterexample": None,
        "confirmation": None,
        "machine": None,
    }


#: Texts about the machine are for people; only the presence of this part is judged.
_NOTHING_MORE: Tree = {"outputs": [], "registers": {}, "invariants": [], "assumed": [], "replay": None}


def _claims(tree: Tree, context: Context) -> list[Tree]:
    """Return the claims on each output with bits, and all claims that are not proved, of which there must be none."""
    with_bits, proved = elements_with_bits(context.subject.machine), Status.PROVED.value
    found = {one["output"]: one["status"] for one in tree["outputs"]}
    kept = sorted(number for number, status in found.items() if number in with_bits or status != proved)
    return [{"output": number, "status": found[number], "method": Method.IDENTICAL.value} for number in kept]


def _proved(tree: Tree, context: Context, folder: Path) -> Tree:
    emitted = tree["rtl"]["emitted"]
    both_read = context.policy.front_end == "both"
    return {
        **_proof(tree),
        "rtl": {
            "files": [],
            **only(tree["rtl"], "top", "emitted", "sha256", "data"),
            "front_ends": list(tree["rtl"]["front_ends"]) if both_read else [],
        },
        **only(tree, "unchecked", "cached_claims"),
        "outputs": _claims(tree, context),
        "confirmation": None if emitted else {"verdict": tree["confirmation"]["verdict"], "message": ""},
        "machine": None if tree["machine"] is None else _NOTHING_MORE,
        "kernel": _of_members(tree) if context.subject.is_kernel else None,
    }


def _of_members(tree: Tree) -> Tree | None:
    """Return the result of the comparison with the members of a kernel."""
    found = tree.get("kernel")
    names = ("kernel", "form", "laws", "facts", "message")
    return None if found is None else {**dict.fromkeys(names, ""), "members": 0, **only(found, "folded")}


def _refuted_kernel(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of the refutation for a faulty block, whose results the machine does not compute."""
    kept = {**_proof(tree), "kernel": _of_members(tree)}
    return {**kept, "rtl": {**kept["rtl"], **only(tree["rtl"], "data")}}


def _proved_bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    return _proved_of(tree, context, sha256_of(_stage(folder) / READ_BACK))


def _proved_netlist(tree: Tree, context: Context, folder: Path) -> Tree:
    return _proved_of(tree, context, sha256_of(context.folder / "netlist" / NETLIST))  # evidence of an earlier stage


def _proved_of(tree: Tree, context: Context, netlist: str) -> Tree:
    rtl = {"sha256": [netlist] if netlist in tree["rtl"]["sha256"] else [], "top": ""}
    return {
        **_proof(tree),
        "rtl": {"emitted": False, "files": [], "data": {}, "front_ends": [], **rtl},
        **only(tree, "unchecked", "cached_claims"),
        "outputs": _claims(tree, context),
        "machine": None if tree["machine"] is None else _NOTHING_MORE,
    }


def _refuted(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained result for a seeded fault: that a sequence shows it, and that a simulator confirms this."""
    said = tree["machine"]
    replay = None if said is None or said["replay"] is None else f"{said['replay'].partition(':')[0]}:"
    return {**_proof(tree), "machine": None if said is None else {**_NOTHING_MORE, "replay": replay}}


# a program that the machine computes


def _difference(tree: Tree, context: Context, folder: Path) -> Tree:
    frame, proof = tree["frame"], tree["proof"]
    fixed = {"cycles": 0, "ops": 0, "free": [], "restored": [], "stalled": False, "reset": False}
    shown = {} if frame is None or tree["verdict"] == Verdict.PASS.value else only(frame, "frame")
    return {
        **kept_head(tree),
        "a": kept_hashes(tree["a"]),
        "b": kept_hashes(tree["b"]),
        **only(tree, "unchecked"),
        "identical": False,
        "first_different_op": None,
        "seed": 0,
        "vectors": 0,
        "engine": "",
        "bits_compared": 0,
        "differing_vectors": 0,
        "difference": None,
        "proof": None if proof is None else _outputs(proof),
        "replay": None,
        "warnings": [],
        "reproduce": "",
        "frame": None if frame is None else {**fixed, **only(frame, "sha256"), **shown},
    }


def _outputs(proof: Tree) -> Tree:
    return {"proved": sorted(set(proof["proved"])), "undecided": [], "merged_ops": 0, "methods": {}, "seconds": 0.0}


def _poisoned_difference(tree: Tree, context: Context, folder: Path) -> Tree:
    frame = tree["frame"]
    first = None if frame is None or frame["frame"] is None else {**frame, "frame": 0}
    return {**_difference({**tree, "frame": first}, context, folder), "proof": None}


# seeded faults


def _seeded(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "program", "top", "rtl", "file", "rows", "first")


def _seeded_for_proof(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "program", "top", "rtl", "file")


def _seeded_for_difference(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "program", "file")


MACHINE_FORMS: dict[str, dict[str, Form]] = {
    "check": {CALL: kept_call, PRINTED: kept_check},
    "outside": {FOUND: kept_uses},
    r"simulation-\d+": {**both(_simulated), SENT: _sent},
    "known-bad-rtl|poisoned-model": {**both(_spoilt), SEEDED_FAULT: _seeded},
    r"proof|synthesis-\d+": both(_proved),
    "known-bad-proof|poisoned-proof": {**both(_refuted), SEEDED_FAULT: _seeded_for_proof},
    "netlist": {f"synth/{CALL}": kept_call, **both(_netlist, "sim/"), f"sim/{SENT}": _sent_to_netlist},
    TENSORS: {**both(_tensors), SENT: _sent_of_tensors},
    POISONED_TENSORS: {**both(_poisoned_tensors), SEEDED_FAULT: _seeded_for_difference},
    POISONED_KERNEL: {**both(_refuted_kernel), SEEDED_FAULT: _seeded_for_difference},
    PROVED_NETLIST: both(_proved_netlist),
    BITSTREAM: {**both(_bitstream), SENT: _sent_to_bitstream},
    PROVED_BITSTREAM: both(_proved_bitstream),
    KNOWN_BAD: {**both(_refuted), SEEDED_FAULT: _seeded_in_bitstream},
    "timing": {TIMING: kept_timing},
    DIFFERENCE: {CALL: kept_call, PRINTED: _difference},
    POISONED_DIFFERENCE: {CALL: kept_call, PRINTED: _poisoned_difference, SEEDED_FAULT: _seeded_for_difference},
}
