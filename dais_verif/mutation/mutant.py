"""A mutant: one change in the text of RTL, and the statement that contains it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

__all__ = ["Files", "Form", "Mutant", "Statement"]

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
