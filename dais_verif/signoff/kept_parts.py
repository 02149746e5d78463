"""The retained parts of evidence files that the forms of programs and of machines share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from dais_verif.base.verdict import Verdict
from dais_verif.signoff.context import Context
from dais_verif.signoff.verbs import CALL, PRINTED, RUN

__all__ = [
    "Form",
    "Tree",
    "both",
    "canonical",
    "failed",
    "kept_call",
    "kept_check",
    "kept_coverage",
    "kept_hashes",
    "kept_head",
    "kept_stimulus",
    "only",
]

Tree: TypeAlias = dict[str, Any]

#: The judged part of a tree, given the signed-off design and the folder of its file.
Form: TypeAlias = Callable[[Tree, Context, Path], Tree]


def canonical(tree: Tree) -> bytes:
    """Return the bytes of ``tree`` in the layout of evidence files: JSON with sorted keys."""
    return (json.dumps(tree, indent=2, sort_keys=True) + "\n").encode()


def failed(verdict: str, *, excused: bool) -> Tree:
    """Return the retained part of a stage that did not pass. ``excused``: the policy tolerates it."""
    return {"verdict": verdict, "message": "", **({"excused": True} if excused else {})}


def both(form: Form, into: str = "") -> dict[str, Form]:
    """Return the forms of a command's exit, of its output, and of the same record in the command's folder."""
    return {f"{into}{CALL}": kept_call, f"{into}{PRINTED}": form, f"{into}{RUN}/result.json": form}


def only(tree: Tree, *names: str) -> Tree:
    """Return only the fields ``names`` of ``tree``."""
    return {name: tree[name] for name in names}


def kept_hashes(info: Tree) -> Tree:
    """Return the retained part of the description of the program or machine in a record."""
    fixed = {"path": None, "layout": "", "layout_assumed": False, "n_in": 0, "n_out": 0, "n_ops": 0}
    return {**only(info, "hash", "file_sha256"), **fixed}


def kept_head(tree: Tree) -> Tree:
    """Return the retained part of the fields common to all records."""
    verdict = Verdict(tree["verdict"])
    return {"schema": tree["schema"], "verdict": verdict.value, "exit_code": verdict.exit_code, "message": ""}


def kept_call(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of how a command exited."""
    return {"arguments": [], "exit_code": tree["exit_code"], "seconds": 0.0}


def kept_check(tree: Tree, context: Context, folder: Path) -> Tree:
    """Return the retained part of ``check``."""
    return {**kept_head(tree), "program": kept_hashes(tree["program"]), "overflow": {}}


def kept_stimulus(tree: Tree, covered: bool) -> list[Tree]:
    """Return the retained stimulus: the files, and if ``covered`` the number of vectors computed for coverage."""
    files = [one for one in tree["stimulus"] if one["name"] == "file"]
    directed = sum(one["vectors"] for one in tree["stimulus"] if one["name"] == "directed") if covered else 0
    kept = [{"name": "file", "vectors": 0, "sha256": one["sha256"]} for one in files]
    return kept + ([{"name": "directed", "vectors": directed}] if directed else [])


def kept_coverage(found: Tree | None, context: Context) -> Tree | None:
    """Return the coverage that the policy requires, in thousandths, if the coverage ``found`` reaches it."""
    thousandths = math.ceil(round(context.policy.coverage * 10, 6))
    if found is None or found["percent"] * 10 < thousandths:
        return None
    group = {"name": "", "bins": 1000, "hit": thousandths, "unreachable": 0}
    fixed = {"directed": 0, "ops": [], "outputs": [], "open": [], "open_total": 0}
    return {"vectors": found["vectors"], "percent": thousandths / 10, "groups": [group], **fixed}
