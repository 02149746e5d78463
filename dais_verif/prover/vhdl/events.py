"""Refuse VHDL, such as delays or incomplete sensitivity lists, that simulators read differently from GHDL's synthesis.

Synthesis ignores delays and sensitivity lists. It also treats a signal that is assigned from a clock as the clock, but
in a simulator that signal changes a delta cycle later, after the registers of the clock have changed.
These checks look only at the text, and refuse it in case of doubt, for example if a signal cannot be followed by its
name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import StateError

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

#: Classes of parameters.
_CLASSES = ("signal", "variable", "constant", "file")
#: Words that may follow the name of a type, or that come before one.
_AFTER_TYPE = ("range", "bus", "register", "is", "in", "out", "inout", "buffer", "linkage")

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
    ports = _ports([[word for word, _ in tokens] for _, tokens in files])
    for source, tokens in files:
        words, shown = [word for word, _ in tokens], os.path.relpath(source)
        scope = _scope(words, ports)
        _refuse_calls(source, tokens, scope)
        for number, (word, line) in enumerate(tokens):
            where = f"{shown}:{line}"
            if word == "after":
                raise StateError(f"{where}: a delay has no meaning in a proof; remove it")
            if word == "wait" and words[number + 1] != "until":
                raise StateError(f"{where}: a wait without until has no meaning in a proof; use a sensitivity list")
        for number, (word, line) in enumerate(tokens):
            where = f"{shown}:{line}"
            if word == "process" and words[number - 1] != "end":
                _refuse_process(words, number, scope, where)
    _refuse_unseen(files)
    _refuse_shared(files)
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
        words, shown = [word for word, _ in tokens], os.path.relpath(source)
        for number, (word, line) in enumerate(tokens):
            where, following = f"{shown}:{line}", words[number + 1 : number + 3]
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
            resolved = _resolved_by(words, number)
            if resolved not in ("", "resolved"):
                raise StateError(
                    f"{where}: resolution function {resolved!r} computes the value of a signal in a simulator, and"
                    " GHDL's synthesis ignores it; use std_logic and one driver"
                )


def _refuse_shared(files: Sequence[tuple[Path, Sequence[_Token]]]) -> None:
    """Raise ``StateError`` for a call that gives a procedure one variable twice, if the procedure may read it changed.

    Whether arrays and records are copied is up to the tool: GHDL's simulation does not, its synthesis does.
    """
    texts = [[word for word, _ in tokens] for _, tokens in files]
    procedures = [
        (words[start - 1], _modes(words, start), words[start:end])
        for words in texts
        for _, start, end in _bodies(words)
        if words[start - 2] == "procedure"
    ]
    for (source, tokens), words in zip(files, texts, strict=True):
        for n, word in enumerate(words):
            for name, modes, body in procedures:
                if word != name or words[n + 1 : n + 2] != ["("] or words[n - 1] in ("procedure", "end"):
                    continue
                actuals = _actuals(words, n + 1, list(modes))
                for formal, actual in actuals.items():
                    others = [other for other in actuals if other != formal and actuals[other] == actual]
                    if modes.get(formal) != "in" and any(_may_differ(body, formal, other, modes) for other in others):
                        raise StateError(
                            f"{os.path.relpath(source)}:{tokens[n][1]}: {name!r} gets {actual!r} twice, and may read"
                            " what it has changed; tools copy it or not: give it a copy"
                        )


def _modes(words: Sequence[str], start: int) -> dict[str, str]:
    """Return the mode of each parameter in the parentheses at ``start``, in their order."""
    found: dict[str, str] = {}
    names: list[str] = []
    for n in range(start, _closed(words, start) if words[start] == "(" else start):
        word = words[n]
        if word == ":":
            mode = words[n + 1] if words[n + 1] in ("in", "out", "inout") else "in"
            found.update(dict.fromkeys(names, mode))
        names = [] if word in (";", ":", "(") else names if word in (",", *_CLASSES) else [*names, word]
    return found


def _actuals(words: Sequence[str], opened: int, formals: Sequence[str]) -> dict[str, str]:
    """Return the name that each parameter of the call at ``opened`` gets; expressions are left out."""
    found: dict[str, str] = {}
    start, end = opened + 1, _closed(words, opened) - 1
    for formal in formals:
        if start >= end:
            break
        given = _first(words, start)
        start += len(given) + 1
        name, actual = (given[0], given[2:]) if given[1:2] == ["=>"] else (formal, given)
        rest = 1
        while rest < len(actual) and actual[rest] in ("(", "."):
            rest = _closed(actual, rest) if actual[rest] == "(" else rest + 2
        if rest == len(actual) and _is_name(actual[0]):
            found[name] = actual[0]
    return found


def _may_differ(body: Sequence[str], formal: str, other: str, modes: Mapping[str, str]) -> bool:
    """Return True if ``body`` may read ``other`` after it has assigned ``formal``."""
    begin = body.index("begin")
    if modes.get(other) != "in" or "loop" in body:
        return True
    first = next((n for n in range(begin, len(body)) if body[n] == formal), len(body))
    ended = next((n for n in range(first, len(body)) if body[n] == ";"), len(body))
    return other in body[ended:]


def _resolved_by(words: Sequence[str], number: int) -> str:
    """Return the resolution function in the type of the signal, subtype or element that the word at ``number`` begins.

    It is a name, or a parenthesis, before the name of the type.
    """
    if words[number] == "signal":
        colon = next((n for n in range(number, len(words)) if words[n] in (":", ";")), number)
        first = colon + 1 if words[colon] == ":" else 0
        first += words[first] in ("in", "out", "inout")  # a parameter
    elif words[number] == "subtype":
        first = number + 3
    elif words[number] == "of" and words[number - 1 : number] == [")"]:
        first = number + 1
    else:
        return ""
    if first and words[first : first + 1] == ["("]:
        return words[first + 1]
    at = first + 1
    while first and words[at : at + 1] == ["."]:
        at += 2
    followed = words[at : at + 1]
    return words[at - 1] if first and followed and _is_name(followed[0]) and followed[0] not in _AFTER_TYPE else ""


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


@dataclass(frozen=True)
class _Scope:
    """What the names of a file denote. ``aliases``: the signal behind each alias of one.

    ``readers``: procedures and impure functions that read signals which are not their parameters.
    """

    signals: set[str]
    aliases: Mapping[str, str]
    readers: set[str]


def _ports(files: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    """Return the ports of each entity in ``files``."""
    found: dict[str, set[str]] = {}
    for words in files:
        for n, word in enumerate(words):
            if word == "entity" and words[n - 1 : n] != ["end"] and words[n + 2 : n + 3] == ["is"]:
                until = (m for m in range(n, len(words)) if words[m] in ("end", "begin"))
                found.setdefault(words[n + 1], set()).update(_signals(words[n : next(until, len(words))]))
    return found


def _scope(words: Sequence[str], ports: Mapping[str, set[str]]) -> _Scope:
    signals, aliases = _signals(words), dict[str, str]()
    for n, word in enumerate(words):
        if word == "architecture" and words[n + 2 : n + 3] == ["of"]:
            signals |= ports.get(words[n + 3], set())
    for n, word in enumerate(words):
        if word == "alias":
            rest = words[n + 1 : words.index(";", n)]
            target = rest[rest.index("is") + 1]
            if aliases.get(target, target) in signals:
                aliases[rest[0]] = aliases.get(target, target)
    bodies = list(_bodies(words))
    readers: set[str] = set()
    while True:
        more = set[str]()
        for name, start, end in bodies:
            own = _declared(words, start, end, ("signal", "variable", "constant")) | _parameters(words, start)
            if {aliases.get(path, path) for path in words[start:end]} & signals - own or readers & set(
                words[start:end]
            ):
                more.add(name)
        if more <= readers:
            return _Scope(signals, aliases, readers)
        readers |= more


def _bodies(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each procedure and impure function with a body: its name, and the positions after it and at its end."""
    for n, word in enumerate(words):
        if word not in ("procedure", "function") or words[n - 1] == "end":
            continue
        if word == "function" and words[n - 1] != "impure":
            continue
        at = n + 2
        while words[at] not in ("is", ";"):
            at = _closed(words, at) if words[at] == "(" else at + 1
        if words[at] == ";" or words[at + 1] == "new":
            continue
        depth, end = 1, at
        while depth and end + 1 < len(words):
            end += 1
            opens = words[end] in ("if", "case", "loop", "record", "units", "protected") and words[end - 1] != "end"
            depth += opens - (words[end] == "end")
            if words[end] in ("function", "procedure") and words[end - 1] != "end":
                inner = next(m for m in range(end, len(words)) if words[m] in ("is", ";") and not _open(words, end, m))
                depth += words[inner] == "is"
        yield words[n + 1], n + 2, end


