"""Report errors and unsupported features of a network: all nodes with their reasons in one error."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.base.errors import ProgramError
from dais_verif.base.text import printable

__all__ = ["NetworkError", "Problem", "Refusal", "shortened"]

#: The maximum number of problems in an error's text; the error object has all of them.
_SHOWN = 20


class Problem(NamedTuple):
    """The reason why a node, or an input, is refused. ``node``: its name in the error. ``op``: its operator."""

    node: str
    op: str
    reason: str

    def __str__(self) -> str:
        return f"{self.node} ({self.op}): {self.reason}"


class Refusal(Exception):
    """A node cannot be lowered; the message is the reason. It becomes a ``Problem`` and never leaves this package."""


class NetworkError(ProgramError):
    """A file has no network that can be lowered. ``problems``: one per node; empty if the file itself is damaged."""

    code = "networks"
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of_problems(cls, problems: tuple[Problem, ...]) -> NetworkError:
        """Return the error for ``problems``: one line with the first 20 in full, and the number of the others."""
        shown = "; ".join(map(str, problems[:_SHOWN]))
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        noun = "1 node is" if len(problems) == 1 else f"{len(problems)} nodes are"
        error = cls(f"{noun} not supported: {shown}{more}")
        error.problems = problems
        return error


def shortened(name: str) -> str:
    """Return a name from a file as errors show it: quoted, on one line, and cut to 60 characters."""
    return printable(repr(name if len(name) <= 60 else f"{name[:57]}..."))
