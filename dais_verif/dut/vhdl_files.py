"""Find effects of VHDL outside of its ports: files, the time, the environment, other languages, and where it is.

VHDL may open any file, also to write, by a name that it computes. A file is harmless only if it is opened for reading,
by one literal that is the name of a data file, or by a generic that has such a literal wherever it gets a value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from dais_verif.dut.outside_tokens import UNENDED, Token, Use, tokens_of

__all__ = ["vhdl_uses"]

_VHDL = re.compile(
    rb"""
    (?P<skip>--[^\n\r\v\f]*|/\*.*?\*/|\s+)
  | (?P<broken>/\*)
  | (?P<string>"(?:[^"\n\r]|"")*")
  | (?P<unended>")
  | (?P<letter>'.')
  | (?P<escaped>\\[^\\\n]*\\)
  | (?P<word>[A-Za-z]\w*)
  | (?P<arrow>=>|:=)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = {
    "foreign": "runs code of another language",
    "env": "reads the simulation time, stops the simulation or reads the environment",
    "now": "reads the simulation time",
    "getenv": "reads the environment",
}
_PLACES = ("path_name", "instance_name")
_CONSOLE = ("input", "output")
#: Why a file is a finding.
_OPENED = "opens a file by another name than one literal among the data files, or not to read it"


def vhdl_uses(sources: Sequence[Path], data: Sequence[str], unread: Collection[str]) -> list[Use]:
    """Return all uses with effects outside of the VHDL files ``sources``.

    ``data``: the names of its data files. ``unread``: names of files in defaults that every instance overrides.
    """
    files = {str(path): path.read_bytes() for path in sources}
    tokens = {file: tokens_of(_VHDL, text) for file, text in files.items()}
    harmless = {*data, *unread}
    generics = _generics([*tokens.values()])
    textio = any(token.kind == "word" and token.text.lower() == "textio" for some in tokens.values() for token in some)
    return [
        Use(file, files[file].count(b"\n", 0, token.at) + 1, token.text, why)
        for file, some in tokens.items()
        for token, why in _uses(some, _Names(generics, data, harmless), textio)
    ]


class _Names:
    """What may name a file that is read: literals, and generics with such literals."""

    def __init__(self, generics: Mapping[str, Sequence[Token]], data: Sequence[str], harmless: set[str]) -> None:
        self.generics, self.data, self.harmless = generics, data, harmless

    def is_data(self, token: Token, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether ``token`` can only be the name of a data file."""
        if token.kind == "string":
            return token.text[1:-1] in (self.harmless if seen else self.data)
        name = token.text.lower()
        values = self.generics.get(name, ()) if token.kind == "word" else ()
        if name in seen:
            return True
        return bool(values) and all(self.is_data(value, seen | {name}) for value in values)


def _generics(files: Sequence[Sequence[Token]]) -> dict[str, list[Token]]:
    """Return all values of the generics whose names nothing else has; an expression counts as a placeholder.

    The result is empty if an instance gives values by their order.
    """
    found: dict[str, list[Token]] = {}
    others: set[str] = set()
    for tokens in files:
        clauses: set[int] = set()
        for n, token in enumerate(tokens):
            if token.text.lower() != "generic" or token.kind != "word":
                continue
            is_map = [part.text.lower() for part in tokens[n + 1 : n + 2]] == ["map"]
            parts, end = _parts(tokens, n + 1 + is_map, "," if is_map else ";")
            clauses |= set(range(n, end))
            for part in parts:
                mark = next((k for k, one in enumerate(part) if one.text == ("=>" if is_map else ":")), None)
                if mark is None:
                    return {}
                value = _value(part, "=>" if is_map else ":=")
                for one in part[:mark]:
                    found.setdefault(one.text.lower(), []).extend(value)
        for n, token in enumerate(tokens):
            if token.text == ":" and n not in clauses:
                k = n - 1
                while k >= 0 and (tokens[k].kind == "word" or tokens[k].text == ","):
                    others.add(tokens[k].text.lower())
                    k -= 1
    return {name: values for name, values in found.items() if name not in others}


def _value(part: Sequence[Token], mark: str) -> list[Token]:
    """Return the only token after ``mark``, or a placeholder; nothing if ``mark`` is missing."""
    places = [n for n, token in enumerate(part) if token.text == mark]
    if not places:
        return []
    rest = part[places[0] + 1 :]
    return [rest[0] if len(rest) == 1 else Token("other", "", 0)]


def _parts(tokens: Sequence[Token], start: int, separator: str) -> tuple[list[list[Token]], int]:
    """Return what the parenthesis at ``start`` holds between separators, and the position behind it."""
    found: list[list[Token]] = [[]]
    depth = 0
    for n in range(start, len(tokens)):
        text = tokens[n].text if tokens[n].kind != "string" else ""
        depth += {"(": 1, ")": -1}.get(text, 0)
        if depth == 0:
            return [part for part in found if part] if n > start else [], n + 1
        if depth == 1 and text == separator:
            found.append([])
        elif text != "(" or depth > 1:
            found[-1].append(tokens[n])
    return [], len(tokens)


def _uses(tokens: Sequence[Token], names: _Names, textio: bool) -> Iterator[tuple[Token, str]]:
    end = Token("", "", 0)
    for n, token in enumerate(tokens):
        word = token.text.lower() if token.kind == "word" else ""
        before, after = tokens[n - 1] if n else end, tokens[n + 1] if n + 1 < len(tokens) else end
        if token.kind in ("broken", "unended"):
            yield token, UNENDED
        elif word in _WORDS:
            yield token, _WORDS[word]
        elif word in _PLACES and before.text == "'":
            yield token, "makes the RTL depend on its place in the design, which differs between a bench and hardware"
        elif word in ("file", "file_open") and not _OPENINGS[word](tokens, n + 1, names):
            yield token, _OPENED
        elif textio and word in _CONSOLE and before.text.lower() in ("(", ",", ".", "=>", "is") and after.text != ":":
            yield token, "may be the standard input or output of the simulator"


def _is_read(tokens: Sequence[Token], start: int, names: _Names) -> bool:
    """Return whether ``file_open`` has single tokens as arguments: variables, one name of a data file, and a mode."""
    arguments, _ = _parts(tokens, start, ",")
    plain = [part[2:] if len(part) > 2 and part[1].text == "=>" else part for part in arguments]
    if any(len(part) != 1 for part in plain):
        return False
    parts = [part[0] for part in plain]
    if any(part.text.lower() in ("write_mode", "append_mode") for part in parts):
        return False
    literals = [part for part in parts if part.kind != "word"]
    return sum(map(names.is_data, parts)) == 1 and all(map(names.is_data, literals))


def _is_declared(tokens: Sequence[Token], start: int, names: _Names) -> bool:
    """Return whether a declaration after ``file`` opens nothing, or a data file to read it; also for a file type."""
    rest: list[Token] = []
    for token in tokens[start:]:
        if token.text in (";", ")"):
            break
        rest.append(token)
    words = [token.text.lower() for token in rest]
    if words[:1] == ["of"] or ("is" not in words and "open" not in words):
        return True
    if "is" not in words:
        return False
    place = words.index("is")
    mode = words[words.index("open") + 1 : place] if "open" in words[:place] else ["read_mode"]
    return mode == ["read_mode"] and len(rest) == place + 2 and names.is_data(rest[-1])


#: For each word that may open a file: whether what follows it opens none, or a data file to read it.
_OPENINGS = {"file": _is_declared, "file_open": _is_read}