def _open(words: Sequence[str], first: int, end: int) -> bool:
    return words[first:end].count("(") > words[first:end].count(")")


def _parameters(words: Sequence[str], start: int) -> set[str]:
    """Return the names of the parameters in the parentheses at ``start``."""
    found: set[str] = set()
    names: list[str] = []
    for word in words[start : _closed(words, start)] if words[start] == "(" else ():
        if word == ":":
            found.update(names)
        names = [] if word in (";", ":", "(") else [*names, word]
    return found


def _refuse_calls(source: Path, tokens: Sequence[_Token], scope: _Scope) -> None:
    """Raise ``StateError`` for a call outside of processes, which runs when an argument changes, and then only."""
    words = [word for word, _ in tokens]
    inside = {n for _, start, end in _bodies(words) for n in range(start - 2, end + 3)}
    for n, word in enumerate(words):
        if word == "process" and words[n - 1] != "end":
            inside.update(range(n, _end_of_process(words, n)))
        declares = words[n - 1] in ("procedure", "function", "end")
        if word in scope.readers and n not in inside and not declares:
            raise StateError(
                f"{os.path.relpath(source)}:{tokens[n][1]}: {word!r} reads signals that are not its parameters, and is"
                " called outside of a process; call it in a process (all)"
            )


def _signals(words: Sequence[str]) -> set[str]:
    """Return the names of all signals and ports of all units; a superfluous name can only cause a refusal."""
    found: set[str] = set()
    for number, word in enumerate(words):
        if word == "signal" or (word == "port" and words[number + 1 : number + 2] == ["("]):
            depth = 0
            names: list[str] = []
            for place in range(number + (word == "port") + 1, len(words)):
                other = words[place]
                if word == "signal" and other == ":":
                    break
                depth += {"(": 1, ")": -1}.get(other, 0)
                if depth < 0:
                    break
                if other == ":":
                    found.update(names)
                if other in (";", ":"):
                    names = []
                else:
                    names.append(other)
            found.update(names if word == "signal" else ())
    return found - {",", "signal", "("}


