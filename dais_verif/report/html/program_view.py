"""The data of the zoomable view of a program, compact enough for 50,000 ops: only what the page cannot derive.

Operands are not listed: the page reads them from ``text``, where each is a ``%N``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dais_verif.record.coverage import Coverage
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.report.html.evidence import OutputRow
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.graph import dead_ops, depths
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.ranges import analyse

__all__ = ["FAMILIES", "Facts", "KindCount", "facts_of", "view_data"]

#: Ops that look alike in the view, by mnemonic; each family has a colour and a glyph there.
FAMILIES: Mapping[str, str] = {
    "input": "input",
    "const": "const",
    "add": "sum",
    "sub": "sum",
    "add_const": "sum",
    "sum": "sum",
    "add_term": "sum",
    "neg": "sum",
    "relu": "relu",
    "relu_neg": "relu",
    "quant": "quant",
    "quant_neg": "quant",
    "quant_shift": "quant",
    "mux": "mux",
    "mux_neg": "mux",
    "mul": "mul",
    "lookup": "lookup",
    "bit_unary": "bits",
    "bit_unary_neg": "bits",
    "bit_binary": "bits",
}

#: JavaScript numbers do not represent larger integers exactly, so they are written as text.
_EXACT = 1 << 53

_STATUS = {Status.PROVED: "P", Status.REFUTED: "R", Status.UNKNOWN: "U"}


class KindCount(NamedTuple):
    """How often one kind of op occurs, and the range of its result widths."""

    mnemonic: str
    family: str
    words: str
    ops: int
    least: int
    most: int


class Facts(NamedTuple):
    """Facts about the whole program, for tables. ``levels``: ops on the longest path, inputs included."""

    kinds: list[KindCount]
    levels: int
    dead: int
    tables: int


def facts_of(program: Program) -> Facts:
    """Return the kinds of op, most frequent first, and the size of the graph."""
    widths: dict[str, list[int]] = {}
    words: dict[str, str] = {}
    for op in program.ops:
        widths.setdefault(op.spec.mnemonic, []).append(op.type.width)
        words[op.spec.mnemonic] = op.spec.words
    kinds = [KindCount(name, FAMILIES[name], words[name], len(w), min(w), max(w)) for name, w in widths.items()]
    kinds.sort(key=lambda kind: (-kind.ops, kind.mnemonic))
    return Facts(kinds, max(depths(program), default=-1) + 1, len(dead_ops(program)), len(program.tables))


def view_data(
    program: Program,
    coverage: Coverage | None,
    proof: ProofRecord | None,
    rows: Sequence[OutputRow],
    blamed: Iterable[int],
) -> dict[str, Any]:
    """Return lists with one entry per op, by name; ``kind`` and ``type`` index ``kinds`` and ``types``.

    ``bins``: for each op the numbers of all, hit and unreachable coverage bins, concatenated, or null. ``claims``: one
    letter per op (P, R, U; - for no claim), or null. ``blamed``: ops that a mismatch names.
    """
    kinds: dict[str, int] = {}
    types: dict[FixedType, int] = {}
    specs = []
    kind_of, type_of = [], []
    for op in program.ops:
        name = op.spec.mnemonic
        if name not in kinds:
            specs.append({"name": name, "family": FAMILIES[name], "words": op.spec.words, "promise": op.spec.promise})
        kind_of.append(kinds.setdefault(name, len(kinds)))
        type_of.append(types.setdefault(op.type, len(types)))
    # The intervals that da4ml's JSON declares are promises about the inputs.
    analysis = analyse(program, declared=True)
    return {
        "n": program.n_ops,
        "kinds": specs,
        "kind": kind_of,
        "types": list(types),
        "type": type_of,
        "level": depths(program),
        "low": [_number(interval.lo) for interval in analysis.intervals],
        "high": [_number(interval.hi) for interval in analysis.intervals],
        "declared": program.intervals is not None,
        "changes": "".join(str(int(status)) for status in analysis.changes),
        "text": [in_words(program, op) for op in program.ops],
        "bins": [n for counts in coverage.ops for n in counts] if coverage is not None else None,
        "open": _open_bins(program, coverage),
        "claims": _claims(program, proof),
        "outputs": [
            {"op": row.op, "output": row.output, "type": row.type, "grades": [grade.grade for grade in row.grades]}
            for row in rows
        ],
        "blamed": sorted({op for op in blamed if 0 <= op < program.n_ops}),
    }


def _number(value: int) -> int | str:
    return value if -_EXACT < value < _EXACT else str(value)


def _open_bins(program: Program, coverage: Coverage | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in coverage.open if coverage is not None else []:
        if each.op is not None and 0 <= each.op < program.n_ops:
            found.setdefault(str(each.op), []).append(each.text.removeprefix(f"{program.ops[each.op]}: "))
    return found


def _claims(program: Program, proof: ProofRecord | None) -> str | None:
    if proof is None:
        return None
    letters = ["-"] * program.n_ops
    for claim in proof.ops:
        if claim.op is not None and 0 <= claim.op < program.n_ops:
            letters[claim.op] = _STATUS[claim.status]
    return "".join(letters)
