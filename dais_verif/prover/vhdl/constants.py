"""Keep GHDL's synthesis from misreading a constant of which a branch replaces a part.

After ``v := "0011"; if c then v(1 downto 0) := x; end if;`` the other branch keeps bits of the constant, and GHDL 2.0
counts these from the wrong end. It does not if the constant is assigned in two steps. The copies of the user's files
therefore assign one element again, on the same line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import StateError

__all__ = ["in_steps"]

_PART = re.compile(
    r"--[^\n]*|/\*.*?\*/|(?:\d*[us]?[boxd])?\"(?:[^\"\n]|\"\")*\"|(?<![\w)])'.'|\\[^\\\n]*\\|[a-z]\w*|<=|=>|:=|/=|\d\w*|\S",
    re.DOTALL | re.IGNORECASE,
)
_BEGINS = (";", "begin", "then", "else", "loop", "=>", ":")
_BITS = re.compile(r'(x?)"([01]|[0-9a-f])[0-9a-f_]*"')
_UNIFORM = re.compile(r"\(+(others=>\(*)+'(.)'\)+|\"(0+|1+)\"|x\"(0+|f+)\"")


class _Word(NamedTuple):
    text: str
    end: int


class _Assignment(NamedTuple):
    """``path``: the target without indices, such as ``r.x``. ``indexed``: whether an index follows the path.

    ``region``: the position of the process or the subprogram that it is in.
    """

    region: int
    path: str
    indexed: bool
    arrow: str
    value: Sequence[_Word]
    end: int
    start: int


def in_steps(source: Path, text: bytes) -> bytes:
    """Return the text of the VHDL file ``source`` with constants assigned in two steps where that is needed.

    Raises ``StateError`` for an assignment of a constant to a signal that cannot be divided.
    """
    whole = text.decode("latin-1")
    words = [
        _Word(_lowered(found[0]), found.end()) for found in _PART.finditer(whole) if found[0][:2] not in ("--", "/*")
    ]
    found = list(_assignments(words))
    parts = {(each.region, each.path) for each in found if each.indexed}
    added = [
        (at, f" {path}({path}'left) := {path}({path}'left);")
        for region, at, name in _initial(words)
        for path in _within(parts, region, name)
    ]
    varying = _varying(words)
    for each in found:
        if each.indexed:
            continue
        for path in sorted(
            path for region, path in parts if region == each.region and f"{path}.".startswith(f"{each.path}.")
        ):
            bit = f"{path}({path}'left)" if each.arrow == ":=" else _bit(each, path, varying)
            if bit is None:
                line = whole.count("\n", 0, each.start) + 1
                raise StateError(
                    f"{os.path.relpath(source)}:{line}: GHDL's synthesis misreads a constant that {each.path!r} gets"
                    " here, and of which a branch replaces a part; give it a name, or assign it to a variable"
                )
            if bit:
                added.append((each.end, f" {path}({path}'left) {each.arrow} {bit};"))
    for at, step in sorted(added, reverse=True):
        whole = whole[:at] + step + whole[at:]
    return whole.encode("latin-1")


def _lowered(word: str) -> str:
    return word if word[0] in "'\"\\" else word.lower()


def _within(parts: set[tuple[int, str]], region: int, path: str) -> list[str]:
    """Return the paths of ``parts`` in ``region`` that are ``path``, or fields of it."""
    return sorted(part for at, part in parts if at == region and f"{part}.".startswith(f"{path}."))


def _bit(each: _Assignment, path: str, varying: set[str]) -> str | None:
    """Return the leftmost element of the constant that a signal gets; "" if it needs no step, None if it is unknown."""
    value = "".join(word.text for word in each.value)
    if _UNIFORM.fullmatch(value) or varying & {word.text for word in each.value}:
        return ""
    rest = path.removeprefix(each.path)
    if all(re.fullmatch(r"[a-z]\w*|\.", word.text) for word in each.value):
        return f"{value}{rest}({value}{rest}'left)"
    if rest:
        return None
    if value.startswith("(") and _closed(each.value, 0) == len(each.value):
        return _first_element(each.value[1:-1])
    bits = _BITS.fullmatch(value)
    if bits is None:
        return None
    return f"'{int(bits[2], 16) >> 3 if bits[1] else bits[2]}'"


def _first_element(words: Sequence[_Word]) -> str | None:
    """Return the first element of an aggregate, whose elements are given by their order, or all as ``others``."""
    first = 2 if [word.text for word in words[:2]] == ["others", "=>"] else 0
    end = next((n for n in range(len(words)) if words[n].text == "," and _level(words, 0, n) == 0), len(words))
    named = any(words[n].text == "=>" and _level(words, first, n) == 0 for n in range(first, end))
    return None if named else " ".join(word.text for word in words[first:end])


def _varying(words: Sequence[_Word]) -> set[str]:
    """Return the names of signals, ports, parameters and variables, and words of values that are no constants."""
    found = {"when"}
    names: list[str] = []
    for number, word in enumerate(words):
        if word.text == ":" and words[number - 1].text not in ("begin", ";"):
            found.update(names)
        names = [] if word.text in (";", ":", "(", ")") else names if word.text == "," else [*names, word.text]
        if "constant" in names:
            names = ["constant"]
    return found - {"constant", "signal", "variable"}


def _assignments(words: Sequence[_Word]) -> Iterator[_Assignment]:
    """Yield the assignments to variables, and those to signals in processes; arrays of two dimensions are left out."""
    depth, region, process = 0, 0, 0
    for n, word in enumerate(words):
        ends = words[n - 1].text == "end"
        if word.text in ("process", "function", "procedure") and not ends:
            region = n
        elif word.text == "architecture":
            region = 0
        if word.text == "process":
            process = 0 if ends else n
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if depth or not re.match(r"[a-z\\]", word.text) or n == 0 or words[n - 1].text not in _BEGINS:
            continue
        path, end = word.text, n + 1
        while end + 1 < len(words) and words[end].text == ".":
            path, end = f"{path}.{words[end + 1].text}", end + 2
        indexed = end < len(words) and words[end].text == "("
        while end < len(words) and words[end].text in ("(", "."):
            end = _closed(words, end) if words[end].text == "(" else end + 2
        rows = indexed and "," in (words[m].text for m in range(n, end) if _level(words, n, m) == 1)
        sequential = process or (region and words[region].text == "procedure")
        if end < len(words) and not rows and (words[end].text == ":=" or (sequential and words[end].text == "<=")):
            last = next((m for m in range(end, len(words)) if words[m].text == ";"), None)
            if last is not None:
                arrow, value = words[end].text, words[end + 1 : last]
                where = region if arrow == ":=" or not process else process
                yield _Assignment(where, path, indexed, arrow, value, words[last].end, word.end)


def _initial(words: Sequence[_Word]) -> Iterator[tuple[int, int, str]]:
    """Yield the variables of subprograms that have initial values: region, place behind ``begin``, name."""
    names: list[str] = []
    inside, region = False, 0
    for n, word in enumerate(words):
        before = words[n - 1].text if n else ""
        if word.text in ("function", "procedure") and before != "end":
            inside, region, names = True, n, []
        elif word.text in ("process", "architecture", "package") and before != "end":
            inside = False
        elif word.text == "variable" and inside:
            last = next((m for m in range(n, len(words)) if words[m].text == ";"), n)
            texts = [each.text for each in words[n + 1 : last]]
            if ":=" in texts and ":" in texts:
                names += [text for text in texts[: texts.index(":")] if text != ","]
        elif word.text == "begin" and inside:
            yield from ((region, word.end, name) for name in names)
            inside = False


def _level(words: Sequence[_Word], first: int, end: int) -> int:
    texts = [word.text for word in words[first:end]]
    return texts.count("(") - texts.count(")")


def _closed(words: Sequence[_Word], opened: int) -> int:
    depth = 0
    for n in range(opened, len(words)):
        depth += {"(": 1, ")": -1}.get(words[n].text, 0)
        if depth == 0:
            return n + 1
    return len(words)
