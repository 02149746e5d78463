"""The forms of all files of a program's stages: a form keeps the judged parts of a file, and nothing else.

Fields that a reader requires but no judge uses get a fixed value. Numbers that may exceed a requirement are reduced to
the required value, so that any other value is detected.
"""

from __future__ import annotations

import re
from pathlib import Path

from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.record.proof import Method
from dais_verif.signoff.bitstreams.stages import READ_BACK
from dais_verif.signoff.bitstreams.timing import TIMING, kept_timing
from dais_verif.signoff.context import Context
from dais_verif.signoff.extras import NETLIST
from dais_verif.signoff.judge import SENT, Asked, distinct_wanted
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
from dais_verif.signoff.machines.kept_fields import MACHINE_FORMS
from dais_verif.signoff.mutation import MUTATION, kept_mutation
from dais_verif.signoff.outside_effects import FOUND, kept_uses
from dais_verif.signoff.seeded_faults import SEEDED_FAULT
from dais_verif.signoff.signed_design import sha256_of
from dais_verif.signoff.verbs import CALL, PRINTED, RUN
from dais_verif.spec.program.ports import ports_of

__all__ = ["forms_of"]


def forms_of(folder: str, context: Context) -> dict[str, Form]:
    """Return the forms of the files that are judged field by field in ``folder``, the folder of a stage."""
    for pattern, forms in (MACHINE_FORMS if context.subject.is_machine else _FORMS).items():
        if re.fullmatch(pattern, folder):
            return forms
    return {}


def _stage(folder: Path) -> Path:
    """Return the folder of a call; ``folder`` may be the command's own folder within it."""
    return folder.parent if folder.name == RUN else folder


# simulations


