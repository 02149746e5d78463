"""Refuse VHDL, such as delays or incomplete sensitivity lists, that simulators read differently from GHDL's synthesis.

Synthesis ignores delays and sensitivity lists. It also treats a signal that is assigned from a clock as the clock, but
in a simulator that signal changes a delta cycle later, after the registers of the clock have changed.
These checks look only at the text, and refuse it in case of doubt, for example if a signal cannot be followed by its
name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dais_verif.errors import StateError

__all__ = ["begins_slice", "refuse_events", "refuse_misread"]

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|(?:\d*[us]?[boxd])?\"(?:[^\"\n]|\"\")*\"|(?<![\w)])'.'|\\[^\\\n]*\\|[a-z]\w*|<=|=>|:=|/=|\S",
    re.DOTALL | re.IGNORECASE,
)
#: A literal of std_logic or of a vector, with weak values.
_WEAK = re.compile(r"'[HLW]'|\"(?=[^\"]*[HLW])[01XZUHLW_-]+\"")
_EDGES = ("rising_edge", "falling_edge")
#: Tokens that may precede a statement: a name after one of them can be the target of an assignment.
_BEFORE = (";", "begin", "then", "else", "loop", "=>", "generate", ":", "process", "is", "when", ")")
#: Attributes that are signals themselves or depend on time.
_LATER = ("delayed", "quiet", "transaction", "active", "last_active", "last_event", "last_value", "driving_value")
_FIXED = ("length", "range", "reverse_range", "high", "low", "left", "right", "ascending")

_Token = tuple[str, int]


def begins_slice(text: str, line: int, column: int) -> bool:
    """Return True if a parenthesis at this place of a VHDL file holds a range, as in ``a(n + 3 downto n)``."""
    rest = "\n".join(text.split("\n")[line - 1 :])[column - 1 :]
    if not rest.startswith("("):
        return False
    depth = 0
    for word, _ in _tokens(rest):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            return False
        if depth == 1 and word in ("to", "downto", "range", "reverse_range"):
            return True
    return False


def refuse_misread(sources: Sequence[Path]) -> None:
    """Raise ``StateError`` for what GHDL's synthesis misreads.

    These are matches in which ``-`` stands for any value, weak values, which it takes for strong ones, and names of
    places.
    """
    for source in sources:
        text = source.read_text(encoding="latin-1")
        for found in _TOKEN.finditer(text):
            if _WEAK.fullmatch(found[0]):
                line = text.count("\n", 0, found.start()) + 1
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: {found[0]} has weak values,"
                    " which GHDL's synthesis takes for '0' and '1', and comparisons do not; write '0' and '1'"
                )
        tokens = list(_tokens(text))
        words = [word for word, _ in tokens]
        for (word, line), following in zip(tokens, [*words[1:], ""], strict=True):
            what = (
                f"{word}?"
                if word in ("case", "select") and following == "?"
                else f"?{following}"
                if word == "?" and following in ("=", "/=")
                else word
            )
            if what in ("path_name", "instance_name"):
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: {what!r} depends on the place of the RTL in the design, which"
                    " differs between a bench and hardware; remove it"
                )
            if what in ("case?", "select?", "?=", "?/=", "std_match"):
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: {what!r} is read wrongly by GHDL's synthesis, and by GHDL's"
                    " simulation where a choice has '-'; compare the bits that matter with ="
                )


def refuse_events(sources: Sequence[Path]) -> None:
    """Raise ``StateError`` if simulation and synthesis of the VHDL files ``sources`` may differ."""
    files = [(source, list(_tokens(source.read_text(encoding="latin-1")))) for source in sources]
    for source, tokens in files:
        words = [word for word, _ in tokens]
        for number, (word, line) in enumerate(tokens):
            where = f"{os.path.relpath(source)}:{line}"
            if word == "after":
                raise StateError(f"{where}: a delay has no meaning in a proof; remove it")
            if word == "wait" and words[number + 1] != "until":
                raise StateError(f"{where}: a wait without until has no meaning in a proof; use a sensitivity list")
        for number, (word, line) in enumerate(tokens):
            where = f"{os.path.relpath(source)}:{line}"
            if word == "process" and words[number - 1] != "end":
                _refuse_process(words, number, _signals(words), where)
    _refuse_unseen(files)
    clocks = _clocks([[word for word, _ in tokens] for _, tokens in files])
    for source, tokens in files:
        words = [word for word, _ in tokens]
        for number, (word, line) in enumerate(tokens):
            if word in clocks and _is_assigned(words, number):
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: clock {word!r} is assigned, so it is a delta cycle late, and"
                    " its registers may read new values of other registers; use one name for the clock"
                )


def _refuse_unseen(files: Sequence[tuple[Path, Sequence[_Token]]]) -> None:
    """Raise ``StateError`` for constructs that access a signal in a way that cannot be followed by its name."""
    edges = any(word in _EDGES or word == "event" for _, tokens in files for word, _ in tokens)
    for source, tokens in files:
        words = [word for word, _ in tokens]
        for number, (word, line) in enumerate(tokens):
            where, following = f"{os.path.relpath(source)}:{line}", words[number + 1 : number + 3]
            if word == "package" and words[number - 1] != "end" and _declares_signal(words, number):
                raise StateError(f"{where}: a package with signals, which any process may read; use ports")
            if edges and word == "port" and following == ["map", "("] and "=>" not in _first(words, number + 3):
                raise StateError(
                    f"{where}: ports are connected by their order, and a clock among them cannot be followed;"
                    " connect them by name: clk => clk"
                )
            if word == "'" and following[:1] and following[0] in _LATER:
                raise StateError(f"{where}: {following[0]!r} of a signal has no meaning in a proof; remove it")
            if word == "<" and following[:1] in (["<"], ["<="]):
                raise StateError(f"{where}: an external name cannot be followed; use a port")
            if word in ("force", "guarded", "disconnect"):
                raise StateError(f"{where}: {word!r} has no meaning in a proof; remove it")


def _declares_signal(words: Sequence[str], number: int) -> bool:
    """Return True if the package at ``number`` declares a signal; a parameter of a procedure does not count."""
    depth = 0
    for n in range(number, len(words)):
        depth += {"(": 1, ")": -1}.get(words[n], 0)
        if words[n] == "signal" and not depth:
            return True
        if words[n] == "end" and words[n + 1 : n + 2] not in (["record"], ["component"], ["units"], ["protected"]):
            ended = words[n + 1 : n + 3]
            if "package" in ended or ";" in ended[:2]:
                return False
    return False


def _first(words: Sequence[str], start: int) -> Sequence[str]:
    """Return the first association in the part of a port map that begins at ``start``."""
    depth = 0
    for n in range(start, len(words)):
        if depth == 0 and words[n] in (",", ")"):
            return words[start:n]
        depth += {"(": 1, ")": -1}.get(words[n], 0)
    return words[start:]


def _is_assigned(words: Sequence[str], number: int) -> bool:
    """Return True if the signal at ``number`` is, or may be, assigned, including in part or in an aggregate."""
    end = number + 1
    while end < len(words) and words[end] in ("(", "."):
        end = _closed(words, end) if words[end] == "(" else end + 2
    if words[end : end + 1] == ["<="]:
        return words[number - 1] in (*_BEFORE, "select", "?", "postponed")
    opened = number - 1
    while opened > 0 and (words[opened] == "," or words[opened].isidentifier()) and words[opened] not in _BEFORE:
        opened -= 1
    if words[opened] != "(" or words[opened - 1] not in (*_BEFORE, "select", "?", "postponed"):
        return False
    end = _closed(words, opened)
    return words[end : end + 1] == ["<="]  # (a, b) <= c


def _closed(words: Sequence[str], opened: int) -> int:
    """Return the position after the parenthesis that closes the one at ``opened``."""
    depth = 0
    for n in range(opened, len(words)):
        depth += {"(": 1, ")": -1}.get(words[n], 0)
        if depth == 0:
            return n + 1
    return len(words)


def _tokens(text: str) -> Iterator[_Token]:
    line, end = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", end, found.start())
        end = found.start()
        word = found[0]
        if not (word.startswith(("--", "/*", "'")) or word.endswith('"')) or word == "'":
            yield (word if word.startswith("\\") else word.lower()), line


def _signals(words: Sequence[str]) -> set[str]:
    """Return the names of all signals and ports of all units; a superfluous name can only cause a refusal."""
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
        return  # GHDL's synthesis supports only one form of this, which is a clock
    if "all" in listed:
        return
    if "impure" in words or "procedure" in words:
        raise StateError(
            f"{where}: the signals that a procedure or an impure function reads are not followed; write process (all)"
        )
    for name in _read(words, words.index("begin", start) + 1, end):
        if name in signals and name not in listed:
            raise StateError(
                f"{where}: the process reads {name!r}, which its sensitivity list does not contain as a whole;"
                " simulation and hardware would differ: write process (all)"
            )


def _read(words: Sequence[str], first: int, end: int) -> Iterator[str]:
    """Yield the names that a process reads outside of statements at clock edges."""
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
    """Return True if the word at ``n`` belongs to an ``if`` statement, not to a value such as ``a when b else c``."""
    if words[n] != "else":
        return True
    before = n - 1
    while words[before] not in (";", "begin", "then", "is", "loop", "=>"):
        before -= 1
    return words[before] == ";" and before == n - 1


def _clocks(files: Sequence[Sequence[str]]) -> set[str]:
    """Return the names of signals whose edges are used, and of all signals connected to them by ports or aliases."""
    found: set[str] = set()
    pairs: list[tuple[str, str]] = []
    for words in files:
        for n, word in enumerate(words):
            if word in _EDGES and words[n + 1 : n + 2] == ["("]:
                found.update(filter(_is_name, words[n + 2 : _closed(words, n + 1) - 1]))
            elif word == "until":
                found.update(filter(_is_name, words[n + 1 : words.index(";", n)]))
            elif word in ("event", "stable") and words[n - 1] == "'":
                found.add(words[n - 2])
            elif word == "port" and words[n + 1 : n + 3] == ["map", "("]:
                end = _closed(words, n + 2)
                for at in (at for at in range(n, end) if words[at] == "=>"):
                    pairs += [(_formal(words, at), other) for other in _first(words, at + 1) if _is_name(other)]
            elif word == "alias":
                rest = words[n + 1 : words.index(";", n)]
                pairs += [(rest[0], other) for other in rest[rest.index("is") + 1 :] if _is_name(other)]
    while True:
        more = {b for a, b in pairs if a in found} | {a for a, b in pairs if b in found}
        if more <= found:
            return found
        found |= more


def _formal(words: Sequence[str], arrow: int) -> str:
    """Return the name of the port before the arrow at ``arrow``, even if only a part of the port is connected."""
    depth = 0
    for n in range(arrow - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(words[n], 0)
        if depth == 0 and words[n] != "(":
            return words[n]
    return ""


def _is_name(word: str) -> bool:
    return word.startswith("\\") or word.isidentifier()
