"""Errors in a file, with their place: file, line and token."""

from __future__ import annotations

from dais_verif.errors import ApproximationError

__all__ = ["ConfigurationError", "error_at", "quoted"]


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
