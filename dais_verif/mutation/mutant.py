"""A mutant: one place of the text of RTL that says something else, and the statement in which it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

__all__ = ["Files", "Form", "Mutant", "Statement"]

#: Texts by file name, a character a byte (ISO 8859-1), so that places in them are those of the readers of Verilog.
Files = Mapping[str, str]

#: The signal of an op, as we name it and as da4ml does; a pipeline of ours has it once a stage.
_OP = re.compile(r"(?:op_|neg_|v)(\d+)(?:_s\d+)?")


class Form(Enum):
    """The kind of a statement, which determines how a mutant in it is selected at run time."""

    #: An assignment in a block, with ``=`` or ``<=``: ``if`` chooses the whole statement.
    PROCEDURAL = "procedural"
    #: A right side of a net, ``assign`` or in a declaration: an expression that chooses.
    CONTINUOUS = "continuous"
    #: The condition of an ``if`` in a block.
    CONDITION = "condition"
    #: Anything else, a declaration say: a design of its own.
    ALONE = "alone"


class Statement(NamedTuple):
    """The text from ``start`` to ``end`` of ``file``; ``module``: in which it stands.

    ``target``: what it assigns, or "". ``events``: where the list of events of its block ends, if the block waits for
    no edge; None: there is nothing to add to. ``item``, ``width``: of a right side of a net, where its declaration or
    ``assign`` begins, and how many bits it is given to.
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
    """``old`` at ``offset`` of ``file`` is ``new``; ``line`` counts from 1."""

    kind: str
    file: str
    offset: int
    line: int
    old: str
    new: str
    statement: Statement

    @property
    def op(self) -> int | None:
        """The op whose signal the statement assigns, as its name tells."""
        match = _OP.fullmatch(self.statement.target)
        return int(match[1]) if match else None

    def applied(self, files: Files) -> dict[str, str]:
        """All files, with the change."""
        text = files[self.file]
        end = self.offset + len(self.old)
        return {**files, self.file: text[: self.offset] + self.new + text[end:]}

    def statement_in(self, files: Files) -> str:
        """Return the statement with the change."""
        text, end = files[self.file], self.offset + len(self.old)
        return text[self.statement.start : self.offset] + self.new + text[end : self.statement.end]
