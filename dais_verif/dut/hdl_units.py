"""Which modules of Verilog and entities of VHDL files declare and use, as far as their words tell.

It decides which files a reader is given, and nothing else: what a file means is for the readers to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["NeededFiles", "declares_clock", "needed_files"]

_WORD = re.compile(r"\w+")
#: Wherever on a line, behind an attribute or another module, and whether or not the name is escaped.
_MODULE = re.compile(
    r"\b(?:module|macromodule|package|primitive|interface|program)\s+(?:automatic\s+|static\s+)?\\?(\w+)"
)
_ENTITY = re.compile(r"\b(?:entity|package)\s+\\?(\w+)\\?\s+is\b", re.IGNORECASE)
_ARCHITECTURE = re.compile(r"\barchitecture\s+\S+\s+of\s+\\?(\w+)", re.IGNORECASE)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_VERILOG_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VHDL_COMMENT = re.compile(r"--[^\n]*")


class NeededFiles(NamedTuple):
    """``files`` that a top needs, that of the top first; and for each of their ``units`` the files that declare it."""

    files: tuple[Path, ...]
    units: dict[str, list[Path]]

    def __bool__(self) -> bool:
        return bool(self.files)


def needed_files(texts: Mapping[Path, str], top: str, *, vhdl: bool) -> NeededFiles:
    """Return which of ``texts`` the unit ``top`` needs: those that declare what its text mentions, and so on.

    None if no text declares ``top``. A word in a comment may bring a file too many, never one too few.
    """
    declared: dict[str, list[Path]] = {}
    for path, text in texts.items():
        for name in dict.fromkeys(_declared(text, vhdl)):
            declared.setdefault(name, []).append(path)
    if vhdl:  # the body of an entity is a second declaration of it, unless it stands in the same file, once
        for path, text in texts.items():
            bodies = Counter(name.lower() for name in _ARCHITECTURE.findall(_VHDL_COMMENT.sub("", text)))
            for name, count in bodies.items():
                if path not in declared.get(name, ()) or count > 1:
                    declared.setdefault(name, []).append(path)
    top = top.lower() if vhdl else top
    needed, units = dict.fromkeys(declared.get(top, [])[:1]), {top: declared.get(top, [])}
    waiting = list(needed)
    while waiting:
        text = texts[waiting.pop(0)]
        for name in dict.fromkeys(_WORD.findall(text.lower() if vhdl else text)):
            for path in declared.get(name, ()):
                units[name] = declared[name]
                if path not in needed:
                    needed[path] = None
                    waiting.append(path)
    return NeededFiles(tuple(needed), units)


def _declared(text: str, vhdl: bool) -> list[str]:
    if vhdl:
        return [name.lower() for name in _ENTITY.findall(_VHDL_COMMENT.sub("", text))]
    return _MODULE.findall(_STRING.sub(" ", _VERILOG_COMMENT.sub(" ", text)))


def declares_clock(text: str, top: str, clock: str, *, vhdl: bool) -> bool:
    """Whether the header of unit ``top`` in ``text`` declares an input ``clock``."""
    if vhdl:
        text = _VHDL_COMMENT.sub("", text)
        header = re.search(rf"\bentity\s+{re.escape(top)}\s+is\b(.*?)\bend\b", text, re.DOTALL | re.IGNORECASE)
        port = rf"\b{clock}\s*:\s*in\b"
        return header is not None and re.search(port, header[1], re.IGNORECASE) is not None
    text = _VERILOG_COMMENT.sub(" ", text)
    header = re.search(rf"\bmodule\s+{re.escape(top)}\b(.*?);", text, re.DOTALL)
    return header is not None and re.search(rf"\binput\s+(?:wire\s+|logic\s+)?{clock}\b", header[1]) is not None
