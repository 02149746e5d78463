"""The text form as tokens, one line at a time, and errors with file, line and column."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple, NoReturn

from dais_verif.errors import ProgramError, TextFormError

__all__ = ["LONGEST_NUMBER", "Cursor", "Place", "Token", "decoded", "error_at", "quoted"]

#: The largest number of characters of a number in a program; the limit keeps arithmetic fast.
LONGEST_NUMBER = 64

#: In ASCII mode, only ASCII characters count as white space or digits; all others are tokens of kind ``bad``.
_TOKEN = re.compile(
    r"""
    (?P<type>[su]\d+\.-?\d+(?![\w.]))
    |(?P<name>[A-Za-z_]\w*)
    |(?P<value>%\d+)
    |(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)
    |(?P<mark><<|>>|[-+*?:=,()\[\]])
    |(?P<bad>\S)
    """,
    re.VERBOSE | re.ASCII,
)


def quoted(text: str) -> str:
    """Return ``text`` for messages: in quotes, cut if it is long."""
    return repr(text if len(text) <= 40 else f"{text[:30]}...")


class Place(NamedTuple):
    """A position in a text; line and column count from 1, columns in characters."""

    line: int
    column: int


class Token(NamedTuple):
    """``kind``: ``type``, ``name``, ``value``, ``number``, ``mark``, ``bad`` or ``end`` (of a line)."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def place(self) -> Place:
        """The position of the token's first character."""
        return Place(self.line, self.column)

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the line"
        return quoted(self.text)


def error_at(name: str, place: Place, message: str) -> ProgramError:
    """Return the error, on one line, for a mistake at ``place`` of the text ``name``."""
    return TextFormError(f"{name}:{place.line}:{place.column}: {message}")


def decoded(data: bytes, name: str, remedy: str) -> str:
    """Decode UTF-8 ``data``. Raises ``ProgramError`` at the first invalid byte; ``remedy``: how to correct it."""
    at = data.find(b"\0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start if at < 0 else min(at, error.start)
    if at < 0:
        return text
    before = data[:at].rpartition(b"\n")[2].decode("utf-8", "replace")
    place = Place(data[:at].count(b"\n") + 1, len(before) + 1)
    raise error_at(name, place, f"byte 0x{data[at]:02x} is not UTF-8 text; {remedy}")


class Cursor:
    """The next token to read. Lines without a token are skipped.

    ``first``: the number of the first line, if the text is a part of another text. ``tokens``: the pattern of tokens,
    if the text is in another language. ``longest``: the largest number of characters of a number.
    """

    def __init__(
        self,
        text: str,
        name: str,
        *,
        first: int = 1,
        tokens: re.Pattern[str] = _TOKEN,
        longest: int = LONGEST_NUMBER,
    ) -> None:
        self.name = name
        self._first, self._pattern, self._longest = first, tokens, longest
        self._lines = text.split("\n")
        self._line = 0
        self._tokens: list[Token] = []
        self._at = 0
        self.token = Token("end", "", 1, 1)

    def next_line(self) -> bool:
        """Go to the first token of the next line; False at the end of the text."""
        while self._line < len(self._lines):
            code = self._lines[self._line].partition(";")[0].rstrip()
            self._line += 1
            if not code:
                continue
            line = self._line + self._first - 1
            self._tokens = [
                Token(match.lastgroup or "", match.group(), line, match.start() + 1)
                for match in self._pattern.finditer(code)
            ]
            self._tokens.append(Token("end", "", line, len(code) + 1))
            self._at = 0
            self.token = self._tokens[0]
            if self.token.kind != "end":
                return True
        return False

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def line_that_begins(self, pattern: str) -> int | None:
        """Return the number of the first line, from the current one on, that begins with a match of ``pattern``."""
        lines = enumerate(self._lines[self._line - 1 :], self._line + self._first - 1)
        return next((number for number, line in lines if re.match(pattern, line, re.ASCII)), None)

    def lines_before(self, closing: str) -> tuple[str, int] | None:
        """Return the lines after the token's line, up to a line ``closing``, and the number of the first of them.

        The token is then ``closing``. Returns None if there is no such line.
        """
        first = self._line
        for at in range(first, len(self._lines)):
            if self._lines[at].partition(";")[0].strip() == closing:
                self._line = at
                self.next_line()
                return "\n".join(self._lines[first:at]), first + self._first
        return None

    def take(self) -> Token:
        """Return the token, and advance the cursor."""
        token = self.token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        self.token = self._tokens[self._at]
        return token

    def accept(self, text: str) -> bool:
        """Return True if the token is ``text``, a mark or a keyword; if so, advance the cursor."""
        if self.token.text != text:
            return False
        self.take()
        return True

    def expect(self, text: str) -> Token:
        """Return the token, which must be ``text``, and advance the cursor."""
        if self.token.text != text:
            self.unexpected(repr(text))
        return self.take()

    def number(self, what: str) -> int | Fraction:
        """Return the number at the cursor, which has no sign, and advance it. ``what``: the name in messages."""
        text = self.token.text
        if self.token.kind != "number":
            self.unexpected(f"a number ({what})")
        if len(text) > self._longest:
            self.refuse(f"a number of {len(text)} characters, must have at most {self._longest}")
        self.take()
        return Fraction(text) if "." in text else int(text, 16 if text[:2] in ("0x", "0X") else 10)

    def integer(self, what: str, low: int, high: int) -> int:
        """Return an integer in ``low..high``, possibly negative. ``what``: the name of the integer in messages."""
        start, minus = self.token, self.accept("-")
        text, value = self.token.text, self.number(what)
        shown = f"{what} is {'-' if minus else ''}{text}"
        if "." in text:
            self.refuse(f"{shown}, must be an integer", start)
        value = -int(value) if minus else int(value)
        if not low <= value <= high:
            self.refuse(f"{shown}, must be within {low}..{high}", start)
        return value

    def unsigned(self, what: str, high: int) -> int:
        """Return an integer in ``0..high`` without a sign."""
        if self.token.text == "-":
            self.unexpected(f"a number ({what})")
        return self.integer(what, 0, high)

    def unexpected(self, wanted: str, hint: str = "") -> NoReturn:
        """Refuse the token. ``wanted``: what the grammar allows in its place."""
        if self.token.kind == "bad":
            self.refuse(f"unexpected character {self.token}; expected {wanted}{hint}")
        self.refuse(f"expected {wanted}, found {self.token}{hint}")

    def refuse(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise ``ProgramError`` at ``token``, by default at the next token."""
        raise error_at(self.name, (token or self.token).place, message)
