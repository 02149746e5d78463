"""The errors that users see. Each is one line: what, where, which rule, what to do.

``DaisError``
├── ``ProgramError``    the file is not a valid DAIS program
├── ``InputError``      a vector, option or path cannot be used
│   ├── ``RequestError``  options contradict each other
│   ├── ``StateError``  RTL that must be a function of its inputs keeps state
│   └── ``UnknownTop``  RTL has no module with the given name
├── ``ViolationError``  the program broke one of its promises on these inputs
├── ``ToolError``       a simulator or compiler is missing or failed
└── ``VerdictError``    ``raise_for_verdict`` of a record that did not pass

Any other exception that escapes is a bug of dais-verif.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dais_verif.verdict import Verdict

__all__ = [
    "Argument",
    "DaisError",
    "InputError",
    "ProgramError",
    "RequestError",
    "StateError",
    "ToolError",
    "UnknownTop",
    "VerdictError",
    "ViolationError",
]


_Error = TypeVar("_Error", bound="DaisError")


class Argument(str):
    """The name of an argument of this package's functions, as a value for ``DaisError.of``."""

    __slots__ = ()


class DaisError(Exception):
    """The base class of all errors that are meant for users; never raised itself."""

    verdict = Verdict.INVALID_INPUT

    #: The arguments of ``of``.
    _parts: tuple[str, dict[str, object]] | None = None

    @classmethod
    def of(cls: type[_Error], text: str, /, **values: object) -> _Error:
        """Return an error that names arguments: ``{name}`` in ``text`` is an argument unless ``values`` has its value.

        The message has the names of the functions' arguments; ``spelled`` replaces them, for example by options.
        """
        error = cls("")
        error._name(text, **values)
        return error

    def _name(self, text: str, /, **values: object) -> None:
        """Set the message in the way of ``of``, for classes whose constructors take no message."""
        self.args = (_spelled(text, values, str),)
        self._parts = text, values

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with each argument spelled as ``spell`` returns it."""
        return str(self) if self._parts is None else _spelled(*self._parts, spell)


class ProgramError(DaisError):
    """The bytes or the JSON do not form a valid program.

    Raised before anything runs. The message names op index, field, value, rule and remedy.
    """


class InputError(DaisError):
    """A vector file, an option or a path cannot be used. The message names it and the reason."""


class RequestError(InputError):
    """The request contradicts itself or is incomplete."""


class StateError(InputError):
    """RTL that must be a function of its inputs keeps state, or reads the time.

    This is a known property of the RTL; such RTL is not merely unsupported.
    """


class UnknownTop(InputError):
    """The RTL has no module, or entity, with the given name of the top."""


class ViolationError(DaisError):
    """A promise operation changed its value when quantised, or a table index left its table.

    The program is invalid for this input; ``--unchecked`` (``check=False``) continues with the quantised value, as
    hardware does.
    """

    verdict = Verdict.PROGRAM_INVALID


class ToolError(DaisError):
    """A required external program is missing, failed or ran out of time.

    The message names the tool, where it was looked for, and the variable or command that helps.
    """

    verdict = Verdict.TOOL_FAILURE


class VerdictError(DaisError):
    """The verdict of a run is not PASS, and the caller requested an exception in this case."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(f"{verdict.value}: {message}")
        self.verdict, self.message = verdict, message

    def __reduce__(self) -> tuple[type[VerdictError], tuple[Verdict, str]]:
        """Support pickling, which process pools need for exceptions."""
        return type(self), (self.verdict, self.message)


def _spelled(text: str, values: dict[str, object], spell: Callable[[str], str]) -> str:
    return text.format_map(_Names(values, spell))


class _Names(dict[str, object]):
    """The replacements of the names in braces."""

    def __init__(self, values: dict[str, object], spell: Callable[[str], str]) -> None:
        super().__init__(values)
        self._spell = spell

    def __missing__(self, name: str) -> str:
        return self._spell(name)

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        if isinstance(value, DaisError):
            return value.spelled(self._spell)
        return self._spell(value) if isinstance(value, Argument) else value
