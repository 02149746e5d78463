"""The errors users meet. Each is one line: what, where, which rule, what to do.

``DaisError``
├── ``ProgramError``    the file is not a valid DAIS program
├── ``InputError``      a vector, option or path cannot be used
│   ├── ``RequestError``  options that do not go together
│   └── ``StateError``  RTL keeps state where a function of its inputs is asked for
├── ``ViolationError``  the program broke one of its promises on these inputs
├── ``ToolError``       a simulator or compiler is missing or failed
└── ``VerdictError``    ``raise_for_verdict`` of a record that did not pass

Anything else that escapes is a bug of ours.
"""

from __future__ import annotations

from dais_verif.verdict import Verdict

__all__ = [
    "DaisError",
    "InputError",
    "ProgramError",
    "RequestError",
    "StateError",
    "ToolError",
    "VerdictError",
    "ViolationError",
]


class DaisError(Exception):
    """Base of every error that is meant for the user; never raised itself."""

    verdict = Verdict.INVALID_INPUT


class ProgramError(DaisError):
    """The bytes or the JSON do not form a valid program.

    Raised before anything runs. The message names op index, field, value, rule and remedy.
    """


class InputError(DaisError):
    """A vector file, an option or a path cannot be used. The message says which and why."""


class RequestError(InputError):
    """What is asked for contradicts itself or lacks something. Options are named as on the command line."""


class StateError(InputError):
    """RTL that is asked for a function of its inputs keeps state, or looks at the time.

    That is known of it: it is not merely beyond what is supported.
    """


class ViolationError(DaisError):
    """A promise operation changed its value when quantised, or a table index left its table.

    The program is invalid for this input; ``--unchecked`` (``check=False``) carries on with the
    quantised value, as hardware would.
    """

    verdict = Verdict.PROGRAM_INVALID


class ToolError(DaisError):
    """A program we depend on is missing, failed or ran out of time.

    The message names the tool, where it was looked for, and the variable or command that helps.
    """

    verdict = Verdict.TOOL_FAILURE


class VerdictError(DaisError):
    """The verdict of a run is not PASS, and the caller asked for an exception then."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(f"{verdict.value}: {message}")
        self.verdict, self.message = verdict, message

    def __reduce__(self) -> tuple[type[VerdictError], tuple[Verdict, str]]:
        """Return how to make it again: pools of processes pickle what was raised."""
        return type(self), (self.verdict, self.message)
