"""Combine many mutants in one text: a number that every module can read selects the mutant.

0 selects the original design. Whole statements are selected, and right sides are selected through separate nets, so
that mutants do not affect widths or signs in the original or in each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dais_verif.mutation.mutant import Files, Form, Mutant, Statement

__all__ = ["BENCH", "SELECT", "can_be_chosen", "with_choice"]

#: The module of the bench, and the path of the mutant's number in it.
BENCH = "dais_mutants"
SELECT = f"{BENCH}.chosen"


def can_be_chosen(mutant: Mutant) -> bool:
    """Return True if ``mutant`` can share a source text with other mutants."""
    return mutant.statement.form is not Form.ALONE


def with_choice(files: Files, mutants: Sequence[Mutant]) -> dict[str, str]:
    """Return ``files`` with all ``mutants``, numbered from 1, of which the value of ``SELECT`` selects one."""
    by_file: dict[str, dict[Statement, list[tuple[int, Mutant]]]] = {}
    for number, mutant in enumerate(mutants, start=1):
        by_file.setdefault(mutant.file, defaultdict(list))[mutant.statement].append((number, mutant))
    made = dict(files)
    for name, statements in by_file.items():
        text = files[name]
        edits = [(s.start, s.end, _chosen(files, s, of)) for s, of in statements.items()]
        edits += [(s.item, s.item, _nets(files, s, of)) for s, of in statements.items() if s.form is Form.CONTINUOUS]
        places = {s.events for s in statements if s.events is not None}
        edits += [(place, place, f" or {SELECT}") for place in places]
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        made[name] = text
    return made


def _chosen(files: Files, statement: Statement, mutants: Sequence[tuple[int, Mutant]]) -> str:
    old = files[statement.file][statement.start : statement.end]
    if statement.form is Form.PROCEDURAL:
        chain = "".join(f"if ({SELECT} == {n}) {m.statement_in(files)} else " for n, m in mutants)
        return f"begin {chain}{old} end"
    if statement.form is Form.CONDITION:
        chain = "".join(f"{SELECT} == {n} ? |({m.statement_in(files)}) : " for n, m in mutants)
        return f"({chain}|({old}))"
    first = mutants[0][0]
    return "".join(f"{SELECT} == {n} ? {_net(n)} : " for n, _ in mutants) + _net(first, "was")


def _net(number: int, what: str = "is") -> str:
    return f"dais_mutant_{number}_{what}"


def _nets(files: Files, statement: Statement, mutants: Sequence[tuple[int, Mutant]]) -> str:
    """Return declarations of nets for the original and the mutated right sides, as wide as the assigned net."""
    old, bits = files[statement.file][statement.start : statement.end], f"wire [{statement.width - 1}:0]"
    made = f"{bits} {_net(mutants[0][0], 'was')} = {old}; "
    return made + "".join(f"{bits} {_net(n)} = {m.statement_in(files)}; " for n, m in mutants)
