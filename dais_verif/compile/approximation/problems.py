"""Errors in a file, with their place: file, line and token."""

from __future__ import annotations

from dais_verif.base.errors import ApproximationError
from dais_verif.compile.approximation.configuration import Notice

__all__ = ["ConfigurationError", "MOST_NOTICES", "Place", "error_at", "quoted"]


class ConfigurationError(ApproximationError):
    """A file of configurations or of knobs cannot be read. The message has file, line, token, and what was expected.

    ``line``: from 1; None for the whole file. ``token``: None for the whole line.
    """

    line: int | None = None
    token: str | None = None


def quoted(token: str) -> str:
    """Return ``token`` as errors show it: quoted, and cut to 40 characters."""
    return repr(token if len(token) <= 40 else f"{token[:37]}...")


def error_at(name: str, line: int | None, token: str | None, problem: str) -> ConfigurationError:
    """Return the error for ``problem`` in file ``name`` at ``line`` and ``token``, as far as they are known."""
    place = name if len(name) <= 200 else f"...{name[-197:]}"
    words = [
        repr(place),
        *([f"line {line}"] if line else []),
        *([f"token {quoted(token)}"] if token is not None else []),
    ]
    error = ConfigurationError(f"{', '.join(words)}: {problem}")
    error.line, error.token = line, token
    return error


# Make errors with their place in a file, and collect notices of oddities.


#: The maximum number of notices: a file of only blank lines would give millions.
MOST_NOTICES = 10_000


class Place:
    """The file ``name``, and its notices. ``strict``: oddities are errors."""

    def __init__(self, name: str, strict: bool) -> None:
        self.name, self.strict = name, strict
        self.notices: list[Notice] = []

    def error(self, line: int | None, token: str | None, problem: str) -> ConfigurationError:
        """Return the error to raise."""
        return error_at(self.name, line, token, problem)

    def notice(self, line: int, token: str, text: str) -> None:
        """Add a notice. Raises ``ConfigurationError`` if oddities are errors."""
        if self.strict:
            raise self.error(line, token or None, text)
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(Notice(line, token, text))
        elif len(self.notices) == MOST_NOTICES:
            self.notices.append(Notice(line, "", "further problems from here on are not listed"))
