"""A mutant: one change in the text of RTL, and the statement that contains it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

__all__ = ["BENCH", "Files", "Form", "Mutant", "SELECT", "Statement", "can_be_chosen", "with_choice"]


#: Texts by file name, with one character per byte (ISO 8859-1), so that positions match those of Verilog readers.
Files = Mapping[str, str]

#: The signal of an op, in our naming or da4ml's; our pipelines have one signal per stage.
_OP = re.compile(r"(?:op_|neg_|v)(\d+)(?:_s\d+)?")


class Form(Enum):
    """The kind of a statement, which determines how a mutant in it is selected at run time."""

    #: An assignment in a block, with ``=`` or ``<=``: ``if`` chooses the whole statement.
    PROCEDURAL = "procedural"
    #: The right side of a net, in ``assign`` or in a declaration: a conditional expression chooses.
    CONTINUOUS = "continuous"
    #: The condition of an ``if`` in a block.
    CONDITION = "condition"
    #: Anything else, such as a declaration: it needs a separate design.
    ALONE = "alone"


class Statement(NamedTuple):
    """The text from ``start`` to ``end`` of ``file``, in ``module``.

    ``target``: the assigned name, or "". ``events``: the end of the block's event list, if the block does not wait for
    edges; None: there is no event list to extend. ``item``, ``width``: for the right side of a net, the start of its
    declaration or ``assign``, and the width of the net.
    """

    form: Form
    file: str
    start: int
    end: int
    module: str
    target: str = ""
    events: int | None = None
    item: int = 0
    width: int = 0


class Mutant(NamedTuple):
    """A change: ``new`` replaces ``old`` at ``offset`` of ``file``. ``line``: from 1."""

    kind: str
    file: str
    offset: int
    line: int
    old: str
    new: str
    statement: Statement

    @property
    def op(self) -> int | None:
        """The op whose signal the statement assigns, according to the name of the signal; None for other names."""
        match = _OP.fullmatch(self.statement.target)
        return int(match[1]) if match else None

    def applied(self, files: Files) -> dict[str, str]:
        """Return all files with the change applied."""
        text = files[self.file]
        end = self.offset + len(self.old)
        return {**files, self.file: text[: self.offset] + self.new + text[end:]}

    def statement_in(self, files: Files) -> str:
        """Return the statement with the change applied."""
        text, end = files[self.file], self.offset + len(self.old)
        return text[self.statement.start : self.offset] + self.new + text[end : self.statement.end]


# Combine many mutants in one text: a number that every module can read selects the mutant.
#
# 0 selects the original design. Whole statements are selected, and right sides are selected through separate nets, so
# that mutants do not affect widths or signs in the original or in each other.


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
