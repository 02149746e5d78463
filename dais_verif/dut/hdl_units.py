"""Find the Verilog modules and VHDL entities that files declare and use, from the words of their text.

This only selects files; the front ends determine their meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["NeededFiles", "declares_clock", "needed_files"]

_WORD = re.compile(r"\w+")
_UNITS = r"(?:module|macromodule|package|primitive|interface|program)"
#: A declaration anywhere on a line, even after an attribute or another module, with a plain or an escaped name.
_MODULE = re.compile(rf"\b{_UNITS}(?:\s+(?:automatic\s+|static\s+)?|(?=\\))\\?(\w+)")
_ENTITY = re.compile(r"\b(?:entity|package)\s+\\?(\w+)\\?\s+is\b", re.IGNORECASE)
_ARCHITECTURE = re.compile(r"\barchitecture\s+\S+\s+of\s+\\?(\w+)", re.IGNORECASE)

#: All kinds of comments and strings in one alternation, so that the one that begins first matches: ``word`` is text and
#: is kept, ``hidden`` are comments and strings, and after ``odd`` or ``quote`` their end cannot be determined.
_VERILOG = re.compile(
    r"""
      (?P<odd>    `["\\`] | "{3} | /\*(?!.*?\*/).* | \r(?!\n) | [\v\f] )
    | (?P<word>   \\\S+ )  # an escaped identifier, which may be \"x or \//x
    | (?P<hidden> //[^\r\n\v\f]* | /\*.*?\*/ | "(?:\\\r\n | \\. | [^"\\\r\n])*" )
    | (?P<quote>  " )
    """,
    re.DOTALL | re.VERBOSE | re.ASCII,
)
#: Words that do not form a qualified expression ``type'(`` before an apostrophe: there, ``'('`` is a character.
_BEFORE_VALUES = (
    "abs after and assert assume case cover default downto elsif generate if in inertial is mod nand new nor not "
    "of on or port process property range reject rem report return rol ror select severity sla sll sra srl to "
    "transport unaffected until wait when while with xnor xor"
).replace(" ", "|")
_VHDL = re.compile(
    rf"""
      (?P<odd>    % | /\*(?!.*?\*/).* | \r(?!\n) | [\v\f] )
    | (?P<word>   \\[^\\\r\n]*\\ | \b(?!(?:{_BEFORE_VALUES})\b)\w+\s*'(?=\() | \w+ )
    | (?P<hidden> --[^\r\n\v\f]* | /\*.*?\*/ | "[^"\r\n]*" | '[^\r\n]' )
    | (?P<quote>  " )
    """,
    re.DOTALL | re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_DEFINITION = re.compile(r"`define\b(?:\\\r?\n|[^\n])*", re.ASCII)
_UNIT = re.compile(rf"\b{_UNITS}\b", re.ASCII)
_NAMED_BY_MACRO = re.compile(rf"\b{_UNITS}\s*`", re.ASCII)


class NeededFiles(NamedTuple):
    """The files that a top needs.

    ``files``: all needed files; that of the top is the first. ``units``: for each needed unit, the files that declare
    it. ``unclear``: a file that may also declare one of these units, and that unit; the words of the file do not decide
    it.
    """

    files: tuple[Path, ...]
    units: dict[str, list[Path]]
    unclear: tuple[Path, str] | None = None

    def __bool__(self) -> bool:
        return bool(self.files)


class _Text(NamedTuple):
    """The text of a file, with comments and strings replaced by spaces. ``clear``: its declarations can be found."""

    text: str
    clear: bool


def needed_files(texts: Mapping[Path, str], top: str, *, vhdl: bool) -> NeededFiles:
    """Return the files of ``texts`` that the unit ``top`` needs: those that declare units that it names, recursively.

    There are no files if no text declares ``top``. A word in a comment may add an unnecessary file, but no necessary
    file is missing.
    """
    declared: dict[str, list[Path]] = {}
    plain = {path: _without_comments(text, vhdl) for path, text in texts.items()}
    for path, (text, _) in plain.items():
        for name in dict.fromkeys(_declared(text, vhdl)):
            declared.setdefault(name, []).append(path)
    if vhdl:  # an architecture in another file, or one of several in a file, counts as one more declaration
        for path, (text, _) in plain.items():
            bodies = Counter(name.lower() for name in _ARCHITECTURE.findall(text))
            for name, count in bodies.items():
                if path not in declared.get(name, ()) or count > 1:
                    declared.setdefault(name, []).append(path)
    top = top.lower() if vhdl else top
    needed, units = dict.fromkeys(declared.get(top, [])[:1]), {top: declared.get(top, [])}
    waiting = list(needed)
    while waiting:
        for name in _words(texts[waiting.pop(0)], vhdl):
            for path in declared.get(name, ()):
                units[name] = declared[name]
                if path not in needed:
                    needed[path] = None
                    waiting.append(path)
    unclear = (
        (path, name)
        for path, (_, clear) in plain.items()
        if not clear
        for name in _words(texts[path], vhdl)
        if name in units and path not in units[name]
    )
    return NeededFiles(tuple(needed), units, next(unclear, None))


def _words(text: str, vhdl: bool) -> dict[str, None]:
    return dict.fromkeys(_WORD.findall(text.lower() if vhdl else text))


def _without_comments(text: str, vhdl: bool) -> _Text:
    clear = True

    def kept(found: re.Match[str]) -> str:
        nonlocal clear
        if found.lastgroup in ("odd", "quote"):
            clear = False
        return " " if found.lastgroup == "hidden" else found[0]

    plain = (_VHDL if vhdl else _VERILOG).sub(kept, text)
    return _Text(plain, clear and (vhdl or not _declares_by_macro(plain)))


def _declares_by_macro(text: str) -> bool:
    """Return True if the name of a unit, or a whole unit, comes from a macro."""
    if _NAMED_BY_MACRO.search(text) is not None:
        return True
    return any(_UNIT.search(found[0]) is not None for found in _DEFINITION.finditer(text))


def _declared(text: str, vhdl: bool) -> list[str]:
    return [name.lower() for name in _ENTITY.findall(text)] if vhdl else _MODULE.findall(text)


def declares_clock(text: str, top: str, clock: str, *, vhdl: bool) -> bool:
    """Return True if the header of unit ``top`` in ``text`` declares an input ``clock``."""
    text = _without_comments(text, vhdl).text
    if vhdl:
        header = re.search(rf"\bentity\s+{re.escape(top)}\s+is\b(.*?)\bend\b", text, re.DOTALL | re.IGNORECASE)
        port = rf"\b{clock}\s*:\s*in\b"
        return header is not None and re.search(port, header[1], re.IGNORECASE) is not None
    header = re.search(rf"\bmodule\s+{re.escape(top)}\b(.*?);", text, re.DOTALL)
    return header is not None and re.search(rf"\binput\s+(?:wire\s+|logic\s+)?{clock}\b", header[1]) is not None
