"""What is judged of each file that a stage leaves, stage by stage: a form is a tree with nothing else in it.

Whatever a reader needs and no judge looks at has a fixed value. Numbers of which more would do as well are cut down to
what is enough, so that another one is found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from dais_verif.dut.interface import DesignInterface
from dais_verif.program.ports import ports_of
from dais_verif.record.proof import Method
from dais_verif.signoff.context import Context
from dais_verif.signoff.extras import NETLIST
from dais_verif.signoff.judge import SENT, Asked, distinct_wanted
from dais_verif.signoff.outside import FOUND
from dais_verif.signoff.sanity_checks import SEEDED_FAULT
from dais_verif.signoff.subject import sha256_of
from dais_verif.signoff.verbs import CALL, PRINTED, RUN
from dais_verif.verdict import Verdict

__all__ = ["Form", "canonical", "failed", "forms_of"]

_Tree: TypeAlias = dict[str, Any]

#: What is judged of a tree, seen with what is signed off and with the folder that its file is in.
Form: TypeAlias = Callable[[_Tree, Context, Path], _Tree]


def canonical(tree: _Tree) -> bytes:
    """Return ``tree`` as evidence is written."""
    return (json.dumps(tree, indent=2, sort_keys=True) + "\n").encode()


def failed(verdict: str, *, excused: bool) -> _Tree:
    """Return what is kept of a stage that did not pass. ``excused``: the policy puts up with it."""
    return {"verdict": verdict, "message": "", **({"excused": True} if excused else {})}


def forms_of(folder: str, context: Context) -> dict[str, Form]:
    """The files in the folder of a stage that are judged field by field."""
    for pattern, forms in _FORMS.items():
        if re.fullmatch(pattern, folder):
            return forms
    return {}


def _stage(folder: Path) -> Path:
    """The folder of a call, of which ``folder`` may be what it kept."""
    return folder.parent if folder.name == RUN else folder


def _of(tree: _Tree, *names: str) -> _Tree:
    return {name: tree[name] for name in names}


def _hashes(tree: _Tree) -> _Tree:
    fixed = {"path": None, "layout": "", "layout_assumed": False, "n_in": 0, "n_out": 0, "n_ops": 0}
    return {**_of(tree["program"], "hash", "file_sha256"), **fixed}


def _head(tree: _Tree) -> _Tree:
    verdict = Verdict(tree["verdict"])
    return {"schema": tree["schema"], "verdict": verdict.value, "exit_code": verdict.exit_code, "message": ""}


def _call(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return {"arguments": [], "exit_code": tree["exit_code"], "seconds": 0.0}


# check, and what reaches outside


def _check(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return {**_head(tree), "program": _hashes(tree), "overflow": {}}


def _uses(tree: _Tree, context: Context, folder: Path) -> _Tree:
    allowed = context.policy.allowed
    return {"sha256": tree["sha256"], "uses": [use for use in tree["uses"] if use[2] not in allowed]}


# simulations


def _simulated(tree: _Tree, context: Context, folder: Path) -> _Tree:
    """The RTL that is signed off, or with outputs swept: everything."""
    policy, subject = context.policy, context.subject
    covered = bool(policy.coverage) and _stage(folder).name == f"simulation-{policy.seeds[0]}"
    certified = {file.sha256 for role in ("rtl", "include") for file in subject.of(role)}
    evidence = tree["evidence"]
    least = 1 << policy.exhaustive_bits if policy.exhaustive_bits else 0
    kept = _run(tree, context, covered=covered)
    kept["rtl"] |= _of(tree["rtl"], "top", "sha256", "data")
    for one, given in zip(kept["simulators"], tree["simulators"], strict=True):
        also = {path: sha256 for path, sha256 in given.get("also_read", {}).items() if sha256 not in certified}
        one["also_read"] = also
    kept["evidence"] = {
        "exhausted": sorted(set(evidence["exhausted"])),
        "sampled": [],
        "could": {output: rows for output, rows in evidence["could"].items() if rows <= least},
    }
    kept["outputs"] = [_of(one, "output", "grade", "vectors") for one in tree["outputs"]]
    kept["coverage"] = _coverage(tree.get("coverage"), context) if covered else None
    return kept


def _coverage(found: _Tree | None, context: Context) -> _Tree | None:
    """As much as the policy asks for, in thousandths, if it is there."""
    thousandths = math.ceil(round(context.policy.coverage * 10, 6))
    if found is None or found["percent"] * 10 < thousandths:
        return None
    group = {"name": "", "bins": 1000, "hit": thousandths, "unreachable": 0}
    fixed = {"directed": 0, "ops": [], "outputs": [], "open": [], "open_total": 0}
    return {"vectors": found["vectors"], "percent": thousandths / 10, "groups": [group], **fixed}


def _run(tree: _Tree, context: Context, *, covered: bool = False) -> _Tree:
    """Every simulator, every vector, every bit."""
    names = ("name", "version", "vectors_compared", "bits_compared", "mismatches", "vectors_with_x", "digest", "cached")
    return {
        **_head(tree),
        "program": _hashes(tree),
        **_of(tree, "seed", "vectors", "exhaustive_vectors", "unchecked", "state"),
        "reproduce": "",
        "rtl": {"bits": _bits(tree["rtl"], context)},
        "tools": {},
        "simulators": [_of(one, *names, "failure") for one in tree["simulators"]],
        "stimulus": _stimulus(tree, covered),
    }


def _bits(rtl: _Tree, context: Context) -> int:
    """Of a row of outputs."""
    if "bits" in rtl:
        return int(rtl["bits"])
    return (
        DesignInterface.from_tree(rtl["face"]).output_bits
        if "face" in rtl
        else ports_of(context.subject.program).output_bits
    )


def _stimulus(tree: _Tree, covered: bool) -> list[_Tree]:
    """The files, and how many vectors were computed from the program."""
    files = [one for one in tree["stimulus"] if one["name"] == "file"]
    directed = sum(one["vectors"] for one in tree["stimulus"] if one["name"] == "directed") if covered else 0
    kept = [{"name": "file", "vectors": 0, "sha256": one["sha256"]} for one in files]
    return kept + ([{"name": "directed", "vectors": directed}] if directed else [])


def _netlist(tree: _Tree, context: Context, folder: Path) -> _Tree:
    netlist = sha256_of(_stage(folder).parent / NETLIST)
    kept = _run(tree, context)
    kept["rtl"]["sha256"] = sorted({sha256 for sha256 in tree["rtl"]["sha256"] if sha256 == netlist})
    return kept


def _spoilt(tree: _Tree, context: Context, folder: Path) -> _Tree:
    """With a fault seeded: that it was found, by whom, and on how many vectors."""
    nothing = {"real": None, "raw": None, "bits": ""}
    fixed = {"simulator": "", "output": 0, "expected": nothing, "found": nothing, "inputs": []}
    names = ("name", "version", "vectors_compared", "mismatches", "failure")
    return {
        **_head(tree),
        "program": _hashes(tree),
        "seed": 0,
        **_of(tree, "vectors", "state"),
        "reproduce": "",
        "rtl": _of(tree["rtl"], "top", "sha256"),
        "tools": {},
        "simulators": [_of(one, *names) for one in tree["simulators"]],
        "stimulus": _stimulus(tree, False),
        "first_mismatch": {**fixed, "row": tree["first_mismatch"]["row"]},
    }


def _beats(tree: _Tree, context: Context, folder: Path) -> _Tree:
    """Behind streams or on a board, where nothing is digested."""
    board, simulators = tree.get("board"), list[_Tree]()
    for one in tree["simulators"]:
        vectors = min(one["vectors_compared"], tree["vectors"])
        counts = {"vectors_compared": vectors, "bits_compared": min(one["bits_compared"], vectors)}
        named = {"name": "board"} if board is not None else _of(one, "name", "version")
        kept = {**named, **counts, **_of(one, "mismatches", "vectors_with_x", "failure")}
        simulators += [] if kept in simulators else [kept]
    fixed = ("protocol", "latency", "buffer", "batches", "repeated", "damaged_there", "damaged_here", "unexpected")
    run = {**_run({**tree, "simulators": []}, context), "simulators": simulators, "rtl": {}, "exhaustive_vectors": 0}
    if board is None:
        return run
    there = {**_of(board, "target", "program"), **dict.fromkeys((*fixed, "resumed_from"), 0), "replay": ""}
    return {**run, "board": there}


def _sent(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return _vectors(tree, context, context.asked(int(folder.name.removeprefix("simulation-"))))


def _sent_to_netlist(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return _vectors(tree, context, context.asked(context.policy.seeds[0], context.policy.netlist.vectors))


def _vectors(tree: _Tree, context: Context, asked: Asked) -> _Tree:
    distinct = min(tree["distinct"], distinct_wanted(context.subject.program, asked))
    return {**_of(tree, "rows", "total", "digested", "digest"), "distinct": distinct, "inputs_sha256": ""}


def _total(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return {"rows": 0, "total": tree["total"], "distinct": 0, "digested": 0, "digest": "", "inputs_sha256": ""}


# proofs


def _proved(tree: _Tree, context: Context, folder: Path) -> _Tree:
    kinds = context.subject.program.output_types
    claims = {one["output"]: one["status"] for one in tree["outputs"] if kinds[one["output"]].width}
    emitted = tree["rtl"]["emitted"]
    return {
        **_refuted(tree, context, folder),
        "rtl": {
            "files": [],
            **_of(tree["rtl"], "top", "emitted", "sha256", "data"),
            "front_ends": _enough_readers(tree, context),
        },
        **_of(tree, "unchecked", "cached_claims"),
        # What decided a claim is not judged: one word for all, so that no edit of it can stay unseen.
        "outputs": [
            {"output": output, "status": status, "method": Method.IDENTICAL.value}
            for output, status in sorted(claims.items())
        ],
        "counterexample": None,
        "confirmation": None if emitted else {"verdict": tree["confirmation"]["verdict"], "message": ""},
    }


def _enough_readers(tree: _Tree, context: Context) -> list[str]:
    """The front ends, where the policy says which they must be."""
    return list(tree["rtl"]["front_ends"]) if context.policy.front_end == "both" else []


def _refuted(tree: _Tree, context: Context, folder: Path) -> _Tree:
    """With a fault seeded: an input that shows it, which a simulator confirms."""
    shown = tree.get("counterexample") or {}
    return {
        **_head(tree),
        "tools": {},
        "program": _hashes(tree),
        "rtl": {"emitted": False, "files": [], "data": {}, "front_ends": [], **_of(tree["rtl"], "top", "sha256")},
        "unchecked": False,
        "conditional": False,
        "cached_claims": 0,
        "ops": [],
        "outputs": [],
        "reproduce": "",
        "counterexample": _confirmed(shown["replay"]) if shown.get("replay") else None,
        "confirmation": None,
    }


def _confirmed(replay: _Tree) -> _Tree:
    """A counterexample, of which no more is judged than what simulators made of it."""
    return {"inputs": [], "output": 0, "replay": {**_of(replay, "verdict"), "message": ""}}


# faults that were seeded


def _seeded(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return _of(tree, "program", "top", "rtl", "file", "rows", "first")


def _seeded_for_proof(tree: _Tree, context: Context, folder: Path) -> _Tree:
    return _of(tree, "program", "top", "rtl", "file")


def _both(form: Form, into: str = "") -> dict[str, Form]:
    """What a verb printed, what it kept, and how it ended."""
    return {f"{into}{CALL}": _call, f"{into}{PRINTED}": form, f"{into}{RUN}/result.json": form}


_FORMS: dict[str, dict[str, Form]] = {
    "check": {CALL: _call, PRINTED: _check},
    "outside": {FOUND: _uses},
    r"simulation-\d+": {**_both(_simulated), SENT: _sent},
    "known-bad-rtl|poisoned-model": {**_both(_spoilt), SENT: _total, SEEDED_FAULT: _seeded},
    r"proof|synthesis-\d+": _both(_proved),
    "known-bad-proof|poisoned-proof": {**_both(_refuted), SEEDED_FAULT: _seeded_for_proof},
    "netlist": {f"synth/{CALL}": _call, **_both(_netlist, "sim/"), f"sim/{SENT}": _sent_to_netlist},
    "axis": _both(_beats, "sim/"),
    "board": _both(_beats),
}
