"""The position of a reader, and the oddities that it found."""

from __future__ import annotations

from dais_verif.approx.model import Notice
from dais_verif.approx.problems import ConfigurationError, error_at

__all__ = ["MOST_NOTICES", "Place"]

#: A file of nothing but blank lines would have millions.
MOST_NOTICES = 10_000


class Place:
    """The file ``name``. With ``strict`` what is odd is an error."""

    def __init__(self, name: str, strict: bool) -> None:
        self.name, self.strict = name, strict
        self.notices: list[Notice] = []

    def error(self, line: int | None, token: str | None, problem: str) -> ConfigurationError:
        """Return the error to raise."""
        return error_at(self.name, line, token, problem)

    def notice(self, line: int, token: str, text: str) -> None:
        """Take a notice. Raises ``ConfigurationError`` with ``strict``."""
        if self.strict:
            raise self.error(line, token or None, text)
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(Notice(line, token, text))
        elif len(self.notices) == MOST_NOTICES:
            self.notices.append(Notice(line, "", "further problems from here on are not listed"))
