"""Split files of configurations and of knobs into lines of tokens."""

from __future__ import annotations

from typing import NamedTuple

from dais_verif.approx.problems import error_at

__all__ = ["Line", "decoded", "tokens_of"]


class Line(NamedTuple):
    """A line that is not blank, and its number, from 1."""

    number: int
    tokens: list[str]


def decoded(data: bytes, name: str) -> str:
    """Return ``data``, the bytes of the file ``name``, as text. Raises ``ConfigurationError`` if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise error_at(name, line, None, f"byte 0x{data[error.start]:02x} is not text (UTF-8)") from None


def tokens_of(line: str) -> list[str]:
    """Split ``line`` at blanks, tabs and carriage returns."""
    return [token for token in line.replace("\t", " ").replace("\r", " ").split(" ") if token]
