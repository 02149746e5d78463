"""VHDL that simulates otherwise than GHDL's synthesis reads it: delays, incomplete sensitivity lists, assigned clocks.

Synthesis drops delays, makes logic of a process whatever its list says, and takes a clock that is assigned for the
clock itself, where a simulator sees it change a delta cycle later, after registers by the clock itself have changed.
This looks at the text alone, and refuses in doubt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dais_verif.errors import StateError

__all__ = ["refuse_events"]

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|\"(?:[^\"\n]|\"\")*\"|(?<![\w)])'.'|\\[^\\\n]*\\|[a-z]\w*|<=|=>|:=|/=|\S",
    re.DOTALL | re.IGNORECASE,
)
_EDGES = ("rising_edge", "falling_edge")
#: After these a statement begins, so a name is what it assigns.
_BEFORE = (";", "begin", "then", "else", "loop", "=>", "generate", ":", "process", "is", "when", ")")
_FIXED = ("length", "range", "reverse_range", "high", "low", "left", "right", "ascending")

_Token = tuple[str, int]


def refuse_events(sources: Sequence[Path]) -> None:
    """Raise ``StateError`` if the VHDL files ``sources`` may simulate otherwise than they are synthesized."""
    files = [(source, list(_tokens(source.read_text(encoding="latin-1")))) for source in sources]
    for source, tokens in files:
        words = [word for word, _ in tokens]
        for number, (word, line) in enumerate(tokens):
            where = f"{os.path.relpath(source)}:{line}"
            if word == "after":
                raise StateError(f"{where}: a delay has no meaning in a proof; remove it")
            if word == "wait" and words[number + 1] != "until":
                raise StateError(f"{where}: a process that waits so has no meaning in a proof; give it a list")
        for number, (word, line) in enumerate(tokens):
            where = f"{os.path.relpath(source)}:{line}"
            if word == "process" and words[number - 1] != "end":
                _refuse_process(words, number, _signals(words), where)
    clocks = {name for _, tokens in files for name in _clocks([word for word, _ in tokens])}
    for source, tokens in files:
        words = [word for word, _ in tokens]
        for number, (word, line) in enumerate(tokens):
            if word in clocks and words[number + 1 : number + 2] == ["<="] and words[number - 1] in _BEFORE:
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: clock {word!r} is assigned, so it is a delta cycle late, and"
                    " what it clocks may see what other registers take in; use one clock by one name"
                )


def _tokens(text: str) -> Iterator[_Token]:
    line, end = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", end, found.start())
        end = found.start()
        word = found[0]
        if not word.startswith(("--", "/*", '"', "'")) or word == "'":
            yield (word if word.startswith("\\") else word.lower()), line


def _signals(words: Sequence[str]) -> set[str]:
    """The names of all signals and ports, of whatever unit: what is taken for one by mistake is refused at worst."""
    found: set[str] = set()
    for number, word in enumerate(words):
        if word == "signal" or (word == "port" and words[number + 1 : number + 2] == ["("]):
            depth = 0
            names: list[str] = []
            for other in words[number + (word == "port") + 1 :]:
                if word == "signal" and other == ":":
                    break
                depth += {"(": 1, ")": -1}.get(other, 0)
                if depth < 0:
                    break
                if other == ":":
                    found.update(names)
                names = [] if other in (";", ":") else [*names, other]
            found.update(names if word == "signal" else ())
    return found - {",", "signal", "("}


def _refuse_process(words: Sequence[str], number: int, signals: set[str], where: str) -> None:
    end = next(
        n
        for n in range(number, len(words))
        if words[n] == "end" and words[n + 1 : n + 2] in (["process"], ["postponed"])
    )
    listed: set[str] = set()
    start = number + 1
    if words[start] == "(":
        close = words.index(")", start) if "(" not in words[start + 1 : words.index(")", start)] else None
        if close is None:
            raise StateError(f"{where}: a sensitivity list must name whole signals here; write process (all)")
        listed, start = set(words[start + 1 : close]), close + 1
    elif "until" in words[start:end]:
        return  # GHDL's synthesis takes one form of it: a clock
    if "all" in listed:
        return
    if "impure" in words or "procedure" in words:
        raise StateError(
            f"{where}: what a procedure or an impure function reads is not looked for; write process (all)"
        )
    for name in _read(words, words.index("begin", start) + 1, end):
        if name in signals and name not in listed:
            raise StateError(
                f"{where}: the process reads {name!r}, which its sensitivity list lacks as a whole; simulation and"
                " hardware would differ: write process (all)"
            )


def _read(words: Sequence[str], first: int, end: int) -> Iterator[str]:
    """The names that a process reads while there is no edge of a clock."""
    clocked: list[bool] = []
    n = first
    while n < end:
        word = words[n]
        if word in ("if", "elsif", "else") and words[n - 1] != "end" and _is_statement(words, n):
            then = n if word == "else" else words.index("then", n)
            condition = words[n:then]
            edge = any(name in condition for name in _EDGES) or ("event" in condition and "'" in condition)
            around = clocked if word == "if" else clocked[:-1]
            yield from () if edge or any(around) else condition
            clocked = [*around, edge]
            n = then + 1
            continue
        if word == "end" and words[n + 1] == "if":
            clocked.pop()
            n += 2
            continue
        target = words[n - 1] in _BEFORE and words[n + 1] == "<="
        fixed = words[n + 1] == "'" and words[n + 2] in _FIXED
        if not any(clocked) and not target and not fixed:
            yield word
        n += 1


def _is_statement(words: Sequence[str], n: int) -> bool:
    """Whether ``else`` belongs to an ``if``, and not to a value: ``a when b else c``."""
    if words[n] != "else":
        return True
    before = n - 1
    while words[before] not in (";", "begin", "then", "is", "loop", "=>"):
        before -= 1
    return words[before] == ";" and before == n - 1


def _clocks(words: Sequence[str]) -> set[str]:
    """Names with edges, and what is given to ports of such names."""
    found = {words[n + 2] for n, word in enumerate(words) if word in _EDGES and words[n + 1] == "("}
    found |= {words[n - 2] for n, word in enumerate(words) if word == "event" and words[n - 1] == "'"}
    while True:
        more = {words[n + 2] for n, word in enumerate(words[:-2]) if word in found and words[n + 1] == "=>"}
        if more <= found:
            return found
        found |= more