def _simulated(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of a simulation of the signed-off RTL."""
    policy, subject = context.policy, context.subject
    covered = bool(policy.coverage) and _stage(folder).name == f"simulation-{policy.seeds[0]}"
    certified = {file.sha256 for role in ("rtl", "include") for file in subject.of(role)}
    evidence = tree["evidence"]
    least = 1 << policy.exhaustive_bits if policy.exhaustive_bits else 0
    kept = _run(tree, context, covered=covered)
    kept["rtl"] |= only(tree["rtl"], "top", "sha256", "data")
    for one, given in zip(kept["simulators"], tree["simulators"], strict=True):
        also = {path: sha256 for path, sha256 in given.get("also_read", {}).items() if sha256 not in certified}
        one["also_read"] = also
    kept["evidence"] = {
        "exhausted": sorted(set(evidence["exhausted"])),
        "sampled": [],
        "could": {output: rows for output, rows in evidence["could"].items() if rows <= least},
    }
    kept["outputs"] = [only(one, "output", "grade", "vectors") for one in tree["outputs"]]
    kept["coverage"] = kept_coverage(tree.get("coverage"), context) if covered else None
    return kept


def _run(tree: Tree, context: Context, *, covered: bool = False) -> Tree:
    """Return the retained part of a run: every simulator, every vector, every bit."""
    names = ("name", "version", "vectors_compared", "bits_compared", "mismatches", "vectors_with_x", "digest", "cached")
    return {
        **kept_head(tree),
        "program": kept_hashes(tree["program"]),
        **only(tree, "seed", "vectors", "exhaustive_vectors", "unchecked", "state"),
        "reproduce": "",
        "rtl": {"bits": _bits(tree["rtl"], context)},
        "tools": {},
        "simulators": [only(one, *names, "failure") for one in tree["simulators"]],
        "stimulus": kept_stimulus(tree, covered),
    }


def _bits(rtl: Tree, context: Context) -> int:
    """Return the number of bits in a row of outputs."""
    if "bits" in rtl:
        return int(rtl["bits"])
    return (
        DesignInterface.from_tree(rtl["face"]).output_bits
        if "face" in rtl
        else ports_of(context.subject.program).output_bits
    )


def _netlist(tree: Tree, context: Context, folder: Path) -> Tree:
    netlist = sha256_of(_stage(folder).parent / NETLIST)
    kept = _run(tree, context)
    kept["rtl"]["sha256"] = sorted({sha256 for sha256 in tree["rtl"]["sha256"] if sha256 == netlist})
    return kept


def _bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    made = sha256_of(_stage(folder) / READ_BACK)
    kept = _run(tree, context)
    kept["rtl"]["sha256"] = sorted({sha256 for sha256 in tree["rtl"]["sha256"] if sha256 == made})
    return kept


def _seeded_in_bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "file", "sha256", "always")


def _spoilt(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained result for a seeded fault: that it was detected, by which tool, and on how many vectors."""
    nothing = {"real": None, "raw": None, "bits": ""}
    fixed = {"simulator": "", "output": 0, "expected": nothing, "found": nothing, "inputs": []}
    names = ("name", "version", "vectors_compared", "mismatches", "failure")
    return {
        **kept_head(tree),
        "program": kept_hashes(tree["program"]),
        "seed": 0,
        **only(tree, "vectors", "state"),
        "reproduce": "",
        "rtl": only(tree["rtl"], "top", "sha256"),
        "tools": {},
        "simulators": [only(one, *names) for one in tree["simulators"]],
        "stimulus": kept_stimulus(tree, False),
        "first_mismatch": {**fixed, "row": tree["first_mismatch"]["row"]},
    }


def _beats(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of a run with streams or on a board, which computes no digest of outputs."""
    board, simulators = tree.get("board"), list[Tree]()
    for one in tree["simulators"]:
        vectors = min(one["vectors_compared"], tree["vectors"])
        counts = {"vectors_compared": vectors, "bits_compared": min(one["bits_compared"], vectors)}
        named = {"name": "board"} if board is not None else only(one, "name", "version")
        kept = {**named, **counts, **only(one, "mismatches", "vectors_with_x", "failure")}
        simulators += [] if kept in simulators else [kept]
    fixed = ("protocol", "latency", "buffer", "batches", "repeated", "damaged_there", "damaged_here", "unexpected")
    run = {**_run({**tree, "simulators": []}, context), "simulators": simulators, "rtl": {}, "exhaustive_vectors": 0}
    if board is None:
        return run
    there = {**only(board, "target", "program"), **dict.fromkeys((*fixed, "resumed_from"), 0), "replay": ""}
    return {**run, "board": there}


def _sent(tree: Tree, context: Context, folder: Path) -> Tree:
    return _vectors(tree, context, context.asked(int(folder.name.removeprefix("simulation-"))))


def _sent_to_netlist(tree: Tree, context: Context, folder: Path) -> Tree:
    return _vectors(tree, context, context.asked(context.policy.seeds[0], context.policy.netlist.vectors))


def _sent_to_bitstream(tree: Tree, context: Context, folder: Path) -> Tree:
    return _vectors(tree, context, context.asked(context.policy.seeds[0], context.policy.bitstream.vectors))


def _vectors(tree: Tree, context: Context, asked: Asked) -> Tree:
    distinct = min(tree["distinct"], distinct_wanted(context.subject.program, asked))
    return {**only(tree, "rows", "total", "digested", "digest"), "distinct": distinct, "inputs_sha256": ""}


def _total(tree: Tree, context: Context, folder: Path) -> Tree:
    return {"rows": 0, "total": tree["total"], "distinct": 0, "digested": 0, "digest": "", "inputs_sha256": ""}


# proofs


def _proved(tree: Tree, context: Context, folder: Path) -> Tree:
    kinds = context.subject.program.output_types
    claims = {one["output"]: one["status"] for one in tree["outputs"] if kinds[one["output"]].width}
    emitted = tree["rtl"]["emitted"]
    return {
        **_refuted(tree, context, folder),
        "rtl": {
            "files": [],
            **only(tree["rtl"], "top", "emitted", "sha256", "data"),
            "front_ends": _enough_readers(tree, context),
        },
        **only(tree, "unchecked", "cached_claims"),
        # The method that decided a claim is not judged: a fixed value replaces it, so that every edit is detected.
        "outputs": [
            {"output": output, "status": status, "method": Method.IDENTICAL.value}
            for output, status in sorted(claims.items())
        ],
        "counterexample": None,
        "confirmation": None if emitted else {"verdict": tree["confirmation"]["verdict"], "message": ""},
    }


def _enough_readers(tree: Tree, context: Context) -> list[str]:
    """Return the front ends if the policy requires both; otherwise return none, since they are not judged."""
    return list(tree["rtl"]["front_ends"]) if context.policy.front_end == "both" else []


def _refuted(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained result for a seeded fault: that an input shows it, and that a simulator confirms this."""
    shown = tree.get("counterexample") or {}
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
        "counterexample": _confirmed(shown["replay"]) if shown.get("replay") else None,
        "confirmation": None,
    }


def _confirmed(replay: Tree) -> Tree:
    """Return the retained part of a counterexample: only the verdict of the simulators is judged."""
    return {"inputs": [], "output": 0, "replay": {**only(replay, "verdict"), "message": ""}}


# seeded faults


def _seeded(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "program", "top", "rtl", "file", "rows", "first")


def _seeded_for_proof(tree: Tree, context: Context, folder: Path) -> Tree:
    return only(tree, "program", "top", "rtl", "file")


_FORMS: dict[str, dict[str, Form]] = {
    "check": {CALL: kept_call, PRINTED: kept_check},
    "outside": {FOUND: kept_uses},
    r"simulation-\d+": {**both(_simulated), SENT: _sent},
    "known-bad-rtl|poisoned-model": {**both(_spoilt), SENT: _total, SEEDED_FAULT: _seeded},
    r"proof|synthesis-\d+": both(_proved),
    "known-bad-proof|poisoned-proof": {**both(_refuted), SEEDED_FAULT: _seeded_for_proof},
    "netlist": {f"synth/{CALL}": kept_call, **both(_netlist, "sim/"), f"sim/{SENT}": _sent_to_netlist},
    "bitstream": {**both(_bitstream), SENT: _sent_to_bitstream},
    "bitstream-proof": both(_proved),
    "known-bad-bitstream": {**both(_spoilt), SENT: _total, SEEDED_FAULT: _seeded_in_bitstream},
    "known-bad-bitstream-proof": {**both(_refuted), SEEDED_FAULT: _seeded_in_bitstream},
    MUTATION: {CALL: kept_call, PRINTED: kept_mutation, f"{RUN}/{MUTATION}.json": kept_mutation},
    "timing": {TIMING: kept_timing},
    "axis": both(_beats, "sim/"),
    "board": both(_beats),
}