def _refuse_process(words: Sequence[str], number: int, scope: _Scope, where: str) -> None:
    """Raise ``StateError`` if the process at ``number`` reads a signal at whose changes it does not run."""
    end = _end_of_process(words, number)
    listed: set[str] = set()
    start = number + 1
    if words[start] == "(":
        close = words.index(")", start) if "(" not in words[start + 1 : words.index(")", start)] else None
        if close is None:
            raise StateError(f"{where}: a sensitivity list must name whole signals here; write process (all)")
        listed, start = set("".join(words[start + 1 : close]).split(",")), close + 1
    elif "until" in words[start:end]:
        return  # GHDL's synthesis supports only one form of this, which is a clock
    if "all" in listed:
        return
    begin = words.index("begin", start) + 1
    if {"impure", "procedure", *scope.readers} & set(words[start:end]):
        raise StateError(
            f"{where}: the signals that a procedure or an impure function reads are not followed; write process (all)"
        )
    local = set() if "function" in words[start:end] else _declared(words, start, begin, ("variable", "constant"))
    for path in _read(words, begin, end):
        name = path.partition(".")[0]
        base = scope.aliases.get(name, name)
        if base not in scope.signals or name in local:
            continue
        parts = path.split(".")
        if base not in listed and not any(".".join(parts[:n]) in listed for n in range(1, len(parts) + 1)):
            raise StateError(
                f"{where}: the process reads {base!r}, which its sensitivity list does not contain as a whole;"
                " simulation and hardware would differ: write process (all)"
            )


def _declared(words: Sequence[str], first: int, end: int, kinds: Sequence[str]) -> set[str]:
    """Return the names that declarations of ``kinds`` between two positions introduce."""
    found: set[str] = set()
    for n in range(first, end):
        if words[n] in kinds:
            found.update(words[n + 1 : words.index(":", n)])
    return found - {","}


def _end_of_process(words: Sequence[str], number: int) -> int:
    return next(
        n
        for n in range(number, len(words))
        if words[n] == "end" and words[n + 1 : n + 2] in (["process"], ["postponed"])
    )


def _read(words: Sequence[str], first: int, end: int) -> Iterator[str]:
    """Yield the names that a process reads outside of statements at clock edges, with their fields, as in ``r.x``."""
    clocked: list[bool] = []
    n, depth = first, 0
    while n < end:
        word = words[n]
        if word in ("if", "elsif", "else") and words[n - 1] != "end" and _is_statement(words, n):
            then = n if word == "else" else words.index("then", n)
            condition = words[n:then]
            edge = any(name in condition for name in _EDGES) or ("event" in condition and "'" in condition)
            around = clocked if word == "if" else clocked[:-1]
            yield from () if edge or any(around) else (path for path, _ in _paths(words, n, then))
            clocked = [*around, edge]
            n = then + 1
            continue
        if word == "end" and words[n + 1] == "if":
            clocked.pop()
            n += 2
            continue
        if any(clocked):
            n += 1
            continue
        if not depth and _begins_statement(words, n):
            after = _after_target(words, n)
            if after is not None:
                yield from (path for path, inner in _paths(words, n, after) if inner > (word == "("))
                n = after + 1
                continue
        depth += {"(": 1, ")": -1}.get(word, 0)
        for path, _ in _paths(words, n, n + 1):
            yield path
        n += 1


def _paths(words: Sequence[str], first: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the names of values with their fields, and how deep in parentheses they are."""
    depth = 0
    for n in range(first, end):
        depth += {"(": 1, ")": -1}.get(words[n], 0)
        if (
            not _is_name(words[n])
            or words[n - 1] in (".", "'")
            or (words[n + 1 : n + 2] == ["'"] and words[n + 2] in _FIXED)
        ):
            continue
        path, following = words[n], n + 1
        while words[following : following + 1] == ["."]:
            path, following = f"{path}.{words[following + 1]}", following + 2
        yield path, depth


def _begins_statement(words: Sequence[str], n: int) -> bool:
    before = words[n - 1]
    return before in (";", "begin", "then", "loop", "=>", ":") or (before == "else" and _is_statement(words, n - 1))


def _after_target(words: Sequence[str], n: int) -> int | None:
    """Return the position of the arrow if a target of an assignment begins at ``n``."""
    end = n if words[n] == "(" else n + 1
    while end < len(words) and words[end] in ("(", "."):
        end = _closed(words, end) if words[end] == "(" else end + 2
    return end if words[end : end + 1] == ["<="] else None


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
