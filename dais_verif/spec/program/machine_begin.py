"""Detection of the text of a machine, so that readers of programs can name the mistake."""

from __future__ import annotations

import re

__all__ = ["TAKE_MACHINES", "begins_machine"]

#: The commands that take machines, for the message if a machine is given in place of a program.
TAKE_MACHINES = (
    "run, check, show, explain, convert, emit, synth, sim, hil, prove, diff, signoff and regress take machines"
)

#: The pattern: empty lines and comments, then ``machine`` as the first statement.
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:;[^\n]*)?\n)*[ \t]*machine[ \t\r]*(?:;[^\n]*)?(?:\n|\Z)")


def begins_machine(data: bytes) -> bool:
    """Return True if the first statement in ``data`` is ``machine``."""
    return _BEGIN.match(data) is not None
