"""Make errors with their place in a file, and collect notices of oddities."""

from __future__ import annotations

from dais_verif.approx.model import Notice
from dais_verif.approx.problems import ConfigurationError, error_at

__all__ = ["MOST_NOTICES", "Place"]

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
